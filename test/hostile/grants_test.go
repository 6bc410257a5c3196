package hostile_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

// theirs is what a team of the account has, and no grant gives to another.
const (
	theirTenant = "checkout"
	theirTable  = "customers-bank"
)

// A namespace that asks for others' resources in the account is refused before AWS is asked, however the object got
// into the cluster, and everything of the others stays as it was.
func TestOneTeamTakesNothingOfAnother(t *testing.T) {
	const rival = "grants-rival"
	forget(t, rival)
	f := start(t, rival)
	if err := f.AWS.Seed(t.Context(), sim.Seed{Tenants: []sim.SeedTenant{{Name: theirTenant, DistributionID: stack.DistributionID, Domains: []string{"checkout.example.com"}}}}); err != nil {
		t.Fatal(err)
	}
	createNamespace(t, rival)
	own := &v1alpha1.EdgeGrant{ObjectMeta: metav1.ObjectMeta{Name: rival}, Spec: v1alpha1.EdgeGrantSpec{
		Namespaces:    v1alpha1.GrantedNamespaces{Names: []string{rival}},
		Kinds:         []v1alpha1.GrantedKind{v1alpha1.GrantedDistributionTenants, v1alpha1.GrantedTenantSources},
		Distributions: []v1alpha1.GrantedDistribution{{ID: "ERIVAL1"}},
		Domains:       []v1alpha1.GrantedDomain{{Suffix: "rival.example.com"}},
		Sources:       &v1alpha1.GrantedSources{Tables: []string{"customers-rival"}},
	}}
	if err := kube.Create(t.Context(), own); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := kube.Delete(context.WithoutCancel(t.Context()), own); err != nil {
			t.Error(err)
		}
	})
	before := f.account()
	tenant := func(shape func(*v1alpha1.DistributionTenantSpec)) client.Object {
		spec := v1alpha1.DistributionTenantSpec{DistributionID: "ERIVAL1", Domains: []v1alpha1.TenantDomain{{Domain: "a.rival.example.com"}}}
		shape(&spec)
		return &v1alpha1.DistributionTenant{Spec: spec}
	}
	for name, c := range map[string]struct {
		asks client.Object
		says string
	}{
		"a door into another team's distribution": {
			tenant(func(s *v1alpha1.DistributionTenantSpec) { s.DistributionID = stack.DistributionID }),
			"spec.distributionId: the EdgeGrant grants-rival, which selects the namespace grants-rival, does not allow the distribution " + stack.DistributionID + ", only ERIVAL1.",
		},
		"another team's certificate": {
			tenant(func(s *v1alpha1.DistributionTenantSpec) {
				s.Customizations = &v1alpha1.Customizations{Certificate: &v1alpha1.CertificateCustomization{ARN: sim.DefaultCertificateARN}}
			}), "spec.customizations.certificate.arn",
		},
		"no web ACL": {
			tenant(func(s *v1alpha1.DistributionTenantSpec) {
				s.Customizations = &v1alpha1.Customizations{WebACL: &v1alpha1.WebACLCustomization{Action: v1alpha1.WebACLActionDisable}}
			}), "spec.customizations.webAcl.action",
		},
		"another team's name": {
			tenant(func(s *v1alpha1.DistributionTenantSpec) {
				s.Domains = []v1alpha1.TenantDomain{{Domain: "login.example.com"}}
			}), "spec.domains[0].domain: the EdgeGrant grants-rival, which selects the namespace grants-rival, does not allow the domain login.example.com, only rival.example.com.",
		},
		"every name that another team does not have yet": {
			tenant(func(s *v1alpha1.DistributionTenantSpec) {
				s.Domains = []v1alpha1.TenantDomain{{Domain: "*.example.com"}}
			}), "spec.domains[0].domain",
		},
		"records in another team's zone": {
			tenant(func(s *v1alpha1.DistributionTenantSpec) { s.DNS = &v1alpha1.DNS{Provider: v1alpha1.DNSProviderRoute53} }), "spec.dns",
		},
		"another team's tenant": {
			tenant(func(s *v1alpha1.DistributionTenantSpec) {
				s.TenantName, s.AdoptionPolicy = theirTenant, v1alpha1.AdoptionPolicyForce
			}), "spec.adoptionPolicy",
		},
		"another team's object": {
			tenant(func(s *v1alpha1.DistributionTenantSpec) {
				s.DistributionID, s.DistributionRef = "", &v1alpha1.ObjectReference{Namespace: "default", Name: "main"}
			}), "spec.distributionRef",
		},
		"another team's distribution itself": {
			&v1alpha1.Distribution{Spec: v1alpha1.DistributionSpec{
				DistributionID: stack.DistributionID, ResourcePolicies: v1alpha1.ResourcePolicies{AdoptionPolicy: v1alpha1.AdoptionPolicyForce},
				DistributionConfig: v1alpha1.DistributionConfig{
					Origins:              []v1alpha1.Origin{{ID: "o", DomainName: "evil.example", CustomOriginConfig: &v1alpha1.CustomOriginConfig{}}},
					DefaultCacheBehavior: &v1alpha1.CacheBehaviorSettings{TargetOriginID: "o", ViewerProtocolPolicy: "redirect-to-https", CachePolicyID: "4135ea2d-6df8-44a3-9df3-4b5a84be39ad"},
				},
			}}, "does not allow objects of the kind Distribution",
		},
		"the account's default group": {
			&v1alpha1.ConnectionGroup{Spec: v1alpha1.ConnectionGroupSpec{Name: "CreatedByCloudFront", ResourcePolicies: v1alpha1.ResourcePolicies{AdoptionPolicy: v1alpha1.AdoptionPolicyForce}}},
			"does not allow objects of the kind ConnectionGroup",
		},
		"the caches of tenants, with a grant that does not say so": {
			&v1alpha1.Invalidation{Spec: v1alpha1.InvalidationSpec{TenantRef: &v1alpha1.InvalidationTenantReference{Name: theirTenant}, Paths: []string{"/*"}}},
			"does not allow objects of the kind Invalidation",
		},
		"another team's table": {
			&v1alpha1.TenantSource{Spec: v1alpha1.TenantSourceSpec{Provider: v1alpha1.SourceProviderDynamoDB, DistributionID: "ERIVAL1", DynamoDB: &v1alpha1.DynamoDBSource{TableName: theirTable}}},
			"spec.dynamodb.tableName: the EdgeGrant grants-rival, which selects the namespace grants-rival, does not allow the table customers-bank, only customers-rival.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.asks.SetNamespace(rival)
			c.asks.SetGenerateName("rival-")
			if err := kube.Create(t.Context(), c.asks); err != nil {
				t.Fatal(err)
			}
			f.eventually(func(g gomega.Gomega) {
				g.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(c.asks), c.asks)).To(gomega.Succeed())
				ready := meta.FindStatusCondition(conditionsOf(c.asks), v1alpha1.ConditionReady)
				g.Expect(ready).NotTo(gomega.BeNil())
				g.Expect(ready.Reason).To(gomega.Equal(v1alpha1.ReasonNotGranted), ready.Message)
				g.Expect(ready.Message).To(gomega.ContainSubstring(c.says))
			})
			if d := cmp.Diff(before, f.account()); d != "" {
				t.Errorf("the account has changed (-before +now):\n%s", d)
			}
			if err := kube.Delete(t.Context(), c.asks); err != nil {
				t.Error(err)
			}
		})
	}
}

