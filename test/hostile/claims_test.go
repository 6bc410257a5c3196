package hostile_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

// A domain that a team has released is not another team's to take: the customer's own DNS may still lead to it.
func TestAReleasedDomainIsNotAnotherTeams(t *testing.T) {
	const owner, rival = "held-owner", "held-rival"
	forget(t, owner, rival)
	f := start(t, rival, "--domain-claims=true")
	team := member(t, rival)
	createNamespace(t, owner)
	shop := &v1alpha1.DistributionTenant{ObjectMeta: metav1.ObjectMeta{Namespace: owner, Name: "held-shop"}, Spec: specOf("held-shop.example.com")}
	if err := kube.Create(t.Context(), shop); err != nil {
		t.Fatal(err)
	}
	f.serves(shop)
	if err := kube.Delete(t.Context(), shop); err != nil {
		t.Fatal(err)
	}
	f.eventually(func(g gomega.Gomega) { g.Expect(f.tenantsInAWS()).NotTo(gomega.HaveKey("held-shop")) })

	before := f.account()
	o := &v1alpha1.DistributionTenant{ObjectMeta: metav1.ObjectMeta{Namespace: rival, GenerateName: "held-"}, Spec: specOf("held-shop.example.com")}
	if err := team.Create(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	f.eventually(func(g gomega.Gomega) {
		g.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(o), o)).To(gomega.Succeed())
		ready := meta.FindStatusCondition(o.Status.Conditions, v1alpha1.ConditionReady)
		g.Expect(ready).NotTo(gomega.BeNil())
		g.Expect(ready.Reason).To(gomega.Equal(v1alpha1.ReasonDomainClaimed), ready.Message)
		g.Expect(ready.Message).NotTo(gomega.ContainSubstring(owner))
	})
	if d := cmp.Diff(before, f.account()); d != "" {
		t.Errorf("the account has changed (-before +now):\n%s", d)
	}
	var again v1alpha1.DistributionTenant
	again.Namespace, again.Name, again.Spec = owner, "held-again", specOf("held-shop.example.com")
	if err := kube.Create(t.Context(), &again); err != nil {
		t.Fatal(err)
	}
	f.serves(&again)
}

func specOf(domain string) v1alpha1.DistributionTenantSpec {
	return v1alpha1.DistributionTenantSpec{DistributionID: stack.DistributionID, Domains: []v1alpha1.TenantDomain{{Domain: domain}}}
}

func createNamespace(t *testing.T, name string) {
	t.Helper()
	if err := kube.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
		t.Fatal(err)
	}
}

// member is the client of a user who has nothing but the chart's role for editors of tenants, in a new namespace.
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
	}).WithTimeout(patience()).WithPolling(250 * time.Millisecond).Should(gomega.Succeed())
}
