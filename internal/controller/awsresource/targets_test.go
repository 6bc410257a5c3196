package awsresource_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	r53types "github.com/aws/aws-sdk-go-v2/service/route53/types"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/budget"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/loss"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// targetZone is the platform's own zone.
const (
	targetZone   = "ZPLATFORM"
	targetsReady = "DNSReady=True/DNSReady"
)

// platform is a world with the platform's own zone, in which the sync of a change takes 20 s.
func platform(t *testing.T, change ...func(*world.Options, *sim.Seed)) *world.World {
	t.Helper()
	seed, switches := world.Seed(), sim.DefaultSwitches()
	seed.HostedZones = append(seed.HostedZones, sim.SeedHostedZone{ID: targetZone, Name: "shop.example", Records: []sim.SeedRecord{
		{Name: "taken.shop.example", Type: "CNAME", TTL: 60, Values: []string{"elsewhere.example.org"}},
	}})
	switches.Route53SyncDelay = 20 * time.Second
	o := world.Options{Seed: &seed, Switches: &switches}
	for _, c := range change {
		c(&o, &seed)
	}
	return world.NewOffline(t, o)
}

// targets are customer targets in the platform's own zone.
func targets(names ...string) (out []v1alpha1.CustomerTarget) {
	for _, n := range names {
		out = append(out, v1alpha1.CustomerTarget{Name: n, DNS: &v1alpha1.DNS{Provider: v1alpha1.DNSProviderRoute53}})
	}
	return out
}

// grouped makes a group with targets, and waits for it.
func grouped(t *testing.T, w *world.World, name string, names ...string) *v1alpha1.ConnectionGroup {
	t.Helper()
	o := w.ConnectionGroup(name, func(o *v1alpha1.ConnectionGroup) { o.Spec.CustomerTargets = targets(names...) })
	apply(t, w, o)
	w.Advance(settle)
	status(t, w, o)
	return o
}

func retarget(t *testing.T, w *world.World, o *v1alpha1.ConnectionGroup, names ...string) {
	t.Helper()
	edit(t, w, o, func(o client.Object) { o.(*v1alpha1.ConnectionGroup).Spec.CustomerTargets = targets(names...) })
}

// published are the records of the platform's zone, each as "TYPE name value".
func published(t *testing.T, w *world.World) (out []string) {
	t.Helper()
	zone, found := w.Sim.HostedZone(targetZone)
	if !found {
		t.Fatal("the platform's zone is gone")
	}
	for _, r := range zone.Records {
		if r.Type == "SOA" || r.Type == "NS" || r.Name == "taken.shop.example" {
			continue
		}
		value := strings.Join(r.Values, ",")
		if r.AliasTarget != "" {
			value = r.AliasTarget
		}
		out = append(out, r.Type+" "+r.Name+" "+strings.TrimSuffix(value, "."))
	}
	slices.Sort(out)
	return out
}

func leads(t *testing.T, w *world.World, want ...string) {
	t.Helper()
	if d := cmp.Diff(want, published(t, w)); d != "" {
		t.Errorf("the platform's zone (-want +got):\n%s", d)
	}
}

// tells checks what a tenant's customer is told to set.
func tells(t *testing.T, w *world.World, tenant, want string) {
	t.Helper()
	o, _ := w.Get(tenant)
	for _, d := range o.Status.Domains {
		for _, r := range d.Records {
			if r.Purpose == "Routing" && r.Value != want {
				t.Errorf("the customer of %s is told %s, want %s", d.Domain, r.Value, want)
			}
		}
	}
	if len(o.Status.Domains) == 0 {
		t.Error("status tells of no domain")
	}
}

