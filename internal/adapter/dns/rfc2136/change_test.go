package rfc2136_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

func TestARecordComesAndGoesWithItsNote(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, star := w.cname("a", target), w.cname("*.wild", target)
	w.change(t, create(a, star)...)
	w.holds(t,
		"a.@ 300 CNAME "+target+".", "_cloudfront-tenant-operator-owner.a.@ 300 TXT "+note,
		"*.wild.@ 300 CNAME "+target+".", "_cloudfront-tenant-operator-owner-wildcard.wild.@ 300 TXT "+note)
	if diff := cmp.Diff([]dns.RecordSet{star, a}, w.list(t)); diff != "" {
		t.Errorf("a listing has no notes (-want +got):\n%s", diff)
	}
	for name, want := range map[string]string{"a": target, "any.wild": target} {
		code, values, err := w.server.Query(t.Context(), w.name(name), "CNAME")
		if diff := cmp.Diff([]string{want + "."}, values); diff != "" || code != "NOERROR" || err != nil {
			t.Errorf("%s: got %s, error %v, values (-want +got):\n%s", name, code, err, diff)
		}
	}
	w.change(t, remove(a, star)...)
	w.holds(t)
}

// The record of another owner is replaced, and is put back later: a note says whose a record is, as long as it is someone's.
func TestANoteIsOfWhoChangedTheName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(t, "a.@ 60 IN A 192.0.2.1", "_cloudfront-tenant-operator-owner.a.@ 60 IN TXT stale")
	foreign, ours := w.set("a", "A", 60, "192.0.2.1"), w.cname("a", target)
	w.change(t, append(remove(foreign), create(ours)...)...)
	w.holds(t, "a.@ 300 CNAME "+target+".", "_cloudfront-tenant-operator-owner.a.@ 300 TXT "+note)
	back := append(remove(ours), dns.Change{Action: dns.Create, Set: foreign})
	w.change(t, back...)
	w.holds(t, "a.@ 60 A 192.0.2.1")
}

func TestANameThatIsTooLongForANoteHasNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	long := w.cname(strings.Repeat(strings.Repeat("l", 54)+".", 4)+"x", target)
	w.change(t, create(long)...)
	if diff := cmp.Diff([]dns.RecordSet{long}, w.list(t)); diff != "" {
		t.Errorf("sets (-want +got):\n%s", diff)
	}
	w.change(t, remove(long)...)
	w.holds(t)
}

