package crash_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

// understand names what a request asks for.
func (g *gate) understand(s side, r *http.Request) call {
	c := call{side: s}
	if target, err := url.QueryUnescape(r.URL.String()); err == nil {
		c.target = r.Method + " " + target
	}
	switch s {
	case awsSide:
		understandAWS(&c, r)
	case dnsSide:
		g.provider.understand(&c, r)
	case kubeSide:
		understandKube(&c, r)
	case tableSide:
		understandTable(&c, r)
	}
	return c
}

func understandAWS(c *call, r *http.Request) {
	c.counted, c.conditional = true, r.Header.Get("If-Match") != ""
	if _, operation, ok := strings.Cut(r.Header.Get("X-Amz-Target"), "."); ok {
		c.operation, c.writes = operation, operation == deleteCertificate
		return
	}
	if path, ok := strings.CutPrefix(r.URL.Path, "/2013-04-01/"); ok {
		c.operation = route53Operation(r.Method, path)
		c.writes = c.operation == changeRecords
		return
	}
	if strings.HasPrefix(r.URL.Path, "/key-value-stores/") {
		c.operation = storeOperation(r)
		c.writes = c.operation == "UpdateKeys"
		return
	}
	if r.URL.Path == "/" {
		c.operation = stsOperation(r)
		return
	}
	c.operation = cloudFrontOperation(r)
	c.writes = changesResources(c.operation)
}

// cloudFrontOperation knows an operation by its path, and a list that asks for the tenants of one parent by its body.
func cloudFrontOperation(r *http.Request) string {
	resource, _, deep := strings.Cut(strings.TrimPrefix(r.URL.Path, "/2020-05-31/"), "/")
	if strings.HasSuffix(resource, "distribution-tenant") && strings.Contains(r.URL.Path, "/invalidation") {
		resource = "invalidation"
	}
	key := r.Method + " " + resource
	if deep {
		key += "/"
	}
	if operation := r.URL.Query().Get("Operation"); operation != "" {
		key += " " + operation
	}
	operation := map[string]string{
		"POST distribution-tenant":           "CreateDistributionTenant",
		"GET distribution-tenant":            "GetDistributionTenantByDomain",
		"GET distribution-tenant/":           "GetDistributionTenant",
		"PUT distribution-tenant/":           "UpdateDistributionTenant",
		"DELETE distribution-tenant/":        "DeleteDistributionTenant",
		"POST distribution-tenants":          "ListDistributionTenants",
		"POST invalidation/":                 requestInvalidation,
		"GET invalidation/":                  followInvalidation,
		"POST domain-association":            moveDomain,
		"GET managed-certificate/":           "GetManagedCertificateDetails",
		"POST distribution":                  "CreateDistributionWithTags",
		"GET distribution/":                  "GetDistribution",
		"PUT distribution/":                  "UpdateDistribution",
		"DELETE distribution/":               "DeleteDistribution",
		"GET distributionsByConnectionMode/": "ListDistributionsByConnectionMode",
		"POST connection-group":              "CreateConnectionGroup",
		"GET connection-group/":              "GetConnectionGroup",
		"PUT connection-group/":              "UpdateConnectionGroup",
		"DELETE connection-group/":           "DeleteConnectionGroup",
		"POST connection-groups":             "ListConnectionGroups",
		"POST tagging Tag":                   "TagResource",
		"POST tagging Untag":                 "UntagResource",
		"GET tagging":                        "ListTagsForResource",
	}[key]
	switch {
	case operation == "":
		return key
	case operation == "ListDistributionTenants" && bytes.Contains(peek(r), []byte("<AssociationFilter>")):
		return listDependents
	}
	return operation
}

// listDependents is the list with which a parent's controller asks for its tenants.
const listDependents = "ListDistributionTenants of a parent"

