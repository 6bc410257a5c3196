package aws

import (
	"fmt"
	"strings"
	"testing"

	"github.com/miekg/dns"
	"pgregory.net/rapid"
)

func TestParseName(t *testing.T) {
	for text, want := range map[string]string{
		"Www.Example.COM.":              "www.example.com",
		"*.example.com":                 `\052.example.com`,
		`\052.example.com.`:             `\052.example.com`,
		"a_b-c.example":                 "a_b-c.example",
		`\141\134.example`:              `a\134.example`,
		`a\056b.example`:                `a\056b.example`,
		strings.Repeat("a", 63) + ".io": strings.Repeat("a", 63) + ".io",
	} {
		if got, err := parseName(text); err != nil || got != want {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"", ".", "..", ".a", "a..b", "a b", "ä.example", `\9.example`, `a.\05`, strings.Repeat("a", 64), strings.Repeat("abcdefg.", 32) + "io"} {
		if got, err := parseName(text); err == nil {
			t.Errorf("%q is taken for %q", text, got)
		}
	}
}

// drawName makes up a name of any bytes, as the DNS allows them.
func drawName(t *rapid.T) string {
	var labels []string
	for _, label := range rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 1, 20), 1, 5).Draw(t, "labels") {
		var out strings.Builder
		for _, b := range label {
			fmt.Fprintf(&out, `\%03o`, b)
		}
		labels = append(labels, out.String())
	}
	return strings.Join(labels, ".")
}

func TestNamesKeepTheirMeaning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name, err := parseName(drawName(t))
		if err != nil {
			t.Fatal(err)
		}
		if again, err := parseName(name + "."); err != nil || again != name {
			t.Fatalf("%q is read as %q, %v", name, again, err)
		}
		// Over the wire and back, through the DNS library's own escapes.
		query := new(dns.Msg).SetQuestion(nameToDNS(name), dns.TypeA)
		wire, err := query.Pack()
		if err != nil {
			t.Fatalf("%q: %v", nameToDNS(name), err)
		}
		var received dns.Msg
		if err := received.Unpack(wire); err != nil {
			t.Fatal(err)
		}
		if back, err := nameFromDNS(received.Question[0].Name); err != nil || back != name {
			t.Fatalf("%q comes back as %q, %v", name, back, err)
		}
	})
}

// TestLookupAgreesWithTheStandard compares the search in a zone with what RFC
// 1034 says, spelled out slowly.
func TestLookupAgreesWithTheStandard(t *testing.T) {
	label := rapid.SampledFrom([]string{"a", "b", "a-b", wildcardLabel})
	name := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(append(rapid.SliceOfN(label, 0, 4).Draw(t, "labels"), "z"), ".")
	})
	rapid.Check(t, func(t *rapid.T) {
		zone, there := newZone("Z", "1", "z"), map[string]bool{"z": true}
		zone.put("z", setKey{kind: typeSOA}, setVersion{set: &recordSet{name: "z", kind: typeSOA}}, moment{})
		for _, n := range rapid.SliceOfN(name, 0, 8).Draw(t, "names") {
			zone.put(n, setKey{kind: typeA}, setVersion{set: &recordSet{name: n, kind: typeA}}, moment{})
			there[n] = true
		}
		for _, n := range rapid.SliceOfN(name, 0, 3).Draw(t, "removed") {
			zone.put(n, setKey{kind: typeA}, setVersion{}, moment{})
			if n != "z" {
				delete(there, n)
			}
		}
		asked := name.Draw(t, "asked")
		want, known := slowLookup(there, asked)
		sets, got := zone.lookup(asked, moment{})
		found := ""
		if len(sets) > 0 {
			found = sets[0].name
		}
		if got != known || found != want {
			t.Fatalf("%s among %v: %q, %v, want %q, %v", asked, there, found, got, want, known)
		}
	})
}

// slowLookup returns the name whose records answer, and whether the asked one
// exists.
func slowLookup(there map[string]bool, asked string) (answers string, exists bool) {
	below := func(name string) bool {
		for other := range there {
			if withinZone(other, name) {
				return true
			}
		}
		return false
	}
	switch {
	case there[asked]:
		return asked, true
	case below(asked):
		return "", true
	}
	encloser := asked
	for !below(encloser) {
		encloser, _ = parentName(encloser)
	}
	if wild := wildcardLabel + "." + encloser; there[wild] {
		return wild, true
	}
	return "", false
}

func BenchmarkRouting(b *testing.B) {
	s := New(Options{Clock: stillClock{}})
	zone := newZone("Z", DefaultAccount, "z.test")
	s.openZone(s.account(DefaultAccount), zone)
	for i := range 10_000 {
		set := &recordSet{name: fmt.Sprintf("t%d.z.test", i), kind: typeCNAME, ttl: 300, values: []string{testEndpoint}}
		zone.put(set.name, set.key(), setVersion{set: set}, moment{})
	}
	b.Run("one name", func(b *testing.B) {
		for b.Loop() {
			s.routingOf("t5000.z.test", s.now())
		}
	})
	b.Run("all of 10,000", func(b *testing.B) {
		for b.Loop() {
			s.PublicRouting()
		}
	})
}