func TestATargetIsPublishedRenamedAndRemoved(t *testing.T) {
	w := platform(t)
	o := grouped(t, w, "shops", "cname.shop.example", "shop.example")
	endpoint := o.Status.RoutingEndpoint
	is(t, w, o, readyTrue, syncedTrue, targetsReady)
	leads(t, w, "A shop.example "+endpoint, "AAAA shop.example "+endpoint, "CNAME cname.shop.example "+endpoint, `TXT _cf-challenge.shop.example "`+endpoint+`"`)

	tenant := w.Tenant("alpha", func(o *v1alpha1.DistributionTenant) {
		o.Spec.ConnectionGroupRef = &v1alpha1.ObjectReference{Name: "shops"}
	})
	w.Apply(tenant)
	w.Advance(settle)
	tells(t, w, "alpha", "cname.shop.example")

	retarget(t, w, o, "new.shop.example")
	w.Advance(aLook)
	is(t, w, o, readyTrue, targetsReady)
	leads(t, w, "CNAME new.shop.example "+endpoint)
	tells(t, w, "alpha", "new.shop.example")
	if len(o.Status.CustomerTargets) != 1 {
		t.Errorf("status has %+v", o.Status.CustomerTargets)
	}

	retarget(t, w, o)
	w.Advance(aLook)
	leads(t, w)
	tells(t, w, "alpha", endpoint)
	if c := w.ParentCondition(o, "DNSReady"); c != "DNSReady is not there" {
		t.Errorf("a group without targets has the condition %s", c)
	}
}

// The targets of a group that is deleted stay until its last tenant is gone, and are gone before the group is disabled.
func TestATargetLeavesAfterTheLastTenant(t *testing.T) {
	w := platform(t)
	o := grouped(t, w, "shops", "cname.shop.example")
	w.Apply(w.Tenant("alpha", func(o *v1alpha1.DistributionTenant) {
		o.Spec.ConnectionGroupRef = &v1alpha1.ObjectReference{Name: "shops"}
	}))
	w.Advance(settle)
	remove(t, w, o)
	w.Advance(aLook)
	leads(t, w, "CNAME cname.shop.example "+o.Status.RoutingEndpoint)
	w.Delete("alpha")
	w.Advance(30 * time.Minute)
	leads(t, w)
	if s := w.ParentStatus(o); s != nil {
		t.Errorf("the group is still there: %s", w.ParentConditions(o))
	}
}

func TestARecordOfSomeoneElseIsNoTarget(t *testing.T) {
	w := platform(t)
	o := grouped(t, w, "shops", "taken.shop.example")
	is(t, w, o, readyTrue, "DNSReady=False/DNSConflict")
	if text := w.ParentConditions(o); !strings.Contains(text, "spec.customerTargets[0].dns.takeover") {
		t.Errorf("the condition does not name the field:\n%s", text)
	}
	leads(t, w)
}

