package chart_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

const (
	patience = time.Minute
	kindName = "distributiontenants.cloudfront-tenant-operator.io"
	group    = "cloudfront-tenant-operator.io"
)

// The whole life of a release, with each supported release of Helm.
func TestReleaseLife(t *testing.T) {
	for _, tool := range []string{"helm3", "helm"} {
		t.Run(tool, func(t *testing.T) { releaseLife(t, tool) })
	}
}

// releaseLife is one test because each step starts where the one before has ended, and the kinds exist once in a cluster.
func releaseLife(t *testing.T, tool string) {
	t.Helper()
	l := life{T: t, tool: tool, chart: filepath.Join(t.TempDir(), "chart")}
	if err := os.CopyFS(l.chart, os.DirFS(chartDir)); err != nil {
		t.Fatal(err)
	}

	notes := l.helm("watchNamespaces: []", "install", release, l.chart)
	if !strings.Contains(notes, "kubectl -n "+namespace+" rollout status deployment/"+release) {
		t.Errorf("the notes don't say how to follow the start:\n%s", notes)
	}
	l.settled()
	tenant := l.createTenant("acme")
	kind := l.kind()
	t.Run("the operator's rights", l.checkRights)
	t.Run("people's rights", l.checkPeople)
	t.Run("deletion of the CRDs", l.checkCRDs)

	l.refuses("controller: {driftPolicy: repair}", "at '/controller/driftPolicy': value must be one of 'enforce', 'report', 'suspend'")

	// The next version's kind has one field more.
	crd := filepath.Join(l.chart, "files", "crds", group+"_distributiontenants.yaml")
	l.rewrite(crd, "              distributionRef:\n", "              fieldOfTheNextVersion:\n                type: string\n              distributionRef:\n")
	l.helm("replicas: 1\nwatchNamespaces: [team-a]", "upgrade", release, l.chart)
	l.settled()
	if upgraded := l.kind(); upgraded.GetUID() != kind.GetUID() || !strings.Contains(l.text(upgraded), "fieldOfTheNextVersion") {
		t.Error("the upgrade did not carry the new kind, or made another")
	}
	if d := l.deployment(); *d.Spec.Replicas != 1 {
		t.Errorf("after the upgrade there are %d replicas, want 1", *d.Spec.Replicas)
	}
	t.Run("the operator's rights in one namespace", l.checkNarrowRights)

	l.helm(production, "upgrade", release, l.chart)
	if d := l.deployment(); *d.Spec.Replicas != 2 || d.Spec.Template.Spec.PriorityClassName != "system-cluster-critical" {
		t.Errorf("with the values for production the Deployment is %+v", d.Spec)
	}

	// The steps of the tutorial in docs/grants.md, after the default grant was extended: once it is taken away, it stays
	// away.
	for _, set := range []string{"grants.default.dns.takeover=Any", "grants.mode=Audit", "grants.defaultEnabled=false", "grants.mode=Enforce"} {
		l.run(l.tool, "upgrade", release, l.chart, "--namespace", namespace, "--reuse-values", "--set", set)
	}
	args := l.deployment().Spec.Template.Spec.Containers[0].Args
	if !slices.Contains(args, "--grants=Enforce") || slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "--default-grant") }) {
		t.Errorf("after the tutorial the operator has the flags %q", args)
	}

	// Another tool takes the CRDs over: they leave the release, and stay.
	l.helm("crds: {install: false}", "upgrade", release, l.chart)
	if l.kind().GetUID() != kind.GetUID() {
		t.Error("with crds.install=false the upgrade replaced the kind")
	}

	l.helm("crds: {install: true}", "upgrade", release, l.chart)
	l.run("kubectl", "patch", "configmap", "-n", "kube-system", fingerprint, "--type=merge", "-p", `{"data":{"issuer":"https://issuer"}}`)
	l.run(l.tool, "uninstall", release, "--namespace", namespace)
	l.gone(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: release, Namespace: namespace}})
	if l.kind().GetUID() != kind.GetUID() {
		t.Error("the uninstall replaced the kind")
	}
	l.unharmed(tenant)
	l.keepsFingerprint()

	notes = l.helm("{}", "install", release, l.chart)
	if !strings.Contains(notes, "cannot read Secrets yet: list their namespaces in rbac.secretNamespaces") {
		t.Errorf("the notes don't say what sources need:\n%s", notes)
	}
	l.settled()
	if l.kind().GetUID() != kind.GetUID() {
		t.Error("installing again replaced the kind")
	}
	l.unharmed(tenant)
	l.keepsFingerprint()

	// Only a user who asks for it loses the fleet.
	l.helm("crds: {keep: false}", "upgrade", release, l.chart)
	l.run(l.tool, "uninstall", release, "--namespace", namespace)
	l.gone(l.newKind())
}

