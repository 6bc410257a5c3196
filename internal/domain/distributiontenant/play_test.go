package distributiontenant_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/publication"
)

// firstCertificateRetry is the shortest time between two requests that nothing but the failure
// of the first calls for.
const firstCertificateRetry = 5 * time.Minute

// The three ways in which a domain is proven.
const (
	covered    = "a certificate covers it"
	cloudFront = "CloudFront proves it"
	selfHosted = "the user's own host proves it"
)

var ways = []string{covered, cloudFront, selfHosted}

func wayOf(way string) *certificate.Request {
	switch way {
	case cloudFront:
		return &certificate.Request{ValidationTokenHost: "cloudfront"}
	case selfHosted:
		return &certificate.Request{ValidationTokenHost: certificate.SelfHosted}
	}
	return nil
}

func playedSpec(way string, domains ...string) distributiontenant.Desired {
	d := spec()
	d.Domains, d.Request = domains, wayOf(way)
	d.DNS = &publication.Spec{Zone: dns.Selector{Name: "example.com"}, TTL: 300}
	return d
}

var playedDomains = []string{"a.example.com", "b.example.com", "c.example.com"}

// moves are what can happen in the played world in addition to the object's passes.
func moves(p *play, t *rapid.T) map[string]func() {
	some := func() []string {
		return rapid.SliceOfNDistinct(rapid.SampledFrom(playedDomains), 1, 3, rapid.ID[string]).Draw(t, "domains")
	}
	return map[string]func(){
		"a moment":  func() { p.tick(10 * time.Second) },
		"a while":   func() { p.tick(2 * time.Minute); p.sweep() },
		"an hour":   func() { p.tick(time.Hour); p.sweep() },
		"days":      func() { p.tick(80 * time.Hour); p.sweep() },
		"sweep":     p.sweep,
		"restart":   p.restart,
		"a crash":   func() { p.pass(true) },
		"no answer": func() { p.loses = true; p.pass(false); p.loses, p.excused = false, true },
		"domains":   func() { domains := some(); p.edit(func(d *distributiontenant.Desired) { d.Domains = domains }) },
		"primary": func() {
			name := rapid.SampledFrom(playedDomains).Draw(t, "primary")
			p.edit(func(d *distributiontenant.Desired) {
				if d.Request != nil {
					r := *d.Request
					r.PrimaryDomainName = name
					d.Request = &r
				}
			})
		},
		"refusal": func() {
			p.refuses = rapid.SampledFrom([]fault.Kind{fault.None, fault.Quota, fault.DomainTaken, fault.DomainUnverified}).Draw(t, "kind")
		},
		"its turn":      func() { p.turn = !p.turn },
		"lost requests": func() { p.losesRequest = !p.losesRequest },
		"failure": func() {
			if p.tenant != nil && p.tenant.managed != nil {
				p.tenant.managed.State = rapid.SampledFrom([]certificate.State{certificate.Failed, certificate.Expired, certificate.Revoked, certificate.Inactive}).Draw(t, "state")
				if p.movesETag {
					p.tenant.ETag = p.next("E")
				}
			}
		},
		"foreign record": func() {
			name := rapid.SampledFrom(playedDomains).Draw(t, "name")
			taken := slices.ContainsFunc(slices.Collect(maps.Keys(p.zone)), func(r dns.Record) bool { return r.Name == name })
			p.foreign[name] = !p.foreign[name] && !taken
		},
		"dns off and on": func() {
			p.edit(func(d *distributiontenant.Desired) {
				if d.DNS != nil {
					d.DNS = nil
				} else {
					d.DNS = playedSpec(covered).DNS
				}
			})
		},
		"a parent is lost": func() {
			how := rapid.SampledFrom([]func(*distributiontenant.Reference){notFound, goingAway, neverSeen, notCreated, direct, disabledGroup}).Draw(t, "how")
			p.parent(rapid.IntRange(0, 1).Draw(t, "parent"), how)
		},
		"a parent comes back": func() { p.parent(rapid.IntRange(0, 1).Draw(t, "parent"), p.usable) },
		"another parent": func() {
			id := p.next("P")
			p.parent(rapid.IntRange(0, 1).Draw(t, "parent"), func(r *distributiontenant.Reference) { p.usable(r); r.ID = id })
		},
		"references": func() {
			p.edit(func(d *distributiontenant.Desired) {
				switch how := rapid.IntRange(0, 2).Draw(t, "how many"); how {
				case 0:
					p.refer()
					d.DistributionID, d.ConnectionGroupID = "E1", "cg_1"
				case 1:
					p.refer(mainDistribution())
				default:
					p.refer(mainDistribution(), staticGroup())
				}
			})
		},
		"nudge": func() { p.in.Nudged, p.excused = true, true; p.pass(false); p.in.Nudged = false },
	}
}

