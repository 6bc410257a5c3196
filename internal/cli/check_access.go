package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	clusteradapter "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/kube/cluster"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli/fleet"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/grant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/grants"
)

// selfReport is what the operator says of its access to AWS. unknown is why it is not known.
type selfReport struct {
	facts   map[string]string
	unknown *finding
}

// said reads what the operator says, from the ConfigMap in its namespace.
func (s *session) said(ctx context.Context, namespace string) selfReport {
	c, err := s.client()
	var m corev1.ConfigMap
	if err == nil {
		err = c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: clusteradapter.Name}, &m)
	}
	var f finding
	_, says := m.Data[clusteradapter.KeyAccount]
	switch {
	case says:
		return selfReport{facts: m.Data}
	case apierrors.IsForbidden(err):
		f = warning(askAdmin, "You may not read the ConfigMap %s/%s.", namespace, clusteradapter.Name)
	case err != nil && !apierrors.IsNotFound(err):
		f = failed("", "%v", err)
	default:
		f = warning("Run helm test. The operator says it within a minute after a replica leads, unless clusterCheck.enabled is false.",
			"The operator has not said it in the ConfigMap %s/%s.", namespace, clusteradapter.Name)
	}
	return selfReport{unknown: &f}
}

func (r selfReport) identity() finding {
	if r.unknown != nil {
		return *r.unknown
	}
	if why := r.facts[clusteradapter.KeyError]; why != "" {
		return failed("Give the operator's ServiceAccount a role, with EKS Pod Identity or IRSA, and restart its pods: "+installPage+"#1-permissions-and-identity-in-aws", "%s", why)
	}
	return well("account %s, %s", r.facts[clusteradapter.KeyAccount], r.facts[clusteradapter.KeyIdentity])
}

// preflight is the policy without which everything works, with less specific messages.
const preflight = "preflight"

// permissions says which operations AWS denied when they were last called, and which policies allow them.
func (r selfReport) permissions() finding {
	if r.unknown != nil {
		return *r.unknown
	}
	denied := strings.Fields(r.facts[clusteradapter.KeyDenied])
	if len(denied) == 0 {
		return well("AWS has denied no call.")
	}
	var features []string
	needed := false
	for _, operation := range denied {
		allowed := policies[operation]
		if slices.Contains(allowed, preflight) {
			allowed = []string{preflight}
		} else {
			needed = true
		}
		features = append(features, allowed...)
	}
	slices.Sort(features)
	attach := "Allow it"
	if features = slices.Compact(features); len(features) > 0 {
		attach = "Add " + prose.List(features) + " to the features of the CloudFormation stack or Terraform module, or attach these policies of config/iam"
	}
	f := warning(attach+". If the identity has them, look for a service control policy or a permissions boundary that denies the call.",
		"AWS denied the last call of %s.", strings.Join(denied, ", "))
	if needed {
		f.State = checkFailed
	}
	return f
}

// checkObjects looks whether objects need an action, those that AWS denies something first.
func (s *session) checkObjects(ctx context.Context) finding {
	var kinds []string
	if s.cluster.chosen() != "" {
		kinds = []string{kindTenant, "Distribution", "ConnectionGroup", "TenantSource", "Invalidation"}
	}
	f, err := s.load(ctx, kinds...)
	if err != nil {
		return warning(askAdmin, "%v.", err)
	}
	all, waiting := count(len(f.All()), "object", "objects"), fleet.In(f.All(), fleet.Person)
	denied := slices.IndexFunc(waiting, func(i fleet.Item) bool { return i.Why().Reason == v1alpha1.ReasonAccessDenied })
	switch {
	case len(waiting) == 0:
		return well("%s in %s, none needs you", all, s.cluster.scope())
	case denied >= 0:
		i := waiting[denied]
		fix := "Run kubectl cfdt explain " + explainArgs(i.Kind, i.Name()) + "."
		return failed(fix, "AWS denies a call for %s %s: %s", i.Kind, i.Name(), i.Why().Message)
	}
	return warning("Run kubectl cfdt status.", "%d of %s in %s %s.", len(waiting), all, s.cluster.scope(), needs(len(waiting)))
}