// fingerprint is the ConfigMap with the copy of the cluster's fingerprint.
const fingerprint = "cloudfront-tenant-operator-cluster"

// keepsFingerprint checks that the copy still has what the operator has stored.
func (l life) keepsFingerprint() {
	l.Helper()
	if out := l.run("kubectl", "get", "configmap", "-n", "kube-system", fingerprint, "-o", "jsonpath={.data.issuer}"); out != "https://issuer" {
		l.Errorf("the copy of the fingerprint has the issuer %q", out)
	}
}

type life struct {
	*testing.T
	// tool is the release of Helm.
	tool, chart string
}

func (l life) run(tool string, args ...string) string {
	l.Helper()
	out, err := run(l.Context(), tool, nil, args...)
	if err != nil {
		l.Fatalf("%s %s: %v\n%s", tool, strings.Join(args, " "), err, out)
	}
	return out
}

func (l life) helm(values string, args ...string) string {
	l.Helper()
	out, err := helmOf(l.T, l.tool, values, args...)
	if err != nil {
		l.Fatalf("helm %s with %s: %v\n%s", strings.Join(args, " "), values, err, out)
	}
	return out
}

// refuses tries an upgrade that must be refused, and leave everything as it is.
func (l life) refuses(values, message string) {
	l.Helper()
	before := l.deployment()
	if out, err := helmOf(l.T, l.tool, values, "upgrade", release, l.chart); err == nil || !strings.Contains(out, message) {
		l.Errorf("an upgrade with %s: %v\n%s\nwant %q", values, err, out, message)
	}
	if after := l.deployment(); after.Generation != before.Generation {
		l.Errorf("an upgrade that was refused changed the Deployment")
	}
}

func (l life) rewrite(path, before, after string) {
	l.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		l.Fatal(err)
	}
	if strings.Count(string(content), before) != 1 {
		l.Fatalf("%s has %q not exactly once", path, before)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(content), before, after, 1)), 0o644); err != nil {
		l.Fatal(err)
	}
}

func (l life) newKind() *unstructured.Unstructured {
	crd := &unstructured.Unstructured{}
	crd.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
	crd.SetName(kindName)
	return crd
}

func (l life) kind() *unstructured.Unstructured {
	l.Helper()
	crd := l.newKind()
	if err := kube.Get(l.Context(), client.ObjectKeyFromObject(crd), crd); err != nil {
		l.Fatalf("the kind: %v", err)
	}
	if !crd.GetDeletionTimestamp().IsZero() {
		l.Fatal("the kind is being deleted")
	}
	return crd
}

func (l life) text(o *unstructured.Unstructured) string {
	l.Helper()
	text, err := o.MarshalJSON()
	if err != nil {
		l.Fatal(err)
	}
	return string(text)
}

func (l life) deployment() *appsv1.Deployment {
	l.Helper()
	d := &appsv1.Deployment{}
	if err := kube.Get(l.Context(), client.ObjectKey{Namespace: namespace, Name: release}, d); err != nil {
		l.Fatal(err)
	}
	return d
}

// settled waits until objects of the kind are served.
func (l life) settled() {
	l.Helper()
	NewWithT(l).Eventually(func() error {
		return kube.List(l.Context(), &v1alpha1.DistributionTenantList{})
	}).WithTimeout(patience).Should(Succeed(), "tenants are served")
}

// createTenant creates an object that holds on to its finalizer, as all of the fleet do.
func (l life) createTenant(name string) *v1alpha1.DistributionTenant {
	l.Helper()
	o := &v1alpha1.DistributionTenant{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "team-a"},
		Spec:       v1alpha1.DistributionTenantSpec{DistributionID: "E2EXAMPLE1", Domains: []v1alpha1.TenantDomain{{Domain: name + ".example.com"}}},
	}
	if err := kube.Create(l.Context(), o); err != nil {
		l.Fatal(err)
	}
	return o
}

