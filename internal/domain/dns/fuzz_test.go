package dns

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// A canonical name is its own canonical form, in lower-case ASCII, and so is that of each way to write it.
func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{"Shop.Example.COM.", "bücher.example", "*.example.com", "_dns.example.com", " a. ", "xn--bcher-kva.example", "a..b", ".", "ß.example", "１.example", "\xcb0"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		name, err := Canonical(text)
		if err != nil {
			return
		}
		for _, c := range []byte(name) {
			if c >= utf8.RuneSelf || 'A' <= c && c <= 'Z' {
				t.Fatalf("%q is %q, which is not in lower-case ASCII", text, name)
			}
		}
		for _, spelling := range []string{name, name + ".", strings.ToUpper(name), " " + name} {
			if again, err := Canonical(spelling); err != nil || again != name {
				t.Errorf("%q is %q, and written as %q it is %q: %v", text, name, spelling, again, err)
			}
		}
	})
}