func (s *session) checkGrant(ctx context.Context) finding {
	run, err := s.settings(ctx)
	if err != nil {
		return warning("Run kubectl cfdt grants check with --grants and --default-grant.", "It is not known how the operator runs: %v.", err)
	}
	namespace := s.cluster.chosen()
	mode := grants.Mode(cmp.Or(run["grants"], string(grants.Off)))
	g, err := s.checkGrants(ctx, namespace, mode, run["default-grant"])
	switch {
	case apierrors.IsForbidden(err):
		return warning(askAdmin, "%v.", err)
	case apierrors.IsNotFound(err):
		return failed("Choose a namespace with -n, or create it.", "%v", err)
	case err != nil:
		return failed("", "%v", err)
	case mode == grants.Off:
		return well("namespace %s may use everything: grants are switched off", namespace)
	case len(g.Rivals) > 0:
		rivals := strings.Join(g.Rivals, " and ")
		return failed("Let one of them select the namespace.", "Namespace %s may use nothing: %s select it equally.", namespace, rivals)
	case g.Grant == "":
		return failed("Ask an administrator for an EdgeGrant that selects the namespace.",
			"Namespace %s may use nothing: no EdgeGrant selects it.", namespace)
	case len(g.Refused) > 0:
		ask := count(len(g.Refused), "object of namespace "+namespace+" asks for", "objects of namespace "+namespace+" ask for")
		return failed("Run kubectl cfdt grants check "+namespace+".", "%s more than %s allows.", ask, g.applies())
	}
	return well("namespace %s has %s: %s", namespace, g.applies(), g.Allows)
}

// allows is the gist of a grant: its kinds, distributions, domains and zones.
func allows(g *grant.Grant) string {
	var distributions, domains, zones []string
	for _, d := range g.Distributions {
		distributions = append(distributions, d.Is)
	}
	for _, d := range g.Domains {
		domains = append(domains, d.Suffix)
	}
	if g.DNS != nil {
		for _, z := range g.DNS.Zones {
			zones = append(zones, z.String())
		}
	}
	var out []string
	for _, part := range []struct {
		name   string
		values []string
	}{{"", g.Kinds}, {"distributions ", distributions}, {"domains ", domains}, {"zones ", zones}} {
		out = append(out, part.name+cmp.Or(strings.ReplaceAll(firstFew(part.values), "*", "any"), "none"))
	}
	return strings.Join(out, "; ")
}

// checkDistributions looks for a distribution that can have tenants: in the namespace or, if it has none, in the cluster.
func (s *session) checkDistributions(ctx context.Context) finding {
	c, err := s.client()
	if err != nil {
		return failed("", "%v", err)
	}
	var others []string
	for _, namespace := range []string{s.cluster.chosen(), ""} {
		f, err := fleet.Load(ctx, c, namespace, kindTenant, "Distribution")
		if err != nil {
			return failed("", "%v", err)
		}
		var found []string
		if found, others = distributionsOf(f); len(found) > 0 {
			return well("%s can have tenants", firstFew(found))
		}
	}
	if len(others) > 0 {
		return warning("Wait, or run kubectl cfdt explain distribution/NAME.", "Not ready yet: %s.", firstFew(others))
	}
	return warning("Create a Distribution, or use the ID of a multi-tenant distribution: aws cloudfront list-distributions "+
		"--query \"DistributionList.Items[?ConnectionMode=='tenant-only'].Id\"", "No object that you may read has a distribution yet.")
}

// distributionsOf are those that can have tenants: objects that are ready or, without any, the IDs that tenants use.
func distributionsOf(f *fleet.Fleet) (found, others []string) {
	for _, i := range f.Kind("Distribution") {
		o := i.Object.(*v1alpha1.Distribution) //nolint:forcetypeassert // items are kept by their kind
		switch {
		case o.Spec.ConnectionMode == v1alpha1.ConnectionModeDirect:
		case i.State() == fleet.Ready:
			found = append(found, i.Name())
		default:
			others = append(others, fmt.Sprintf("%s (%s)", i.Name(), i.Why().Reason))
		}
	}
	if len(found) == 0 {
		found = distributionsInUse(f)
	}
	return found, others
}

// distributionsInUse are the IDs of those that have a tenant that is ready.
func distributionsInUse(f *fleet.Fleet) (ids []string) {
	for _, t := range f.Tenants() {
		if id := t.Status.DistributionID; id != "" && fleet.Of(t).State() == fleet.Ready && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}
