package aws_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

// TestDeterminism runs the same calls in two orders: with one seed every id and
// ETag is the same, with another seed none is.
func TestDeterminism(t *testing.T) {
	run := func(seed uint64, names ...string) map[string]string {
		sim := newSim(t, func(o *aws.Options) { o.RandomSeed = seed })
		for _, name := range names {
			mustCreate(t, sim, name)
		}
		removeTenant(t, sim, "ddd")
		mustCreate(t, sim, "ddd")
		out := map[string]string{}
		for _, tenant := range sim.Tenants("") {
			out[tenant.Name] = tenant.ID + " " + tenant.ETag
		}
		return out
	}
	first := run(1, "aaa", "bbb", "ccc", "ddd")
	if diff := cmp.Diff(first, run(1, "ccc", "bbb", "aaa", "ddd")); diff != "" {
		t.Errorf("the same seed differs:\n%s", diff)
	}
	for name, other := range run(2, "aaa", "bbb", "ccc", "ddd") {
		if other == first[name] {
			t.Errorf("%s is the same with another seed", name)
		}
	}
}

// TestConcurrency has many clients create, update, list, read and delete at
// once; at the end there is what they left.
func TestConcurrency(t *testing.T) {
	sim := newSim(t)
	sim.ChangeSwitches(func(sw *aws.Switches) { sw.DeleteNeedsDeployed = false })
	const workers, each = 8, 20
	var wg sync.WaitGroup
	var won atomic.Int32
	for w := range workers {
		wg.Go(func() {
			ctx, c := t.Context(), client(sim)
			for i := range each {
				name := fmt.Sprintf("t-%d-%d", w, i)
				created, err := c.CreateDistributionTenant(ctx, tenantInput(name))
				if err != nil {
					t.Errorf("creating %s: %v", name, err)
					return
				}
				_, race := c.CreateDistributionTenant(ctx, tenantInput(fmt.Sprintf("race-%d", i)))
				if race == nil {
					won.Add(1)
				} else if code := refusalOf(race).Code; code != "EntityAlreadyExists" {
					t.Errorf("racing for a name: %v", race)
				}
				updated, err := c.UpdateDistributionTenant(ctx, &cloudfront.UpdateDistributionTenantInput{Id: created.DistributionTenant.Id, IfMatch: created.ETag, Enabled: sdk.Bool(i%2 == 0)})
				if err != nil {
					t.Errorf("updating %s: %v", name, err)
					return
				}
				if _, err := c.ListDistributionTenants(ctx, &cloudfront.ListDistributionTenantsInput{}); err != nil {
					t.Errorf("listing: %v", err)
				}
				if i%2 == 1 {
					if _, err := c.DeleteDistributionTenant(ctx, &cloudfront.DeleteDistributionTenantInput{Id: created.DistributionTenant.Id, IfMatch: updated.ETag}); err != nil {
						t.Errorf("deleting %s: %v", name, err)
					}
				}
				sim.State()
				sim.Calls()
			}
		})
	}
	wg.Wait()
	if got := won.Load(); got != each {
		t.Errorf("%d creates won a race for %d names", got, each)
	}
	if got, want := len(sim.Tenants("")), workers*each/2+each; got != want {
		t.Errorf("%d tenants are there, want %d", got, want)
	}
}

var (
	nameElement   = regexp.MustCompile(`<Name>([^<]*)</Name>`)
	markerElement = regexp.MustCompile(`<NextMarker>([^<]*)</NextMarker>`)
)

// TestThousandsOfTenants fills an account and reads it back.
func TestThousandsOfTenants(t *testing.T) {
	const count = 30_000
	sim := newSim(t, func(o *aws.Options) { o.Quotas = aws.Quotas{Tenants: count} })
	var fleet aws.Seed
	for i := range count - 1 {
		fleet.Tenants = append(fleet.Tenants, aws.SeedTenant{
			Name: fmt.Sprintf("t%06d", i), DistributionID: "E2NOPARAMS", Domains: []string{fmt.Sprintf("t%06d.example.com", i)},
		})
	}
	if err := sim.Load(fleet); err != nil {
		t.Fatal(err)
	}
	mustCreate(t, sim, "t029999")
	_, err := client(sim).CreateDistributionTenant(t.Context(), tenantInput("one-too-many"))
	wantRefusal(t, err, 400, "EntityLimitExceeded")
	// The SDK's decoder would take most of the time here, so the pages are
	// read as they are.
	seen := map[string]bool{}
	for marker := ""; ; {
		_, body := raw(t, sim, "POST", "/2020-05-31/distribution-tenants", "<ListDistributionTenantsRequest><Marker>"+marker+"</Marker></ListDistributionTenantsRequest>")
		for _, match := range nameElement.FindAllStringSubmatch(body, -1) {
			seen[match[1]] = true
		}
		next := markerElement.FindStringSubmatch(body)
		if next == nil {
			break
		}
		marker = next[1]
	}
	if len(seen) != count {
		t.Errorf("the list has %d tenants", len(seen))
	}
	if calls := sim.Calls()["ListDistributionTenants"].Total; calls != count/100 {
		t.Errorf("the sweep took %d calls", calls)
	}
	got, err := client(sim).GetDistributionTenantByDomain(t.Context(), &cloudfront.GetDistributionTenantByDomainInput{Domain: sdk.String("t029999.example.com")})
	if err != nil || *got.DistributionTenant.Name != "t029999" {
		t.Errorf("by domain: %v, %v", got, err)
	}
	removeTenant(t, sim, "t020000")
	if got := len(sim.Tenants("")); got != count-1 {
		t.Errorf("%d tenants after a delete", got)
	}
}

// TestManyDeletes makes sure that what is gone does not stay in the way.
func TestManyDeletes(t *testing.T) {
	sim := newSim(t)
	sim.ChangeSwitches(func(sw *aws.Switches) { sw.DeleteNeedsDeployed = false })
	for i := range 300 {
		tenant, etag := mustCreate(t, sim, fmt.Sprintf("t%03d", i), func(in *createInput) { in.Enabled = sdk.Bool(i >= 280) })
		if i < 280 {
			if _, err := client(sim).DeleteDistributionTenant(t.Context(), &cloudfront.DeleteDistributionTenantInput{Id: tenant.Id, IfMatch: &etag}); err != nil {
				t.Fatal(err)
			}
		}
	}
	var names []string
	for _, s := range list(t, sim) {
		names = append(names, *s.Name)
	}
	if len(names) != 20 || names[0] != "t280" || !slices.IsSorted(names) {
		t.Errorf("listed %v", names)
	}
}

// TestStateIsJSON keeps the audit readable over the control API.
func TestStateIsJSON(t *testing.T) {
	sim := newSim(t)
	mustCreate(t, sim, "acme", func(in *createInput) { in.Tags = tagSet("a", "b") })
	text, err := json.Marshal(sim.State())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"eTag":"E`, `"tags":{"a":"b"}`, `"acme.example.com":"active"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("state has no %s", want)
		}
	}
}
