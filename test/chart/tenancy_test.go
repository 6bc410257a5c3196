package chart_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
)

// Plans may name the resources that the values list, in addition to those that the code knows.
func TestPlansGetTheRightsThatTheValuesName(t *testing.T) {
	always := []string{
		"+create /limitranges", "+create /namespaces", "+create /resourcequotas", "+create networking.k8s.io/networkpolicies", "+create rbac.authorization.k8s.io/rolebindings",
	}
	for name, c := range map[string]struct {
		values string
		more   []string
	}{
		"the defaults": {"tenancy: {enabled: true}", []string{
			"+create constraints.gatekeeper.sh/kleffallowedregistries", "+create constraints.gatekeeper.sh/kleffpodsecurity",
			"+create networking.istio.io/gateways", "+create security.istio.io/authorizationpolicies", "+create security.istio.io/peerauthentications",
			"+bind rbac.authorization.k8s.io/clusterroles edit", "+bind rbac.authorization.k8s.io/clusterroles view",
		}},
		"no mesh, no policies, no roles": {"tenancy: {enabled: true, istio: {enabled: false}, gatekeeper: {constraints: []}, ownerClusterRoles: []}", nil},
		"all policies, and a role of one's own": {
			"tenancy: {enabled: true, istio: {enabled: false}, gatekeeper: {constraints: ['*']}, ownerClusterRoles: ['acme:customer']}",
			[]string{"+create constraints.gatekeeper.sh/*", "+bind rbac.authorization.k8s.io/clusterroles acme:customer"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := slices.Concat(always, c.more)
			slices.Sort(want)
			if diff := cmp.Diff(want, difference(powers(t, "{}"), powers(t, c.values))); diff != "" {
				t.Errorf("the operator may create or bind, in addition to what it may without tenants (-want +got):\n%s", diff)
			}
		})
	}
}

// powers lists what the operator may create in the whole cluster, or bind.
func powers(t *testing.T, values string) []string {
	t.Helper()
	var out []string
	for _, o := range render(t, values).find("ClusterRole") {
		if o.GetName() != release {
			continue
		}
		role := &rbacv1.ClusterRole{}
		as(t, o, role)
		for _, rule := range role.Rules {
			for _, verb := range []string{"create", "bind"} {
				if slices.Contains(rule.Verbs, verb) {
					out = append(out, objects(verb, rule)...)
				}
			}
		}
	}
	return out
}

func objects(verb string, rule rbacv1.PolicyRule) []string {
	names := rule.ResourceNames
	if len(names) == 0 {
		names = []string{""}
	}
	var out []string
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			for _, name := range names {
				out = append(out, strings.TrimSpace(verb+" "+group+"/"+resource+" "+name))
			}
		}
	}
	return out
}

const (
	kleff   = kleffv1.GroupName
	rbac    = rbacv1.GroupName
	withNew = "tenancy: {enabled: true}"
)

// Customers' namespaces are turned on, off and on again. Existing ones stay until a user deletes them.
func TestTenancyLife(t *testing.T) {
	l := life{T: t, tool: "helm", chart: chartDir}
	notes := l.helm(withNew, "install", release, l.chart)
	for _, piece := range []string{"kubectl get tenantplans,tenants", release + "-tenants-editor", "Plans can give customers the ClusterRoles edit, view."} {
		if !strings.Contains(notes, piece) {
			t.Errorf("the notes lack %q:\n%s", piece, notes)
		}
	}
	NewWithT(t).Eventually(func() error { return kube.List(t.Context(), &kleffv1.TenantList{}) }).WithTimeout(patience).Should(Succeed(), "tenants are served")
	t.Run("the operator's rights", l.checkTenancyRights)
	t.Run("people's rights", l.checkTenancyPeople)
	t.Run("deletion protection", l.checkDeletionProtection)

	tenant := l.createCustomer("stays", false)
	l.helm("tenancy: {enabled: false}", "upgrade", release, l.chart)
	var after kleffv1.Tenant
	if err := kube.Get(t.Context(), client.ObjectKeyFromObject(tenant), &after); err != nil || after.UID != tenant.UID {
		t.Fatalf("turned off, the tenant is %s, %v; want %s", after.UID, err, tenant.UID)
	}
	check(t, account, map[right]bool{
		{"", "patch", group, "distributiontenants", "", ""}: true,
		{"", "delete", "", "namespaces", "", ""}:            false,
		{"", "list", kleff, "tenants", "", ""}:              false,
		{"", "bind", rbac, "clusterroles", "", "edit"}:      false,
	})

	l.helm("crds: {keep: false}\n"+withNew, "upgrade", release, l.chart)
	if err := kube.Get(t.Context(), client.ObjectKeyFromObject(tenant), &after); err != nil || after.UID != tenant.UID {
		t.Fatalf("turned on again, the tenant is %s, %v; want %s", after.UID, err, tenant.UID)
	}
	l.run(l.tool, "uninstall", release, "--namespace", namespace)
	for _, name := range []string{kindName, "tenants." + kleff, "tenantplans." + kleff} {
		crd := l.newKind()
		crd.SetName(name)
		l.gone(crd)
	}
}