// A record that others change is corrected.
func TestATargetIsRestored(t *testing.T) {
	w := platform(t)
	o := grouped(t, w, "shops", "cname.shop.example")
	record := &r53types.ResourceRecordSet{
		Name: awssdk.String("cname.shop.example"), Type: r53types.RRTypeCname, TTL: awssdk.Int64(300),
		ResourceRecords: []r53types.ResourceRecord{{Value: awssdk.String("wrong.example.org")}},
	}
	_, err := w.Route53().ChangeResourceRecordSets(t.Context(), &route53.ChangeResourceRecordSetsInput{
		HostedZoneId: awssdk.String(targetZone), ChangeBatch: &r53types.ChangeBatch{Changes: []r53types.Change{{Action: r53types.ChangeActionUpsert, ResourceRecordSet: record}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	w.Advance(time.Hour)
	leads(t, w, "CNAME cname.shop.example "+o.Status.RoutingEndpoint)
	is(t, w, o, targetsReady)
}

// A domain of a tenant can't be a target as well, and its customer is not told to point it at itself.
func TestADomainOfATenantIsNoTarget(t *testing.T) {
	w := platform(t)
	w.Apply(w.Tenant("alpha", func(o *v1alpha1.DistributionTenant) {
		o.Spec.Domains = []v1alpha1.TenantDomain{{Domain: "cname.shop.example"}}
	}))
	o := grouped(t, w, "shops", "cname.shop.example")
	is(t, w, o, readyTrue, "DNSReady=False/DNSConflict")
	if text := w.ParentConditions(o); !strings.Contains(text, "spec.customerTargets has cname.shop.example, which is a domain of the DistributionTenant "+w.Namespace+"/alpha") {
		t.Errorf("the condition does not name the tenant:\n%s", text)
	}
	leads(t, w)
	w.Delete("alpha")
	w.Advance(aLook)
	is(t, w, o, targetsReady)
}

// A target that moves to another group of the namespace is replaced, and never missing.
func TestATargetMovesBetweenGroups(t *testing.T) {
	watching, seen := false, map[string]bool{}
	w := platform(t, func(o *world.Options, _ *sim.Seed) {
		o.Watch = func(v sim.View) {
			if watching {
				seen[v.PublicRouting()["cname.shop.example"]] = true
			}
		}
	})
	a := grouped(t, w, "a", "cname.shop.example")
	b := grouped(t, w, "b")
	watching = true
	retarget(t, w, b, "cname.shop.example")
	w.Advance(settle)
	is(t, w, b, "DNSReady=False/DNSConflict")
	leads(t, w, "CNAME cname.shop.example "+a.Status.RoutingEndpoint)
	retarget(t, w, a)
	w.Advance(settle)
	is(t, w, b, targetsReady)
	leads(t, w, "CNAME cname.shop.example "+b.Status.RoutingEndpoint)
	if status(t, w, a); len(a.Status.CustomerTargets) > 0 {
		t.Errorf("the first group still has %+v", a.Status.CustomerTargets)
	}
	if seen[""] || !seen[a.Status.RoutingEndpoint] {
		t.Errorf("the target was missing in DNS for a while: it has led to %v", seen)
	}
}

// A target that customers may have been told is not removed without an approval, whatever the drift policy is.
func TestARemovalOfATargetIsHeld(t *testing.T) {
	w := platform(t, func(o *world.Options, _ *sim.Seed) { o.Losses = heldLosses() })
	o := w.ConnectionGroup("shops", func(o *v1alpha1.ConnectionGroup) {
		o.Spec.CustomerTargets, o.Spec.DriftPolicy = targets("cname.shop.example"), v1alpha1.DriftPolicyReport
	})
	apply(t, w, o)
	w.Advance(settle)
	status(t, w, o)
	w.Apply(w.Tenant("alpha", func(o *v1alpha1.DistributionTenant) {
		o.Spec.ConnectionGroupRef = &v1alpha1.ObjectReference{Name: "shops"}
	}))
	w.Advance(settle)
	retarget(t, w, o)
	w.Advance(aLook)
	is(t, w, o, "Ready=False/DeletionHeld")
	leads(t, w, "CNAME cname.shop.example "+o.Status.RoutingEndpoint)
	retarget(t, w, o, "cname.shop.example")
	w.Advance(settle)
	is(t, w, o, readyTrue, targetsReady)
}

// A process that starts again continues where the previous one ended.
func TestTargetsSurviveARestart(t *testing.T) {
	w := platform(t)
	o := grouped(t, w, "shops", "cname.shop.example")
	w.Restart()
	w.Advance(settle)
	is(t, w, o, readyTrue, targetsReady)
	retarget(t, w, o)
	w.Restart()
	w.Advance(aLook)
	leads(t, w)
}

// heldLosses let no customer be lost with a connection group.
func heldLosses() *loss.Policy {
	return &loss.Policy{
		Settle: time.Minute, SettleMax: 5 * time.Minute, Window: 24 * time.Hour, Ceiling: budget.Ceiling,
		Budgets: map[loss.Class]loss.Budget{convert.ClassConnectionGroup: {Cluster: budget.Limit{}}},
	}
}
