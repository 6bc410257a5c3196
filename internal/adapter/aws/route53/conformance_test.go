package route53_test

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/dnssuite"
)

// Route 53 does what every provider has to do.
func TestConformance(t *testing.T) {
	dnssuite.Run(t, func(t *testing.T) *dnssuite.Subject {
		t.Helper()
		return newSubject(t)
	})
}

const (
	otherID = "ZOTHER"
	twinID  = "ZTWIN"
	// smallPage is how many sets the simulator lists at once, smallSync how long it takes to every server.
	smallPage = 7
	smallSync = 5 * time.Second
)

func newSubject(t *testing.T) *dnssuite.Subject {
	t.Helper()
	clock := clocktesting.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	w := newWorld(t, func(o *sim.Options) {
		o.Clock = clock
		o.Seed.HostedZones = []sim.SeedHostedZone{
			{ID: zoneID, Name: zoneName}, {ID: otherID, Name: "other.example"}, {ID: twinID, Name: zoneName},
		}
	})
	w.ChangeSwitches(func(s *sim.Switches) { s.Route53SyncDelay = smallSync })
	config := w.config.Copy()
	config.HTTPClient = &http.Client{Transport: smallPages{http.DefaultTransport}}
	adapter, _ := newDNS(t, config, clock)
	s := stranger{world: w, t: t}
	return &dnssuite.Subject{
		DNS: adapter, Clock: clock,
		Zone:  dns.Zone{ID: zoneID, Name: zoneName},
		Other: dns.Zone{ID: otherID, Name: "other.example"},
		Twin:  dns.Zone{ID: twinID, Name: zoneName},
		Put:   s.put, Remove: s.remove, Sets: s.sets,
		Lose: s.lose, Throttle: s.throttle, Deny: s.deny, DropZone: s.dropZone, Stall: s.stall,
		Answers: s.answers, Calls: s.calls,
		Poison: "outside.example.org",
		Odd:    []string{`sp\040ace`, "a*b", `back\134slash`, "exclam!"},
		Can: dnssuite.Can{
			Batch: 1000, Page: smallPage, Atomic: true,
			NoOwner: "Route 53 has no room for a note next to a record",
		},
	}
}

// smallPages asks for fewer record sets than the adapter does.
type smallPages struct{ http.RoundTripper }

func (s smallPages) RoundTrip(r *http.Request) (*http.Response, error) {
	if query := r.URL.Query(); query.Has("maxitems") && strings.HasSuffix(r.URL.Path, "/rrset") {
		query.Set("maxitems", strconv.Itoa(smallPage))
		r = r.Clone(r.Context())
		r.URL.RawQuery = query.Encode()
	}
	return s.RoundTripper.RoundTrip(r)
}

// stranger is the world past the operator.
type stranger struct {
	world
	t *testing.T
}

func (s stranger) put(zoneID string, set dns.RecordSet) {
	s.t.Helper()
	s.write(zoneID, types.ChangeActionUpsert, set)
}

func (s stranger) remove(zoneID string, k dns.Key) {
	s.t.Helper()
	for _, set := range s.sets(zoneID) {
		if set.Key == k {
			s.write(zoneID, types.ChangeActionDelete, set)
		}
	}
}

