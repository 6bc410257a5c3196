package onboarding_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/onboarding"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/proof"
)

const (
	shop   = "shop.customer.example"
	target = "d1.cloudfront.net"
)

var noon = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// live are the facts of a domain that is served, and that its customer leads to CloudFront.
func live(changes ...func(*onboarding.Facts)) onboarding.Facts {
	f := onboarding.Facts{
		Domain: shop, Place: onboarding.Place{Zone: "customer.example"}, Targets: []string{target}, Watched: true,
		Sight: onboarding.Sight{Way: onboarding.Here, At: noon, Since: noon.Add(-time.Hour)}, First: true, Has: true, Served: true, Settled: true, Enabled: true,
	}
	for _, change := range changes {
		change(&f)
	}
	return f
}

func way(w onboarding.Way, seen ...string) func(*onboarding.Facts) {
	return func(f *onboarding.Facts) {
		f.Sight = onboarding.Sight{Way: w, Seen: seen, At: noon, Since: noon.Add(-time.Minute)}
		if w.Astray() {
			f.Sight.Astray = noon.Add(-time.Minute)
		}
	}
}

func astray(since time.Duration) func(*onboarding.Facts) {
	return func(f *onboarding.Facts) { f.Sight.Astray = noon.Add(-since) }
}

func was(s onboarding.State) func(*onboarding.Facts) {
	return func(f *onboarding.Facts) { f.Before = s }
}

func unborn(f *onboarding.Facts)    { f.Has, f.Served, f.Settled = false, false, false }
func stopped(f *onboarding.Facts)   { f.Stopped = "The object is paused." }
func notServed(f *onboarding.Facts) { f.Served = false }
func covered(f *onboarding.Facts)   { f.First = false }
func unwatched(f *onboarding.Facts) { f.Watched, f.Sight = false, onboarding.Sight{} }
func apex(f *onboarding.Facts) {
	f.Domain, f.Place = "customer.example", onboarding.Place{Zone: "customer.example", Apex: true}
}

func unproven(f *onboarding.Facts) {
	f.Proof, f.ProofSight = &proof.Entry{Domain: shop, Record: proof.Record{Name: "_p." + shop, Value: "v"}}, proof.Missing
}

func publishes(there bool, held string, blocked bool) func(*onboarding.Facts) {
	return func(f *onboarding.Facts) { f.Publishes, f.InDNS, f.Held, f.Blocked = true, there, held, blocked }
}

