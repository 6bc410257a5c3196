package aws

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// acm speaks JSON 1.1. Only what CloudFront certificates need is there.
type acm struct{}

const acmTarget = "CertificateManager."

var acmOperations = []*operation{
	{name: "DescribeCertificate", handle: (*Sim).describeCertificate},
}

func (acm) accepts(r *http.Request) bool {
	return strings.HasPrefix(r.Header.Get("X-Amz-Target"), acmTarget)
}

func (acm) decode(r *http.Request, body []byte) (*call, error) {
	c := &call{op: unknownOperation}
	name := strings.TrimPrefix(r.Header.Get("X-Amz-Target"), acmTarget)
	for _, op := range acmOperations {
		if op.name == name {
			c.op = op
		}
	}
	if c.op == unknownOperation {
		return c, refuse(http.StatusBadRequest, "UnknownOperationException", "The simulated ACM knows no operation %s.", name)
	}
	if err := json.Unmarshal(body, &c.input); err != nil {
		return c, refuse(http.StatusBadRequest, "SerializationException", "The request is not a JSON object: %v.", err)
	}
	return c, nil
}

func (acm) encode(_ *call, out reply) answer {
	body, err := json.Marshal(out.json)
	if err != nil { // every reply is a map of plain values
		body = []byte("{}")
	}
	return acmAnswer(out.status, body)
}

func (acm) encodeError(_ *call, err error) answer {
	refused := asAPIError(err)
	body, err := json.Marshal(map[string]string{"__type": refused.Code, "message": refused.Message})
	if err != nil { // two strings always marshal
		body = []byte("{}")
	}
	return acmAnswer(refused.Status, body)
}

func acmAnswer(status int, body []byte) answer {
	return answer{status: status, header: http.Header{"Content-Type": {"application/x-amz-json-1.1"}}, body: body}
}

func (acm) codeOf(err error) string { return asAPIError(err).Code }

func (acm) throttleCode() string { return "ThrottlingException" }

func (s *Sim) describeCertificate(c *call) (reply, error) {
	arn, _ := c.input["CertificateArn"].(string)
	switch {
	case len(arn) < 20 || len(arn) > 2048:
		return reply{}, refuse(http.StatusBadRequest, "ValidationException", "CertificateArn must have 20 to 2048 characters.")
	case !acmArn.MatchString(arn):
		return reply{}, refuse(http.StatusBadRequest, "InvalidArnException", "Invalid ARN: %s", arn)
	}
	cert, ok := s.knownCertificate(c.acct, arn)
	if !ok {
		return reply{}, refuse(http.StatusBadRequest, "ResourceNotFoundException",
			"Could not find certificate %s in account %s.", arn, c.acct.id)
	}
	return reply{status: http.StatusOK, json: map[string]any{"Certificate": s.describe(c.acct, cert)}}, nil
}

// describe renders a certificate; timestamps are seconds since the epoch.
func (s *Sim) describe(a *account, cert *certificate) map[string]any {
	out := map[string]any{
		"CertificateArn":          cert.arn,
		"Status":                  cert.status,
		"Type":                    cert.kind,
		"KeyAlgorithm":            "RSA_2048",
		"SubjectAlternativeNames": cert.names,
		"InUseBy":                 a.usersOf(cert.arn),
		"RenewalEligibility":      "INELIGIBLE",
	}
	if len(cert.names) > 0 {
		out["DomainName"] = cert.names[0]
	}
	if cert.managedBy != "" {
		out["ManagedBy"] = cert.managedBy
	}
	for name, at := range map[string]time.Time{"CreatedAt": cert.created, "NotBefore": cert.notBefore, "NotAfter": cert.notAfter} {
		if !at.IsZero() {
			out[name] = float64(at.UnixMilli()) / 1000
		}
	}
	var options []map[string]any
	for _, t := range cert.tokens {
		options = append(options, map[string]any{
			"DomainName":       t.domain,
			"ValidationMethod": "HTTP",
			"ValidationStatus": "PENDING_VALIDATION",
			"HttpRedirect":     map[string]string{"RedirectFrom": "http://" + t.from, "RedirectTo": "https://" + t.to},
		})
	}
	if options != nil {
		out["DomainValidationOptions"] = options
	}
	return out
}

// usersOf lists the distributions a certificate is attached to. Tenants are left
// out: what ACM shows for them is not documented, and a fleet may share one.
func (a *account) usersOf(arn string) []string {
	users := []string{}
	for _, r := range a.distributions.order {
		if r.deleted.IsZero() && r.current().certArn == arn {
			users = append(users, r.arn)
		}
	}
	return users
}
