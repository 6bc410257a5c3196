package dns_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
)

// Kept sets are restored to the letter.
func TestWhatIsKeptComesBackToTheLetter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sets []dns.RecordSet
		for _, kind := range []string{dns.A, dns.AAAA, dns.CNAME, dns.TXT} {
			if !rapid.Bool().Draw(t, kind) {
				continue
			}
			s := dns.RecordSet{Key: dns.Key{Name: "a.example.com", Type: kind}, TTL: rapid.Int64Range(0, 1<<31).Draw(t, "ttl")}
			if rapid.Bool().Draw(t, "alias") {
				s.TTL, s.Alias = 0, rapid.StringN(1, 20, -1).Draw(t, "target")
			} else {
				s.Values = rapid.SliceOfN(rapid.String(), 1, 4).Draw(t, "values")
				if rapid.Bool().Draw(t, "exact") {
					s.Exact = rapid.SliceOfN(rapid.String(), 1, 4).Draw(t, "letters")
				}
			}
			sets = append(sets, s)
		}
		kept := dns.Replacing(sets)
		if d := cmp.Diff(sets, kept.Sets("a.example.com")); d != "" {
			t.Fatalf("sets (-before +after):\n%s", d)
		}
		slices.Reverse(sets)
		if again := dns.Replacing(sets); again != kept {
			t.Fatalf("in another order it is %s, was %s", again, kept)
		}
	})
}

// A takeover replaces what it may, all of it, and only as long as it can be kept.
func TestWhatATakeoverReplaces(t *testing.T) {
	const name = "a.example.com"
	ours, v4 := cname(name, target), alias(name, dns.A, target)
	set := func(kind string, values ...string) dns.RecordSet {
		return dns.RecordSet{Key: dns.Key{Name: name, Type: kind}, TTL: 60, Values: values}
	}
	a, aaaa := set(dns.A, "192.0.2.1"), set(dns.AAAA, "2001:db8::1")
	routed := a
	routed.Routed = true
	for sentence, test := range map[string]struct {
		record dns.Record
		sets   []dns.RecordSet
		want   []dns.RecordSet
		// refused says that nothing is replaced, unkept that it is for want of room.
		refused, unkept bool
	}{
		"an address":                           {record: ours, sets: []dns.RecordSet{a}, want: []dns.RecordSet{a}},
		"all that a CNAME has no room next to": {record: ours, sets: []dns.RecordSet{a, aaaa}, want: []dns.RecordSet{a, aaaa}},
		"only what is in the place":            {record: v4, sets: []dns.RecordSet{a, aaaa}, want: []dns.RecordSet{a}},
		"nothing next to a mail exchanger":     {record: ours, sets: []dns.RecordSet{a, set("MX", "10 mail.example.com")}, refused: true},
		"nothing with a routing policy":        {record: ours, sets: []dns.RecordSet{routed}, refused: true},
		"twenty values":                        {record: ours, sets: []dns.RecordSet{set(dns.A, slices.Repeat([]string{"192.0.2.1"}, 20)...)}, want: []dns.RecordSet{set(dns.A, slices.Repeat([]string{"192.0.2.1"}, 20)...)}},
		"not one more":                         {record: ours, sets: []dns.RecordSet{set(dns.A, slices.Repeat([]string{"192.0.2.1"}, 21)...)}, refused: true, unkept: true},
		"no values that are too long":          {record: ours, sets: []dns.RecordSet{set(dns.CNAME, strings.Repeat("x", 1025))}, refused: true, unkept: true},
		"no bytes that are no text":            {record: ours, sets: []dns.RecordSet{set(dns.CNAME, "\xff.example.net")}, refused: true, unkept: true},
	} {
		t.Run(sentence, func(t *testing.T) {
			c := &dns.Claim{Owner: owner(1), Wants: []dns.Record{test.record}, Takeover: true}
			s := dns.Place{Name: name, Sets: test.sets, Claims: []*dns.Claim{c}}.Judge(c, test.record)
			if d := cmp.Diff(test.want, s.Replaces.Sets(name)); d != "" {
				t.Errorf("replaces (-want +got):\n%s", d)
			}
			if !s.Missing || s.Phase != dns.Blocked || s.Fixed != test.refused || s.Unkept != test.unkept {
				t.Errorf("it is %+v", s)
			}
		})
	}
}

func TestPlausibleReplaced(t *testing.T) {
	const name = "a.example.com"
	set := func(kind string, values ...string) dns.RecordSet {
		return dns.RecordSet{Key: dns.Key{Name: name, Type: kind}, TTL: 60, Values: values}
	}
	for sentence, test := range map[string]struct {
		set  dns.RecordSet
		want bool
	}{
		"an address":                    {set(dns.A, "192.0.2.1"), true},
		"an alias of CloudFront":        {dns.RecordSet{Key: dns.Key{Name: name, Type: dns.A}, Alias: "d2.cloudfront.net"}, true},
		"no alias of something else":    {dns.RecordSet{Key: dns.Key{Name: name, Type: dns.A}, Alias: "lb.example.net"}, false},
		"no mail exchanger":             {set("MX", "10 mail.example.com"), false},
		"no text where ours is none":    {set(dns.TXT, "x"), false},
		"nothing that is never kept":    {set(dns.A, strings.Repeat("x", 2000)), false},
		"nothing that no takeover took": {set("NS", "ns.example.net"), false},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := test.set.Plausible(cname(name, target)); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
}
