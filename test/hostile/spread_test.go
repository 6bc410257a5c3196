package hostile_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

// A pause that no test waits for holds a change at its first wave.
var held = []string{"--rollout-pause=1h", "--grants=Off"}

// A change of all manifests that harms every customer reaches one of them, or five where each gets a value of its own, and
// putting the previous manifests back is enough to undo it.
func TestAMistakeInGitReachesAFew(t *testing.T) {
	const (
		other            = "EOTHER1"
		shared           = "arn:aws:acm:us-east-1:111122223333:certificate/00000000-0000-4000-8000-000000000001"
		certificate      = "arn:aws:acm:us-east-1:111122223333:certificate/00000000-0000-4000-8000-000000000002"
		protect, blocked = "arn:aws:wafv2:us-east-1:111122223333:global/webacl/protect/00000000-0000-4000-8000-000000000003", "arn:aws:wafv2:us-east-1:111122223333:global/webacl/block-all/00000000-0000-4000-8000-000000000004"
	)
	// It is not known whether AWS takes back what is no longer in a spec, so that all have everything.
	f := newShapedFleet(t, "git", func(o *v1alpha1.DistributionTenant) {
		o.Spec.Parameters = []v1alpha1.Parameter{{Name: "origin", Value: "shared"}}
		o.Spec.Customizations = &v1alpha1.Customizations{
			GeoRestrictions: &v1alpha1.GeoRestrictionCustomization{RestrictionType: "blacklist", Locations: []v1alpha1.CountryCode{"AQ"}},
			WebACL:          &v1alpha1.WebACLCustomization{Action: v1alpha1.WebACLActionOverride, ARN: protect},
			Certificate:     &v1alpha1.CertificateCustomization{ARN: shared},
		}
	}, held...)
	err := f.AWS.Seed(t.Context(), sim.Seed{
		Certificates: []sim.SeedCertificate{{ARN: certificate, Names: []string{"*.example.com"}}},
		Distributions: []sim.SeedDistribution{{
			ID: other, CertificateARN: certificate, Parameters: []sim.SeedParameter{{Name: "tier", Default: "standard"}, {Name: "origin", Default: "shared"}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	group, err := f.AWS.CreateConnectionGroup(t.Context(), "other")
	if err != nil {
		t.Fatal(err)
	}
	before := f.objects(gomega.NewWithT(t))
	for i := range before { // without one in the spec, they would keep the other
		before[i].Spec.ConnectionGroupID = f.tenantsInAWS()[before[i].Name].ConnectionGroupID
	}
	for name, mistake := range map[string]struct {
		change  func(*v1alpha1.DistributionTenant)
		reaches int
	}{
		"the same origin": {func(o *v1alpha1.DistributionTenant) {
			o.Spec.Parameters = []v1alpha1.Parameter{{Name: "origin", Value: "staging.internal"}}
		}, 1},
		"an origin for each": {func(o *v1alpha1.DistributionTenant) {
			o.Spec.Parameters = []v1alpha1.Parameter{{Name: "origin", Value: o.Name + ".staging.internal"}}
		}, 5},
		"a country": {func(o *v1alpha1.DistributionTenant) {
			o.Spec.Customizations.GeoRestrictions.RestrictionType = "whitelist"
		}, 1},
		"a web ACL":          {func(o *v1alpha1.DistributionTenant) { o.Spec.Customizations.WebACL.ARN = blocked }, 1},
		"a certificate":      {func(o *v1alpha1.DistributionTenant) { o.Spec.Customizations.Certificate.ARN = certificate }, 1},
		"a distribution":     {func(o *v1alpha1.DistributionTenant) { o.Spec.DistributionID = other }, 1},
		"a connection group": {func(o *v1alpha1.DistributionTenant) { o.Spec.ConnectionGroupID = group }, 1},
	} {
		t.Run(name, func(sub *testing.T) {
			f.t = sub
			defer func() { f.t = t }()
			f.kubectl("replace", "-f", f.manifests(before, nil))
			f.say(v1alpha1.ConditionSynced, v1alpha1.ReasonInSync, "")
			served := f.served()
			f.kubectl("replace", "-f", f.manifests(before, mistake.change))
			f.reaches(served, mistake.reaches)
			f.kubectl("replace", "-f", f.manifests(before, nil))
			f.say(v1alpha1.ConditionSynced, v1alpha1.ReasonInSync, "")
			if d := cmp.Diff(served, f.served()); d != "" {
				sub.Errorf("customers are not served as before the mistake (-before +now):\n%s", d)
			}
		})
	}
}

// served is what AWS serves for each tenant.
func (f *fleet) served() map[string]sim.TenantState {
	out := f.tenantsInAWS()
	for name, s := range out {
		s.ETag, s.Status, s.LastModifiedTime = "", "", time.Time{}
		out[name] = s
	}
	return out
}

// reaches waits until all tenants have been looked at since the mistake, and checks how many it has reached: the others say
// that it is not their turn.
func (f *fleet) reaches(served map[string]sim.TenantState, most int) {
	f.t.Helper()
	f.eventually(func(g gomega.Gomega) {
		waiting := 0
		for _, o := range f.objects(g) {
			c := meta.FindStatusCondition(o.Status.Conditions, v1alpha1.ConditionSynced)
			g.Expect(c).NotTo(gomega.BeNil())
			g.Expect(c.ObservedGeneration).To(gomega.Equal(o.Generation), o.Name)
			if c.Reason == v1alpha1.ReasonRollingOut {
				waiting++
			}
		}
		g.Expect(waiting).To(gomega.Equal(*size - most))
	})
	reached := 0
	for name, now := range f.served() {
		if !cmp.Equal(served[name], now) {
			reached++
		}
	}
	if reached != most {
		f.t.Errorf("the mistake has reached %d of %d customers, want %d", reached, *size, most)
	}
	f.t.Logf("%d of %d customers reached, all others serve as before", reached, *size)
}

// One statement for all rows reaches a customer, and another one undoes it.
func TestAnUpdateOfAllRowsReachesAFew(t *testing.T) {
	engine, err := database.Start(t.Context(), mapping.Postgres, database.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Stop() })
	table, err := engine.NewTable(t.Context(), database.TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for n := range *size {
		name := fmt.Sprintf("row%05d", n)
		if err := table.Put(t.Context(), map[string]any{"name": name, "domain": name + ".example.com", "enabled": true, "plan": "standard"}); err != nil {
			t.Fatal(err)
		}
	}
	forget(t, "update")
	f := &fleet{t: t, namespace: "update"}
	if f.Stack, err = host.Start(t.Context(), stack.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Stop() })
	if err := f.AWS.AllowTenants(t.Context(), max(10_000, 2**size)); err != nil {
		t.Fatal(err)
	}
	if f.operator, err = f.StartOperator(t.Context(), stack.OperatorOptions{Flags: append([]string{"--aws-rate=200", "--aws-burst=200"}, held...)}); err != nil {
		t.Fatal(err)
	}
	newNeighborhood(t, f.namespace)
	q := table.Query()
	here := metav1.ObjectMeta{Namespace: f.namespace, Name: "customers"}
	secret := &corev1.Secret{ObjectMeta: here, StringData: map[string]string{"connectionString": q.Connection.Reveal()}}
	secret.Labels = map[string]string{v1alpha1.LabelTenantSource: here.Name}
	source := &v1alpha1.TenantSource{ObjectMeta: here, Spec: database.Source(mapping.Postgres, q, here.Name)}
	source.Spec.DistributionID, source.Spec.PollInterval = stack.DistributionID, &metav1.Duration{Duration: 10 * time.Second}
	source.Spec.Mapping = []v1alpha1.FieldMapping{{Column: "plan", Field: "parameters[tier]"}}
	for _, o := range []client.Object{secret, source} {
		if err := kube.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	tiers := func(want map[string]int) {
		t.Helper()
		f.eventually(func(g gomega.Gomega) {
			seen := map[string]int{}
			for _, s := range f.tenantsInAWS() {
				seen[s.Parameters["tier"]]++
			}
			g.Expect(seen).To(gomega.Equal(want), "%v", slices.Sorted(maps.Keys(seen)))
		})
	}
	f.say(v1alpha1.ConditionReady, v1alpha1.ReasonDeployed, "")
	tiers(map[string]int{"standard": *size})
	served := f.served()
	update := func(plan string) {
		t.Helper()
		if err := table.Exec(t.Context(), fmt.Sprintf("UPDATE %s SET plan = '%s'", table.Name(), plan)); err != nil {
			t.Fatal(err)
		}
		f.eventually(func(g gomega.Gomega) {
			for _, o := range f.objects(g) {
				g.Expect(o.Spec.Parameters).To(gomega.ConsistOf(v1alpha1.Parameter{Name: "tier", Value: plan}), o.Name)
			}
		})
	}
	update("wrong")
	f.reaches(served, 1)
	update("standard")
	f.say(v1alpha1.ConditionSynced, v1alpha1.ReasonInSync, "")
	tiers(map[string]int{"standard": *size})
}