func (l life) checkTenancyRights(t *testing.T) {
	check(t, account, map[right]bool{
		{"", "list", kleff, "tenants", "", ""}:                                        true,
		{"", "patch", kleff, "tenants", "status", "acme"}:                             true,
		{"", "patch", kleff, "tenantplans", "", "basic"}:                              true,
		{"", "patch", kleff, "tenantplans", "status", "basic"}:                        true,
		{"", "create", "", "namespaces", "", ""}:                                      true,
		{"acme", "delete", "", "namespaces", "", "acme"}:                              true,
		{"acme", "patch", "", "resourcequotas", "", "kleff-plan"}:                     true,
		{"acme", "create", rbac, "rolebindings", "", ""}:                              true,
		{"acme", "bind", rbac, "clusterroles", "", "edit"}:                            true,
		{"acme", "create", "networking.istio.io", "gateways", "", ""}:                 true,
		{"", "watch", "constraints.gatekeeper.sh", "k8srequiredlabels", "", ""}:       true,
		{"", "create", "constraints.gatekeeper.sh", "kleffpodsecurity", "", ""}:       true,
		{"", "watch", "apiextensions.k8s.io", "customresourcedefinitions", "", ""}:    true,
		{"acme", "create", "events.k8s.io", "events", "", ""}:                         true,
		{"", "create", kleff, "tenants", "", ""}:                                      false,
		{"", "delete", kleff, "tenants", "", "acme"}:                                  false,
		{"", "delete", kleff, "tenantplans", "", "basic"}:                             false,
		{"", "deletecollection", "", "namespaces", "", ""}:                            false,
		{"acme", "update", "", "namespaces", "finalize", "acme"}:                      false,
		{"acme", "bind", rbac, "clusterroles", "", "admin"}:                           false,
		{"acme", "bind", rbac, "roles", "", ""}:                                       false,
		{"", "escalate", rbac, "clusterroles", "", "edit"}:                            false,
		{"", "create", rbac, "clusterrolebindings", "", ""}:                           false,
		{"", "create", "constraints.gatekeeper.sh", "k8srequiredlabels", "", ""}:      false,
		{"", "create", "templates.gatekeeper.sh", "constrainttemplates", "", ""}:      false,
		{"", "patch", "apiextensions.k8s.io", "customresourcedefinitions", "", kleff}: false,
		{"acme", "get", "", "secrets", "", "credentials"}:                             false,
		{"acme", "create", "", "pods", "", ""}:                                        false,
	})
}

