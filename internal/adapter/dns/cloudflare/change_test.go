package cloudflare_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/cloudflare"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/cloudflare"
)

// there is what the zone of TestChanges has before.
var there = []sim.Record{
	{Name: in("ours"), Type: "CNAME", Content: target, TTL: 300},
	{Name: in("text"), Type: "TXT", Content: `"one"`, TTL: 300},
	{Name: in("text"), Type: "TXT", Content: `"two"`, TTL: 300},
	{Name: in("host"), Type: "A", Content: "192.0.2.1", TTL: 300},
	{Name: in("proxied"), Type: "A", Content: "192.0.2.1", TTL: 1, Proxied: true},
	{Name: in("mail"), Type: "TXT", Content: `"v=spf1"`, TTL: 300},
	{Name: zoneName, Type: "TXT", Content: `"v=spf1"`, TTL: 300},
}

func TestChanges(t *testing.T) {
	t.Parallel()
	ttl := func(s dns.RecordSet, ttl int64) dns.RecordSet { s.TTL = ttl; return s }
	routed := func(s dns.RecordSet) dns.RecordSet { s.Routed = true; return s }
	for name, tt := range map[string]struct {
		changes []dns.Change
		want    fault.Kind
		// gone and come are the records that are deleted and created.
		gone, come []string
	}{
		"a CNAME":                      {create(cname("a")), fault.None, nil, []string{"a CNAME " + target + " 300"}},
		"a wildcard":                   {create(cname("*.a")), fault.None, nil, []string{"*.a CNAME " + target + " 300"}},
		"a text with quotes":           {create(set("a", dns.TXT, `a"b\c`)), fault.None, nil, []string{`a TXT "a\"b\\c" 300`}},
		"a long text":                  {create(set("a", dns.TXT, strings.Repeat("x", 300))), fault.None, nil, []string{`a TXT "` + strings.Repeat("x", 255) + `" "` + strings.Repeat("x", 45) + `" 300`}},
		"a text that is not ASCII":     {create(set("a", dns.TXT, "ä")), fault.None, nil, []string{`a TXT "\195\164" 300`}},
		"a text as it was spelled":     {create(dns.RecordSet{Key: dns.Key{Name: in("a"), Type: dns.TXT}, TTL: 300, Values: []string{"ab"}, Exact: []string{`"a" "b"`}}), fault.None, nil, []string{`a TXT "a" "b" 300`}},
		"a text that had no quotes":    {create(dns.RecordSet{Key: dns.Key{Name: in("a"), Type: dns.TXT}, TTL: 300, Values: []string{"a b"}, Exact: []string{`a b`}}), fault.None, nil, []string{`a TXT "a b" 300`}},
		"two addresses":                {create(set("a", dns.A, "192.0.2.1", "192.0.2.2")), fault.None, nil, []string{"a A 192.0.2.1 300", "a A 192.0.2.2 300"}},
		"the apex, next to a text":     {create(cname("")), fault.None, nil, []string{zoneName + " CNAME " + target + " 300"}},
		"an automatic TTL":             {create(ttl(cname("a"), 1)), fault.None, nil, []string{"a CNAME " + target + " 1"}},
		"a deletion":                   {remove(cname("ours")), fault.None, []string{"ours CNAME " + target + " 300"}, nil},
		"a deletion of two values":     {remove(set("text", dns.TXT, "two", "one")), fault.None, []string{`text TXT "one" 300`, `text TXT "two" 300`}, nil},
		"a replacement":                {append(remove(set("host", dns.A, "192.0.2.1")), create(cname("host"))...), fault.None, []string{"host A 192.0.2.1 300"}, []string{"host CNAME " + target + " 300"}},
		"another TTL":                  {append(remove(cname("ours")), create(ttl(cname("ours"), 60))...), fault.None, []string{"ours CNAME " + target + " 300"}, []string{"ours CNAME " + target + " 60"}},
		"several names in one":         {append(remove(cname("ours")), create(cname("a"), cname("b"), cname("c"))...), fault.None, []string{"ours CNAME " + target + " 300"}, []string{"a CNAME " + target + " 300", "b CNAME " + target + " 300", "c CNAME " + target + " 300"}},
		"one that is there":            {create(cname("ours")), fault.Exists, nil, nil},
		"one with another value":       {create(set("ours", dns.CNAME, "other.cloudfront.net")), fault.Exists, nil, nil},
		"a CNAME where an address is":  {create(cname("host")), fault.Exists, nil, nil},
		"one next to a text":           {create(cname("mail")), fault.Exists, nil, nil},
		"a text next to a CNAME":       {create(set("ours", dns.TXT, "x")), fault.Exists, nil, nil},
		"a third value of a text":      {create(set("text", dns.TXT, "three")), fault.Exists, nil, nil},
		"one there of several":         {create(cname("a"), cname("b"), cname("c"), cname("ours")), fault.Exists, nil, nil},
		"one twice":                    {create(cname("a"), cname("a")), fault.Exists, nil, nil},
		"a deletion, another value":    {remove(set("ours", dns.CNAME, "other.cloudfront.net")), fault.Conflict, nil, nil},
		"a deletion, another TTL":      {remove(ttl(cname("ours"), 60)), fault.Conflict, nil, nil},
		"a deletion of one of two":     {remove(set("text", dns.TXT, "one")), fault.Conflict, nil, nil},
		"a deletion of what is gone":   {remove(cname("gone")), fault.Conflict, nil, nil},
		"one gone of several":          {append(remove(cname("ours"), cname("gone")), create(cname("a"), cname("b"))...), fault.Conflict, nil, nil},
		"a deletion, proxied meantime": {remove(ttl(set("proxied", dns.A, "192.0.2.1"), 1)), fault.Conflict, nil, nil},
		"a proxied record":             {remove(routed(set("proxied", dns.A, "192.0.2.1"))), fault.Invalid, nil, nil},
		"a type that is never written": {create(set("a", "MX", "10 mx.example")), fault.Invalid, nil, nil},
		"an alias":                     {create(dns.RecordSet{Key: dns.Key{Name: in("a"), Type: dns.A}, Alias: target}), fault.Invalid, nil, nil},
		"a TTL of 59":                  {create(ttl(cname("a"), 59)), fault.Invalid, nil, nil},
		"a name of another zone":       {create(dns.RecordSet{Key: dns.Key{Name: "a.example.org", Type: dns.CNAME}, TTL: 300, Values: []string{target}}), fault.Invalid, nil, nil},
		"one impossible of several":    {create(cname("a"), cname("b"), cname("c"), set("d", dns.CNAME, "-")), fault.Invalid, nil, nil},
		"nothing":                      {nil, fault.Invalid, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for _, r := range there {
				w.put(r)
			}
			want := slices.DeleteFunc(w.contents(), func(s string) bool { return slices.Contains(tt.gone, s) })
			want = append(want, tt.come...)
			_, err := w.Change(t.Context(), w.zone.ID, tt.changes)
			wants(t, err, tt.want)
			got := w.contents()
			slices.Sort(want)
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the zone (-want +got):\n%s", diff)
			}
			if _, again := w.Change(t.Context(), w.zone.ID, tt.changes); err != nil && again.Error() != err.Error() {
				t.Errorf("the text moves:\n%v\n%v", err, again)
			}
		})
	}
}

