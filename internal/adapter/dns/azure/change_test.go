package azure_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/calls"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/azuredns"
)

// before does something before requests of a method are sent.
type before struct {
	http.RoundTripper

	method string
	do     func()
}

func (b *before) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == b.method && b.do != nil {
		b.do()
		b.do = nil
	}
	return b.RoundTripper.RoundTrip(r)
}

// Writes of others between our read and our write are not lost.
func TestOthersWriteInBetween(t *testing.T) {
	t.Parallel()
	theirs := sim.Record{Name: "a", Type: dns.CNAME, TTL: 300, Values: []string{"elsewhere.example.net"}}
	other := cname("a")
	other.Values = []string{"dother.cloudfront.net"}
	for says, tt := range map[string]struct {
		method  string
		there   bool
		changes []dns.Change
		want    fault.Kind
	}{
		"a deletion":    {http.MethodDelete, true, remove(cname("a")), fault.Conflict},
		"a replacement": {http.MethodPut, true, append(remove(cname("a")), create(other)...), fault.Conflict},
		"a creation":    {http.MethodPut, false, create(cname("a")), fault.Exists},
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			hook := &before{method: tt.method}
			w := newWorld(t, func(s *settings) { s.config.HTTPClient = &http.Client{Transport: hook} })
			hook.RoundTripper = w.Transport()
			if tt.there {
				w.SetRecord(group, zoneName, sim.Record{Name: "a", Type: dns.CNAME, TTL: 300, Values: []string{target}})
			}
			// The same set again is another version: what was read is not what is there.
			hook.do = func() { w.SetRecord(group, zoneName, theirs) }
			if _, err := w.Change(t.Context(), zoneID, tt.changes); !fault.Is(err, tt.want) {
				t.Errorf("error %v is %s, want %s", err, fault.KindOf(err), tt.want)
			}
			if got, _ := w.record("a", dns.CNAME); !cmp.Equal(got.Values, theirs.Values) {
				t.Errorf("there is %v", got)
			}
		})
	}
}

// A set replaces another one of its type in one call: the name is never without.
func TestReplacementIsOneCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	theirs := set("a", dns.CNAME, "elsewhere.example.net")
	w.change(t, create(theirs)...)
	before := len(w.Journal())
	w.change(t, append(remove(theirs), create(cname("a"))...)...)
	var made []string
	for _, e := range w.Journal()[before:] {
		made = append(made, e.Operation)
	}
	if d := cmp.Diff([]string{sim.GetRecord, sim.PutRecord}, made); d != "" {
		t.Errorf("calls (-want +got):\n%s", d)
	}
	if got, _ := w.record("a", dns.CNAME); got.Values[0] != target || got.Metadata["owner"] == "" {
		t.Errorf("there is %+v", got)
	}
}

