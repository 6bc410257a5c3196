package azure_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	wire "github.com/miekg/dns"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/azuredns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/dnssuite"
)

// Azure does what every provider has to do.
func TestConformance(t *testing.T) {
	dnssuite.Run(t, newSubject)
}

const (
	otherName = "other.example"
	twinGroup = "twin"
	smallPage = 7
)

func newSubject(t *testing.T) *dnssuite.Subject {
	t.Helper()
	w := newWorld(t, func(s *settings) {
		s.sim.PageSize = smallPage
		s.sim.Zones = append(s.sim.Zones, sim.Zone{ResourceGroup: group, Name: otherName}, sim.Zone{ResourceGroup: twinGroup, Name: zoneName})
	})
	s := stranger{world: w, t: t}
	return &dnssuite.Subject{
		DNS: w.dns, Access: dns.Access{Provider: dns.Provider{Service: dns.Azure, Account: "main"}}, Clock: w.clock,
		Zone:  dns.Zone{ID: zoneID, Name: zoneName},
		Other: dns.Zone{ID: "dns-group/" + otherName, Name: otherName},
		Twin:  dns.Zone{ID: twinGroup + "/" + zoneName, Name: zoneName},
		Put:   s.put, Remove: s.remove, Sets: s.sets, Owner: s.owner,
		Lose: s.lose, Throttle: s.throttle, Deny: s.deny, DropZone: func() { w.RemoveZone(group, zoneName) }, Stall: s.stall,
		Answers: s.answers, Calls: s.calls,
		Poison: strings.Repeat("l", 64) + "." + zoneName,
		Can: dnssuite.Can{
			Batch: 1, Page: smallPage,
			NoApex: zoneName + " is the apex of its zone, and the DNS provider azure can't lead an apex to CloudFront: use a name below it such as www." + zoneName +
				", or host the zone at a provider that can, for example route53 or cloudflare",
			NoAlias: "the DNS provider azure has no alias records for a." + zoneName + ": use Auto or CNAME",
		},
	}
}

// stranger is the world past the operator.
type stranger struct {
	*world
	t *testing.T
}

func place(zoneID string) (group, zone string) {
	group, zone, _ = strings.Cut(zoneID, "/")
	return group, zone
}

func relative(name, zone string) string {
	if name == zone {
		return "@"
	}
	return strings.TrimSuffix(name, "."+zone)
}

func (s stranger) put(zoneID string, set dns.RecordSet) {
	group, zone := place(zoneID)
	r := sim.Record{Name: relative(set.Name, zone), Type: set.Type, TTL: set.TTL, Values: set.Values}
	if set.Type == dns.TXT {
		r.Values = nil
		for _, v := range set.Values {
			var texts []string
			for part := range slices.Chunk([]byte(v), 255) {
				texts = append(texts, string(part))
			}
			r.Texts = append(r.Texts, texts)
		}
	}
	s.SetRecord(group, zone, r)
}

func (s stranger) remove(zoneID string, k dns.Key) {
	group, zone := place(zoneID)
	s.RemoveRecord(group, zone, relative(k.Name, zone), k.Type)
}

func (s stranger) sets(zoneID string) (out []dns.RecordSet) {
	group, zone := place(zoneID)
	for _, r := range s.Records(group, zone) {
		name := zone
		if r.Name != "@" {
			name = r.Name + "." + zone
		}
		set := dns.RecordSet{Key: dns.Key{Name: name, Type: r.Type}, TTL: r.TTL, Values: slices.Clone(r.Values)}
		for _, t := range r.Texts {
			set.Values = append(set.Values, strings.Join(t, ""))
		}
		out = append(out, set)
	}
	return out
}

func (s stranger) owner(zoneID string, k dns.Key) string {
	group, zone := place(zoneID)
	for _, r := range s.Records(group, zone) {
		if r.Name == relative(k.Name, zone) && r.Type == k.Type {
			return r.Metadata["owner"]
		}
	}
	return ""
}

func (s stranger) lose(after bool) {
	when := sim.Before
	if after {
		when = sim.AfterCommit
	}
	s.AddFault(sim.Fault{Operation: sim.AnyChange, When: when, Drop: true})
}

func (s stranger) throttle(n int) {
	s.ClearFaults()
	if n > 0 {
		s.AddFault(sim.Fault{
			When: sim.Instead, Status: 429, Code: "ResourceRequestsThrottled", RetryAfter: 17 * time.Second, Times: n,
			Message: "Please try again after '17' seconds.",
		})
	}
}

func (s stranger) deny(denied bool) {
	role := sim.DNSZoneContributor
	if denied {
		role = sim.Reader
	}
	s.ChangePrincipal(client, func(p *sim.Principal) { p.Grants = []sim.Grant{{Role: role, Scope: subscriptionScope}} })
}

func (s stranger) stall(stalled bool) { s.Stall(stalled) }

func (s stranger) answers(name, kind string) (out []string) {
	question := new(wire.Msg).SetQuestion(wire.Fqdn(name), wire.StringToType[kind])
	answer, err := wire.ExchangeContext(s.t.Context(), question, s.servers)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, r := range answer.Answer {
		switch r := r.(type) {
		case *wire.CNAME:
			if kind == dns.CNAME {
				out = append(out, strings.TrimSuffix(r.Target, "."))
			}
		case *wire.TXT:
			out = append(out, strings.Join(r.Txt, ""))
		default:
			out = append(out, strings.TrimPrefix(r.String(), r.Header().String()))
		}
	}
	slices.Sort(out)
	return out
}

func (s stranger) calls() (mutating, all int) {
	for _, e := range s.Journal() {
		if all++; e.Mutating {
			mutating++
		}
	}
	return mutating, all
}