func (l life) unharmed(before *v1alpha1.DistributionTenant) {
	l.Helper()
	after := &v1alpha1.DistributionTenant{}
	if err := kube.Get(l.Context(), client.ObjectKeyFromObject(before), after); err != nil {
		l.Fatalf("the tenant: %v", err)
	}
	if after.UID != before.UID || !after.DeletionTimestamp.IsZero() || after.ResourceVersion != before.ResourceVersion {
		l.Errorf("the tenant was touched: %+v", after.ObjectMeta)
	}
}

func (l life) gone(o client.Object) {
	l.Helper()
	NewWithT(l).Eventually(func() bool {
		return apierrors.IsNotFound(kube.Get(l.Context(), client.ObjectKeyFromObject(o), o))
	}).WithTimeout(patience).Should(BeTrue(), o.GetName()+" is gone")
}

// right is something that one may do, or may not.
type right struct {
	namespace, verb, group, resource, subresource, name string
}

var account = rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: release}

func (l life) checkRights(t *testing.T) {
	check(t, account, map[right]bool{
		{"team-a", "patch", group, "distributiontenants", "", "acme"}:                    true,
		{"team-b", "watch", group, "distributiontenants", "", ""}:                        true,
		{"team-a", "patch", group, "distributiontenants", "status", "acme"}:              true,
		{"team-a", "create", "events.k8s.io", "events", "", ""}:                          true,
		{"kube-system", "get", "", "namespaces", "", "kube-system"}:                      true,
		{"", "create", "authentication.k8s.io", "tokenreviews", "", ""}:                  true,
		{"", "create", "authorization.k8s.io", "subjectaccessreviews", "", ""}:           true,
		{namespace, "create", "coordination.k8s.io", "leases", "", ""}:                   true,
		{namespace, "update", "coordination.k8s.io", "leases", "", release}:              true,
		{namespace, "update", "coordination.k8s.io", "leases", "", "another"}:            false,
		{"team-a", "update", "coordination.k8s.io", "leases", "", release}:               false,
		{namespace, "update", "", "configmaps", "", release + "-cluster"}:                true,
		{namespace, "get", "", "configmaps", "", "kube-root-ca.crt"}:                     true,
		{namespace, "update", "", "configmaps", "", "kube-root-ca.crt"}:                  false,
		{namespace, "delete", "", "configmaps", "", release + "-cluster"}:                false,
		{"team-a", "delete", group, "distributiontenants", "", "acme"}:                   true,
		{"team-a", "create", group, "distributiontenants", "", ""}:                       true,
		{"team-a", "deletecollection", group, "distributiontenants", "", ""}:             false,
		{"team-a", "patch", group, "tenantsources", "", "customers"}:                     true,
		{"team-a", "patch", group, "tenantsources", "status", "customers"}:               true,
		{"team-a", "create", group, "tenantsources", "", ""}:                             false,
		{"team-a", "delete", group, "tenantsources", "", "customers"}:                    false,
		{"team-a", "patch", group, "distributions", "", "shop"}:                          true,
		{"team-a", "patch", group, "distributions", "status", "shop"}:                    true,
		{"team-a", "delete", group, "distributions", "", "shop"}:                         false,
		{"team-b", "watch", group, "connectiongroups", "", ""}:                           true,
		{"team-a", "patch", group, "connectiongroups", "status", "shop"}:                 true,
		{"team-a", "create", group, "connectiongroups", "", ""}:                          false,
		{"team-a", "get", "", "secrets", "", "credentials"}:                              false,
		{namespace, "get", "", "secrets", "", "credentials"}:                             false,
		{"team-a", "get", "", "namespaces", "", "team-a"}:                                false,
		{"", "list", "", "namespaces", "", ""}:                                           true, // grants select them by labels
		{"", "patch", "apiextensions.k8s.io", "customresourcedefinitions", "", kindName}: false,
		{namespace, "escalate", "rbac.authorization.k8s.io", "roles", "", ""}:            false,
		{namespace, "create", "", "serviceaccounts", "token", release}:                   false,
		{namespace, "create", "", "pods", "", ""}:                                        false,
	})
}

