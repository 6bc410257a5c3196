package distributiontenant_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// fleetSize is how many customers change at once.
const fleetSize = 40

// fleet is a world whose customers are Ready.
type fleet struct {
	*world.World

	t     *testing.T
	names []string
}

func newFleet(t *testing.T, o world.Options) *fleet {
	t.Helper()
	f := &fleet{World: world.NewOffline(t, o), t: t}
	for i := range fleetSize {
		name := fmt.Sprintf("c%02d", i)
		f.Apply(f.Tenant(name, tiered("basic")))
		f.names = append(f.names, name)
	}
	f.Advance(5 * time.Minute)
	if n := f.ready(); n != fleetSize {
		t.Fatalf("%d of %d are Ready", n, fleetSize)
	}
	return f
}

func tiered(tier string) func(*v1alpha1.DistributionTenant) {
	return func(o *v1alpha1.DistributionTenant) {
		o.Spec.Parameters = []v1alpha1.Parameter{{Name: "tier", Value: tier}}
	}
}

func (f *fleet) ready() (n int) {
	for _, name := range f.names {
		if o, _ := f.Get(name); conditionOf(o, v1alpha1.ConditionReady) == v1alpha1.ReasonDeployed {
			n++
		}
	}
	return n
}

func conditionOf(o *v1alpha1.DistributionTenant, of string) string {
	for _, c := range o.Status.Conditions {
		if c.Type == of {
			return c.Reason
		}
	}
	return ""
}

// tiers counts the tenants in AWS by the value of their parameter.
func (f *fleet) tiers() map[string]int {
	f.t.Helper()
	out := map[string]int{}
	for _, name := range f.names {
		o, _ := f.Get(name)
		got, err := f.AWS().GetDistributionTenant(f.t.Context(), &cloudfront.GetDistributionTenantInput{Identifier: &o.Status.ID})
		if err != nil {
			f.t.Fatal(err)
		}
		for _, p := range got.DistributionTenant.Parameters {
			out[*p.Value]++
		}
	}
	return out
}

// Whatever changes all customers at once reaches one of them first, then twice as many with each deployment, and all in the
// end: a manifest, or drift, as after the restore of old objects.
func TestAChangeOfAllSpreads(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(f *fleet)
		wants  string
	}{
		"a manifest": {func(f *fleet) {
			for _, name := range f.names {
				f.Edit(name, tiered("gold"))
			}
		}, "gold"},
		"drift": {func(f *fleet) {
			for _, name := range f.names {
				outOfBand(f.t, f.World, name, func(in *cloudfront.UpdateDistributionTenantInput) {
					in.Parameters = []types.Parameter{{Name: awssdk.String("tier"), Value: awssdk.String("gold")}}
				})
			}
		}, "basic"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t, world.Options{})
			test.change(f)
			writes := f.Calls()["UpdateDistributionTenant"]
			var sizes []int
			before := 0
			for range 60 {
				f.Advance(20 * time.Second)
				if now := f.tiers()[test.wants]; now > before {
					sizes, before = append(sizes, now-before), now
				}
			}
			if len(sizes) < 5 || sizes[0] != 1 || slices.Max(sizes) > 16 {
				t.Errorf("the change has reached %v", sizes)
			}
			if got := f.tiers(); !maps.Equal(got, map[string]int{test.wants: fleetSize}) || f.ready() != fleetSize {
				t.Errorf("in the end there are %v, and %d are Ready", got, f.ready())
			}
			if n := f.Calls()["UpdateDistributionTenant"] - writes; n != fleetSize {
				t.Errorf("%d updates were sent", n)
			}
		})
	}
}

