package operator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	clusteradapter "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/kube/cluster"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/grants"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/config"
)

const (
	// rightsTimeout bounds the check. It must not keep an operator from its work that an API server
	// refuses or delays the question.
	rightsTimeout = 10 * time.Second
	// rightsAtOnce is how many questions are open at a time.
	rightsAtOnce = 16
)

// podNamespace is where a pod finds the name of its namespace.
const podNamespace = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// Right is one thing that the operator has to be allowed to do in the cluster.
type Right struct {
	Group string
	// Resource may have a subresource, as in a role: distributiontenants/status.
	Resource, Verb string
	// Namespace is empty for what is in all of them, or in none.
	Namespace string
	// Name is that of the only object, if there is only one.
	Name string
	// For says what it is needed for.
	For string
	// Optional is a right without which everything else works.
	Optional bool
}

// Rights lists the rights that the configuration needs.
func (c Config) Rights() []Right {
	var out []Right
	namespaces := []string(c.WatchNamespaces)
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceAll}
	}
	for _, ns := range namespaces {
		out = append(out, c.rightsIn(ns)...)
	}
	if slices.Contains(c.Controllers, config.Tenant) {
		out = append(out, tenantRights()...)
	}
	if c.ClusterID == "" {
		out = append(out, Right{Resource: "namespaces", Verb: "get", Name: "kube-system", For: "finding the cluster ID (not needed if --cluster-id is set)"})
	}
	if ns := c.leaseNamespace(); c.LeaderElect && ns != "" {
		out = append(out, electionRights(ns)...)
	}
	if c.Grants != string(grants.Off) {
		out = append(out, grantRights()...)
	}
	if c.ClusterCheck {
		out = append(out, clusterCheckRights(c.leaseNamespace(), c.ClusterCopyNamespace)...)
	}
	if c.claims() {
		out = append(out, domainClaimRights()...)
	}
	if c.Webhook.enabled() {
		out = append(out, webhookRights(c.webhookNamespace(), c.Webhook.Name)...)
	}
	if c.Budget.Enabled {
		out = append(out, budgetRights(c.leaseNamespace())...)
	}
	if c.MetricsSecure && c.MetricsAddress != "" && c.MetricsAddress != "0" {
		const scraping = "serving metrics, because all requests are rejected without it (not needed with --metrics-secure=false)"
		out = append(out,
			Right{Group: "authentication.k8s.io", Resource: "tokenreviews", Verb: "create", For: scraping, Optional: true},
			Right{Group: "authorization.k8s.io", Resource: "subjectaccessreviews", Verb: "create", For: scraping, Optional: true})
	}
	return distinct(out)
}

// rightsIn are those for the objects of a namespace, or of all.
func (c Config) rightsIn(namespace string) (out []Right) {
	if slices.Contains(c.Controllers, config.DistributionTenant) {
		out = append(out, distributionTenantRights(namespace)...)
	}
	if slices.Contains(c.Controllers, config.TenantSource) {
		out = append(out, sourceRights(namespace)...)
	}
	if slices.Contains(c.Controllers, config.Distribution) {
		out = append(out, parentRights(namespace, "distributions", "distribution")...)
	}
	if slices.Contains(c.Controllers, config.ConnectionGroup) {
		out = append(out, parentRights(namespace, "connectiongroups", "connection group")...)
	}
	if slices.Contains(c.Controllers, config.Invalidation) {
		out = append(out, invalidationRights(namespace)...)
	}
	return out
}

// distinct leaves out what two controllers both need the second time.
func distinct(rights []Right) []Right {
	seen := map[authorizationv1.ResourceAttributes]bool{}
	return slices.DeleteFunc(rights, func(r Right) bool {
		again := seen[*r.attributes()]
		seen[*r.attributes()] = true
		return again
	})
}

