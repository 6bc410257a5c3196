// The adapter for ExternalDNS relies on how the real one treats its objects, and records that are not its own.
package externaldns_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/externaldns"
)

const target, otherTarget = "d111.cloudfront.net", "d222.cloudfront.net"

func TestARecordIsPublishedChangedAndWithdrawnInOneMessageEach(t *testing.T) {
	w := newWorld(t, externaldns.Options{})
	steps := []struct {
		name     string
		change   func()
		messages int
		want     []string
	}{
		{"an object appears", func() { w.put("www", entry("www.example.com", "CNAME", 300, target)) }, 1,
			[]string{"www.example.com 300 CNAME d111.cloudfront.net.", w.note("cname-www.example.com", "www")}},
		{"nothing changes", func() {}, 0,
			[]string{"www.example.com 300 CNAME d111.cloudfront.net.", w.note("cname-www.example.com", "www")}},
		{"the target changes", func() { w.put("www", entry("www.example.com", "CNAME", 300, otherTarget)) }, 1,
			[]string{"www.example.com 300 CNAME d222.cloudfront.net.", w.note("cname-www.example.com", "www")}},
		{"the TTL changes", func() { w.put("www", entry("www.example.com", "CNAME", 60, otherTarget)) }, 1,
			[]string{"www.example.com 60 CNAME d222.cloudfront.net.", w.note("cname-www.example.com", "www")}},
		{"the TTL is left out, which changes nothing", func() { w.put("www", entry("www.example.com", "CNAME", 0, otherTarget)) }, 0,
			[]string{"www.example.com 60 CNAME d222.cloudfront.net.", w.note("cname-www.example.com", "www")}},
		{"the object is emptied", func() { w.put("www") }, 1, nil},
		{"the object stays empty", func() {}, 0, nil},
		{"it has a record without a TTL", func() { w.put("www", entry("www.example.com", "CNAME", 0, target)) }, 1,
			[]string{"www.example.com 0 CNAME d111.cloudfront.net.", w.note("cname-www.example.com", "www")}},
		{"it has another type, which takes two rounds", func() { w.put("www", entry("www.example.com", "A", 60, "192.0.2.1", "192.0.2.2")) }, 2,
			[]string{w.note("a-www.example.com", "www")}},
		{"the second round", func() {}, 1,
			[]string{"www.example.com 60 A 192.0.2.1", "www.example.com 60 A 192.0.2.2", w.note("a-www.example.com", "www")}},
	}
	for _, s := range steps {
		t.Log(s.name)
		s.change()
		if got := w.messages(w.round); got != s.messages {
			t.Errorf("%s: %d messages changed the zone, want %d", s.name, got, s.messages)
		}
		w.expect(s.want...)
		w.observed("www", true)
	}
	w.delete("www")
	w.round()
	w.expect()
}

func TestAnObjectWithoutEndpointsIsObserved(t *testing.T) {
	w := newWorld(t, externaldns.Options{})
	w.put("empty")
	w.observed("empty", false)
	w.round()
	w.observed("empty", true)
	w.expect()
}

func TestARecordOfOthersIsLeftAlone(t *testing.T) {
	w := newWorld(t, externaldns.Options{})
	for _, c := range []struct {
		name, line string
	}{
		{"the same record", "www.example.com 300 CNAME d111.cloudfront.net."},
		{"another target", "www.example.com 300 CNAME d222.cloudfront.net."},
		{"addresses", "www.example.com 300 A 192.0.2.1"},
		{"addresses of IPv6", "www.example.com 300 AAAA 2001:db8::1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := w.of(t)
			w.byHand(c.line)
			w.put("www", entry("www.example.com", "CNAME", 60, target))
			w.round()
			w.observed("www", true)
			w.expect(c.line)
			w.put("www")
			w.round()
			w.expect(c.line)
			w.put("www", entry("www.example.com", "CNAME", 60, target))
			w.removeByHand(c.line)
			w.round()
			w.expect("www.example.com 60 CNAME d111.cloudfront.net.", w.note("cname-www.example.com", "www"))
			w.delete("www")
			w.round()
			w.expect()
		})
	}
}

func TestARecordOfAnotherInstanceIsLeftAlone(t *testing.T) {
	w := newWorld(t, externaldns.Options{Owner: "ours"})
	there := []string{"www.example.com 300 CNAME d222.cloudfront.net.", w.noteOf("another", "cname-www.example.com", "www")}
	w.byHand(there...)
	w.put("www", entry("www.example.com", "CNAME", 300, target))
	w.round()
	w.expect(there...)
	w.put("www")
	w.round()
	w.expect(there...)
}