// Customers that wait keep serving, and everything else that they ask for is done. An administrator lets the rest
// continue.
func TestCustomersThatWait(t *testing.T) {
	t.Parallel()
	f := newFleet(t, world.Options{})
	for _, name := range f.names {
		f.Edit(name, func(o *v1alpha1.DistributionTenant) {
			tiered("gold")(o)
			o.Spec.Domains = append(o.Spec.Domains, v1alpha1.TenantDomain{Domain: name + "-b.example.com"})
		})
	}
	f.Advance(20 * time.Second)
	waiting := ""
	for _, name := range f.names {
		o, _ := f.Get(name)
		if conditionOf(o, v1alpha1.ConditionSynced) == v1alpha1.ReasonRollingOut {
			waiting = name
		}
		if len(o.Status.DomainResults) != 2 {
			t.Fatalf("%s has the domains %v", name, o.Status.DomainResults)
		}
	}
	if n := f.tiers()["gold"]; n != 1 || waiting == "" {
		t.Fatalf("%d have the value, and %q waits", n, waiting)
	}
	o, _ := f.Get(waiting)
	group := groupOf(t, o)
	before := o.ResourceVersion
	f.ReleaseRollouts("another")
	f.Advance(5 * time.Second)
	if o, _ := f.Get(waiting); o.ResourceVersion != before {
		t.Error("status of a tenant that waits is written again")
	}
	f.ReleaseRollouts(group)
	f.Advance(5 * time.Second)
	if n := f.tiers()["gold"]; n != fleetSize {
		t.Errorf("after it was released, %d have the value", n)
	}
}

// Keys in another store, and those of new domains, are written at once. The former ones stay until it is the turn of their
// tenant.
func TestKeysSpread(t *testing.T) {
	t.Parallel()
	seed := dnsSeed()
	f := newFleet(t, world.Options{Seed: &seed})
	for _, name := range f.names {
		f.Edit(name, withKeys())
	}
	f.Advance(settle)
	for _, name := range f.names {
		f.Edit(name, func(o *v1alpha1.DistributionTenant) {
			o.Spec.KeyValues.StoreARN = otherStoreARN
			o.Spec.Domains = append(o.Spec.Domains, v1alpha1.TenantDomain{Domain: name + "-b.example.com"})
		})
	}
	keys := func() [2]int {
		return [2]int{len(f.Sim.KeyValues(storeARN)) - len(theirs()), len(f.Sim.KeyValues(otherStoreARN))}
	}
	f.Advance(5 * time.Second)
	if got := keys(); got[0] < fleetSize-3 || got[1] != 2*fleetSize {
		t.Errorf("%d keys are left and %d have come, want nearly %d and %d", got[0], got[1], fleetSize, 2*fleetSize)
	}
	f.Advance(20 * time.Minute)
	if got := keys(); got != [2]int{0, 2 * fleetSize} || f.ready() != fleetSize {
		t.Errorf("in the end there are %d and %d keys, and %d are Ready", got[0], got[1], f.ready())
	}
}

// A process that dies in the middle does not let the next one begin with all.
func TestASpreadSurvivesRestarts(t *testing.T) {
	t.Parallel()
	f := newFleet(t, world.Options{})
	for _, name := range f.names {
		f.Edit(name, tiered("gold"))
	}
	f.Advance(3 * time.Minute)
	before := f.tiers()["gold"]
	for range 5 {
		f.Restart()
		f.Advance(5 * time.Second)
	}
	now := f.tiers()["gold"]
	if now > 2*before+2 {
		t.Errorf("%d had it before the restarts, and %d after them", before, now)
	}
	f.Advance(20 * time.Minute)
	if n := f.tiers()["gold"]; n != fleetSize {
		t.Errorf("in the end %d have it", n)
	}
}

// A change that does not work reaches two.
func TestAChangeThatFailsStops(t *testing.T) {
	t.Parallel()
	f := newFleet(t, world.Options{})
	for _, name := range f.names {
		f.Edit(name, func(o *v1alpha1.DistributionTenant) { o.Spec.DistributionID = "E2MISSING" })
	}
	f.Advance(30 * time.Minute)
	failed, waiting := 0, 0
	for _, name := range f.names {
		switch o, _ := f.Get(name); {
		case conditionOf(o, v1alpha1.ConditionSynced) == v1alpha1.ReasonRollingOut:
			waiting++
		case conditionOf(o, v1alpha1.ConditionReady) != v1alpha1.ReasonDeployed:
			failed++
		}
	}
	if failed != 2 || waiting != fleetSize-2 {
		t.Errorf("%d failed and %d wait", failed, waiting)
	}
}

// groupOf is the rollout that the message of a tenant names.
func groupOf(t *testing.T, o *v1alpha1.DistributionTenant) string {
	t.Helper()
	for _, c := range o.Status.Conditions {
		if _, rest, found := strings.Cut(c.Message, "This is rollout "); found && c.Type == v1alpha1.ConditionSynced {
			return strings.SplitN(rest, ".", 2)[0]
		}
	}
	t.Fatalf("no rollout is named in %+v", o.Status.Conditions)
	return ""
}
