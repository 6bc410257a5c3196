package distributiontenant_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/onboarding"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// customers is the public DNS of customers, as the operator's resolvers show it.
type customers struct {
	mu    sync.Mutex
	ways  map[string]onboarding.Sight
	looks map[string]int
}

func (c *customers) Where(_ context.Context, name string, _ []string) onboarding.Sight {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.looks[name]++
	if s, some := c.ways[name]; some {
		return s
	}
	return onboarding.Sight{Way: onboarding.Nowhere}
}

func (c *customers) asked(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.looks[name]
}

// onboards is a world whose customers have their own DNS.
type onboards struct {
	*world.World

	dns *customers
}

func newOnboards(t *testing.T) onboards { t.Helper(); return newOnboardsWith(t, world.Options{}) }

func newOnboardsWith(t *testing.T, options world.Options) onboards {
	t.Helper()
	c := &customers{ways: map[string]onboarding.Sight{}, looks: map[string]int{}}
	options.Guide = c
	o := onboards{certWorldWith(t, options), c}
	o.Apply(o.Tenant("first", plainShop)) // AWS makes the connection group with the first tenant
	o.Advance(time.Hour)
	return o
}

// leads has the customer of a domain lead it to CloudFront, or to the names that are seen.
func (o onboards) leads(domain string, way onboarding.Way, seen ...string) {
	o.dns.mu.Lock()
	o.dns.ways[domain] = onboarding.Sight{Way: way, Seen: seen}
	o.dns.mu.Unlock()
	o.Sim.SetResolving(way == onboarding.Here, domain)
}

// domain is what status says of a domain.
func (o onboards) domain(t *testing.T, name, domain string) v1alpha1.DomainStatus {
	t.Helper()
	all := get(t, o.World, name).Status.Domains
	i := slices.IndexFunc(all, func(d v1alpha1.DomainStatus) bool { return d.Domain == domain })
	if i < 0 {
		t.Fatalf("status has no %s: %+v", domain, all)
	}
	return all[i]
}

func (o onboards) isIn(t *testing.T, domain string, state v1alpha1.DomainState, party v1alpha1.Party) v1alpha1.DomainStatus {
	t.Helper()
	d := o.domain(t, "shop", domain)
	if d.State != state || d.WaitsFor != party {
		t.Errorf("%s is %s and waits for %q, want %s and %q: %s", domain, d.State, d.WaitsFor, state, party, d.Message)
	}
	return d
}

const newcomer = "new.customer.org"

var waitingShop = []edit{managed(v1alpha1.ValidationTokenHostCloudFront), domains(newcomer)}

// A customer who sets no record costs a call and a write an hour, and is told which record to set. Once it is there, CloudFront is
// asked within seconds.
func TestACustomerWhoTakesADayToSetTheRecord(t *testing.T) {
	t.Parallel()
	o := newOnboards(t)
	o.Apply(o.Tenant("shop", waitingShop...))
	o.Advance(time.Minute)
	d := o.isIn(t, newcomer, v1alpha1.DomainAwaitingDNS, v1alpha1.PartyCustomer)
	if len(d.Records) != 1 || d.Records[0].State != v1alpha1.RecordMissing || d.Records[0].Type != "CNAME" || !strings.HasSuffix(d.Records[0].Value, ".cloudfront.net") {
		t.Fatalf("the records are %+v", d.Records)
	}
	says(t, o.World, "shop", "Ready", "Create the record "+newcomer+" CNAME "+d.Records[0].Value)
	calls, writes := o.Calls(), o.KubeWrites()
	o.Advance(day)
	asked := world.Since(calls, o.Calls())
	if n := asked["CreateDistributionTenant"]; n < 20 || n > 24 || asked["GetDistributionTenant"] != 0 {
		t.Errorf("AWS was asked %d times in a day: %v", n, asked)
	}
	if n := o.KubeWrites() - writes; n > 25 {
		t.Errorf("%d writes to Kubernetes in a day", n)
	}
	t.Logf("calls in a day: %v, writes: %d, looks: %d", asked, o.KubeWrites()-writes, o.dns.asked(newcomer))
	// A new process does not ask about all of them at once.
	calls, writes = o.Calls(), o.KubeWrites()
	o.Restart()
	o.Advance(20 * time.Minute)
	if n := world.Since(calls, o.Calls())["CreateDistributionTenant"]; n != 0 || o.KubeWrites() != writes {
		t.Errorf("a restart costs %d calls and %d writes", n, o.KubeWrites()-writes)
	}
	o.leads(newcomer, onboarding.Elsewhere, "old.example.net")
	o.Advance(time.Hour)
	if d := o.isIn(t, newcomer, v1alpha1.DomainAwaitingDNS, v1alpha1.PartyCustomer); d.Records[0].State != v1alpha1.RecordWrong || !slices.Equal(d.Records[0].Seen, []string{"old.example.net"}) {
		t.Errorf("the records are %+v", d.Records)
	}
	calls = o.Calls()
	o.leads(newcomer, onboarding.Here)
	nudge(o.World, "shop", "now")
	o.Advance(30 * time.Second)
	if n := world.Since(calls, o.Calls())["CreateDistributionTenant"]; n != 1 {
		t.Errorf("AWS was asked %d times after the record was set", n)
	}
	o.Advance(time.Hour)
	o.isIn(t, newcomer, v1alpha1.DomainLive, "")
	is(t, o.World, "shop", readyTrue, syncedTrue)
	quiet(t, o.World)
}