func distributionTenantRights(namespace string) []Right {
	const tenants, distributions, groups = "distributiontenants", "distributions", "connectiongroups"
	return []Right{
		{Group: v1alpha1.GroupName, Resource: tenants, Verb: "list", Namespace: namespace, For: "finding the tenants"},
		{Group: v1alpha1.GroupName, Resource: tenants, Verb: "watch", Namespace: namespace, For: "following the tenants"},
		{Group: v1alpha1.GroupName, Resource: tenants, Verb: "get", Namespace: namespace, For: "confirming a tenant before AWS is changed"},
		{Group: v1alpha1.GroupName, Resource: tenants, Verb: "patch", Namespace: namespace, For: "setting and removing the finalizer"},
		{Group: v1alpha1.GroupName, Resource: tenants + "/status", Verb: "patch", Namespace: namespace, For: "writing status"},
		{Group: v1alpha1.GroupName, Resource: distributions, Verb: "list", Namespace: namespace, For: "finding the distributions that tenants name"},
		{Group: v1alpha1.GroupName, Resource: distributions, Verb: "watch", Namespace: namespace, For: "following the distributions that tenants name"},
		{Group: v1alpha1.GroupName, Resource: distributions, Verb: "get", Namespace: namespace, For: "confirming a distribution before AWS is changed"},
		{Group: v1alpha1.GroupName, Resource: groups, Verb: "list", Namespace: namespace, For: "finding the connection groups that tenants name"},
		{Group: v1alpha1.GroupName, Resource: groups, Verb: "watch", Namespace: namespace, For: "following the connection groups that tenants name"},
		{Group: v1alpha1.GroupName, Resource: groups, Verb: "get", Namespace: namespace, For: "confirming a connection group before AWS is changed"},
		{Group: "events.k8s.io", Resource: "events", Verb: "create", Namespace: namespace, For: "recording events of a tenant", Optional: true},
	}
}

// parentRights are those for a kind that tenants refer to.
func parentRights(namespace, resource, noun string) []Right {
	return []Right{
		{Group: v1alpha1.GroupName, Resource: resource, Verb: "list", Namespace: namespace, For: "finding each " + noun},
		{Group: v1alpha1.GroupName, Resource: resource, Verb: "watch", Namespace: namespace, For: "following each " + noun},
		{Group: v1alpha1.GroupName, Resource: resource, Verb: "get", Namespace: namespace, For: "confirming a " + noun + " before AWS is changed"},
		{Group: v1alpha1.GroupName, Resource: resource, Verb: "patch", Namespace: namespace, For: "setting and removing the finalizer of a " + noun},
		{Group: v1alpha1.GroupName, Resource: resource + "/status", Verb: "patch", Namespace: namespace, For: "writing the status of a " + noun},
		{Group: "events.k8s.io", Resource: "events", Verb: "create", Namespace: namespace, For: "recording events of a " + noun, Optional: true},
	}
}

// sourceRights leaves out the Secrets: in which namespaces they may be read is known from the sources
// alone, and each reports it when it may not.
func sourceRights(namespace string) []Right {
	const tenants, sources = "distributiontenants", "tenantsources"
	return []Right{
		{Group: v1alpha1.GroupName, Resource: sources, Verb: "list", Namespace: namespace, For: "finding the sources"},
		{Group: v1alpha1.GroupName, Resource: sources, Verb: "watch", Namespace: namespace, For: "following the sources"},
		{Group: v1alpha1.GroupName, Resource: sources, Verb: "get", Namespace: namespace, For: "confirming a source before tenants are changed"},
		{Group: v1alpha1.GroupName, Resource: sources, Verb: "patch", Namespace: namespace, For: "setting and removing the finalizer of a source"},
		{Group: v1alpha1.GroupName, Resource: sources + "/status", Verb: "patch", Namespace: namespace, For: "writing the status of a source"},
		{Group: v1alpha1.GroupName, Resource: tenants, Verb: "list", Namespace: namespace, For: "finding the tenants of sources"},
		{Group: v1alpha1.GroupName, Resource: tenants, Verb: "watch", Namespace: namespace, For: "following the tenants of sources"},
		{Group: v1alpha1.GroupName, Resource: tenants, Verb: "get", Namespace: namespace, For: "reading a tenant before it is deleted"},
		{Group: v1alpha1.GroupName, Resource: tenants, Verb: "create", Namespace: namespace, For: "creating tenants for new rows"},
		{Group: v1alpha1.GroupName, Resource: tenants, Verb: "patch", Namespace: namespace, For: "applying rows to tenants"},
		{Group: v1alpha1.GroupName, Resource: tenants, Verb: "delete", Namespace: namespace, For: "deleting tenants whose rows no longer exist"},
		{Group: "events.k8s.io", Resource: "events", Verb: "create", Namespace: namespace, For: "recording events of a source", Optional: true},
	}
}