func TestStates(t *testing.T) {
	for name, tt := range map[string]struct {
		facts onboarding.Facts
		state onboarding.State
		party onboarding.Party
		says  string
	}{
		"a domain that everything leads to":                        {live(), onboarding.Live, "", "live"},
		"one whose tenant is deployed anew stays live":             {live(was(onboarding.Live), func(f *onboarding.Facts) { f.Settled = false }), onboarding.Live, "", "live"},
		"a new one is not before it is deployed":                   {live(func(f *onboarding.Facts) { f.Settled = false }), onboarding.Deploying, onboarding.AWS, "deploying"},
		"without resolvers, CloudFront's word is enough":           {live(unwatched), onboarding.Live, "", "live"},
		"and where they do not answer":                             {live(way(onboarding.Silent)), onboarding.Live, "", "live"},
		"a served domain that was never led there":                 {live(way(onboarding.Nowhere), covered), onboarding.AwaitingDNS, onboarding.Customer, "There is no DNS record for the domain. Create the record shop.customer.example CNAME d1.cloudfront.net at the DNS provider of customer.example."},
		"a live domain that has strayed for an hour is still live": {live(was(onboarding.Live), way(onboarding.Elsewhere, "old.example.net"), astray(time.Hour)), onboarding.Live, onboarding.Customer, "CloudFront serves the domain, but it points to old.example.net. Restore the record"},
		"and lost after half a day":                                {live(was(onboarding.Live), way(onboarding.Elsewhere, "old.example.net"), astray(12*time.Hour)), onboarding.Lost, onboarding.Customer, "Nothing was removed"},
		"a lost domain stays lost until it is seen to be back":     {live(was(onboarding.Lost), func(f *onboarding.Facts) { f.Sight = onboarding.Sight{} }), onboarding.Lost, onboarding.Customer, "Restore"},
		"and then it is live":                                      {live(was(onboarding.Lost)), onboarding.Live, "", "live"},
		"a new domain without a record":                            {live(unborn, way(onboarding.Nowhere)), onboarding.AwaitingDNS, onboarding.Customer, "no DNS record"},
		"one that leads to another name":                           {live(unborn, way(onboarding.Elsewhere, "old.example.net")), onboarding.AwaitingDNS, onboarding.Customer, "The domain points to old.example.net. Replace that with the record shop.customer.example CNAME"},
		"one that leads to addresses, even of CloudFront":          {live(unborn, way(onboarding.Elsewhere, "13.32.1.1")), onboarding.AwaitingDNS, onboarding.Customer, "The domain points to 13.32.1.1, and no record says that this is CloudFront. Replace"},
		"one that leads to another endpoint":                       {live(unborn, way(onboarding.Edge, "d2.cloudfront.net")), onboarding.AwaitingDNS, onboarding.Customer, "another endpoint of CloudFront (d2.cloudfront.net)"},
		"one whose CNAMEs are a circle":                            {live(unborn, way(onboarding.Circle)), onboarding.AwaitingDNS, onboarding.Customer, "form a loop"},
		"one whose zone is broken":                                 {live(unborn, way(onboarding.Failing)), onboarding.AwaitingDNS, onboarding.Customer, "DNS lookups of the domain fail: the name servers of customer.example do not respond, or the zone's DNSSEC signatures are not valid. Fix that, and create the record"},
		"one whose target's zone is broken":                        {live(unborn, way(onboarding.Failing, "old.example.net")), onboarding.AwaitingDNS, onboarding.Customer, "The domain points to old.example.net, and DNS lookups of that name fail. Replace that with the record"},
		"one that some resolvers still have the old answer for":    {live(unborn, way(onboarding.Partly)), onboarding.AwaitingDNS, onboarding.AWS, "others still have the previous one"},
		"one that was not looked at yet":                           {live(unborn, way("")), onboarding.AwaitingDNS, onboarding.Customer, "Create the record"},
		"one whose target is not known yet":                        {live(unborn, way(""), func(f *onboarding.Facts) { f.Targets = nil }), onboarding.AwaitingDNS, onboarding.Operator, "looks up"},
		"one whose target does not exist":                          {live(unborn, way(""), func(f *onboarding.Facts) { f.Targets, f.Untargeted = nil, "a group that does not exist." }), onboarding.AwaitingDNS, onboarding.Platform, "has to point to a group that does not exist."},
		"one that leads there and is not accepted yet":             {live(unborn), onboarding.Validating, onboarding.AWS, "checks it now"},
		"one that AWS has refused":                                 {live(unborn, func(f *onboarding.Facts) { f.Word = "No A record." }), onboarding.Validating, onboarding.AWS, "has not accepted it yet. The operator retries. AWS: No A record."},
		"an apex with an address that is not CloudFront's":         {live(unborn, apex, way(onboarding.Elsewhere, "192.0.2.1")), onboarding.AwaitingDNS, onboarding.Customer, "points to 192.0.2.1 without the TXT record _cf-challenge.customer.example that CloudFront requires with addresses. Replace that with the records customer.example ALIAS (or ANAME) d1.cloudfront.net and _cf-challenge.customer.example TXT d1.cloudfront.net at the DNS provider of customer.example."},
		"one that leads there while the object is paused":          {live(unborn, stopped), onboarding.Validating, onboarding.Platform, "The domain points to CloudFront. The object is paused."},
		"one that a certificate covers, of a paused object":        {live(unborn, covered, stopped), onboarding.Deploying, onboarding.Platform, "The object is paused."},
		"a domain of a paused object that the tenant has":          {live(stopped, func(f *onboarding.Facts) { f.Settled = false }), onboarding.Deploying, onboarding.AWS, "deploying"},
		"one that was seen before resolvers were turned off":       {live(unborn, func(f *onboarding.Facts) { f.Watched = false }), onboarding.AwaitingDNS, onboarding.Customer, "Create the record"},
		"one that is asked for without resolvers":                  {live(unborn, unwatched), onboarding.AwaitingDNS, onboarding.Customer, "Create the record"},
		"one that a certificate covers, before its tenant":         {live(unborn, covered, way(onboarding.Nowhere)), onboarding.Deploying, onboarding.AWS, "deploying"},
		"one whose certificate is being issued":                    {live(notServed, func(f *onboarding.Facts) { f.Certificate = onboarding.Requested }), onboarding.Issuing, onboarding.AWS, "being issued"},
		"one whose web server has to answer": {live(notServed, covered, func(f *onboarding.Facts) {
			f.Certificate, f.Redirect = onboarding.Requested, &onboarding.Redirect{From: shop + "/x", To: "validation/x"}
		}), onboarding.Validating, onboarding.Customer, "redirect http://shop.customer.example/x to https://validation/x"},
		"one that no certificate covers":                {live(notServed, covered, func(f *onboarding.Facts) { f.Certificate, f.Word = onboarding.Uncovered, "No A record." }), onboarding.Validating, onboarding.Platform, "AWS: No A record."},
		"one that is refused":                           {live(unborn, func(f *onboarding.Facts) { f.Refused = "AWS says no." }), onboarding.Refused, onboarding.Platform, "AWS says no."},
		"a change that is refused takes nothing":        {live(was(onboarding.Live), func(f *onboarding.Facts) { f.Refused = "AWS says no." }), onboarding.Live, "", "live"},
		"a public suffix":                               {live(unborn, func(f *onboarding.Facts) { f.Place.Suffix = true }), onboarding.Refused, onboarding.Platform, "is a public suffix"},
		"one that has to be proven":                     {live(unborn, unproven), onboarding.AwaitingProof, onboarding.Customer, `TXT record _p.shop.customer.example with the value "v"`},
		"one that the spec has dropped":                 {live(func(f *onboarding.Facts) { f.Leaving = true }), onboarding.Leaving, "", "being removed"},
		"one that the spec disables":                    {live(func(f *onboarding.Facts) { f.Enabled = false }), onboarding.Disabled, onboarding.Platform, "spec.enabled"},
		"one whose tenant was disabled elsewhere":       {live(func(f *onboarding.Facts) { f.Off = "Its distribution is disabled." }), onboarding.Disabled, onboarding.Platform, "Its distribution is disabled."},
		"one that waits for the others":                 {live(unborn, func(f *onboarding.Facts) { f.Others = true }), onboarding.Validating, onboarding.Customer, "once the other domains"},
		"records of the operator that are on their way": {live(unborn, publishes(false, "Propagating.", false)), onboarding.AwaitingDNS, onboarding.Operator, "Propagating."},
		"records of the operator that are blocked":      {live(unborn, publishes(false, "There is another record.", true)), onboarding.AwaitingDNS, onboarding.Platform, "There is another record."},
		"records of the operator that are there":        {live(publishes(true, "", false)), onboarding.Live, "", "live"},
		"a renewal that the domain keeps up":            {live(was(onboarding.Live), func(f *onboarding.Facts) { f.Renewal = "Its certificate expires." }), onboarding.Live, onboarding.Customer, "Its certificate expires."},
	} {
		t.Run(name, func(t *testing.T) {
			got := onboarding.Judge(tt.facts)
			if got.State != tt.state || got.WaitsFor != tt.party || !strings.Contains(got.Message, tt.says) {
				t.Errorf("got %s, waits for %q: %s\nwant %s, %q: %s", got.State, got.WaitsFor, got.Message, tt.state, tt.party, tt.says)
			}
		})
	}
}