// The planner does not see records of types that it does not manage, and BIND silently ignores a CNAME next to them. So
// ExternalDNS believes each time that it has published the record, and leaves the note behind.
func TestARecordOfAnUnmanagedTypeHidesThatNothingIsPublished(t *testing.T) {
	for _, c := range []struct{ name, line string }{
		{"text", `www.example.com 300 TXT "v=spf1 -all"`},
		{"mail", "www.example.com 300 MX 10 mail.example.net."},
		{"a delegation", "www.example.com 300 NS ns1.example.net."},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, externaldns.Options{})
			w.byHand(c.line)
			w.put("www", entry("www.example.com", "CNAME", 300, target))
			w.round()
			w.observed("www", true)
			w.expect(c.line, w.note("cname-www.example.com", "www"))
			w.round()
			w.put("www")
			w.round()
			w.observed("www", true)
			w.expect(c.line, w.note("cname-www.example.com", "www"))

			// A record that appears at the name later is taken for its own, and deleted.
			w.removeByHand(c.line)
			w.byHand("www.example.com 300 CNAME d222.cloudfront.net.")
			w.round()
			w.expect()
		})
	}
}

func TestANoteThatIsRemovedMakesTheRecordOneOfOthers(t *testing.T) {
	w := newWorld(t, externaldns.Options{})
	w.put("www", entry("www.example.com", "CNAME", 300, target))
	w.round()
	w.removeByHand(w.note("cname-www.example.com", "www"))
	w.put("www")
	w.round()
	w.observed("www", true)
	w.expect("www.example.com 300 CNAME d111.cloudfront.net.")
}

func TestARecordThatWasChangedByHandIsPutRight(t *testing.T) {
	w := newWorld(t, externaldns.Options{})
	want := []string{"www.example.com 300 CNAME d111.cloudfront.net.", w.note("cname-www.example.com", "www")}
	w.put("www", entry("www.example.com", "CNAME", 300, target))
	w.round()
	w.byHand("www.example.com 300 CNAME d222.cloudfront.net.")
	w.round()
	w.expect(want...)
	w.removeByHand("www.example.com CNAME d111.cloudfront.net.")
	w.round()
	w.expect(want...)
}

func TestNames(t *testing.T) {
	w := newWorld(t, externaldns.Options{})
	longest := strings.Repeat("a", 57)
	for _, c := range []struct{ name, dns, note string }{
		{"a wildcard", "*.example.com", "cname-*.example.com"},
		{"a wildcard below", "*.shop.example.com", "cname-*.shop.example.com"},
		{"an underscore", "_acme-challenge.www.example.com", "cname-_acme-challenge.www.example.com"},
		{"an international name", "xn--bcher-kva.example.com", "cname-xn--bcher-kva.example.com"},
		{"the longest first label that has a note", longest + ".example.com", "cname-" + longest + ".example.com"},
		{"a name that looks like a note", "a-www.example.com", "cname-a-www.example.com"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := w.of(t)
			w.put("o", entry(c.dns, "CNAME", 300, target))
			want := []string{c.dns + " 300 CNAME d111.cloudfront.net.", w.note(c.note, "o")}
			w.round()
			w.expect(want...)
			if got := w.messages(w.round); got != 0 {
				t.Errorf("%d messages changed the zone in a second round, want none", got)
			}
			w.put("o")
			w.round()
			w.expect()
		})
	}
}

// Without room for the note's prefix there is no note, and the record counts as one of others from then on.
func TestALabelThatIsTooLongForANoteIsNeverWithdrawn(t *testing.T) {
	for _, c := range []struct{ name, label string }{
		{"one more character than the longest", strings.Repeat("a", 58)},
		{"the longest label", strings.Repeat("a", 63)},
		{"a long name", strings.Repeat("a", 26) + "." + strings.Repeat("b", 20) + strings.Repeat("."+strings.Repeat("c", 63), 3)},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, externaldns.Options{})
			name := c.label + ".example.com"
			w.put("o", entry(name, "CNAME", 300, target))
			w.round()
			w.expect(name + " 300 CNAME d111.cloudfront.net.")
			w.put("o")
			w.round()
			w.observed("o", true)
			w.expect(name + " 300 CNAME d111.cloudfront.net.")
		})
	}
}

