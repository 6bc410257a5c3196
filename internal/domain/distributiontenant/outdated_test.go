package distributiontenant_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/publication"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// A tenant is out of date if it was last changed before what is known of it, by status or by the own write.
func TestATenantAsItWasIsOutOfDate(t *testing.T) {
	stored := func(ago time.Duration) func(*distributiontenant.Input) {
		return func(in *distributiontenant.Input) { in.Memory.Modified = now.Add(-ago) }
	}
	wrote := func(ago time.Duration) func(*distributiontenant.Input) {
		return func(in *distributiontenant.Input) { in.Attempts.Wrote = now.Add(-ago) }
	}
	shown := func(ago time.Duration) func(*distributiontenant.Input) {
		return func(in *distributiontenant.Input) {
			change(in, func(t *distributiontenant.Observed) { t.Modified = now.Add(-ago) })
		}
	}
	untold := func(in *distributiontenant.Input) {
		change(in, func(t *distributiontenant.Observed) { t.Modified = time.Time{} })
	}
	for name, test := range map[string]struct {
		in   distributiontenant.Input
		want bool
	}{
		"nothing is known of it":                          {in: quiet()},
		"it is as status has it":                          {in: with(quiet(), stored(time.Minute), shown(time.Minute))},
		"status has whole seconds":                        {in: with(quiet(), stored(time.Minute), shown(time.Minute-time.Millisecond))},
		"others have changed it since":                    {in: with(quiet(), stored(time.Minute), shown(time.Second))},
		"it is from before":                               {in: with(quiet(), stored(time.Minute), shown(time.Hour)), want: true},
		"it is from before the own write":                 {in: with(quiet(), stored(time.Hour), wrote(time.Second), shown(time.Hour)), want: true},
		"it is the own write":                             {in: with(quiet(), stored(time.Hour), wrote(time.Second), shown(time.Second))},
		"AWS does not tell":                               {in: with(quiet(), stored(time.Minute), untold)},
		"no read lags for so long":                        {in: with(quiet(), stored(10*time.Minute), shown(time.Hour))},
		"what is being deleted is retracted all the same": {in: with(dying(), stored(time.Minute), shown(time.Hour))},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.in.Outdated(*test.in.World.Tenant); got != test.want {
				t.Errorf("it is out of date: %t, want %t", got, test.want)
			}
		})
	}
}

// While an update may have taken effect unseen, nothing is published that the tenant is only seen to have, and the pass
// comes again when it is certain. Published records stay.
func TestNothingIsPublishedInDoubt(t *testing.T) {
	asked := func(in *distributiontenant.Input) {
		in.Generation++
		in.Desired.DNS = &publication.Spec{Type: dns.CNAME, TTL: 300}
		in.World.Zones, in.World.ZonesKnown = []dns.Zone{{ID: "Z1", Name: "example.com"}}, true
	}
	doubted := func(ago time.Duration) func(*distributiontenant.Input) {
		return func(in *distributiontenant.Input) { in.Attempts.Doubted = now.Add(-ago) }
	}
	led := func(in *distributiontenant.Input) {
		in.Memory.Ledger = []dns.Entry{{Record: dns.Record{ZoneID: "Z1", Name: "alpha.example.com", Type: dns.CNAME, Value: "d1.cloudfront.net", TTL: 300}, State: dns.Published}}
	}
	for name, test := range map[string]struct {
		in    distributiontenant.Input
		wants int
		after time.Duration
		looks bool
	}{
		"nothing is in doubt":           {in: with(quiet(), asked), wants: 1},
		"an answer was lost":            {in: with(quiet(), asked, doubted(time.Minute)), after: resource.GracePeriod - time.Minute},
		"long ago, so it is read":       {in: with(quiet(), asked, doubted(resource.GracePeriod)), looks: true},
		"what is published is not lost": {in: with(quiet(), asked, led, doubted(time.Minute)), wants: 1},
	} {
		t.Run(name, func(t *testing.T) {
			if got, _ := test.in.Wants(); len(got) != test.wants {
				t.Errorf("it wants %v", got)
			}
			var want distributiontenant.Step = distributiontenant.Rest{After: test.after}
			if test.looks {
				want = distributiontenant.Look{At: distributiontenant.LookTenant}
			}
			if d := cmp.Diff(want, distributiontenant.Decide(test.in).Step); d != "" {
				t.Errorf("the step (-want +got):\n%s", d)
			}
		})
	}
}