func TestRecords(t *testing.T) {
	routing := func(kind, value string, s onboarding.RecordState, seen ...string) onboarding.Record {
		return onboarding.Record{Purpose: onboarding.Routing, Type: kind, Name: shop, Value: value, By: onboarding.Customer, State: s, Seen: seen}
	}
	atApex := func(r onboarding.Record) onboarding.Record { r.Name = "customer.example"; return r }
	challenge := onboarding.Record{Purpose: onboarding.Challenge, Type: "TXT", Name: "_cf-challenge.customer.example", Value: target, By: onboarding.Customer, State: onboarding.Missing}
	for name, tt := range map[string]struct {
		facts onboarding.Facts
		want  []onboarding.Record
	}{
		"a CNAME":              {live(unborn, way(onboarding.Nowhere)), []onboarding.Record{routing("CNAME", target, onboarding.Missing)}},
		"what is seen instead": {live(unborn, way(onboarding.Elsewhere, "old.example.net")), []onboarding.Record{routing("CNAME", target, onboarding.Wrong, "old.example.net")}},
		"the platform's own name is recommended": {live(unborn, way(onboarding.Nowhere), func(f *onboarding.Facts) { f.Targets = []string{"cname.shop.example", target} }),
			[]onboarding.Record{routing("CNAME", "cname.shop.example", onboarding.Missing)}},
		"at an apex there is no CNAME": {live(unborn, way(onboarding.Nowhere), apex), []onboarding.Record{atApex(routing("ALIAS", target, onboarding.Missing)), challenge}},
		"but there may be addresses": {live(unborn, way(onboarding.Nowhere), apex, func(f *onboarding.Facts) { f.Addresses = []string{"192.0.2.1", "2001:db8::1"} }),
			[]onboarding.Record{atApex(routing("A", "192.0.2.1", onboarding.Missing)), atApex(routing("AAAA", "2001:db8::1", onboarding.Missing)), challenge}},
		"the proof comes first": {live(unborn, unproven, way(onboarding.Nowhere)), []onboarding.Record{
			{Purpose: onboarding.Proof, Type: "TXT", Name: "_p." + shop, Value: "v", By: onboarding.Customer, State: onboarding.Missing}, routing("CNAME", target, onboarding.Missing),
		}},
		"nothing is to be set for what is refused": {live(unborn, func(f *onboarding.Facts) { f.Refused = "No." }), nil},
		"nor for what is leaving":                  {live(func(f *onboarding.Facts) { f.Leaving = true }), nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, onboarding.Judge(tt.facts).Records); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// anyFacts are facts of a random world.
func anyFacts(t *rapid.T) onboarding.Facts {
	yes := rapid.Bool()
	draw := func(name string) bool { return yes.Draw(t, name) }
	states := []onboarding.State{""}
	for _, row := range onboarding.Table() {
		states = append(states, row.State)
	}
	f := onboarding.Facts{
		Domain: shop, Place: onboarding.Place{Zone: "customer.example", Apex: draw("apex"), Suffix: draw("suffix")},
		Before: rapid.SampledFrom(states).Draw(t, "before"), Leaving: draw("leaving"), Refused: rapid.SampledFrom([]string{"", "AWS says no."}).Draw(t, "refused"),
		Publishes: draw("publishes"), InDNS: draw("inDNS"), Held: "It is on its way.", Blocked: draw("blocked"), Watched: draw("watched"), First: draw("first"),
		Has: draw("has"), Settled: draw("settled"), Enabled: draw("enabled"),
		Certificate: rapid.SampledFrom([]onboarding.Stage{onboarding.Covered, onboarding.Requested, onboarding.Issued, onboarding.Uncovered}).Draw(t, "certificate"),
	}
	if draw("stopped") {
		f.Stopped = "The object is paused."
	}
	if draw("off") {
		f.Off = "Its distribution is disabled."
	}
	if draw("target") {
		f.Targets = []string{target}
	}
	if draw("redirect") {
		f.Redirect = &onboarding.Redirect{From: shop + "/x", To: "validation/x"}
	}
	if draw("proof") {
		f.Proof = &proof.Entry{Domain: shop, Record: proof.Record{Name: "_p." + shop, Value: "v"}, Found: draw("proven")}
	}
	f.Served = f.Has && draw("served")
	f.Sight.At = noon
	f.Sight.Way = rapid.SampledFrom(onboarding.Ways).Draw(t, "way")
	if f.Sight.Way.Astray() {
		f.Sight.Seen = []string{"old.example.net"}
		f.Sight.Astray = noon.Add(-time.Duration(rapid.IntRange(0, 48).Draw(t, "hours")) * time.Hour)
	}
	return f
}

// Each world has one state. It tells the truth about what customers get, and says who has to act next.
func TestAnyWorldHasOneState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := anyFacts(t)
		d := onboarding.Judge(f)
		done := d.State == onboarding.Live || d.State == onboarding.Leaving
		switch {
		case d.State == "" || d.Message == "":
			t.Fatalf("%+v has the state %+v", f, d)
		case d.State == onboarding.Live && !(f.Has && f.Served && f.Enabled && f.Off == ""):
			t.Fatalf("it is live, and CloudFront does not serve it: %+v", f)
		case d.State == onboarding.Live && f.Publishes && !f.InDNS && f.Before != onboarding.Live && f.Before != onboarding.Lost:
			t.Fatalf("it is live, and in no DNS: %+v", f)
		case d.State == onboarding.Live && !f.Settled && f.Before != onboarding.Live && f.Before != onboarding.Lost:
			t.Fatalf("it is live before it is deployed: %+v", f)
		case d.State == onboarding.Lost && (f.Publishes || !f.Watched || f.Sight.Way == onboarding.Here || f.Sight.Way == onboarding.Partly):
			t.Fatalf("it is lost without a reason: %+v", f)
		case f.Stopped != "" && !f.Has && strings.Contains(d.Message, "checks it now"):
			t.Fatalf("nothing is checked for a paused object: %+v", f)
		case !done && d.WaitsFor == "":
			t.Fatalf("%s, and no one has to act: %s", d.State, d.Message)
		case strings.Contains(d.Message, "  ") || strings.HasSuffix(d.Message, " "):
			t.Fatalf("the message has gaps: %q", d.Message)
		}
		if d.State == onboarding.AwaitingDNS && d.WaitsFor == onboarding.Customer &&
			!slices.ContainsFunc(d.Records, func(r onboarding.Record) bool { return r.Purpose == onboarding.Routing && r.Value != "" }) {
			t.Fatalf("the customer has to act, and is not told which record to set: %+v", d)
		}
	})
}