// start starts the installed operator with an AWS of its own.
func start(t *testing.T, namespace string, flags ...string) *fleet {
	t.Helper()
	f := &fleet{t: t, namespace: namespace}
	var err error
	if f.Stack, err = host.Start(t.Context(), stack.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Stop(); err != nil {
			t.Error(err)
		}
	})
	if f.operator, err = f.StartOperator(t.Context(), stack.OperatorOptions{Flags: flags}); err != nil {
		t.Fatal(err)
	}
	return f
}

// account is all that the operator's account has.
func (f *fleet) account() sim.AccountState {
	f.t.Helper()
	return f.accountOf(sim.DefaultAccount)
}

func (f *fleet) accountOf(id string) sim.AccountState {
	f.t.Helper()
	state, err := f.AWS.StateOf(f.t.Context(), id)
	if err != nil {
		f.t.Fatal(err)
	}
	return state
}

func conditionsOf(o client.Object) []metav1.Condition {
	switch o := o.(type) {
	case *v1alpha1.DistributionTenant:
		return o.Status.Conditions
	case *v1alpha1.Distribution:
		return o.Status.Conditions
	case *v1alpha1.ConnectionGroup:
		return o.Status.Conditions
	case *v1alpha1.TenantSource:
		return o.Status.Conditions
	case *v1alpha1.Invalidation:
		return o.Status.Conditions
	}
	return nil
}