// tenantRights leaves out which ClusterRoles may be bound, and which constraints made: that is known from the plans alone, and each
// reports it when it may not. Neither mesh nor policies are for every cluster.
func tenantRights() []Right {
	var out []Right
	for _, k := range []struct{ resource, noun string }{{"tenants", "tenant"}, {"tenantplans", "plan"}} {
		out = append(out,
			Right{Group: kleffv1.GroupName, Resource: k.resource, Verb: "list", For: "finding each " + k.noun},
			Right{Group: kleffv1.GroupName, Resource: k.resource, Verb: "watch", For: "following each " + k.noun},
			Right{Group: kleffv1.GroupName, Resource: k.resource, Verb: "get", For: "confirming a " + k.noun + " before the cluster is changed"},
			Right{Group: kleffv1.GroupName, Resource: k.resource, Verb: "patch", For: "setting and removing the finalizer of a " + k.noun},
			Right{Group: kleffv1.GroupName, Resource: k.resource + "/status", Verb: "patch", For: "writing the status of a " + k.noun})
	}
	for _, k := range []struct{ group, resource, noun string }{
		{"", "namespaces", "a tenant's namespace"}, {"", "resourcequotas", "a tenant's quota"}, {"", "limitranges", "a tenant's limits"},
		{"networking.k8s.io", "networkpolicies", "a tenant's network isolation"}, {rbacv1.GroupName, "rolebindings", "a tenant's role bindings"},
		{v1alpha1.GroupName, "distributiontenants", "a tenant's DistributionTenant"},
	} {
		out = append(out, childRights(k.group, k.resource, k.noun)...)
	}
	for _, verb := range []string{"list", "watch"} {
		out = append(out, Right{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions", Verb: verb, For: "noticing that Istio or Gatekeeper is installed or removed"})
	}
	mesh := slices.Concat(childRights("networking.istio.io", "gateways", "a tenant's gateway"),
		childRights("security.istio.io", "authorizationpolicies", "a tenant's AuthorizationPolicy"), childRights("security.istio.io", "peerauthentications", "a tenant's mTLS"))
	for _, verb := range []string{"list", "watch", "get"} {
		mesh = append(mesh, Right{Group: "constraints.gatekeeper.sh", Resource: "*", Verb: verb, For: "finding the constraints of plans"})
	}
	for n := range mesh {
		mesh[n].Optional = true
	}
	return append(append(out, mesh...), Right{Group: "events.k8s.io", Resource: "events", Verb: "create", For: "recording events of a tenant", Optional: true})
}

// childRights are those for a kind of what tenants have.
func childRights(group, resource, noun string) []Right {
	var out []Right
	for _, r := range []struct{ verb, what string }{
		{"list", "finding "}, {"watch", "following "}, {"get", "reading "}, {"create", "creating "}, {"patch", "creating and updating "}, {"delete", "deleting "},
	} {
		out = append(out, Right{Group: group, Resource: resource, Verb: r.verb, For: r.what + noun})
	}
	return out
}

func electionRights(namespace string) []Right {
	const group, leases = "coordination.k8s.io", "leases"
	const electing = "electing a leader (a single replica does not need it with --leader-elect=false)"
	return []Right{
		{Group: group, Resource: leases, Verb: "create", Namespace: namespace, For: electing},
		{Group: group, Resource: leases, Verb: "get", Namespace: namespace, Name: leaderElectionID, For: electing},
		{Group: group, Resource: leases, Verb: "update", Namespace: namespace, Name: leaderElectionID, For: electing},
		{Resource: "events", Verb: "create", Namespace: namespace, For: "recording events of the leader election", Optional: true},
	}
}

func budgetRights(namespace string) []Right {
	const memory = "storing which deletions were approved (not needed with --deletion-budget=false)"
	out := []Right{
		{Resource: "configmaps", Verb: "create", Namespace: namespace, For: memory},
		{Group: "events.k8s.io", Resource: "events", Verb: "create", Namespace: namespace, For: "recording events of held deletions", Optional: true},
	}
	for _, verb := range []string{"get", "list", "watch", "patch"} {
		out = append(out, Right{Resource: "configmaps", Verb: verb, Namespace: namespace, Name: budgetConfigMap, For: memory})
	}
	return out
}

// grantRights are needed in the whole cluster, because grants are for namespaces.
func grantRights() []Right {
	const group, kind, granting = v1alpha1.GroupName, "edgegrants", "knowing what namespaces may use (not needed with --grants=Off)"
	out := []Right{
		{Group: group, Resource: kind, Verb: "patch", For: "setting and removing the finalizer of a grant (not needed with --grants=Off)"},
		{Group: group, Resource: kind + "/status", Verb: "patch", For: "writing the status of a grant (not needed with --grants=Off)"},
	}
	for _, verb := range []string{"list", "watch"} {
		out = append(out, Right{Group: group, Resource: kind, Verb: verb, For: granting}, Right{Resource: "namespaces", Verb: verb, For: granting})
	}
	return out
}

// clusterCheckRights leave out creating the copy, as a right to create ConfigMaps in kube-system can't be limited to a name.
func clusterCheckRights(namespace, copied string) []Right {
	const noticing = "noticing that this is a copy of the cluster in which the operator was installed (not needed with --cluster-check=false)"
	const elsewhere = "noticing that also after an installation into another namespace (not needed with --cluster-check-copy-namespace=)"
	out := []Right{
		{Resource: "configmaps", Verb: "create", Namespace: namespace, For: noticing},
		{Resource: "configmaps", Verb: "get", Namespace: namespace, Name: clusterConfigMap, For: noticing},
		{Resource: "configmaps", Verb: "update", Namespace: namespace, Name: clusterConfigMap, For: noticing},
		{Resource: "configmaps", Verb: "get", Namespace: namespace, Name: clusteradapter.RootCA, For: noticing},
		{Group: "events.k8s.io", Resource: "events", Verb: "create", Namespace: namespace, For: "recording an event when the cluster is another one", Optional: true},
	}
	if copied != "" {
		for _, verb := range []string{"get", "update"} {
			out = append(out, Right{Resource: "configmaps", Verb: verb, Namespace: copied, Name: clusterConfigMap, For: elsewhere, Optional: true})
		}
	}
	return out
}

// webhookRights are optional: without them objects are accepted without the webhook's warnings.
func webhookRights(namespace, name string) []Right {
	const group, configurations = "admissionregistration.k8s.io", "validatingwebhookconfigurations"
	const serving = "serving the admission webhook, without which there are no warnings (not needed without --webhook-bind-address)"
	return []Right{
		{Resource: "secrets", Verb: "get", Namespace: namespace, Name: name + webhookSuffix, For: serving, Optional: true},
		{Resource: "secrets", Verb: "update", Namespace: namespace, Name: name + webhookSuffix, For: serving, Optional: true},
		{Group: group, Resource: configurations, Verb: "get", Name: name, For: serving, Optional: true},
		{Group: group, Resource: configurations, Verb: "patch", Name: name, For: serving, Optional: true},
	}
}

// leaseNamespace is the pod's own unless it is set. Nothing at all is not for here to report.
func (c Config) leaseNamespace() string {
	if c.LeaderElectionNamespace != "" {
		return c.LeaderElectionNamespace
	}
	return ownNamespace()
}

// ownNamespace is that of the pod; empty where the operator runs elsewhere.
func ownNamespace() string {
	own, err := os.ReadFile(podNamespace)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(own))
}

// checkRights fails when the operator could not work, and names all that is missing at once:
// otherwise the first refusal would be found in a log, then the next.
func checkRights(ctx context.Context, c Config, config *rest.Config) error {
	config = rest.CopyConfig(config)
	config.QPS = -1 // the few questions are asked once
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("creating a client: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, rightsTimeout)
	defer cancel()
	required, optional, err := missing(ctx, c.Rights(), func(ctx context.Context, a *authorizationv1.ResourceAttributes) (bool, error) {
		review, err := kube.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx,
			&authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: a}}, metav1.CreateOptions{})
		if err != nil {
			return false, err
		}
		return review.Status.Allowed, nil
	})
	log := ctrl.Log.WithName("operator")
	if err != nil {
		log.Error(err, "Could not check whether the operator has all permissions. Continuing as if it had")
	}
	if len(optional) > 0 {
		log.Error(errors.New(lack(self(ctx, kube), optional)), "The operator is missing optional permissions")
	}
	if len(required) > 0 {
		return errors.New(lack(self(ctx, kube), required))
	}
	return nil
}

