package aws

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

const (
	cloudFrontVersion   = "/2020-05-31/"
	cloudFrontNamespace = "http://cloudfront.amazonaws.com/doc/2020-05-31/"
)

// cloudFront speaks REST-XML, API version 2020-05-31.
type cloudFront struct{}

// cloudFrontOperations lists what the simulator knows of the API. Where two
// entries share method and path, the one with a query comes first.
var cloudFrontOperations = []*operation{
	{name: "CreateDistributionTenant", mutating: true, handle: (*Sim).createTenant, method: "POST", path: "distribution-tenant"},
	{name: "GetDistributionTenantByDomain", handle: (*Sim).getTenantByDomain, method: "GET", path: "distribution-tenant"},
	{name: "GetDistributionTenant", handle: (*Sim).getTenant, method: "GET", path: "distribution-tenant/{}"},
	{name: "UpdateDistributionTenant", mutating: true, handle: (*Sim).updateTenant, method: "PUT", path: "distribution-tenant/{}"},
	{name: "DeleteDistributionTenant", mutating: true, handle: (*Sim).deleteTenant, method: "DELETE", path: "distribution-tenant/{}"},
	{name: "ListDistributionTenants", handle: (*Sim).listTenants, method: "POST", path: "distribution-tenants"},
	{name: "ListDistributionTenantsByCustomization", handle: (*Sim).listTenantsByCustomization, method: "POST", path: "distribution-tenants-by-customization"},
	{name: "AssociateDistributionTenantWebACL", mutating: true, handle: (*Sim).associateWebACL, method: "PUT", path: "distribution-tenant/{}/associate-web-acl"},
	{name: "DisassociateDistributionTenantWebACL", mutating: true, handle: (*Sim).disassociateWebACL, method: "PUT", path: "distribution-tenant/{}/disassociate-web-acl"},
	{name: "CreateInvalidationForDistributionTenant", mutating: true, handle: (*Sim).createTenantInvalidation, method: "POST", path: "distribution-tenant/{}/invalidation"},
	{name: "ListInvalidationsForDistributionTenant", handle: (*Sim).listInvalidations, method: "GET", path: "distribution-tenant/{}/invalidation"},
	{name: "GetInvalidationForDistributionTenant", handle: (*Sim).getInvalidation, method: "GET", path: "distribution-tenant/{}/invalidation/{}"},
	{name: "GetManagedCertificateDetails", handle: (*Sim).getManagedCertificate, method: "GET", path: "managed-certificate/{}"},
	{name: "VerifyDnsConfiguration", handle: (*Sim).verifyDNS, method: "POST", path: "verify-dns-configuration"},
	{name: "UpdateDomainAssociation", mutating: true, handle: (*Sim).updateDomainAssociation, method: "POST", path: "domain-association"},
	{name: "ListDomainConflicts", handle: (*Sim).listDomainConflicts, method: "POST", path: "domain-conflicts"},

	{name: "CreateConnectionGroup", mutating: true, handle: (*Sim).createGroup, method: "POST", path: "connection-group"},
	{name: "GetConnectionGroupByRoutingEndpoint", handle: (*Sim).getGroupByEndpoint, method: "GET", path: "connection-group"},
	{name: "GetConnectionGroup", handle: (*Sim).getGroup, method: "GET", path: "connection-group/{}"},
	{name: "UpdateConnectionGroup", mutating: true, handle: (*Sim).updateGroup, method: "PUT", path: "connection-group/{}"},
	{name: "DeleteConnectionGroup", mutating: true, handle: (*Sim).deleteGroup, method: "DELETE", path: "connection-group/{}"},
	{name: "GetAnycastIpList", handle: (*Sim).getAnycastList, method: "GET", path: "anycast-ip-list/{}"},
	{name: "ListConnectionGroups", handle: (*Sim).listGroups, method: "POST", path: "connection-groups"},

	{name: "CreateDistributionWithTags", mutating: true, handle: (*Sim).createDistributionWithTags, method: "POST", path: "distribution", query: "WithTags"},
	{name: "CreateDistribution", mutating: true, handle: (*Sim).createDistribution, method: "POST", path: "distribution"},
	{name: "ListDistributions", handle: (*Sim).listDistributions, method: "GET", path: "distribution"},
	{name: "GetDistribution", handle: (*Sim).getDistribution, method: "GET", path: "distribution/{}"},
	{name: "GetDistributionConfig", handle: (*Sim).getDistributionConfig, method: "GET", path: "distribution/{}/config"},
	{name: "UpdateDistribution", mutating: true, handle: (*Sim).updateDistribution, method: "PUT", path: "distribution/{}/config"},
	{name: "DeleteDistribution", mutating: true, handle: (*Sim).deleteDistribution, method: "DELETE", path: "distribution/{}"},
	{name: "CreateInvalidation", mutating: true, handle: (*Sim).createDistributionInvalidation, method: "POST", path: "distribution/{}/invalidation"},
	{name: "ListDistributionsByConnectionMode", handle: (*Sim).listDistributionsByMode, method: "GET", path: "distributionsByConnectionMode/{}"},

	{name: "TagResource", mutating: true, handle: (*Sim).tagResource, method: "POST", path: "tagging", query: "Operation=Tag"},
	{name: "UntagResource", mutating: true, handle: (*Sim).untagResource, method: "POST", path: "tagging", query: "Operation=Untag"},
	{name: "ListTagsForResource", handle: (*Sim).listTags, method: "GET", path: "tagging"},
}