// A team with an AWS account of its own has its tenant there, and nothing of it in the operator's account. When the last
// object is gone, so is the grant.
func TestATeamHasItsOwnAccount(t *testing.T) {
	const namespace, account, role = "grants-account", "444455556666", "arn:aws:iam::444455556666:role/tenants"
	forget(t, namespace)
	f := start(t, namespace, "--cluster-id=accounts", "--cluster-check=false")
	if err := f.AWS.Seed(t.Context(), sim.Seed{
		Roles:         []sim.SeedRole{{ARN: role, ExternalID: "accounts/grant:" + namespace}},
		Certificates:  []sim.SeedCertificate{{ARN: "arn:aws:acm:us-east-1:" + account + ":certificate/team", Names: []string{"*.team.example.com"}}},
		Distributions: []sim.SeedDistribution{{ID: "ETEAM1", Account: account, CertificateARN: "arn:aws:acm:us-east-1:" + account + ":certificate/team"}},
	}); err != nil {
		t.Fatal(err)
	}
	before := f.account()
	createNamespace(t, namespace)
	grant := &v1alpha1.EdgeGrant{ObjectMeta: metav1.ObjectMeta{Name: namespace}, Spec: v1alpha1.EdgeGrantSpec{
		Namespaces:    v1alpha1.GrantedNamespaces{Names: []string{namespace}},
		Account:       &v1alpha1.GrantedAccount{ID: account, RoleARN: role},
		Distributions: []v1alpha1.GrantedDistribution{{ID: "*"}},
		Domains:       []v1alpha1.GrantedDomain{{Suffix: "team.example.com"}},
	}}
	o := &v1alpha1.DistributionTenant{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "shop"}, Spec: v1alpha1.DistributionTenantSpec{
		DistributionID: "ETEAM1", Domains: []v1alpha1.TenantDomain{{Domain: "shop.team.example.com"}},
	}}
	closed := &v1alpha1.EdgeGrant{ObjectMeta: metav1.ObjectMeta{Name: namespace + "-closed"}, Spec: v1alpha1.EdgeGrantSpec{
		Namespaces: v1alpha1.GrantedNamespaces{Names: []string{namespace + "-closed"}},
		Account:    &v1alpha1.GrantedAccount{ID: account, RoleARN: "arn:aws:iam::444455556666:role/closed"},
	}}
	for _, object := range []client.Object{grant, o, closed} {
		if err := kube.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	f.eventually(func(g gomega.Gomega) {
		g.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(o), o)).To(gomega.Succeed())
		g.Expect(meta.IsStatusConditionTrue(o.Status.Conditions, v1alpha1.ConditionReady)).To(gomega.BeTrue(), "%+v", o.Status.Conditions)
	})
	// A grant whose role does not trust the operator says so before an object needs it.
	f.eventually(func(g gomega.Gomega) {
		g.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(closed), closed)).To(gomega.Succeed())
		refused := meta.FindStatusCondition(closed.Status.Conditions, v1alpha1.ConditionReady)
		g.Expect(refused).NotTo(gomega.BeNil())
		g.Expect(refused.Reason).To(gomega.Equal(v1alpha1.ReasonRoleRefused), refused.Message)
		g.Expect(refused.Message).To(gomega.ContainSubstring("the external ID accounts/grant:" + closed.Name))
	})
	if theirs := f.accountOf(account); len(theirs.Tenants) != 1 || theirs.Tenants[0].ARN != o.Status.ARN {
		t.Errorf("the team's account has %+v, want %s", theirs.Tenants, o.Status.ARN)
	}
	if d := cmp.Diff(before, f.account()); d != "" {
		t.Errorf("the operator's account has changed (-before +now):\n%s", d)
	}
	figures, err := f.operator.Metrics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if n := figures.Sum("cloudfront_tenant_operator_inventory_tenants", `account="`+account+`"`); n != 1 {
		t.Errorf("the metric counts %v tenants in the team's account, want 1", n)
	}

	for _, object := range []client.Object{grant, o, closed} {
		if err := kube.Delete(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	f.eventually(func(g gomega.Gomega) {
		g.Expect(apierrors.IsNotFound(kube.Get(t.Context(), client.ObjectKeyFromObject(o), o))).To(gomega.BeTrue())
		g.Expect(apierrors.IsNotFound(kube.Get(t.Context(), client.ObjectKeyFromObject(grant), grant))).To(gomega.BeTrue(), "%+v", grant.Status.Conditions)
	})
	if theirs := f.accountOf(account); len(theirs.Tenants) > 0 {
		t.Errorf("the team's account still has %+v", theirs.Tenants)
	}
}