// checkTenancyPeople looks at the roles for users. A user who may write tenants may not write plans, which give rights.
func (l life) checkTenancyPeople(t *testing.T) {
	for role, rights := range map[string]map[right]bool{
		"view": {
			{"", "list", kleff, "tenants", "", ""}:          true,
			{"", "watch", kleff, "tenantplans", "", ""}:     true,
			{"", "get", kleff, "tenants", "status", "acme"}: true,
			{"", "patch", kleff, "tenants", "", "acme"}:     false,
		},
		"edit": {
			{"", "list", kleff, "tenants", "", ""}:       true,
			{"", "create", kleff, "tenants", "", ""}:     false,
			{"", "create", kleff, "tenantplans", "", ""}: false,
		},
		release + "-tenants-editor": {
			{"", "create", kleff, "tenants", "", ""}:           true,
			{"", "delete", kleff, "tenants", "", "acme"}:       true,
			{"", "list", kleff, "tenantplans", "", ""}:         true,
			{"", "patch", kleff, "tenantplans", "", "basic"}:   false,
			{"", "patch", kleff, "tenants", "status", "acme"}:  false,
			{"", "update", kleff, "tenants", "status", "acme"}: false,
			{"", "create", "", "namespaces", "", ""}:           false,
		},
		release + "-tenantplans-editor": {
			{"", "create", kleff, "tenantplans", "", ""}:            true,
			{"", "list", kleff, "tenants", "", ""}:                  true,
			{"", "create", kleff, "tenants", "", ""}:                false,
			{"", "patch", kleff, "tenantplans", "status", "basic"}:  false,
			{"", "update", kleff, "tenantplans", "status", "basic"}: false,
		},
	} {
		person := rbacv1.Subject{APIGroup: rbac, Kind: rbacv1.UserKind, Name: "all-" + role + "er"}
		binding := &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "people-"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbac, Kind: "ClusterRole", Name: role},
			Subjects:   []rbacv1.Subject{person},
		}
		if err := kube.Create(t.Context(), binding); err != nil {
			t.Fatal(err)
		}
		check(t, person, rights)
	}
}

// checkDeletionProtection tries deletions as the administrator, whom no right holds.
func (l life) checkDeletionProtection(t *testing.T) {
	protected, free := l.createCustomer("protected", true), l.createCustomer("free", false)
	itsOwn, other := l.createSpace("protected", string(protected.UID)), l.createSpace("free", string(free.UID))
	orphan := l.createSpace("orphan", "uid-of-nobody")
	g := NewWithT(t)
	refused := func(o client.Object, message string) {
		t.Helper()
		g.Eventually(func(g Gomega) { // the API server takes a moment to learn of policies and tenants
			err := kube.Delete(t.Context(), o, client.DryRunAll)
			g.Expect(apierrors.IsForbidden(err)).To(BeTrue(), "%v", err)
			g.Expect(err).To(MatchError(ContainSubstring(message)))
		}).WithTimeout(patience).Should(Succeed())
	}
	refused(protected, "the Tenant protected has spec.deletionProtection, which protects it and its namespace. To delete it anyway, set spec.deletionProtection to false first")
	refused(itsOwn, "the namespace protected belongs to the Tenant protected, which has spec.deletionProtection. To delete it anyway, set spec.deletionProtection of that Tenant to false first")
	if err := kube.DeleteAllOf(t.Context(), &kleffv1.Tenant{}, client.DryRunAll); !apierrors.IsForbidden(err) {
		t.Errorf("deleting all tenants: %v, want that it is forbidden", err)
	}
	for _, o := range []client.Object{free, other, orphan, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team-b"}}} {
		if err := kube.Delete(t.Context(), o, client.DryRunAll); err != nil {
			t.Errorf("deleting %T %s, which nothing protects: %v", o, o.GetName(), err)
		}
	}

	base := protected.DeepCopy()
	protected.Spec.DeletionProtection = false
	if err := kube.Patch(t.Context(), protected, client.MergeFrom(base)); err != nil {
		t.Fatal(err)
	}
	if err := kube.Delete(t.Context(), protected); err != nil {
		t.Errorf("deleting a tenant that is no longer protected: %v", err)
	}
	g.Eventually(func() error { return kube.Delete(t.Context(), itsOwn, client.DryRunAll) }).WithTimeout(patience).Should(Succeed(), "its namespace can go, too")
}

func (l life) createCustomer(name string, protected bool) *kleffv1.Tenant {
	l.Helper()
	o := &kleffv1.Tenant{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       kleffv1.TenantSpec{Plan: "basic", UserID: name, Username: name, DeletionProtection: protected},
	}
	if err := kube.Create(l.Context(), o); err != nil {
		l.Fatal(err)
	}
	return o
}

// createSpace makes the namespace of a customer, as the operator would.
func (l life) createSpace(name, uid string) *corev1.Namespace {
	l.Helper()
	o := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{kleffv1.LabelTenantUID: uid}}}
	if err := kube.Create(l.Context(), o); err != nil {
		l.Fatal(err)
	}
	return o
}