func (cloudFront) accepts(r *http.Request) bool {
	return strings.HasPrefix(r.URL.EscapedPath(), cloudFrontVersion)
}

func (cloudFront) decode(r *http.Request, body []byte) (*call, error) {
	return decodeREST(r, body, "CloudFront", cloudFrontVersion, cloudFrontOperations)
}

// decodeREST reads a request of a service that dispatches on method and path.
func decodeREST(r *http.Request, body []byte, service, version string, operations []*operation) (*call, error) {
	c := &call{op: unknownOperation, query: r.URL.Query(), ifMatch: r.Header.Get("If-Match")}
	// An ARN arrives percent-encoded as one segment, so the escaped path is
	// split first and unescaped afterwards.
	rest, ok := strings.CutPrefix(r.URL.EscapedPath(), version)
	if !ok {
		return c, refuse(http.StatusNotFound, "UnknownOperationException",
			"No simulated service answers %s %s.", r.Method, r.URL.Path)
	}
	segments := strings.Split(strings.TrimSuffix(rest, "/"), "/")
	for _, op := range operations {
		if vars, ok := op.matches(r.Method, segments, c.query); ok {
			c.op, c.vars = op, vars
			break
		}
	}
	if c.op == unknownOperation {
		return c, refuse(http.StatusNotFound, "UnknownOperationException",
			"The simulated %s knows no operation %s %s.", service, r.Method, r.URL.Path)
	}
	if len(body) == 0 {
		return c, nil
	}
	root, err := parseNode(body)
	if err != nil {
		return c, refuse(http.StatusBadRequest, "MalformedXML", "The XML you provided is not well-formed: %v.", err)
	}
	c.body = root
	return c, nil
}

// matches compares method, path and query and returns what the {} stood for.
func (op *operation) matches(method string, segments []string, query url.Values) ([]string, bool) {
	pattern := strings.Split(op.path, "/")
	if method != op.method || len(pattern) != len(segments) {
		return nil, false
	}
	if op.query != "" {
		key, value, _ := strings.Cut(op.query, "=")
		if !query.Has(key) || query.Get(key) != value {
			return nil, false
		}
	}
	var vars []string
	for i, want := range pattern {
		got, err := url.PathUnescape(segments[i])
		switch {
		case err != nil, got == "":
			return nil, false
		case want == "{}":
			vars = append(vars, got)
		case want != got:
			return nil, false
		}
	}
	return vars, true
}

func (cloudFront) encode(_ *call, out reply) answer { return encodeREST(out, cloudFrontNamespace) }

func encodeREST(out reply, namespace string) answer {
	header := http.Header{}
	if out.etag != "" {
		header.Set("Etag", out.etag)
	}
	if out.location != "" {
		header.Set("Location", out.location)
	}
	a := answer{status: out.status, header: header}
	if out.body != nil {
		header.Set("Content-Type", "text/xml")
		a.body = out.body.document(namespace)
	}
	return a
}

func (cloudFront) encodeError(c *call, err error) answer {
	return refuseREST(c, err, cloudFrontNamespace)
}

func refuseREST(c *call, err error, namespace string) answer {
	refused := asAPIError(err)
	kind := "Sender"
	if refused.Status >= http.StatusInternalServerError {
		kind = "Receiver"
	}
	body := el("ErrorResponse",
		el("Error", txt("Type", kind), txt("Code", refused.Code), txt("Message", refused.Message)),
		txt("RequestId", c.requestID))
	return answer{
		status: refused.Status,
		header: http.Header{"Content-Type": {"text/xml"}},
		body:   body.document(namespace),
	}
}

func (cloudFront) codeOf(err error) string { return asAPIError(err).Code }

func (cloudFront) throttleCode() string { return "Throttling" }

// stamp renders a time as the API does.
func stamp(t time.Time) string {
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}

// root returns the request body if its root is one of those named. A body with
// another root is refused as the real service refuses one that does not fit its
// schema; a missing body is read as an empty one.
func (c *call) root(names ...string) (*node, error) {
	if c.body == nil {
		return el(names[0]), nil
	}
	if slices.Contains(names, c.body.name) {
		return c.body, nil
	}
	return nil, refuse(http.StatusBadRequest, "MalformedXML", "Expected the element %s, got %s.", names[0], c.body.name)
}

// checkETag holds a write against the current ETag. A missing or malformed
// If-Match and a stale one are different refusals.
func (s *Sim) checkETag(c *call, m meta, required bool) error {
	got := strings.Trim(c.ifMatch, `"`)
	if got == "" && !required {
		return nil
	}
	if !plausibleETag(got) {
		return refuse(http.StatusBadRequest, "InvalidIfMatchVersion",
			"The If-Match version is missing or not valid for the resource.")
	}
	if got != s.etagAt(m, c.now) {
		return refuse(http.StatusPreconditionFailed, "PreconditionFailed",
			"The request failed because it didn't meet the preconditions in one or more request-header fields.")
	}
	return nil
}

func plausibleETag(etag string) bool {
	if len(etag) < 2 || len(etag) > 64 || etag[0] != 'E' {
		return false
	}
	for _, r := range etag {
		if (r < 'A' || r > 'Z') && (r < '0' || r > '9') {
			return false
		}
	}
	return true
}