// The reasons for which a batch is refused; no part of it is carried out then.
func TestRefusedBatches(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(t, "there.@ 300 IN CNAME "+target+".", "mail.@ 300 IN MX 10 mx.example.net.", "text.@ 60 IN TXT one", "text.@ 60 IN TXT two",
		"addr.@ 60 IN A 192.0.2.1", "mixed.@ 60 IN A 192.0.2.1", "mixed.@ 60 IN HINFO cpu os")
	apex := dns.RecordSet{Key: dns.Key{Name: w.zone, Type: dns.CNAME}, TTL: 300, Values: []string{target}}
	routed, alias, tooOften := w.cname("there", target), w.cname("new", ""), w.cname("new", target)
	routed.Routed, alias.Alias = true, target
	tooOften.TTL = 1 << 31
	for name, tt := range map[string]struct {
		changes []dns.Change
		want    fault.Kind
	}{
		"the same record is there":                       {create(w.cname("there", target)), fault.Exists},
		"another value is there":                         {create(w.cname("there", "other.cloudfront.net")), fault.Exists},
		"one of several is there":                        {create(w.cname("new", target), w.cname("there", target)), fault.Exists},
		"a CNAME next to something else":                 {create(w.cname("mail", target)), fault.Exists},
		"something else next to a CNAME":                 {create(w.set("there", "A", 60, "192.0.2.9")), fault.Exists},
		"more values for a set that is there":            {create(w.set("text", "TXT", 60, "three")), fault.Exists},
		"a CNAME next to what it does not replace":       {append(remove(w.set("mixed", "A", 60, "192.0.2.1")), create(w.cname("mixed", target))...), fault.Exists},
		"a deletion of what is not there":                {remove(w.cname("gone", target)), fault.Conflict},
		"a deletion with another value":                  {remove(w.cname("there", "other.cloudfront.net")), fault.Conflict},
		"a deletion with another type":                   {remove(w.set("there", "A", 60, "192.0.2.1")), fault.Conflict},
		"a deletion with some of the values":             {remove(w.set("text", "TXT", 60, "one")), fault.Conflict},
		"a deletion with more values":                    {remove(w.set("text", "TXT", 60, "one", "two", "three")), fault.Conflict},
		"a replacement of what has changed":              {append(remove(w.set("addr", "A", 60, "192.0.2.2")), create(w.cname("addr", target))...), fault.Conflict},
		"a creation and a deletion of what is not there": {append(create(w.cname("new", target)), remove(w.cname("gone", target))...), fault.Conflict},
		"a CNAME at the apex":                            {create(apex), fault.Invalid},
		"a name of another zone":                         {create(dns.RecordSet{Key: dns.Key{Name: "a.example.org", Type: "CNAME"}, TTL: 300, Values: []string{target}}), fault.Invalid},
		"a name that is none":                            {create(w.cname("x..y", target)), fault.Invalid},
		"a value that is none":                           {create(w.set("new", "A", 60, "300.1.1.1")), fault.Invalid},
		"a value of two lines":                           {create(w.set("new", "A", 60, "192.0.2.1\n@ IN A 192.0.2.2")), fault.Invalid},
		"a value that is empty":                          {create(w.set("new", "A", 60, "")), fault.Invalid},
		"a type that is none":                            {create(w.set("new", "NONSENSE", 60, "1")), fault.Invalid},
		"a TTL that is none":                             {create(tooOften), fault.Invalid},
		"a set without values":                           {create(w.set("new", "A", 60)), fault.Invalid},
		"two CNAME records of one name":                  {create(w.set("new", "CNAME", 60, target, "other.cloudfront.net")), fault.Invalid},
		"a creation twice":                               {create(w.cname("new", target), w.cname("new", target)), fault.Invalid},
		"a set twice":                                    {create(w.set("new", "TXT", 60, "x"), w.set("new", "TXT", 60, "y")), fault.Invalid},
		"two creations that clash":                       {create(w.cname("new", target), w.set("new", "TXT", 60, "x")), fault.Invalid},
		"a set that we never write":                      {remove(routed), fault.Invalid},
		"an alias":                                       {create(alias), fault.Invalid},
		"nothing to change":                              {nil, fault.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			before, err := w.server.Records(t.Context(), w.zone)
			must(t, err)
			_, err = w.Change(t.Context(), w.zone, tt.changes)
			expectKind(t, err, tt.want)
			after, afterErr := w.server.Records(t.Context(), w.zone)
			must(t, afterErr)
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("a part was carried out (-before +after):\n%s", diff)
			}
			_, repeated := w.Change(t.Context(), w.zone, tt.changes)
			if repeated.Error() != err.Error() {
				t.Errorf("the text moves:\n%v\n%v", err, repeated)
			}
		})
	}
}

// Every set is deleted as it was listed, and written as it was.
func TestSetsGoRound(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789", 40)
	for name, tt := range map[string]struct {
		lines []string
		want  dns.RecordSet
	}{
		"a CNAME in capitals": {[]string{"Odd.@ 77 IN CNAME Old.Example.NET."},
			dns.RecordSet{Key: dns.Key{Name: "odd", Type: "CNAME"}, TTL: 77, Values: []string{"old.example.net"}, Exact: []string{"Old.Example.NET."}}},
		"several addresses": {[]string{"odd.@ 60 IN A 192.0.2.2", "odd.@ 60 IN A 192.0.2.1"},
			dns.RecordSet{Key: dns.Key{Name: "odd", Type: "A"}, TTL: 60, Values: []string{"192.0.2.1", "192.0.2.2"}}},
		"texts with quotes, backslashes and bytes": {[]string{`odd.@ 60 IN TXT "say \"hi\" \\ \195\164;"`, `odd.@ 60 IN TXT ""`},
			dns.RecordSet{Key: dns.Key{Name: "odd", Type: "TXT"}, TTL: 60, Values: []string{"", `say "hi" \ ä;`}}},
		"a text of several strings": {[]string{`odd.@ 60 IN TXT "first" "second"`},
			dns.RecordSet{Key: dns.Key{Name: "odd", Type: "TXT"}, TTL: 60, Values: []string{"firstsecond"}, Exact: []string{`"first" "second"`}}},
		"a text of more than 255 characters": {[]string{fmt.Sprintf("odd.@ 60 IN TXT %q %q", long[:255], long[255:])},
			dns.RecordSet{Key: dns.Key{Name: "odd", Type: "TXT"}, TTL: 60, Values: []string{long}}},
		"a mail server": {[]string{"odd.@ 60 IN MX 10 Mail.example.net."},
			dns.RecordSet{Key: dns.Key{Name: "odd", Type: "MX"}, TTL: 60, Values: []string{"10 Mail.example.net."}}},
		"a type without a name": {[]string{`odd.@ 60 IN TYPE65280 \# 3 0a0b0c`},
			dns.RecordSet{Key: dns.Key{Name: "odd", Type: "TYPE65280"}, TTL: 60, Values: []string{`\# 3 0a0b0c`}}},
		"a name with a dot in a label": {[]string{`o\.d\032d.@ 60 IN TXT x`},
			dns.RecordSet{Key: dns.Key{Name: `o\.d\ d`, Type: "TXT"}, TTL: 60, Values: []string{"x"}}},
		"a wildcard": {[]string{"*.@ 60 IN CNAME x.example.net."},
			dns.RecordSet{Key: dns.Key{Name: "*", Type: "CNAME"}, TTL: 60, Values: []string{"x.example.net"}}},
		"a delegation": {[]string{"odd.@ 60 IN NS ns1.example.net."},
			dns.RecordSet{Key: dns.Key{Name: "odd", Type: "NS"}, TTL: 60, Values: []string{"ns1.example.net."}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorldOf(t, "")
			w.add(t, tt.lines...)
			tt.want.Name = w.name(tt.want.Name)
			read, err := w.ReadName(t.Context(), w.zone, tt.want.Name)
			must(t, err)
			for which, got := range map[string][]dns.RecordSet{"listed": w.list(t), "read": read} {
				if diff := cmp.Diff([]dns.RecordSet{tt.want}, got); diff != "" {
					t.Fatalf("%s (-want +got):\n%s", which, diff)
				}
			}
			if tt.want.Type != "A" && tt.want.Type != "TXT" && tt.want.Type != "CNAME" {
				return // the key may not change it, and the operator does not try
			}
			w.change(t, remove(tt.want)...)
			w.holds(t)
			w.change(t, dns.Change{Action: dns.Create, Set: tt.want})
			if diff := cmp.Diff([]dns.RecordSet{tt.want}, w.list(t)); diff != "" {
				t.Errorf("written again (-want +got):\n%s", diff)
			}
		})
	}
}