// missing asks for each right whether it is there. What could not be asked is not missing.
//
// A review of all rules (SelfSubjectRulesReview) would be one question per namespace. It
// can't tell a right in all namespaces from one in the namespace asked about, and is
// incomplete by its own word on clusters whose authorizer is a webhook, as on EKS.
func missing(ctx context.Context, rights []Right, allowed func(context.Context, *authorizationv1.ResourceAttributes) (bool, error)) (required, optional []Right, err error) {
	verdicts, errs := make([]bool, len(rights)), make([]error, len(rights))
	var group errgroup.Group
	group.SetLimit(rightsAtOnce)
	for n, r := range rights {
		group.Go(func() error {
			verdicts[n], errs[n] = allowed(ctx, r.attributes())
			return nil
		})
	}
	_ = group.Wait() // every answer counts, and is in the lists
	for n, r := range rights {
		switch {
		case errs[n] != nil:
			err = fmt.Errorf("checking the permission to %s: %w", r, errs[n])
		case verdicts[n]:
		case r.Optional:
			optional = append(optional, r)
		default:
			required = append(required, r)
		}
	}
	return required, optional, err
}

func (r Right) attributes() *authorizationv1.ResourceAttributes {
	resource, subresource, _ := strings.Cut(r.Resource, "/")
	return &authorizationv1.ResourceAttributes{
		Group: r.Group, Resource: resource, Subresource: subresource, Verb: r.Verb, Namespace: r.Namespace, Name: r.Name,
	}
}

