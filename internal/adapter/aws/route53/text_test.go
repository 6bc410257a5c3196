package route53

import (
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ wire, want string }{
		"a name":                               {"Shop.Example.com.", "shop.example.com"},
		"a wildcard":                           {`\052.example.com.`, "*.example.com"},
		"a star that is sent as it is":         {"*.example.com.", "*.example.com"},
		"a character of no host's name":        {`a\100b.example.com.`, "a@b.example.com"},
		"a letter in capitals in an escape":    {`\101.example.com.`, "a.example.com"},
		"a dot inside a label stays an escape": {`a\056b.example.com.`, `a\056b.example.com`},
		"and so does a backslash":              {`a\134b.example.com.`, `a\134b.example.com`},
		"and what can't be printed":            {`a\000\040\377b.example.com.`, `a\000\040\377b.example.com`},
		"an escape of more than a byte":        {`a\777b.example.com.`, `a\777b.example.com`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := readName(tt.wire)
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if again := readName(writeName(got)); again != got {
				t.Errorf("written as %s it is read as %s", writeName(got), again)
			}
		})
	}
	if got := writeName("a@b.example.com"); got != `a\100b.example.com.` {
		t.Errorf("written as %s", got)
	}
}

func FuzzNames(f *testing.F) {
	for _, seed := range []string{`\052.example.com.`, `a\056b.`, `\\`, `\05`, `\07\060`, "ü.example.com"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, wire string) {
		name := readName(wire)
		if strings.HasSuffix(name, ".") || name != strings.ToLower(name) {
			return // no name at all
		}
		if again := readName(writeName(name)); isASCII(name) && again != name {
			t.Errorf("%s is %q, which comes back as %q", wire, name, again)
		}
	})
}

func isASCII(s string) bool {
	for _, c := range []byte(s) {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return true
}

func TestOnlyExists(t *testing.T) {
	t.Parallel()
	const one, two = "Tried to create resource record set [name='a.', type='A'] but it already exists", "Tried to create resource record set [name='b.', type='A'] but it already exists"
	for name, tt := range map[string]struct {
		text string
		want bool
	}{
		"one":               {one, true},
		"one in brackets":   {"[" + one + "]", true},
		"several":           {"[" + one + ", " + two + "]", true},
		"the older words":   {"Tried to create resource record set a.example.com. type A, but it already exists", true},
		"something else":    {"[RRSet of type CNAME with DNS name a. is not permitted at apex in zone a.]", false},
		"something between": {"[" + one + ", RRSet of type CNAME with DNS name c. is not permitted at apex in zone a., " + two + "]", false},
		"something before":  {"[Tried to delete resource record set [name='c.', type='A'] but it was not found, " + one + "]", false},
		"nothing":           {"", false},
		"only brackets":     {"[]", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := onlyExists(tt.text); got != tt.want {
				t.Errorf("got %t", got)
			}
		})
	}
}
