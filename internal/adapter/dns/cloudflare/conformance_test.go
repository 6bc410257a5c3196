package cloudflare_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	wire "github.com/miekg/dns"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/cloudflare"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/cloudflare"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/dnssuite"
)

// Cloudflare does what every provider has to do.
func TestConformance(t *testing.T) {
	t.Parallel()
	dnssuite.Run(t, newSubject)
}

func newSubject(t *testing.T) *dnssuite.Subject {
	t.Helper()
	w := newWorld(t, func(o *sim.Options, _ *cloudflare.Config) {
		o.RecordQuota, o.PageSize, o.VisibleAfter = 1000, 7, 5*time.Second
		// The cost of a call is counted, and the suite's day is short.
		o.RequestLimit = 100_000
	})
	s := stranger{world: w, t: t}
	other := w.AddZone(sim.Zone{Name: "other.example"})
	return &dnssuite.Subject{
		DNS: w.dns, Access: dns.Access{Provider: dns.Provider{Service: dns.Cloudflare, Account: "main"}}, Clock: w.clock,
		Zone: dns.Zone{ID: w.zone.ID, Name: zoneName}, Other: dns.Zone{ID: other.ID, Name: other.Name},
		Put: s.write, Remove: s.remove, Sets: s.sets, Owner: s.owner,
		Lose: s.lose, Throttle: s.throttle, Deny: s.deny, DropZone: func() { w.RemoveZone(w.zone.ID) }, Stall: s.stall,
		Answers: s.answers, Calls: s.calls,
		Poison: strings.Repeat("l", 64) + "." + zoneName,
		Odd:    []string{`back\\slash`, `dot\.inside`},
		Can: dnssuite.Can{
			Batch: 200, Atomic: true,
			NoAlias: "the DNS provider cloudflare has no alias records for a." + zoneName + ": use Auto or CNAME",
			NoTwin:  "Cloudflare activates one zone of a name; another is pending, which the operator takes as private",
		},
	}
}

// stranger is the world past the operator.
type stranger struct {
	*world
	t *testing.T
}

func (s stranger) write(zoneID string, set dns.RecordSet) {
	s.remove(zoneID, set.Key)
	for _, value := range set.Values {
		r := sim.Record{Name: set.Name, Type: set.Type, Content: value, TTL: int(set.TTL)}
		switch set.Type {
		case dns.TXT:
			r.Content = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
		case "MX":
			ten := 10
			r.Priority, r.Content = &ten, strings.TrimPrefix(value, "10 ")
		}
		s.PutRecord(zoneID, r)
	}
}

func (s stranger) remove(zoneID string, k dns.Key) {
	for _, r := range s.Records(zoneID) {
		if r.Name == k.Name && r.Type == k.Type {
			s.RemoveRecord(zoneID, r.ID)
		}
	}
}

func (s stranger) sets(zoneID string) (out []dns.RecordSet) {
	for _, r := range s.Records(zoneID) {
		value, k := r.Content, dns.Key{Name: r.Name, Type: r.Type}
		switch r.Type {
		case dns.TXT:
			parsed, err := wire.NewRR("x. 60 IN TXT " + r.Content)
			if err != nil {
				s.t.Fatal(err)
			}
			value = strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(strings.Join(parsed.(*wire.TXT).Txt, ""))
		case "MX":
			value = "10 " + value
		}
		i := slices.IndexFunc(out, func(o dns.RecordSet) bool { return o.Key == k })
		if i < 0 {
			i = len(out)
			out = append(out, dns.RecordSet{Key: k, TTL: int64(r.TTL)})
		}
		out[i].Values = append(out[i].Values, value)
	}
	return out
}

func (s stranger) owner(zoneID string, k dns.Key) string {
	for _, r := range s.Records(zoneID) {
		if r.Name == k.Name && r.Type == k.Type {
			return r.Comment
		}
	}
	return ""
}

func (s stranger) lose(after bool) {
	moment := sim.Before
	if after {
		moment = sim.After
	}
	s.AddFault(sim.Fault{Operation: sim.BatchRecords, Moment: moment})
}

func (s stranger) throttle(n int) {
	s.ClearFaults()
	for range n {
		s.AddFault(sim.Fault{
			Moment: sim.Instead, Status: 429, RetryAfter: 17 * time.Second,
			Errors: []sim.FaultError{{Code: 971, Message: "Please wait and consider throttling your request speed"}},
		})
	}
}

func (s stranger) deny(denied bool) {
	s.AddToken(sim.Token{Value: token, ReadsZones: true, ReadsDNS: true, EditsDNS: !denied})
}

func (s stranger) stall(stalled bool) {
	d := 5 * time.Second
	if stalled {
		d = 24 * time.Hour
	}
	s.SetVisibleAfter(d)
}

func (s stranger) answers(name, kind string) (out []string) {
	question := new(wire.Msg).SetQuestion(wire.Fqdn(name), wire.StringToType[kind])
	answer, err := wire.ExchangeContext(s.t.Context(), question, s.config.NameServers[0])
	if err != nil {
		s.t.Fatal(err)
	}
	for _, r := range answer.Answer {
		switch r := r.(type) {
		case *wire.CNAME:
			out = append(out, strings.TrimSuffix(r.Target, "."))
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
	for _, c := range s.Calls() {
		all++
		if c.Mutating {
			mutating++
		}
	}
	return mutating, all
}
