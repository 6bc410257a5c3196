package model_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/identity"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// The world of names: a certificate covers what is in example.com and example.org, and nothing
// covers example.net. The zone of example.org is in another account.
const (
	coveredZone = "ZCOVERED"
	childZone   = "ZCHILD"
	openZone    = "ZOPEN"
	awayZone    = "ZAWAY"

	broadCertificate = "arn:aws:acm:us-east-1:111122223333:certificate/00000000-0000-4000-8000-00000000000b"

	mainEndpoint = "dmain.cloudfront.net"

	awayAccount   = "444455556666"
	awayRole      = "arn:aws:iam::444455556666:role/dns"
	deniedRole    = "arn:aws:iam::444455556666:role/dns-denied"
	forbiddenRole = "arn:aws:iam::444455556666:role/admin"
)

// endpoints are where names have to lead, by connection group; the first is the default one.
var endpoints = map[string]string{
	"": mainEndpoint, "cg_main": mainEndpoint, "cg_second": "dsecond.cloudfront.net", withoutIPv6: "dfour.cloudfront.net",
}

const withoutIPv6 = "cg_four"

func TestNamesAndCertificatesHarmNothingAndComeToRest(t *testing.T) { checkNames(t) }

func checkNames(t *testing.T) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(bubbleTB{t}, func(t *rapid.T) {
			defer tick()
			n := newNames(t, drawSwitches(t))
			t.Repeat(counted(n.actions()))
			n.end()
			played.schedules.Add(1)
		})
	})
}

// names is a model whose objects have domains in zones of their own, and certificates.
type names struct {
	*model
	// records are what someone else published, as it has to stay, and made all that they ever did.
	records map[place]sim.RecordState
	made    map[place]bool
	// loose are the names that the operator isn't responsible for: someone points them to CloudFront, or took away the
	// tenant that had them.
	loose map[string]bool
	// held are the names that lead to CloudFront and that a tenant held since they do, seen is when
	// one was last seen to hold a name.
	held map[string]bool
	seen map[string]time.Time
	// proves are the names that lead there before their tenant is created.
	proves map[string]bool
	// replaceable are the names at which takeover was ever allowed.
	replaceable map[string]bool
	// patience is for how long resolvers may show what is not in a zone any more.
	patience time.Duration
	// slow is true once changes took longer than a minute to be in sync, losesAnswers once those to a change may be lost.
	slow, losesAnswers bool
	// born has what is remembered of each object, by its UID.
	born     map[string]*life
	dangling []string
	zones    int
	// blows counts what people and AWS did to certificates, and faults that may have lost one.
	blows int
}

// place is where a zone has at most one record set.
type place struct{ zone, name, kind string }

// life is what is remembered of an object.
type life struct {
	last v1alpha1.DistributionTenant
	// edits counts the changes of the spec, by people.
	edits int
	// certificates are the managed ones that stood in status.
	certificates []string
}

func newNames(t *rapid.T, switches sim.Switches) *names {
	n := &names{
		model:   emptyModel(t),
		records: map[place]sim.RecordState{}, made: map[place]bool{}, loose: map[string]bool{}, held: map[string]bool{}, seen: map[string]time.Time{},
		proves: map[string]bool{}, replaceable: map[string]bool{}, born: map[string]*life{},
	}
	seed := namesSeed()
	allowed, err := identity.ParseRolePatterns([]string{awayRole + "*"})
	if err != nil {
		t.Fatal(err)
	}
	n.World = world.NewOffline(t, world.Options{
		Seed: &seed, Switches: &switches, AllowedRoles: allowed, Expiry: true, BeforeAWS: n.beforeAWS, Watch: n.watch,
	})
	n.Clock.Step(time.Hour) // what the seed has is not new
	for _, z := range seed.HostedZones {
		n.adopt(z.ID)
		for _, r := range z.Records {
			n.loose[r.Name] = true
		}
	}
	return n
}

// adopt remembers all that is in a zone as someone else's.
func (n *names) adopt(zone string) {
	state, _ := n.Sim.HostedZone(zone)
	for _, r := range state.Records {
		p := place{zone, r.Name, r.Type}
		n.records[p], n.made[p] = r, true
	}
}

