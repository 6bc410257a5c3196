package aws

import (
	"encoding/json"
	"net/http"
	"strings"
)

// acm speaks JSON 1.1. Only what CloudFront certificates need is there.
type acm struct{}

const acmTarget = "CertificateManager."

var acmOperations = []*operation{
	{name: "DescribeCertificate", handle: (*Sim).describeCertificate},
	{name: "ListCertificates", handle: (*Sim).listCertificates},
	{name: "DeleteCertificate", mutating: true, handle: (*Sim).deleteCertificate},
}

func (acm) accepts(r *http.Request) bool {
	return strings.HasPrefix(r.Header.Get("X-Amz-Target"), acmTarget)
}

func (acm) decode(r *http.Request, body []byte) (*call, error) {
	return decodeJSON(r, body, "ACM", acmTarget, acmOperations)
}

// decodeJSON reads a request of a service that speaks JSON.
func decodeJSON(r *http.Request, body []byte, service, target string, operations []*operation) (*call, error) {
	c := &call{op: unknownOperation}
	name := strings.TrimPrefix(r.Header.Get("X-Amz-Target"), target)
	for _, op := range operations {
		if op.name == name {
			c.op = op
		}
	}
	if c.op == unknownOperation {
		return c, refuse(http.StatusBadRequest, "UnknownOperationException", "The simulated %s knows no operation %s.", service, name)
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

// ACMLimits are the request rates ACM publishes for a new account.
func ACMLimits() []Limit {
	return []Limit{
		{Operation: "DescribeCertificate", Rate: 10, Burst: 10},
		{Operation: "ListCertificates", Rate: 8, Burst: 8},
		{Operation: "DeleteCertificate", Rate: 10, Burst: 10},
	}
}