// With a label of their own, notes have room for every name, and are within the zone.
func TestAPrefixWithLabelsOfItsOwnFitsEveryName(t *testing.T) {
	w := newWorld(t, externaldns.Options{Flags: []string{"--txt-prefix=externaldns-%{record_type}."}})
	for _, c := range []struct {
		name, dns string
		want      []string
	}{
		{"a usual name", "www.example.com", []string{"www.example.com 300 CNAME d111.cloudfront.net."}},
		{"a wildcard", "*.example.com", []string{"*.example.com 300 CNAME d111.cloudfront.net."}},
		{"the longest label", strings.Repeat("a", 63) + ".example.com", []string{strings.Repeat("a", 63) + ".example.com 300 CNAME d111.cloudfront.net."}},
		{"the name of the zone, where BIND takes no CNAME", "example.com", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := w.of(t)
			w.put("o", entry(c.dns, "CNAME", 300, target))
			want := append(c.want, w.note("externaldns-cname."+c.dns, "o"))
			w.round()
			w.expect(want...)
			if got := w.messages(w.round); got != 0 {
				t.Errorf("%d messages changed the zone in a second round, want none", got)
			}
			w.put("o")
			w.round()
			if c.want == nil {
				w.expect(want...)
				return
			}
			w.expect()
		})
	}
}

func TestTextIsPublishedOnlyWhereThatTypeIsManaged(t *testing.T) {
	w := newWorld(t, externaldns.Options{})
	w.put("proof", entry("_cf-challenge.example.com", "TXT", 300, `"token"`))
	w.round()
	w.observed("proof", true)
	w.expect()
}

// The registry does not know TXT among the types of its notes, so that it finds no note for a TXT record.
func TestManagedTextIsNeverWithdrawn(t *testing.T) {
	w := newWorld(t, externaldns.Options{Flags: []string{"--managed-record-types=A", "--managed-record-types=CNAME", "--managed-record-types=TXT"}})
	w.put("proof", entry("_cf-challenge.example.com", "TXT", 300, `"token"`))
	want := []string{`_cf-challenge.example.com 300 TXT "token"`, w.note("txt-_cf-challenge.example.com", "proof")}
	w.round()
	w.expect(want...)
	w.put("proof", entry("_cf-challenge.example.com", "TXT", 300, `"other"`))
	w.round()
	w.expect(want...)
	w.put("proof")
	w.round()
	w.observed("proof", true)
	w.expect(want...)
}

func TestTheNameOfTheZoneSpoilsTheMessage(t *testing.T) {
	w := newWorld(t, externaldns.Options{})
	w.put("www", entry("www.example.com", "CNAME", 300, target))
	w.put("apex", entry("example.com", "CNAME", 300, target))
	w.failingRound("a round of ExternalDNS: changing records: RFC2136 had errors in one or more of its batches: [bad return code: NOTZONE]")
	w.observed("www", true)
	w.observed("apex", true)
	w.expect()
	w.put("apex")
	w.round()
	w.expect("www.example.com 300 CNAME d111.cloudfront.net.", w.note("cname-www.example.com", "www"))
}

func TestATargetWithADotIsPassedOver(t *testing.T) {
	w := newWorld(t, externaldns.Options{})
	w.put("www", entry("www.example.com", "CNAME", 300, target+"."))
	w.round()
	w.observed("www", true)
	w.expect()
}

func TestNothingIsObservedWithoutTheServer(t *testing.T) {
	w := newWorld(t, externaldns.Options{})
	w.put("www", entry("www.example.com", "CNAME", 300, target))
	w.must(w.server.Stop())
	if err := w.dns.Round(t.Context()); err == nil {
		t.Error("a round without the server has no error")
	}
	w.observed("www", false)
	w.must(w.server.Start(t.Context()))
	w.round()
	w.observed("www", true)
	w.expect("www.example.com 300 CNAME d111.cloudfront.net.", w.note("cname-www.example.com", "www"))
}

// A transfer that is refused counts as an empty zone, as one that was not asked for. Nothing is ever withdrawn then.
func TestWithoutATransferATargetOfOthersIsReplaced(t *testing.T) {
	for _, c := range []struct {
		name, zone string
		without    bool
	}{
		{"not asked for", zone, true},
		{"refused", "closed.example", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, externaldns.Options{WithoutTransfers: c.without, Zones: []string{c.zone}, Key: operatorKey})
			there := []string{"www." + c.zone + " 300 CNAME d222.cloudfront.net.", "addresses." + c.zone + " 300 A 192.0.2.1"}
			w.must(w.server.AddByHand(t.Context(), c.zone, there...))
			w.put("o", entry("www."+c.zone, "CNAME", 60, target), entry("addresses."+c.zone, "CNAME", 60, target))
			want := []string{"www." + c.zone + " 60 CNAME d111.cloudfront.net.", there[1],
				w.note("cname-www."+c.zone, "o"), w.note("cname-addresses."+c.zone, "o")}
			w.round()
			w.expectIn(c.zone, want...)
			w.put("o")
			w.round()
			w.observed("o", true)
			w.expectIn(c.zone, want...)
		})
	}
}