// Cloudflare refuses records that appear between the read and the batch.
func TestRecordsThatComeAndGoInBetween(t *testing.T) {
	t.Parallel()
	errs := func(list ...sim.FaultError) sim.Fault {
		return sim.Fault{Operation: sim.BatchRecords, Moment: sim.Instead, Status: 400, Errors: list}
	}
	e := func(code int) sim.FaultError { return sim.FaultError{Code: code, Message: fmt.Sprint("error ", code)} }
	for name, tt := range map[string]struct {
		fault sim.Fault
		want  fault.Kind
	}{
		"a host":                           {errs(e(81053)), fault.Exists},
		"a CNAME":                          {errs(e(81054)), fault.Exists},
		"name servers":                     {errs(e(81056)), fault.Exists},
		"a record":                         {errs(e(81057)), fault.Exists},
		"an identical one":                 {errs(e(81058)), fault.Exists},
		"two of them":                      {errs(e(81053), e(81057)), fault.Exists},
		"one, and another is impossible":   {errs(e(81053), e(9005)), fault.Invalid},
		"one, and another is gone":         {errs(e(81053), e(81044)), fault.Conflict},
		"one that is gone":                 {errs(e(81044)), fault.Conflict},
		"a full zone":                      {errs(e(81045)), fault.Quota},
		"what a validation found":          {errs(sim.FaultError{Code: 1004, Message: "DNS Validation Error", Chain: []sim.FaultError{e(81053)}}), fault.Exists},
		"a validation":                     {errs(sim.FaultError{Code: 1004, Message: "DNS Validation Error", Chain: []sim.FaultError{e(9021)}}), fault.Invalid},
		"an unknown refusal":               {errs(e(4711)), fault.Invalid},
		"a refusal without an error":       {errs(), fault.Invalid},
		"a zone that is gone":              {errs(e(7003)), fault.NotFound},
		"a token that is no good":          {errs(e(10000)), fault.Denied},
		"a permission that is missing":     {sim.Fault{Operation: sim.BatchRecords, Moment: sim.Instead, Status: 403, Errors: []sim.FaultError{e(9109)}}, fault.Denied},
		"a wall in front of the API":       {sim.Fault{Operation: sim.BatchRecords, Moment: sim.Instead, Status: 403, Body: "<html>"}, fault.Denied},
		"too many requests":                {sim.Fault{Operation: sim.BatchRecords, Moment: sim.Instead, Status: 429, Errors: []sim.FaultError{e(971)}, RetryAfter: 90 * time.Second}, fault.Throttled},
		"a throttle with another status":   {errs(e(971)), fault.Throttled},
		"a server that breaks":             {sim.Fault{Operation: sim.BatchRecords, Moment: sim.Instead, Status: 500, Errors: []sim.FaultError{e(81053)}}, fault.Transient},
		"a gateway without an answer":      {sim.Fault{Operation: sim.BatchRecords, Moment: sim.Instead, Status: 524, Body: "<html>"}, fault.Transient},
		"no connection":                    {sim.Fault{Operation: sim.BatchRecords, Moment: sim.Before}, fault.Transient},
		"an answer that was lost":          {sim.Fault{Operation: sim.BatchRecords, Moment: sim.After}, fault.Transient},
		"an answer that was cut":           {sim.Fault{Operation: sim.BatchRecords, Moment: sim.Truncated}, fault.Transient},
		"an answer that says nothing":      {sim.Fault{Operation: sim.BatchRecords, Moment: sim.Instead, Status: 200, Body: `{"success":true,"result":{}}`}, fault.Transient},
		"a read that fails before":         {sim.Fault{Operation: sim.ListRecords, Moment: sim.Instead, Status: 502}, fault.Transient},
		"a zone that is gone before":       {sim.Fault{Operation: sim.ListRecords, Moment: sim.Instead, Status: 404, Errors: []sim.FaultError{e(7003)}}, fault.NotFound},
		"a zone whose name is not known":   {sim.Fault{Operation: sim.GetZone, Moment: sim.Instead, Status: 500}, fault.Transient},
		"a zone that has an invalid shape": {sim.Fault{Operation: sim.GetZone, Moment: sim.Instead, Status: 200, Body: `{"success":true,"result":{}}`}, fault.Transient},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.AddFault(tt.fault)
			_, err := w.Change(t.Context(), w.zone.ID, create(cname("a")))
			wants(t, err, tt.want)
			if got := fault.RetryAfter(err); got != tt.fault.RetryAfter {
				t.Errorf("come back after %v", got)
			}
			if n := w.CallsOf(sim.BatchRecords); n > 1 {
				t.Errorf("sent %d times", n)
			}
			committed := tt.fault.Moment == sim.After || tt.fault.Moment == sim.Truncated
			if got := w.contents(); (len(got) == 1) != committed {
				t.Errorf("the zone has %v", got)
			}
		})
	}
}