// However edits, deletions, refusals, lost answers, crashes and failing certificates come
// together: no name leads to CloudFront without a tenant, nothing is torn down under a name that
// leads to it, certificates are not asked for too often, and in the end all is as the spec asks.
func TestEveryPlayEndsWell(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newPlay(playedSpec(rapid.SampledFrom(ways).Draw(t, "way"), playedDomains[0]), t.Fatalf)
		p.refer([]distributiontenant.Reference{mainDistribution(), staticGroup()}[:rapid.IntRange(0, 2).Draw(t, "references")]...)
		p.in.Spreads = rapid.Bool().Draw(t, "spreads")
		p.movesETag, p.attaches = rapid.Bool().Draw(t, "moves the ETag"), rapid.Bool().Draw(t, "attaches automatically")
		all := moves(p, t)
		names := rapid.SampledFrom(append(slices.Sorted(maps.Keys(all)), "pass", "pass", "pass", "pass", "pass", "a moment", "a moment", "delete"))
		for range rapid.IntRange(5, 60).Draw(t, "length") {
			switch name := names.Draw(t, "move"); name {
			case "pass":
				t.Logf("%s by %s", p.pass(false), p.now.Format(time.TimeOnly))
			case "delete":
				p.in.Deleting = p.in.Deleting || rapid.IntRange(0, 5).Draw(t, "really") == 0
			default:
				all[name]()
			}
			p.safe()
		}
		calm(p)
		ended(t, p)
	})
}

// calm ends all mischief, and lets time go by until nothing more has to happen.
func calm(p *play) {
	p.turn = true
	p.refuses, p.losesRequest, p.foreign = fault.None, false, map[string]bool{}
	for n := range p.references {
		p.parent(n, p.usable)
	}
	for range 200 {
		p.sweep()
		p.pass(false)
		p.safe()
		p.tick(time.Minute)
	}
	for range 40 {
		p.sweep()
		p.pass(false)
		p.tick(12 * time.Hour)
	}
}

// ended checks that the world is as the spec asks.
func ended(t *rapid.T, p *play) {
	if p.in.Deleting {
		if !p.gone || p.tenant != nil || len(p.zone) > 0 || len(p.acm) > 0 {
			t.Fatalf("deleted, and left are: tenant %v, records %v, certificates %v", p.tenant, p.zone, p.acm)
		}
		return
	}
	p.sweep()
	if rule := p.pass(false); rule != "Idle" {
		t.Fatalf("rule %s repeats forever: %+v", rule, p.in.Memory.Conditions)
	}
	want := slices.Sorted(slices.Values(p.in.Desired.Domains))
	if d := cmp.Diff(want, slices.Sorted(slices.Values(p.tenant.Domains))); d != "" {
		t.Fatalf("domains of the tenant (-want +got):\n%s", d)
	}
	for _, r := range p.references {
		has := p.tenant.DistributionID
		if r.Field == distributiontenant.ConnectionGroupRef {
			has = p.tenant.ConnectionGroupID
		}
		if has != r.ID {
			t.Fatalf("the tenant refers to %s, and %s leads to %s", has, r.Field, r.ID)
		}
	}
	var published []string
	for r := range p.zone {
		published = append(published, r.Name)
	}
	slices.Sort(published)
	if p.in.Desired.DNS == nil {
		want = nil
	}
	if d := cmp.Diff(want, published); d != "" {
		t.Fatalf("published (-want +got):\n%s", d)
	}
	for _, c := range p.in.Memory.Conditions {
		if !c.Status {
			t.Fatalf("%s is %s in the end: %s", c.Type, c.Reason, c.Message)
		}
	}
}
