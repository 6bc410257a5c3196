package hostile_test

import (
	"slices"
	"testing"
	"time"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

// What an editor of tenants in one namespace can still take of what others have in the account, whatever grants say.
// Each case holds as long as its gap is open. When it is closed, the case fails, and has to expect the refusal instead.
func TestGapsBetweenTeams(t *testing.T) {
	const owner, rival = "gap-owner", "gap-rival"
	forget(t, owner, rival)
	f := start(t, rival)
	team := member(t, rival)
	createNamespace(t, owner)

	for name, gap := range map[string]struct {
		// before is what the owner does first.
		before func(*testing.T)
		domain string
		shape  func(*v1alpha1.DistributionTenantSpec)
		// refusal is what the condition Ready will say instead, with reason DomainClaimed.
		refusal string
	}{
		"a domain that another namespace has just released": {
			before: func(t *testing.T) {
				t.Helper()
				o := &v1alpha1.DistributionTenant{ObjectMeta: metav1.ObjectMeta{Namespace: owner, Name: "shop"}, Spec: specOf("shop.example.com", nil)}
				if err := kube.Create(t.Context(), o); err != nil {
					t.Fatal(err)
				}
				f.serves(o)
				if err := kube.Delete(t.Context(), o); err != nil {
					t.Fatal(err)
				}
				f.eventually(func(g gomega.Gomega) { g.Expect(f.tenantsInAWS()).NotTo(gomega.HaveKey("shop")) })
			},
			domain:  "shop.example.com",
			refusal: `DomainClaimed: shop.example.com was released by another namespace, and is kept for it. Ask an administrator to give it to you.`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if gap.before != nil {
				gap.before(t)
			}
			o := &v1alpha1.DistributionTenant{ObjectMeta: metav1.ObjectMeta{Namespace: rival, GenerateName: "gap-"}, Spec: specOf(gap.domain, gap.shape)}
			if err := team.Create(t.Context(), o); err != nil {
				t.Fatalf("it is refused, and should say: %s: %v", gap.refusal, err)
			}
			f.serves(o)
			served := func(s sim.TenantState) bool { return s.Domains[gap.domain] != "" }
			tenants, err := f.AWS.Tenants(t.Context())
			if err != nil || !slices.ContainsFunc(tenants, served) {
				t.Errorf("AWS does not serve %s, %v; if it is refused, it should say: %s", gap.domain, err, gap.refusal)
			}
		})
	}
}

func specOf(domain string, shape func(*v1alpha1.DistributionTenantSpec)) v1alpha1.DistributionTenantSpec {
	s := v1alpha1.DistributionTenantSpec{DistributionID: stack.DistributionID, Domains: []v1alpha1.TenantDomain{{Domain: domain}}}
	if shape != nil {
		shape(&s)
	}
	return s
}

func createNamespace(t *testing.T, name string) {
	t.Helper()
	if err := kube.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
		t.Fatal(err)
	}
}

// member is the client of a person who has nothing but the chart's role for editors of tenants, in a new namespace.
func member(t *testing.T, namespace string) client.Client {
	t.Helper()
	createNamespace(t, namespace)
	const user = "gap-member"
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: user},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cloudfront-tenant-operator-distributiontenants-editor"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
	}
	if err := kube.Create(t.Context(), binding); err != nil {
		t.Fatal(err)
	}
	config := host.RESTConfig()
	config.Impersonate = rest.ImpersonationConfig{UserName: user}
	c, err := client.New(config, client.Options{Scheme: kube.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// serves waits until the object is Ready.
func (f *fleet) serves(o *v1alpha1.DistributionTenant) {
	f.t.Helper()
	gomega.NewWithT(f.t).Eventually(f.t.Context(), func(g gomega.Gomega) {
		g.Expect(kube.Get(f.t.Context(), client.ObjectKeyFromObject(o), o)).To(gomega.Succeed())
		g.Expect(meta.IsStatusConditionTrue(o.Status.Conditions, v1alpha1.ConditionReady)).To(gomega.BeTrue(), "%v", o.Status.Conditions)
	}).WithTimeout(patience).WithPolling(250 * time.Millisecond).Should(gomega.Succeed())
}