func TestAListOfZonesIsNeverAbsent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.AddFault(sim.Fault{Operation: sim.ListZones, Moment: sim.Instead, Status: 404, Errors: []sim.FaultError{{Code: 7003, Message: "x"}}})
	_, _, err := w.ListZones(t.Context(), "")
	wants(t, err, fault.Transient)
}

// The note says whose a record is, and fits whatever the object is called.
func TestNotes(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		owner dns.Owner
		want  string
	}{
		"a short name": {owner, "cloudfront-tenant-operator cluster=blue object=shop/one"},
		"a long name":  {dns.Owner{Namespace: "shop", Name: strings.Repeat("x", 253)}, "cloudfront-tenant-operator cluster=blue object=shop/" + strings.Repeat("x", 45) + "…"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.change(t, dns.Change{Action: dns.Create, Set: cname("a"), Owner: tt.owner})
			got := w.Records(w.zone.ID)[0]
			if got.Comment != tt.want || got.Proxied {
				t.Errorf("the record is %+v, want the comment %q", got, tt.want)
			}
		})
	}
}

func TestCallsOfAChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *sim.Options, _ *cloudflare.Config) { o.RecordQuota = 1000 })
	cost := func(changes []dns.Change) string {
		lists, batches := w.CallsOf(sim.ListRecords), w.CallsOf(sim.BatchRecords)
		w.change(t, changes...)
		return fmt.Sprintf("%d reads, %d batches", w.CallsOf(sim.ListRecords)-lists, w.CallsOf(sim.BatchRecords)-batches)
	}
	many := func(from, to int) (sets []dns.RecordSet) {
		for i := from; i < to; i++ {
			sets = append(sets, cname(fmt.Sprint("n", i)))
		}
		return sets
	}
	for _, tt := range []struct {
		does    string
		changes []dns.Change
		want    string
	}{
		{"one name", create(many(0, 1)...), "1 reads, 1 batches"},
		{"two names", create(many(1, 3)...), "2 reads, 1 batches"},
		{"three names", create(many(3, 6)...), "1 reads, 1 batches"},
		{"a full batch", create(many(6, 206)...), "1 reads, 1 batches"},
		{"a full batch of deletions", remove(many(0, 200)...), "1 reads, 1 batches"},
	} {
		if got := cost(tt.changes); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.does, got, tt.want)
		}
	}
	_, err := w.Change(t.Context(), w.zone.ID, create(many(1000, 1201)...))
	wants(t, err, fault.Invalid)
	if got := len(w.Records(w.zone.ID)); got != 6 {
		t.Errorf("%d records", got)
	}
}