func (s stranger) write(zoneID string, action types.ChangeAction, set dns.RecordSet) {
	s.t.Helper()
	wire := &types.ResourceRecordSet{Name: awssdk.String(set.Name), Type: types.RRType(set.Type), TTL: awssdk.Int64(set.TTL)}
	for _, v := range set.Values {
		if set.Type == dns.TXT {
			v = quoted(v)
		}
		wire.ResourceRecords = append(wire.ResourceRecords, types.ResourceRecord{Value: awssdk.String(v)})
	}
	_, err := s.plain.ChangeResourceRecordSets(s.t.Context(), &sdk.ChangeResourceRecordSetsInput{
		HostedZoneId: &zoneID, ChangeBatch: &types.ChangeBatch{Changes: []types.Change{{Action: action, ResourceRecordSet: wire}}},
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// sets are in the form of the domain, without Route 53's escapes, quotes and dots.
func (s stranger) sets(zoneID string) (out []dns.RecordSet) {
	state, ok := s.HostedZone(zoneID)
	if !ok {
		return nil
	}
	return shown(state.Records)
}

func shown(records []sim.RecordState) (out []dns.RecordSet) {
	for _, r := range records {
		set := dns.RecordSet{Key: dns.Key{Name: unescape(r.Name), Type: r.Type}, TTL: int64(r.TTL), Alias: r.AliasTarget}
		for _, v := range r.Values {
			switch r.Type {
			case dns.CNAME:
				v = strings.ToLower(strings.TrimSuffix(v, "."))
			case dns.TXT:
				v = unquoted(v)
			}
			set.Values = append(set.Values, v)
		}
		out = append(out, set)
	}
	return out
}

var octal = regexp.MustCompile(`\\[0-7]{3}`)

// unescape writes out what can be seen, but for a backslash, which begins an escape.
func unescape(name string) string {
	return octal.ReplaceAllStringFunc(name, func(code string) string {
		c, err := strconv.ParseUint(code[1:], 8, 8)
		if err != nil || c <= ' ' || c > '~' || c == '\\' || c == '.' {
			return code
		}
		return string(rune(c))
	})
}

// quoted writes a text as the strings of a TXT record, none of them longer than the wire allows.
func quoted(text string) string {
	var parts []string
	for part := range slices.Chunk([]byte(text), 255) {
		parts = append(parts, `"`+strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(string(part))+`"`)
	}
	return strings.Join(parts, " ")
}

func unquoted(wire string) string {
	wire = strings.TrimSuffix(strings.TrimPrefix(wire, `"`), `"`)
	return strings.NewReplacer(`\\`, `\`, `\"`, `"`, `" "`, ``).Replace(wire)
}

const opChange = "ChangeResourceRecordSets"

func (s stranger) lose(after bool) {
	s.t.Helper()
	kind := sim.BeforeCommit
	if after {
		kind = sim.AfterCommit
	}
	s.inject(s.t, sim.Fault{Operation: opChange, Kind: kind, Effect: sim.EffectReset})
}

func (s stranger) throttle(n int) {
	s.t.Helper()
	s.ClearFaults()
	if n > 0 {
		s.inject(s.t, sim.Fault{Nth: 1, Times: n, Kind: sim.Instead, Error: &sim.FaultError{Status: 400, Code: "Throttling", Message: "Rate exceeded"}})
	}
}

func (s stranger) deny(denied bool) {
	s.t.Helper()
	s.ClearFaults()
	if denied {
		s.inject(s.t, sim.Fault{Operation: opChange, Nth: 1, Times: -1, Kind: sim.Instead, Error: &sim.FaultError{Status: 403, Code: "AccessDenied", Message: "not allowed"}})
	}
}

func (s stranger) dropZone() {
	s.t.Helper()
	for _, set := range s.sets(zoneID) {
		if set.Type != "SOA" && set.Type != "NS" {
			s.write(zoneID, types.ChangeActionDelete, set)
		}
	}
	if _, err := s.plain.DeleteHostedZone(s.t.Context(), &sdk.DeleteHostedZoneInput{Id: awssdk.String(zoneID)}); err != nil {
		s.t.Fatal(err)
	}
}

func (s stranger) stall(stalled bool) {
	s.ChangeSwitches(func(sw *sim.Switches) { sw.Route53NeverInSync = stalled })
}

// answers are those of Route 53's own servers. For an alias it is enough that there is one.
func (s stranger) answers(name, kind string) []string {
	_, parent, _ := strings.Cut(name, ".")
	sets := shown(s.PublicRecords(zoneID))
	for _, asked := range []string{name, "*." + parent} {
		for _, set := range sets {
			if set.Name == asked && set.Type == kind {
				return slices.Sorted(slices.Values(append(set.Values, set.Alias)[:max(len(set.Values), 1)]))
			}
		}
	}
	return nil
}

func (s stranger) calls() (mutating, all int) {
	for _, e := range s.Journal() {
		if all++; e.Mutating {
			mutating++
		}
	}
	return mutating, all
}
