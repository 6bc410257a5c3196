package rights

import "strings"

// reason says what the rights for a resource are needed for: in words of its own for some verbs, and for the others in
// those that are the same for all, in which three dots stand for what is done.
type reason struct {
	resource, always string
	by               map[string]string
	optional         bool
}

// Without optional rights everything else works.
const required, optional = false, true

// verbs are those of rights in the order of reports, with what is done.
var verbs = []struct{ name, doing string }{
	{"list", "finding"}, {"watch", "following"}, {"get", "reading"}, {"create", "creating"}, {"patch", "creating and updating"}, {"update", "updating"}, {"delete", "deleting"},
}

func (r reason) of(verb, doing string) string {
	if text, has := r.by[verb]; has {
		return text
	}
	return strings.Replace(r.always, "...", doing, 1)
}

// reconciled are the words for one object of a kind that has a controller, and for what is changed for it.
func reconciled(one, changed string) map[string]string {
	return map[string]string{"get": "confirming " + one + " before " + changed + " changed", "patch": "setting and removing the finalizer of " + one}
}

const (
	claiming  = " (not needed with --domain-claims=false)"
	granting  = " (not needed with --grants=Off)"
	scraping  = "serving metrics, because all requests are rejected without it (not needed with --metrics-secure=false)"
	electing  = "electing a leader (a single replica does not need it with --leader-elect=false)"
	memory    = "storing which deletions were approved (not needed with --deletion-budget=false)"
	noticing  = "noticing that this is a copy of the cluster in which the operator was installed (not needed with --cluster-check=false)"
	serving   = "serving the admission webhook, without which there are no warnings (not needed without --webhook-bind-address)"
	elsewhere = "noticing that also after an installation into another namespace (not needed with --cluster-check-copy-namespace=)"
)

// reasons are those of each role that is generated from the code, in the order of reports. Rights without a reason are
// not asked for.
var reasons = map[string][]reason{
	"tenants": {
		{"distributiontenants", "... the tenants", map[string]string{"get": "confirming a tenant before AWS is changed", "patch": "setting and removing the finalizer"}, required},
		{"distributiontenants/status", "writing status", nil, required},
		{"distributions", "... the distributions that tenants name", map[string]string{"get": "confirming a distribution before AWS is changed"}, required},
		{"connectiongroups", "... the connection groups that tenants name", map[string]string{"get": "confirming a connection group before AWS is changed"}, required},
		{"events", "recording events of a tenant", nil, optional},
	},
	"sources": {
		{"tenantsources", "... the sources", reconciled("a source", "tenants are"), required},
		{"tenantsources/status", "writing the status of a source", nil, required},
		{"distributiontenants", "... the tenants of sources", map[string]string{
			"get": "reading a tenant before it is deleted", "create": "creating tenants for new rows", "patch": "applying rows to tenants", "delete": "deleting tenants whose rows no longer exist",
		}, required},
		{"distributions", "... the distributions that sources name", nil, required},
		{"connectiongroups", "... the connection groups that sources name", nil, required},
		{"events", "recording events of a source", nil, optional},
	},
	"distributions": {
		{"distributions", "... each distribution", reconciled("a distribution", "AWS is"), required},
		{"distributions/status", "writing the status of a distribution", nil, required},
		{"events", "recording events of a distribution", nil, optional},
	},
	"connectiongroups": {
		{"connectiongroups", "... each connection group", reconciled("a connection group", "AWS is"), required},
		{"connectiongroups/status", "writing the status of a connection group", nil, required},
		{"distributiontenants", "... the tenants whose domains can't be customer targets", nil, required},
		{"events", "recording events of a connection group", nil, optional},
	},
	"invalidations": {
		{"invalidations", "... the invalidations", map[string]string{"delete": "deleting finished invalidations"}, required},
		{"invalidations/status", "writing the status of an invalidation", nil, required},
		{"distributiontenants", "... the tenants of invalidations", nil, required},
		{"events", "recording events of an invalidation", nil, optional},
	},
	// Neither mesh nor policies are for every cluster.
	"tenancy": {
		{"tenants", "... each tenant", reconciled("a tenant", "the cluster is"), required},
		{"tenants/status", "writing the status of a tenant", nil, required},
		{"tenantplans", "... each plan", reconciled("a plan", "the cluster is"), required},
		{"tenantplans/status", "writing the status of a plan", nil, required},
		{"namespaces", "... a tenant's namespace", nil, required},
		{"resourcequotas", "... a tenant's quota", nil, required},
		{"limitranges", "... a tenant's limits", nil, required},
		{"networkpolicies", "... a tenant's network isolation", nil, required},
		{"rolebindings", "... a tenant's role bindings", nil, required},
		{"distributiontenants", "... a tenant's DistributionTenant", nil, required},
		{"customresourcedefinitions", "noticing that Istio or Gatekeeper is installed or removed", nil, required},
		{"gateways", "... a tenant's gateway", nil, optional},
		{"authorizationpolicies", "... a tenant's AuthorizationPolicy", nil, optional},
		{"peerauthentications", "... a tenant's mTLS", nil, optional},
		{"*", "finding the constraints of plans", nil, optional},
		{"events", "recording events of a tenant", nil, optional},
	},
	"cluster-id":      {{"namespaces", "finding the cluster ID (not needed if --cluster-id is set)", nil, required}},
	"leader-election": {{"leases", electing, nil, required}, {"events", "recording events of the leader election", nil, optional}},
	"grants": {
		{"edgegrants", "knowing what namespaces may use" + granting, map[string]string{"patch": "setting and removing the finalizer of a grant" + granting}, required},
		{"edgegrants/status", "writing the status of a grant" + granting, nil, required},
		{"namespaces", "knowing what namespaces may use" + granting, nil, required},
	},
	"cluster-check": {{"configmaps", noticing, nil, required}, {"events", "recording an event when the cluster is another one", nil, optional}},
	// Creating the copy is left out, as a right to create ConfigMaps in kube-system can't be limited to a name.
	"cluster-check-copy": {{"configmaps", elsewhere, nil, optional}},
	"domain-claims": {
		{"domainclaims", "... the DomainClaims" + claiming, map[string]string{
			"get": "reading a DomainClaim that exists already" + claiming, "create": "holding a domain for its namespace before its release" + claiming,
			"patch": "holding a domain for longer" + claiming, "delete": "deleting DomainClaims that have ended" + claiming,
		}, required},
		{"domainclaims/status", "writing the status of a DomainClaim" + claiming, nil, required},
	},
	"deletion-budget":       {{"configmaps", memory, nil, required}, {"events", "recording events of held deletions", nil, optional}},
	"metrics":               {{"tokenreviews", scraping, nil, optional}, {"subjectaccessreviews", scraping, nil, optional}},
	"webhook":               {{"secrets", serving, nil, optional}},
	"webhook-configuration": {{"validatingwebhookconfigurations", serving, nil, optional}},
}