// Impossible changes are found before anything is changed; a later failure may leave a part of the batch done.
func TestPartsOfAUnit(t *testing.T) {
	t.Parallel()
	a4, a6 := set("a", dns.A, "192.0.2.1"), set("a", dns.AAAA, "2001:db8::1")
	replace := append(remove(a4, a6), create(cname("a"))...)
	for says, tt := range map[string]struct {
		spoil func(w *world)
		want  fault.Kind
		left  int
	}{
		"the second is gone": {func(w *world) { w.RemoveRecord(group, zoneName, "a", dns.AAAA) }, fault.Conflict, 1},
		"the second has another value": {func(w *world) {
			w.SetRecord(group, zoneName, sim.Record{Name: "a", Type: dns.AAAA, TTL: 300, Values: []string{"2001:db8::2"}})
		}, fault.Conflict, 2},
		"the first deletion is refused": {func(w *world) {
			w.AddFault(sim.Fault{Operation: sim.DeleteRecord, Status: 429, Code: "TooManyRequests", RetryAfter: time.Minute})
		}, fault.Throttled, 2},
		"the second deletion is refused": {func(w *world) {
			w.AddFault(sim.Fault{Operation: sim.DeleteRecord, Skip: 1, Status: 403, Code: "AuthorizationFailed"})
		}, fault.Transient, 1},
		"the creation is refused": {func(w *world) { w.AddFault(sim.Fault{Operation: sim.PutRecord, Status: 400, Code: "BadRequest"}) }, fault.Transient, 0},
		"another set is there": {func(w *world) {
			w.SetRecord(group, zoneName, sim.Record{Name: "a", Type: "MX", TTL: 300, Values: []string{"10 m.example"}})
		}, fault.Transient, 1},
		"nothing is wrong": {func(*world) {}, fault.None, 1},
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.change(t, create(a4, a6)...)
			tt.spoil(w)
			_, err := w.Change(t.Context(), zoneID, replace)
			// A throttle empties the operator's own allowance.
			w.clock.Step(time.Minute)
			if fault.KindOf(err) != tt.want || len(w.name(t, "a")) != tt.left {
				t.Errorf("error %v is %s, want %s; left is %v, want %d sets", err, fault.KindOf(err), tt.want, w.name(t, "a"), tt.left)
			}
		})
	}
}

// Our own rate does not leave a unit half done, nor a question without an end.
func TestAUnitThatHasBegunIsFinished(t *testing.T) {
	t.Parallel()
	for says, errand := range map[string]func(w *world) error{
		"a replacement": func(w *world) error {
			_, err := w.Change(t.Context(), zoneID, append(remove(set("a", dns.A, "192.0.2.1")), create(cname("a"))...))
			return err
		},
		"a name": func(w *world) error { _, err := w.ReadName(t.Context(), zoneID, "a."+zoneName); return err },
	} {
		w := newWorld(t, func(s *settings) { s.config.Gate = newGate(t, s.config.Clock, 2) })
		w.SetRecord(group, zoneName, sim.Record{Name: "a", Type: dns.A, TTL: 300, Values: []string{"192.0.2.1"}})
		var err error
		for range 100 {
			if err = errand(w); fault.CodeOf(err) != calls.CodeLocalRateLimit {
				break
			}
			w.clock.Step(fault.RetryAfter(err))
		}
		if err != nil {
			t.Errorf("%s: %v", says, err)
		}
	}
}

// The meaning of a refused change.
func TestFailuresOfAChange(t *testing.T) {
	t.Parallel()
	answer := func(status int, code string) sim.Fault {
		return sim.Fault{Operation: sim.PutRecord, When: sim.Instead, Status: status, Code: code, Message: "text"}
	}
	detailed := answer(409, "Conflict")
	detailed.Detail = "MaximumNumberOfRecordSetsReached"
	for says, tt := range map[string]struct {
		fault sim.Fault
		want  fault.Kind
	}{
		"too many calls":              {answer(429, "ResourceRequestsThrottled"), fault.Throttled},
		"too many calls, a new code":  {answer(429, "BrandNew"), fault.Throttled},
		"no role":                     {answer(403, "AuthorizationFailed"), fault.Denied},
		"a lock":                      {answer(409, "ScopeLocked"), fault.Denied},
		"a policy":                    {answer(403, "RequestDisallowedByPolicy"), fault.Denied},
		"a token that is too old":     {answer(401, "ExpiredAuthenticationToken"), fault.Denied},
		"no zone":                     {answer(404, "ParentResourceNotFound"), fault.NotFound},
		"no group":                    {answer(404, "ResourceGroupNotFound"), fault.NotFound},
		"no page":                     {answer(404, "BrandNew"), fault.Transient},
		"a full zone":                 {detailed, fault.Quota},
		"something else at the name":  {answer(409, "Conflict"), fault.Exists},
		"a conflict of another kind":  {answer(409, "BrandNew"), fault.Conflict},
		"an operation that goes on":   {answer(409, "AnotherOperationInProgress"), fault.Throttled},
		"a request without sense":     {answer(400, "BadRequest"), fault.Invalid},
		"a server that breaks":        {answer(500, "InternalServerError"), fault.Transient},
		"an answer that is lost":      {sim.Fault{Operation: sim.PutRecord, Drop: true}, fault.Transient},
		"an answer that is too late":  {sim.Fault{Operation: sim.PutRecord, When: sim.AfterCommit, Drop: true}, fault.Transient},
		"a token that can't be had":   {sim.Fault{Operation: sim.RequestToken, Status: 503}, fault.Transient},
		"a token that takes too long": {sim.Fault{Operation: sim.RequestToken, Status: 429, Code: "throttled", RetryAfter: time.Minute}, fault.Throttled},
		"no connection to Entra ID":   {sim.Fault{Operation: sim.RequestToken, Drop: true}, fault.Transient},
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.AddFault(tt.fault)
			_, err := w.Change(t.Context(), zoneID, create(cname("a")))
			if !fault.Is(err, tt.want) {
				t.Fatalf("error %v is %s, want %s", err, fault.KindOf(err), tt.want)
			}
			if n := w.Calls(sim.PutRecord); n > 1 {
				t.Errorf("sent %d times", n)
			}
			if tt.fault.RetryAfter != fault.RetryAfter(err) {
				t.Errorf("told to come back after %v", fault.RetryAfter(err))
			}
		})
	}
}