func (l life) checkNarrowRights(t *testing.T) {
	check(t, account, map[right]bool{
		{"team-a", "patch", group, "distributiontenants", "", "acme"}: true,
		{"team-a", "create", "events.k8s.io", "events", "", ""}:       true,
		{"team-a", "delete", group, "distributiontenants", "", ""}:    true,
		{"team-a", "list", group, "tenantsources", "", ""}:            true,
		{"team-a", "patch", group, "distributions", "", "shop"}:       true,
		{"team-a", "list", group, "connectiongroups", "", ""}:         true,
		{"team-b", "list", group, "distributions", "", ""}:            false,
		{"team-b", "list", group, "distributiontenants", "", ""}:      false,
		{"team-b", "delete", group, "distributiontenants", "", ""}:    false,
		{"team-b", "list", group, "tenantsources", "", ""}:            false,
		{"", "list", group, "distributiontenants", "", ""}:            false,
		{"team-b", "create", "events.k8s.io", "events", "", ""}:       false,
	})
	l.helm("rbac: {secretNamespaces: [team-b]}", "upgrade", release, l.chart)
	check(t, account, map[right]bool{
		{"team-b", "get", "", "secrets", "", "credentials"}: true,
		{"team-b", "list", "", "secrets", "", ""}:           false,
		{"team-b", "watch", "", "secrets", "", ""}:          false,
		{"team-a", "get", "", "secrets", "", "credentials"}: false,
	})
	l.helm("controller: {controllers: [distributiontenant]}", "upgrade", release, l.chart)
	check(t, account, map[right]bool{
		{"team-a", "patch", group, "distributiontenants", "", "acme"}: true,
		{"team-a", "create", group, "distributiontenants", "", ""}:    false,
		{"team-a", "delete", group, "distributiontenants", "", ""}:    false,
		{"team-a", "list", group, "tenantsources", "", ""}:            false,
		{"team-a", "patch", group, "distributions", "", "shop"}:       false,
		{"team-a", "patch", group, "connectiongroups", "", "shop"}:    false,
	})
	l.helm("controller: {controllers: [distributiontenant, distribution]}", "upgrade", release, l.chart)
	check(t, account, map[right]bool{
		{"team-a", "patch", group, "distributions", "status", "shop"}:    true,
		{"team-a", "patch", group, "connectiongroups", "status", "shop"}: false,
	})
}

// allowDeletion is the annotation of a CRD that can be deleted.
const allowDeletion = group + "/allow-deletion"

// checkCRDs tries to delete CRDs as the administrator, whom no right holds.
func (l life) checkCRDs(t *testing.T) {
	g := NewWithT(t)
	remove := func(name string) error {
		crd := l.newKind()
		crd.SetName(name)
		return kube.Delete(t.Context(), crd, client.DryRunAll)
	}
	for name, kind := range map[string]string{kindName: "DistributionTenant", "tenantsources." + group: "TenantSource", "distributions." + group: "Distribution", "connectiongroups." + group: "ConnectionGroup"} {
		g.Eventually(func() error { return remove(name) }).WithTimeout(patience). // the API server takes up a policy after a moment
												Should(MatchError(And(
				ContainSubstring("deleting the CustomResourceDefinition "+name+" deletes every "+kind+" of the cluster"),
				ContainSubstring("kubectl annotate crd "+name+" "+allowDeletion+"=true"))))
	}
	if err := remove("certificates.cert-manager.io"); err != nil {
		t.Errorf("deleting a CRD of someone else: %v", err)
	}
	all := l.newKind()
	if err := kube.DeleteAllOf(t.Context(), all, client.DryRunAll); !apierrors.IsForbidden(err) {
		t.Errorf("deleting all CRDs: %v, want that it is forbidden", err)
	}
	for value, want := range map[string]bool{"false": false, "true": true} {
		l.run("kubectl", "annotate", "crd", kindName, allowDeletion+"="+value, "--overwrite")
		if err := remove(kindName); (err == nil) != want {
			t.Errorf("with the annotation %s: %v, want that it can be deleted: %t", value, err, want)
		}
	}
	l.run("kubectl", "annotate", "crd", kindName, allowDeletion+"-")
}