func namesSeed() sim.Seed {
	s := world.Seed()
	s.Accounts = append(s.Accounts, sim.SeedAccount{ID: awayAccount})
	s.Roles = []sim.SeedRole{{ARN: awayRole, ExternalID: world.ClusterID + "/world-1"}, {ARN: deniedRole, Denied: true}}
	s.Certificates = append(s.Certificates, sim.SeedCertificate{
		ARN: broadCertificate, Names: []string{"example.com", "*.example.com", "*.shop.example.com", "*.example.org"},
	})
	s.Distributions[0].CertificateARN = broadCertificate
	no := false
	s.ConnectionGroups = []sim.SeedConnectionGroup{
		{ID: "cg_main", Default: true, RoutingEndpoint: mainEndpoint},
		{ID: "cg_second", Name: "second", RoutingEndpoint: endpoints["cg_second"]},
		{ID: withoutIPv6, Name: "four", RoutingEndpoint: endpoints[withoutIPv6], IPv6: &no},
		{ID: otherGroup, Name: "other"},
	}
	s.HostedZones = []sim.SeedHostedZone{
		{ID: coveredZone, Name: "example.com", Records: theirRecords("example.com")},
		{ID: childZone, Name: "shop.example.com"},
		{ID: openZone, Name: "example.net", Records: theirRecords("example.net")},
		{ID: awayZone, Name: "example.org", Account: awayAccount, Records: theirRecords("example.org")},
	}
	return s
}

// theirRecords are records of every kind that could be damaged.
func theirRecords(zone string) []sim.SeedRecord {
	return []sim.SeedRecord{
		{Name: zone, Type: "MX", TTL: 3600, Values: []string{"10 mail." + zone}},
		{Name: zone, Type: "TXT", TTL: 60, Values: []string{`"v=spf1 -all" "a \"quote\""`, `"site-verification=1"`}},
		{Name: "other." + zone, Type: "CNAME", TTL: 77, Values: []string{"elsewhere.example.edu"}},
		{Name: "*.wild." + zone, Type: "A", TTL: 5, Values: []string{"192.0.2.1", "192.0.2.2"}},
		{Name: "_cf-challenge.other." + zone, Type: "TXT", Values: []string{`"` + mainEndpoint + `"`}},
	}
}

func drawSwitches(t *rapid.T) sim.Switches {
	s := sim.DefaultSwitches()
	for _, on := range []*bool{
		&s.DeleteNeedsDeployed, &s.SummaryETagDiffers, &s.CertificateMovesETag, &s.AttachesByItself,
		&s.ChangeBatchMessages, &s.CoveredRequestIgnored,
		&s.Allowed.NeedlessEmptyBlocks, &s.Allowed.CertificateWithRequest, &s.Allowed.CoveredPrimaryDomain,
	} {
		*on = rapid.Bool().Draw(t, "switch")
	}
	// A block that could not be taken away would never be as the spec has it.
	s.Allowed.EmptyBlocks = true
	return s
}

// watch is shown AWS before and after every change: no name may lead to CloudFront without a
// tenant that holds it, but for those that CloudFront proves before their tenant is created.
func (n *names) watch(v sim.View) {
	holders, routed := v.Domains(), v.PublicRouting()
	for name := range n.held {
		if routed[name] == "" {
			delete(n.held, name)
		}
	}
	for name := range holders {
		n.held[name], n.seen[name] = true, v.Now
	}
	for name, endpoint := range routed {
		last, ever := n.seen[name]
		switch {
		case holders[name] != "", n.loose[name], n.proves[name] && !n.held[name], ever && v.Now.Sub(last) < n.patience:
			continue
		}
		n.dangling = append(n.dangling, name+" leads to "+endpoint+" at "+v.Now.Format(time.TimeOnly)+", at "+v.Operation)
	}
}

// calm ends the noise. Changes of users in AWS stay, and every customer serves their tokens.
func (n *names) calm() {
	n.calmDown()
	n.Sim.ChangeSwitches(func(s *sim.Switches) {
		s.Route53NeverInSync, s.RequestLost = false, false
		s.Route53SyncDelay, s.DNSPropagationDelay, s.Route53ProcessingDelay, s.CertificateLag = 20*time.Second, 0, 0, 0
	})
}

// end is the last act: calm, time to settle, and an hour in which nothing may happen.
func (n *names) end() {
	n.check()
	n.calm()
	for range 10 {
		n.Advance(15 * time.Minute)
		n.serveTokens(n.allDomains()...)
		n.check()
	}
	n.checkNothingLost()
	n.checkTruth()
	n.checkZones()
	n.checkCertificates()
	n.checkQuiet()
	n.check()
}

// serveTokens lets the customers' hosts answer for those domains that a certificate waits for.
func (n *names) serveTokens(domains ...string) {
	for _, d := range domains {
		_ = n.Sim.ServeToken(d) // refused where nothing waits for it
	}
}

func (n *names) allDomains() []string { return slices.Concat(coveredDomains, openDomains) }