func TestQuota(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *settings) { s.sim.MaxRecordSets = 3 })
	w.change(t, create(cname("a"))...)
	_, err := w.Change(t.Context(), zoneID, create(cname("b")))
	if !fault.Is(err, fault.Quota) || !strings.Contains(err.Error(), "maximum number of record") {
		t.Errorf("error %v, want %s", err, fault.Quota)
	}
	w.change(t, remove(cname("a"))...)
}

// Real limits delay and do nothing else.
func TestThrottling(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *settings) { s.sim.Limits = []sim.Limit{{Operation: sim.PutRecord, Calls: 1, Per: time.Minute}} })
	w.change(t, create(cname("a"))...)
	w.clock.Step(20 * time.Second)
	_, err := w.Change(t.Context(), zoneID, create(cname("b")))
	if !fault.Is(err, fault.Throttled) || fault.RetryAfter(err) != 40*time.Second || strings.Contains(err.Error(), "40") {
		t.Errorf("error %v, come back after %v", err, fault.RetryAfter(err))
	}
	w.clock.Step(40 * time.Second)
	w.change(t, create(cname("b"))...)
}

// Changes that Azure can't make are refused without a call.
func TestChangesThatAreNotSent(t *testing.T) {
	t.Parallel()
	alias := cname("a")
	alias.Type, alias.Alias, alias.Values = dns.A, target, nil
	foreign := cname("a")
	foreign.Routed = true
	broken := set("a", dns.TXT, "x")
	broken.Exact = []string{"x"}
	for says, tt := range map[string]struct {
		changes []dns.Change
		says    string
	}{
		"nothing":                 {nil, "nothing to change"},
		"a name of another zone":  {create(dns.RecordSet{Key: dns.Key{Name: "a.example.org", Type: dns.CNAME}}), "not in the zone"},
		"an alias for CloudFront": {create(alias), "not for CloudFront"},
		"two CNAME records":       {create(set("a", dns.CNAME, "a", "b")), "use one"},
		"a type that is not ours": {create(set("a", "MX", "10 a")), "type MX"},
		"a value without a form":  {create(broken), "no list of strings"},
		"a set of others":         {remove(foreign), "delete it in Azure"},
	} {
		w := newWorld(t)
		_, err := w.Change(t.Context(), zoneID, tt.changes)
		if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: error %v, want %s and %q", says, err, fault.Invalid, tt.says)
		}
		if n := len(w.Journal()); n != 0 {
			t.Errorf("%s: %d calls", says, n)
		}
	}
}
