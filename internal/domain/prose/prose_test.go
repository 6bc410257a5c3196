package prose_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

func TestPlain(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"plain text stays, in every script":                          {"zażółć 東京 שלום 🚀 <b>", "zażółć 東京 שלום 🚀 <b>"},
		"line breaks and tabs become spaces":                         {"a\nb\tc\rd\u0085e\u2028f\u2029g", "a b c d e f g"},
		"a title of the window is left as text":                      {"\x1b]0;owned\a", "]0;owned"},
		"so is a sequence that clears the screen":                    {"a\x1b[2Jb\bc\x7f", "a[2Jbc"},
		"a control of eight bits begins a sequence as well":          {"a\u009b2Jb", "a2Jb"},
		"the direction of writing can't be turned":                   {"a\u202eb\u2066c\u200f\u061c", "abc"},
		"characters without a width can't hide in a name":            {"sh\u200bop\ufeff\u00ad.example\U000e0041.com", "shop.example.com"},
		"a byte that a terminal could take for a control is no text": {"a\x9b2Jb", "a\ufffd2Jb"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := prose.Plain(tt.text); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func FuzzPlain(f *testing.F) {
	for _, seed := range []string{"plain text", "\x1b]0;owned\a\x1b[2J…\u202e", "a\r\n\tb\u2028", "\x9b\xff", "🧑\u200d🚀"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := prose.Plain(s)
		if prose.Plain(got) != got {
			t.Errorf("%q changes again", got)
		}
		for _, r := range got {
			if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
				t.Errorf("%q has %q", got, r)
			}
		}
		harmless := func(r rune) bool {
			return r != utf8.RuneError && unicode.IsGraphic(r) && !unicode.In(r, unicode.Zl, unicode.Zp)
		}
		if !strings.ContainsFunc(s, func(r rune) bool { return !harmless(r) }) && got != s {
			t.Errorf("%q became %q", s, got)
		}
	})
}

func TestShorten(t *testing.T) {
	tests := map[string]struct {
		text string
		n    int
		want string
	}{
		"a short text stays":                        {"abc", 3, "abc"},
		"a long text is cut, and shows that":        {"abcd", 3, "abc…"},
		"characters are counted, not bytes":         {"äöü", 3, "äöü"},
		"a cut falls between characters":            {"äöüß", 3, "äöü…"},
		"bytes that are not UTF-8 count one by one": {"\xff\xffab", 3, "\xff\xffa…"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := prose.Shorten(tt.text, tt.n); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "text")
		n := rapid.IntRange(3, 40).Draw(t, "bytes")
		got := prose.Fit(s, n)
		switch {
		case len(got) > n || !utf8.ValidString(got):
			t.Fatalf("%q has %d bytes, valid: %t", got, len(got), utf8.ValidString(got))
		case prose.Fit(got, n) != got:
			t.Fatalf("%q is cut again", got)
		case prose.Plain(got) != got:
			t.Fatalf("%q is not plain", got)
		case utf8.ValidString(s) && len(prose.Plain(s)) <= n && got != prose.Plain(s):
			t.Fatalf("%q became %q, though it fits", s, got)
		case utf8.ValidString(s) && len(prose.Plain(s)) > n && !strings.HasPrefix(prose.Plain(s), strings.TrimSuffix(got, "…")):
			t.Fatalf("%q does not begin as %q", got, s)
		}
	})
}

func TestList(t *testing.T) {
	tests := map[string]struct{ items, want string }{
		"no item":                     {"", ""},
		"as many as are shown":        {"a b c d e", "a, b, c, d, e"},
		"the others are only counted": {"a b c d e f g", "a, b, c, d, e and 2 more"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := prose.List(strings.Fields(tt.items)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestSentence(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"a command can be copied to the end":           {"to continue, run: kubectl get pods --all", "To continue, run: kubectl get pods --all"},
		"a fragment gets a capital and a full stop":    {"the namespace exists", "The namespace exists."},
		"so does one that begins with a single word":   {"there: no", "There: no."},
		"a sentence stays as it is":                    {"It is deployed.", "It is deployed."},
		"so does what was cut off":                     {"It is depl…", "It is depl…"},
		"a field keeps its letters":                    {"spec.plan: there is none", "spec.plan: there is none."},
		"so does a domain":                             {"shop.example.com is published", "shop.example.com is published."},
		"so does an operation of AWS":                  {"UpdateDistribution: AccessDenied: no", "UpdateDistribution: AccessDenied: no."},
		"a line break at the end is none of a message": {"no answer\n", "No answer."},
		"nothing stays nothing":                        {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := prose.Sentence(test.text); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 rows", 1: "1 row", 2: "2 rows"} {
		if got := prose.Count(n, "row", "rows"); got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
}