func changesResources(operation string) bool {
	return slices.ContainsFunc([]string{"Create", "Update", "Delete", "TagResource", "UntagResource"}, func(verb string) bool {
		return strings.HasPrefix(operation, verb)
	})
}

// peek reads the body and leaves it in place.
func peek(r *http.Request) []byte {
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	if err != nil {
		return nil
	}
	return body
}

// The operations that change zones and certificates.
const (
	changeRecords     = "ChangeResourceRecordSets"
	deleteCertificate = "DeleteCertificate"
)

func route53Operation(method, path string) string {
	parts := strings.Split(path, "/")
	switch {
	case parts[0] == "change":
		return "GetChange"
	case len(parts) == 3 && method == http.MethodPost:
		return changeRecords
	case len(parts) == 3:
		return "ListResourceRecordSets"
	case len(parts) == 2:
		return "GetHostedZone"
	}
	return "ListHostedZones"
}

// stsOperation reads what a form asks for.
func stsOperation(r *http.Request) string {
	form, err := url.ParseQuery(string(peek(r)))
	if err != nil {
		return "POST /"
	}
	return form.Get("Action")
}

const tenantsPath = "/apis/" + v1alpha1.GroupName + "/v1alpha1/namespaces/"

// understandKube counts the writes, but for events, leases and reviews, and the reads of
// single tenants, which the operator makes before it writes to AWS.
func understandKube(c *call, r *http.Request) {
	q := r.URL.Query().Get("watch")
	c.watches = q == "true" || q == "1"
	c.writes = r.Method != http.MethodGet && r.Method != http.MethodHead
	if claim, is := strings.CutPrefix(r.URL.Path, claimsPath); is {
		understandClaims(c, r, claim)
		return
	}
	_, rest, ours := strings.Cut(r.URL.Path, tenantsPath)
	if !ours {
		for _, other := range []string{"/events", "/leases", "reviews"} {
			if strings.Contains(r.URL.Path, other) {
				c.writes = false
			}
		}
		c.counted, c.operation = c.writes, strings.ToLower(r.Method)+" "+r.URL.Path
		if strings.Contains(r.URL.Path, "/configmaps") {
			c.operation = strings.ToLower(r.Method) + " configmaps" // the memory of the deletion budget
		}
		return
	}
	parts := strings.Split(rest, "/") // namespace, resource, name, subresource
	resource := parts[1]
	if len(parts) > 3 {
		resource += "/" + parts[3]
	}
	c.operation = strings.ToLower(r.Method) + " " + resource
	c.counted = !c.watches && (c.writes || len(parts) > 2)
}

// understandClaims names what is asked of claims without their names, which differ from run to run.
func understandClaims(c *call, r *http.Request, path string) {
	c.operation = strings.ToLower(r.Method) + " domainclaims"
	if strings.HasSuffix(path, "/status") {
		c.operation += "/status"
	}
	c.counted = !c.watches && (c.writes || path != "")
}

// awsError answers as CloudFront words its errors.
func awsError(w http.ResponseWriter, status int, code string) {
	kind := "Sender"
	if status >= http.StatusInternalServerError {
		kind = "Receiver"
	}
	w.Header().Set("Content-Type", "text/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, `<?xml version="1.0"?><ErrorResponse xmlns="http://cloudfront.amazonaws.com/doc/2020-05-31/"><Error><Type>%s</Type><Code>%s</Code><Message>This was not meant to be.</Message></Error><RequestId>00000000-0000-4000-8000-000000000000</RequestId></ErrorResponse>`, kind, code)
}

// acmError answers as ACM does.
func acmError(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	w.Header().Set("X-Amzn-Errortype", code)
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"__type":%q,"message":"This was not meant to be."}`, code)
}

// kubeError answers as the API server does.
func kubeError(w http.ResponseWriter, status int, reason metav1.StatusReason) {
	body, err := json.Marshal(metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Code: int32(status), Reason: reason, Message: "This was not meant to be.",
	})
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json")
	if status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "1")
	}
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