// A user who sets the record while it is fresh is served at once.
func TestACustomerWhoSetsTheRecordIsServedWithinSeconds(t *testing.T) {
	t.Parallel()
	o := newOnboards(t)
	o.Apply(o.Tenant("shop", waitingShop...))
	o.Advance(10 * time.Minute)
	calls := o.Calls()
	o.leads(newcomer, onboarding.Here)
	o.Advance(16 * time.Second)
	if n := world.Since(calls, o.Calls())["CreateDistributionTenant"]; n != 1 {
		t.Errorf("AWS was asked %d times within 16 seconds", n)
	}
}

// A domain that is led away is found within a day. Nothing is taken down for it, and it is live again when it comes back.
func TestADomainThatLeavesIsLostWithinADay(t *testing.T) {
	t.Parallel()
	o := newOnboards(t)
	o.leads(newcomer, onboarding.Here)
	o.Apply(o.Tenant("shop", waitingShop...))
	o.Advance(3 * time.Hour)
	o.isIn(t, newcomer, v1alpha1.DomainLive, "")
	calls, looks := o.Calls(), o.dns.asked(newcomer)
	for range 4 {
		o.Advance(day)
	}
	if n := o.dns.asked(newcomer) - looks; n > 10 {
		t.Errorf("public DNS was asked %d times about a live domain in four days", n)
	}
	o.leads(newcomer, onboarding.Elsewhere, "old.example.net")
	o.Advance(day)
	d := o.isIn(t, newcomer, v1alpha1.DomainLost, v1alpha1.PartyCustomer)
	if !strings.Contains(d.Message, "old.example.net") {
		t.Errorf("the message is %q", d.Message)
	}
	if n := slices.IndexFunc(o.Events, func(e world.Event) bool { return e.Reason == "DomainLost" && e.Warning }); n < 0 {
		t.Errorf("there is no event among %+v", o.Events)
	}
	writes := o.KubeWrites()
	o.Restart()
	o.Advance(day)
	o.isIn(t, newcomer, v1alpha1.DomainLost, v1alpha1.PartyCustomer)
	if n := o.KubeWrites() - writes; n != 0 {
		t.Errorf("a lost domain costs %d writes a day", n)
	}
	if changed := mutations(world.Since(calls, o.Calls())); len(changed) != 0 {
		t.Errorf("AWS was changed for a lost domain: %v", changed)
	}
	is(t, o.World, "shop", readyTrue, syncedTrue)
	o.leads(newcomer, onboarding.Here)
	o.Advance(2 * time.Hour)
	o.isIn(t, newcomer, v1alpha1.DomainLive, "")
}

// One domain without a record keeps no other from its customers, and is added when its record is there.
func TestASecondDomainIsAddedWhenItLeadsThere(t *testing.T) {
	t.Parallel()
	o := newOnboards(t)
	o.leads(newcomer, onboarding.Here)
	o.Apply(o.Tenant("shop", waitingShop...))
	o.Advance(3 * time.Hour)
	const second = "www.customer.org"
	calls := o.Calls()
	o.Edit("shop", domains(newcomer, second))
	o.Advance(3 * time.Hour)
	o.isIn(t, newcomer, v1alpha1.DomainLive, "")
	o.isIn(t, second, v1alpha1.DomainAwaitingDNS, v1alpha1.PartyCustomer)
	if n := world.Since(calls, o.Calls())["UpdateDistributionTenant"]; n > 4 {
		t.Errorf("AWS was asked %d times in three hours", n)
	}
	o.leads(second, onboarding.Here)
	o.Advance(3 * time.Hour)
	o.isIn(t, second, v1alpha1.DomainLive, "")
	is(t, o.World, "shop", readyTrue, syncedTrue)
}

// A certificate that can't be renewed because of its domain is told long before it expires, at the price of one question a
// day, and no more once it was renewed.
func TestADomainThatKeepsItsRenewalUp(t *testing.T) {
	t.Parallel()
	o := newOnboardsWith(t, world.Options{Expiry: true})
	o.leads(newcomer, onboarding.Here)
	o.Apply(o.Tenant("shop", waitingShop...))
	o.Advance(day)
	o.isIn(t, newcomer, v1alpha1.DomainLive, "")
	ends := get(t, o.World, "shop").Status.Certificate.NotAfter.Time
	// The customer's CAA records, say, keep Amazon out: resolvers don't see it.
	o.Sim.SetResolving(false, newcomer)
	for late := ends.Add(-44 * day); o.Clock.Now().Before(late); {
		o.Advance(min(2*day, late.Sub(o.Clock.Now())))
	}
	if d := o.isIn(t, newcomer, v1alpha1.DomainLive, v1alpha1.PartyCustomer); !strings.Contains(d.Message, "Its certificate expires on "+ends.Format(time.DateOnly)) {
		t.Errorf("it says %q", d.Message)
	}
	calls, writes := o.Calls(), o.KubeWrites()
	o.Advance(2 * day)
	if asked := world.Since(calls, o.Calls()); asked["DescribeCertificate"] > 4 || o.KubeWrites() != writes {
		t.Errorf("%d writes and the calls %v in two days", o.KubeWrites()-writes, asked)
	}
	o.Sim.SetResolving(true, newcomer)
	o.Advance(2 * day)
	o.Advance(day)
	o.isIn(t, newcomer, v1alpha1.DomainLive, "")
}