// A TTL is no part of a prerequisite: it is not compared.
func TestADeletionWithAnotherTTLIsCarriedOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.cname("a", target)
	w.change(t, create(a)...)
	a.TTL = 60
	w.change(t, remove(a)...)
	w.holds(t)
}

func TestFiveHundredRecordsInBatches(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	limits := w.dns.Traits().Batch
	var all []dns.RecordSet
	var units []dns.Unit
	for i := range 500 {
		s := w.cname(fmt.Sprintf("customer-with-a-name-of-some-length-%03d", i), target)
		all = append(all, s)
		units = append(units, dns.Unit{Name: s.Name, Changes: create(s)})
	}
	batches := dns.Batches(units, limits)
	for _, batch := range batches {
		var changes []dns.Change
		for _, u := range batch {
			changes = append(changes, u.Changes...)
		}
		w.change(t, changes...)
	}
	if len(batches) != 5 {
		t.Errorf("%d batches, want 5", len(batches))
	}
	if diff := cmp.Diff(all, w.list(t)); diff != "" {
		t.Errorf("sets (-want +got):\n%s", diff)
	}
}

// Names and notes as long as they can be do not fit: the batch is divided then, until it does.
func TestABatchThatIsTooLongIsNotSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var changes []dns.Change
	long := strings.Repeat(strings.Repeat("l", 60)+".", 3)
	for i := range 100 {
		c := create(w.cname(fmt.Sprintf("%s%03d", strings.ReplaceAll(long, "l", string(rune('a'+i%26))), i), target))[0]
		c.Owner = dns.Owner{Namespace: strings.Repeat("n", 63), Name: strings.Repeat("o", 253)}
		changes = append(changes, c)
	}
	_, err := w.Change(t.Context(), w.zone, changes)
	expectKind(t, err, fault.Invalid, "64 KiB")
	w.holds(t)
	w.change(t, changes[:50]...)
}

// BIND signs the zone, and adds sets for that at each name. They are none of ours, and in no one's way.
func TestASignedZone(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, signedZone)
	a := w.cname("a", target)
	for range 2 {
		w.change(t, create(a)...)
		read, err := w.ReadName(t.Context(), w.zone, a.Name)
		must(t, err)
		for which, got := range map[string][]dns.RecordSet{"listed": w.list(t), "read": read} {
			if diff := cmp.Diff([]dns.RecordSet{a}, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", which, diff)
			}
		}
		if code, values, err := w.server.Query(t.Context(), "_cloudfront-tenant-operator-owner."+a.Name, "NSEC"); err != nil || len(values) != 1 {
			t.Errorf("the zone is not signed: %s %v %v", code, values, err)
		}
		w.change(t, remove(a)...)
	}
	w.change(t, create(w.set("a", "A", 60, "192.0.2.1"))...)
	w.change(t, append(remove(w.set("a", "A", 60, "192.0.2.1")), create(a)...)...)
}