func TestAFullZone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *sim.Options, _ *cloudflare.Config) { o.RecordQuota = 1 })
	_, err := w.Change(t.Context(), w.zone.ID, create(cname("a"), cname("b")))
	wants(t, err, fault.Quota, "81045")
	// Deletions that make room come first.
	w.change(t, create(cname("a"))...)
	w.change(t, append(remove(cname("a")), create(cname("b"))...)...)
}

func TestTooManyRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *sim.Options, _ *cloudflare.Config) { o.RequestLimit = 3 })
	w.list(t)
	w.list(t)
	w.pass(time.Minute)
	_, _, err := w.ListRecords(t.Context(), w.zone.ID, "")
	wants(t, err, fault.Throttled, "10013")
	if got := fault.RetryAfter(err); got != 4*time.Minute {
		t.Errorf("come back after %v", got)
	}
	w.pass(4 * time.Minute)
	w.list(t)
}

// A change that has begun is carried out: refused between its read and its batch it would read again each time.
func TestAChangeIsNotCutByTheRate(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(_ *sim.Options, c *cloudflare.Config) { c.Gate = newGate(t, c.Clock, 1, 3, nil) })
	sent := 0
	for n := range 30 {
		_, err := w.Change(t.Context(), w.zone.ID, create(cname(fmt.Sprint("n", n))))
		if err == nil {
			sent++
			continue
		}
		wants(t, err, fault.Throttled, "LocalRateLimit")
		w.pass(fault.RetryAfter(err))
	}
	if got := len(w.Records(w.zone.ID)); got != sent || sent < 10 {
		t.Errorf("%d changes, %d records", sent, got)
	}
}

func TestNothingIsChangedWhileHalted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.halted.Store(&chain.Halt{Message: "halted"})
	_, err := w.Change(t.Context(), w.zone.ID, create(cname("a")))
	wants(t, err, fault.Throttled, "Halted")
	if n := w.CallsOf(sim.BatchRecords); n != 0 {
		t.Errorf("%d batches", n)
	}
	w.list(t)
}
