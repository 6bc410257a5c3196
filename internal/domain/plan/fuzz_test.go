package plan

import (
	"strings"
	"testing"
)

// A customer's value fills a placeholder of a host. Whatever it is, the result has the labels of the plan's text: no
// dot, star or slash of the customer's gets into it, and so no other customer's name.
func FuzzHostPlaceholders(f *testing.F) {
	for _, seed := range [][2]string{
		{"{{name}}.shop.example.com", "acme"}, {"*.{{ username }}.example.com", "a.b"}, {"{{name}}", "*"}, {"{{userId}}-{{plan}}.example.com", "X/y"},
		{"{{", "}}"}, {"}}{{name}}", "a"}, {"./{{namespace}}.example.com", "1"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		tenant := Tenant{Name: value, UserID: value, Username: value, Namespace: value, Plan: value}
		filled, err := tenant.fill("spec.hosts[0]", text, hostSlot)
		if err != nil {
			return
		}
		parts, err := parse(text)
		if err != nil {
			t.Fatalf("%q was filled, and is no text with placeholders: %v", text, err)
		}
		var plain strings.Builder
		for _, p := range parts {
			if p.column != nil {
				p.text = "x"
			}
			plain.WriteString(p.text)
		}
		for _, separator := range []string{".", "*", "/"} {
			if want, got := strings.Count(plain.String(), separator), strings.Count(filled, separator); got != want {
				t.Errorf("%q with %q becomes %q, which has %d of %q, want %d", text, value, filled, got, separator, want)
			}
		}
		if filled != strings.ToLower(filled) || !isHost(filled) {
			t.Errorf("%q with %q becomes %q, which is no host", text, value, filled)
		}
	})
}

// The pieces of a text, put together again, are the text with plain placeholders.
func FuzzPlaceholders(f *testing.F) {
	for _, seed := range []string{"a{{name}}b", "{{ userId }}{{plan}}", "{{x}}", "}}", "{{{name}}}", "{{name"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		parts, err := parse(text)
		if err != nil {
			return
		}
		plain, rest := "", text
		for _, p := range parts {
			if p.column == nil {
				after, found := strings.CutPrefix(rest, p.text)
				if !found || strings.Contains(p.text, opening) || strings.Contains(p.text, closing) {
					t.Fatalf("%q has the piece %q, and %q is left", text, p.text, rest)
				}
				rest, plain = after, plain+p.text
				continue
			}
			_, rest, _ = strings.Cut(rest, closing)
			plain += opening + p.column.name + closing
		}
		if again, err := parse(plain); err != nil || len(again) != len(parts) || rest != "" {
			t.Errorf("%q is %q with plain placeholders, which has %d pieces (%v), want %d; %q is left", text, plain, len(again), err, len(parts), rest)
		}
	})
}
