package values_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/values"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
)

var both = map[string]values.Text{"decimal": values.Decimal, "octal": values.Octal}

func TestTexts(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		value, want string
		ok          bool
	}{
		"one string":                  {`"a b"`, "a b", true},
		"two strings are one text":    {`"a" "b"`, "ab", true},
		"without a space too":         {`"a""b"`, "ab", true},
		"a quote":                     {`"a\"b"`, `a"b`, true},
		"a backslash":                 {`"a\\b"`, `a\b`, true},
		"an escape that is not one":   {`"a\zb"`, "azb", true},
		"a number that is cut off":    {`"a\10"`, "a10", true},
		"a number that is too great":  {`"\777"`, "777", true},
		"an empty text":               {`""`, "", true},
		"nothing":                     {"", "", false},
		"no quotes":                   {"a", "", false},
		"a quote that is missing":     {`"a`, "", false},
		"an escape that is cut off":   {`"a\`, "", false},
		"a quote that is escaped":     {`"a\"`, "", false},
		"something behind the string": {`"a" b`, "", false},
	} {
		for form, text := range both {
			t.Run(name+"/"+form, func(t *testing.T) {
				t.Parallel()
				if got, ok := text.Unquote(tt.value); ok != tt.ok || ok && got != tt.want {
					t.Errorf("text %q, ok %t, want %q, %t", got, ok, tt.want, tt.ok)
				}
			})
		}
	}
	for value, text := range map[string]values.Text{`"a\195\188"`: values.Decimal, `"a\303\274"`: values.Octal} {
		if got, ok := text.Unquote(value); !ok || got != "aü" {
			t.Errorf("%s is %q, %t", value, got, ok)
		}
		if got := text.Quote("aü"); got != value {
			t.Errorf("written as %s, want %s", got, value)
		}
	}
}

func TestEveryTextComesBack(t *testing.T) {
	t.Parallel()
	for form, text := range both {
		t.Run(form, rapid.MakeCheck(func(t *rapid.T) {
			given := string(rapid.SliceOfN(rapid.Byte(), 0, 700).Draw(t, "text"))
			value := text.Quote(given)
			if got, ok := text.Unquote(value); !ok || got != given {
				t.Fatalf("%q is written as %s and read as %q, %t", given, value, got, ok)
			}
			if strings.ContainsFunc(value, func(c rune) bool { return c < ' ' || c > '~' }) {
				t.Fatalf("%q is not printable", value)
			}
			for _, one := range text.Strings(given) {
				if n := len(text.Unescape(one)); n > 255 || n == 0 && given != "" {
					t.Fatalf("a string has %d bytes", n)
				}
			}
		}))
	}
}

func FuzzUnquote(f *testing.F) {
	for _, seed := range []string{`"a" "b"`, `"a\"\\\052"`, `"`, `\`, `""""`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		for form, text := range both {
			got, ok := text.Unquote(value)
			if !ok {
				continue
			}
			if again, ok := text.Unquote(text.Quote(got)); !ok || again != got {
				t.Errorf("%s: %s is %q, which comes back as %q", form, value, got, again)
			}
		}
	})
}

// Values are written as they were shown, and in the usual form where that is how they were shown.
func TestValuesAsTheyAreShown(t *testing.T) {
	t.Parallel()
	var write values.Writer = func(kind, value string) string { return kind + " " + value }
	for name, tt := range map[string]struct {
		shown, exact, written []string
	}{
		"in the usual form": {[]string{"A 2", "A 1"}, nil, []string{"A 1", "A 2"}},
		"in another":        {[]string{"a 2", "A 1"}, []string{"A 1", "a 2"}, []string{"A 1", "a 2"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := dns.RecordSet{Key: dns.Key{Type: dns.A}, Values: []string{"2", "1"}, Exact: tt.shown}
			write.Complete(&s)
			if diff := cmp.Diff(dns.RecordSet{Key: s.Key, Values: []string{"1", "2"}, Exact: tt.exact}, s); diff != "" {
				t.Errorf("set (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.written, write.Of(s)); diff != "" {
				t.Errorf("written (-want +got):\n%s", diff)
			}
		})
	}
}