func TestANameOutsideOfTheZonesFailsTheRoundAlone(t *testing.T) {
	w := newWorld(t, externaldns.Options{})
	w.put("www", entry("www.example.com", "CNAME", 300, target))
	w.put("elsewhere", entry("www.example.net", "CNAME", 300, target))
	w.failingRound("a round of ExternalDNS: changing records: RFC2136 had errors in one or more of its batches: [dns: bad authentication]")
	w.observed("www", true)
	w.observed("elsewhere", true)
	w.expect("www.example.com 300 CNAME d111.cloudfront.net.", w.note("cname-www.example.com", "www"))
}

func TestAnAnswerThatIsLostFailsARoundThatTookEffect(t *testing.T) {
	w := newWorld(t, externaldns.Options{})
	wire, err := w.server.Wire(t.Context())
	w.must(err)
	through, err := externaldns.Start(t.Context(), externaldns.Options{Config: config, Namespace: w.namespace, Server: w.server, Address: wire.Address(), Zones: []string{zone}})
	w.must(err)
	t.Cleanup(func() { w.close(through.Close()) })
	w.put("www", entry("www.example.com", "CNAME", 300, target))
	wire.LoseAnswers(1)
	if err := through.Round(t.Context()); err == nil {
		t.Error("a round with a lost answer has no error")
	}
	w.expect("www.example.com 300 CNAME d111.cloudfront.net.", w.note("cname-www.example.com", "www"))
	if got := w.messages(func() { w.must(through.Round(t.Context())) }); got != 0 {
		t.Errorf("%d messages changed the zone in the next round, want none", got)
	}
}

func TestOnlyObjectsThatMatchTheFilterCount(t *testing.T) {
	w := newWorld(t, externaldns.Options{LabelFilter: "dns=public"})
	w.put("www", entry("www.example.com", "CNAME", 300, target))
	w.round()
	w.observed("www", false)
	w.expect()
	o := w.get("www")
	o.SetLabels(map[string]string{"dns": "public"})
	w.must(kube.Update(t.Context(), o))
	w.round()
	w.observed("www", true)
	w.expect("www.example.com 300 CNAME d111.cloudfront.net.", w.note("cname-www.example.com", "www"))
}

func TestTheSmallestTargetOfAFreeNameWinsAndThenItsObjectKeepsIt(t *testing.T) {
	w := newWorld(t, externaldns.Options{})
	w.put("first", entry("www.example.com", "CNAME", 300, otherTarget))
	w.put("second", entry("www.example.com", "CNAME", 300, target))
	w.round()
	w.observed("first", true)
	w.observed("second", true)
	w.expect("www.example.com 300 CNAME d111.cloudfront.net.", w.note("cname-www.example.com", "second"))
	w.put("first", entry("www.example.com", "CNAME", 300, "d000.cloudfront.net"))
	w.round()
	w.expect("www.example.com 300 CNAME d111.cloudfront.net.", w.note("cname-www.example.com", "second"))
	w.put("second")
	w.round()
	w.expect("www.example.com 300 CNAME d000.cloudfront.net.", w.note("cname-www.example.com", "first"))
}

func TestAnObjectThatIsBeingDeletedStillCounts(t *testing.T) {
	w := newWorld(t, externaldns.Options{})
	w.put("www", entry("www.example.com", "CNAME", 300, target))
	w.round()
	o := w.get("www")
	o.SetFinalizers([]string{"example.com/held"})
	w.must(kube.Update(t.Context(), o))
	w.delete("www")
	w.round()
	w.expect("www.example.com 300 CNAME d111.cloudfront.net.", w.note("cname-www.example.com", "www"))
	w.observed("www", true)
	o = w.get("www")
	unstructured.RemoveNestedField(o.Object, "metadata", "finalizers")
	w.must(kube.Update(t.Context(), o))
	w.round()
	w.expect()
}

// of is the same world for a subtest.
func (w *world) of(t *testing.T) *world {
	t.Helper()
	sub := *w
	sub.T = t
	return &sub
}
