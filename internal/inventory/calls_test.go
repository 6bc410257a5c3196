package inventory_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/verdict"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

func replaceAll(s, old, with string) string { return strings.ReplaceAll(s, old, with) }

// A read that was overtaken by an own write shows the world before it.
func TestAReadThatWasOvertakenIsNotRemembered(t *testing.T) {
	r := newRig(t, options{tenants: 2})
	r.sweep()
	var wrote distributiontenant.Observed
	r.once("Get", func() { wrote = r.update(1, false) })
	if o := r.read(1); o.ETag == wrote.ETag {
		t.Error("the read should have shown the world before the write")
	}
	if k := r.Known(name(1)); k.Tenant.ETag != wrote.ETag || k.Knowledge != resource.Whole {
		t.Errorf("the read overwrote the update: %+v", k)
	}
}

func TestAReadThatFindsNothingForgets(t *testing.T) {
	r := newRig(t, options{tenants: 2})
	r.sweep()
	r.remove(1)
	if _, err := r.Read(t.Context(), name(1)); !fault.Is(err, fault.NotFound) {
		t.Fatalf("got %v, want not found", err)
	}
	wantKnowledge(t, r, 1, resource.Nothing)
}

// AWS's own word on a domain is passed on, and so is that it may not be asked for.
func TestAWSsOwnWordIsPassedOn(t *testing.T) {
	r := newRig(t, options{tenants: 2})
	o := r.read(1)
	domain := o.Domains[0]
	said, err := r.VerifyDNS(t.Context(), o.ID, domain)
	if err != nil || len(said) != 1 || said[0].Domain != domain || said[0].Status != verdict.Invalid {
		t.Errorf("got %+v, %v, want that DNS does not lead there", said, err)
	}
	other := r.read(0)
	conflicts, err := r.DomainConflicts(t.Context(), domain, other.ID)
	if err != nil || len(conflicts) != 1 || conflicts[0].ID != o.ID {
		t.Errorf("got %+v, %v, want the tenant %s", conflicts, err, o.ID)
	}
	for _, operation := range []string{"VerifyDnsConfiguration", "ListDomainConflicts"} {
		denied := sim.Fault{Operation: operation, Times: -1, Kind: sim.Instead, Error: &sim.FaultError{Status: 403, Code: "AccessDenied"}}
		if _, err := r.sim.AddFault(denied); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.VerifyDNS(t.Context(), o.ID, domain); !fault.Is(err, fault.Denied) {
		t.Errorf("without the permission: %v, want Denied", err)
	}
	if _, err := r.DomainConflicts(t.Context(), domain, other.ID); !fault.Is(err, fault.Denied) {
		t.Errorf("without the permission: %v, want Denied", err)
	}
}

// A failed write is a hint to look, and nothing more.
func TestFailedWritesForgetWhatTheyPutInDoubt(t *testing.T) {
	tests := map[string]struct {
		fault sim.Fault
		want  resource.Knowledge
	}{
		"an answer that was lost leaves nothing known": {sim.Fault{Kind: sim.AfterCommit, Effect: sim.EffectReset}, resource.Nothing},
		"an error of the server too":                   {sim.Fault{Kind: sim.BeforeCommit, Effect: sim.EffectError}, resource.Nothing},
		"a stale version means that something moved":   {sim.Fault{Kind: sim.Instead, Error: &sim.FaultError{Status: 412, Code: "PreconditionFailed"}}, resource.Nothing},
		"a denial says nothing about the tenant":       {sim.Fault{Kind: sim.Instead, Error: &sim.FaultError{Status: 403, Code: "AccessDenied"}}, resource.Whole},
		"nor does a throttle":                          {sim.Fault{Kind: sim.Instead, Error: &sim.FaultError{Status: 400, Code: "Throttling"}}, resource.Whole},
	}
	for why, test := range tests {
		t.Run(why, func(t *testing.T) {
			r := newRig(t, options{tenants: 2})
			r.sweep()
			o := r.read(1)
			test.fault.Operation = "UpdateDistributionTenant"
			if _, err := r.sim.AddFault(test.fault); err != nil {
				t.Fatal(err)
			}
			if _, err := r.Update(t.Context(), distributiontenant.Update{ID: o.ID, ETag: o.ETag, Tenant: o.Tenant}); err == nil {
				t.Fatal("the write did not fail")
			}
			wantKnowledge(t, r, 1, test.want)
			wantKnowledge(t, r, 0, resource.Listed)
		})
	}
}

// A tenant of another id under the same name is another tenant: nothing carries over.
func TestAnotherTenantOfTheNameIsAnother(t *testing.T) {
	r := newRig(t, options{tenants: 2})
	r.sweep()
	o := r.read(1)
	if _, err := r.ReadTags(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	r.remove(1)
	in := o.Tenant
	if _, err := r.console().CreateDistributionTenant(t.Context(), wireCreate(in)); err != nil {
		t.Fatal(err)
	}
	r.clock.Step(interval)
	r.sweep()
	k := r.Known(name(1))
	if k.Knowledge != resource.Listed || k.Tenant.ID == o.ID || k.TagsKnown {
		t.Errorf("got %+v", k)
	}
}

// The list shows no tags, so they are read about once a day, spread over the day.
func TestTagsRotateOnceADay(t *testing.T) {
	r := newRig(t, options{tenants: 3})
	r.clock.Step(time.Hour)
	r.sweep()
	for n := range 3 {
		if _, err := r.ReadTags(t.Context(), r.read(n)); err != nil {
			t.Fatal(err)
		}
	}
	read := r.clock.Now()
	if k := r.Known(name(0)); !k.TagsKnown || k.TagsDue || !k.TagsRead.Equal(read) {
		t.Errorf("after reading: %+v", k)
	}
	r.wokenNow()
	r.run(21 * time.Hour)
	wantWoken(t, r)
	r.run(2 * time.Hour)
	wantWoken(t, r, names(0, 3)...)
	if !r.Known(name(0)).TagsDue {
		t.Error("after a day the tags are not due")
	}
}

// The list of a start would otherwise be followed by reads of the tags that happen to be due first.
func TestAStartReadsNoTags(t *testing.T) {
	r := newRig(t, options{tenants: 3, random: func() float64 { return 0 }})
	r.sweep()
	r.clock.Step(interval - time.Second)
	if r.Known(name(0)).TagsDue {
		t.Error("tags are due before the second sweep")
	}
	r.clock.Step(time.Second)
	if !r.Known(name(0)).TagsDue {
		t.Error("tags are not due with the second sweep")
	}
}

// Own changes of tags are known at once, and verified soon.
func TestOwnTagsAreWrittenThrough(t *testing.T) {
	r := newRig(t, options{tenants: 1})
	r.sweep()
	o := r.read(0)
	if _, err := r.ReadTags(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if err := r.Tag(t.Context(), name(0), o.ARN, map[string]string{"team": "web", "cost": "7"}); err != nil {
		t.Fatal(err)
	}
	if err := r.Untag(t.Context(), name(0), o.ARN, []string{"cost"}); err != nil {
		t.Fatal(err)
	}
	k := r.Known(name(0))
	if d := cmp.Diff(map[string]string{"team": "web"}, k.Tags); d != "" || !k.TagsKnown || !k.TagsDue {
		t.Errorf("known %t, due %t (-want +got):\n%s", k.TagsKnown, k.TagsDue, d)
	}

	if _, err := r.sim.AddFault(sim.Fault{Operation: "TagResource", Kind: sim.AfterCommit, Effect: sim.EffectReset}); err != nil {
		t.Fatal(err)
	}
	if err := r.Tag(t.Context(), name(0), o.ARN, map[string]string{"team": "db"}); err == nil {
		t.Fatal("the answer was not lost")
	}
	if r.Known(name(0)).TagsKnown {
		t.Error("after a lost answer the tags count as known")
	}
}

// Known returns a copy that does not change later.
func TestKnownIsASnapshot(t *testing.T) {
	r := newRig(t, options{tenants: 1})
	r.sweep()
	o := r.read(0)
	if _, err := r.ReadTags(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	before := r.Known(name(0))
	if err := r.Tag(t.Context(), name(0), o.ARN, map[string]string{"team": "web"}); err != nil {
		t.Fatal(err)
	}
	r.update(0, false)
	if len(before.Tags) != 0 || !before.Tenant.Enabled {
		t.Errorf("what was known before has changed: %+v", before)
	}
}

// Two reads that lag alike behind the list do not confirm each other, where the tenant is deployed and does not move any
// more.
func TestReadsThatLagTogetherAreNotBelieved(t *testing.T) {
	for _, differs := range []bool{false, true} {
		t.Run(fmt.Sprintf("summary ETag differs %t", differs), func(t *testing.T) {
			r := newRig(t, options{tenants: 2, switches: func(s *sim.Switches) {
				s.SummaryETagDiffers, s.UpdateLag = differs, time.Hour
			}})
			r.clock.Step(2 * time.Hour)
			r.sweep()
			r.read(1)
			r.edit(1)
			r.clock.Step(2 * deployDelay)
			for range 2 {
				r.sweep()
				if r.read(1).Customizations.Geo.Type != "" {
					t.Fatal("the read should have lagged")
				}
			}
			r.wokenNow()
			r.run(time.Hour)
			wantWoken(t, r, name(1))
		})
	}
}

// Where single reads lag behind lists, the read that a change in the list leads to may show
// the tenant from before the change. It must not pass for what the list showed.
func TestAReadThatLagsBehindTheListIsRepeated(t *testing.T) {
	for _, differs := range []bool{false, true} {
		t.Run(fmt.Sprintf("summary ETag differs %t", differs), func(t *testing.T) {
			r := newRig(t, options{tenants: 2, switches: func(s *sim.Switches) {
				s.SummaryETagDiffers, s.UpdateLag = differs, 7*time.Minute
			}})
			r.clock.Step(time.Hour)
			r.sweep()
			r.read(1)
			r.run(interval)
			r.wokenNow()

			r.edit(1)
			r.sweep()
			wantWoken(t, r, name(1))
			if r.read(1).Customizations.Geo.Type != "" {
				t.Fatal("the read should have lagged")
			}
			r.run(2 * interval)
			wantWoken(t, r, name(1))
			if got := r.read(1).Customizations.Geo.Type; got != "none" {
				t.Fatalf("the change is still not shown: %q", got)
			}
			// Once it is known there is nothing more to read.
			r.run(interval)
			r.read(1)
			r.wokenNow()
			r.run(4 * interval)
			wantWoken(t, r)
			wantKnowledge(t, r, 1, resource.Whole)
		})
	}
}