// String says the right in words.
func (r Right) String() string {
	text := r.Verb + " " + r.Resource
	if r.Group != "" {
		text += " of " + r.Group
	}
	if r.Name != "" {
		text += " named " + r.Name
	}
	if r.Namespace != "" {
		text += " in namespace " + r.Namespace
	}
	return text
}

// self is who we are to the API server.
func self(ctx context.Context, kube kubernetes.Interface) string {
	review, err := kube.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return "the operator"
	}
	return review.Status.UserInfo.Username
}

// lack says what is missing, what for, and how to get it.
func lack(who string, rights []Right) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s is not allowed to:\n", who)
	for _, r := range rights {
		fmt.Fprintf(&text, "- %s, for %s\n", r, r.For)
	}
	text.WriteString("This version's chart grants these permissions: upgrade the release with rbac.create=true. Or grant them manually:")
	for _, place := range places(rights) {
		fmt.Fprintf(&text, "\n%s", place)
	}
	return text.String()
}

// places says for each role that is to be completed which rules it needs.
func places(rights []Right) []string {
	byRole := map[string][]string{}
	var roles []string
	for _, r := range rights {
		role := "in a ClusterRole with a ClusterRoleBinding"
		if r.Namespace != "" {
			role = "in a Role of namespace " + r.Namespace
		}
		if byRole[role] == nil {
			roles = append(roles, role)
		}
		byRole[role] = append(byRole[role], r.rule())
	}
	var out []string
	for _, role := range roles {
		out = append(out, role+":\n"+strings.Join(byRole[role], "\n"))
	}
	return out
}

// rule is the right as an entry of a role's rules.
func (r Right) rule() string {
	name := ""
	if r.Name != "" {
		name = fmt.Sprintf(", resourceNames: [%q]", r.Name)
	}
	return fmt.Sprintf("- {apiGroups: [%q], resources: [%q], verbs: [%q]%s}", r.Group, r.Resource, r.Verb, name)
}