// checkPeople looks at what members of the cluster's own roles may do.
func (l life) checkPeople(t *testing.T) {
	for role, rights := range map[string]map[right]bool{
		"view": {
			{"team-a", "list", group, "distributiontenants", "", ""}:      true,
			{"team-a", "patch", group, "distributiontenants", "", "acme"}: false,
			{"team-b", "list", group, "distributiontenants", "", ""}:      false,
			{"team-a", "watch", group, "tenantsources", "", ""}:           true,
			{"team-a", "get", group, "tenantsources", "status", "a"}:      true,
			{"team-a", "patch", group, "tenantsources", "", "a"}:          false,
			{"team-a", "list", group, "distributions", "", ""}:            true,
			{"team-a", "get", group, "connectiongroups", "status", "a"}:   true,
			{"team-a", "delete", group, "distributions", "", "a"}:         false,
		},
		"edit": {
			{"team-a", "list", group, "distributiontenants", "", ""}:        true,
			{"team-a", "create", group, "distributiontenants", "", ""}:      false,
			{"team-a", "delete", group, "distributions", "", "a"}:           false,
			{"team-a", "patch", group, "tenantsources", "", "a"}:            false,
			{"team-a", "create", group, "connectiongroups", "", ""}:         false,
			{"team-a", "adopt", group, "distributiontenants", "", ""}:       false,
			{"team-a", "patch", group, "distributiontenants", "status", ""}: false,
		},
		"admin": {
			{"team-a", "list", group, "tenantsources", "", ""}:       true,
			{"team-a", "create", group, "tenantsources", "", ""}:     false,
			{"team-a", "abandon", group, "tenantsources", "", ""}:    false,
			{"team-a", "delete", group, "connectiongroups", "", "a"}: false,
		},
		release + "-distributiontenants-editor": {
			{"team-a", "create", group, "distributiontenants", "", ""}:           true,
			{"team-a", "delete", group, "distributiontenants", "", "acme"}:       true,
			{"team-a", "get", group, "distributiontenants", "status", "acme"}:    true,
			{"team-a", "patch", group, "distributiontenants", "status", "acme"}:  false,
			{"team-a", "update", group, "distributiontenants", "status", "acme"}: false,
			{"team-a", "deletecollection", group, "distributiontenants", "", ""}: false,
			{"team-a", "create", group, "tenantsources", "", ""}:                 false,
			{"team-b", "create", group, "distributiontenants", "", ""}:           false,
		},
		release + "-tenantsources-editor": {
			{"team-a", "create", group, "tenantsources", "", ""}:       true,
			{"team-a", "patch", group, "tenantsources", "status", "a"}: false,
			{"team-a", "create", group, "distributiontenants", "", ""}: false,
		},
		release + "-distributions-editor": {
			{"team-a", "delete", group, "distributions", "", "a"}:         true,
			{"team-a", "create", group, "connectiongroups", "", ""}:       true,
			{"team-a", "patch", group, "connectiongroups", "status", "a"}: false,
			{"team-a", "create", group, "distributiontenants", "", ""}:    false,
		},
		release + "-adopt": {
			{"team-a", "adopt", group, "distributions", "", ""}:          true,
			{"team-a", "takeover", group, "distributiontenants", "", ""}: false,
		},
	} {
		person := rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: role + "er"}
		binding := &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: role, Namespace: "team-a"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects:   []rbacv1.Subject{person},
		}
		if err := kube.Create(t.Context(), binding); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = kube.Delete(context.WithoutCancel(t.Context()), binding) })
		check(t, person, rights)
	}
}

// check waits for what a user may do, since the API server's authorizer follows the roles with a delay, and then looks
// at what they may not do.
func check(t *testing.T, who rbacv1.Subject, rights map[right]bool) {
	t.Helper()
	user, groups := who.Name, []string{"system:authenticated"}
	if who.Kind == rbacv1.ServiceAccountKind {
		user = "system:serviceaccount:" + who.Namespace + ":" + who.Name
		groups = append(groups, "system:serviceaccounts", "system:serviceaccounts:"+who.Namespace)
	}
	allowed := func(r right) bool {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: user, Groups: groups,
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: r.namespace, Verb: r.verb, Group: r.group, Resource: r.resource, Subresource: r.subresource, Name: r.name,
			},
		}}
		if err := kube.Create(t.Context(), review); err != nil {
			t.Fatal(err)
		}
		return review.Status.Allowed
	}
	g := NewWithT(t)
	for _, want := range []bool{true, false} {
		for r, granted := range rights {
			if granted == want {
				g.Eventually(func() bool { return allowed(r) }).WithTimeout(patience).Should(Equal(want), "%s may do %+v", user, r)
			}
		}
	}
}
