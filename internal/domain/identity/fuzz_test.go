package identity_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/identity"
)

// A regular expression is the oracle of what a star matches.
func FuzzMatches(f *testing.F) {
	for _, seed := range [][2]string{{"a*b", "ab"}, {"*", ""}, {"ab*ba", "aba"}, {"a*bb*b", "abb"}, {"**", "x"}, {"a.c", "abc"}, {"*\n", "\n"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		parts := strings.Split(pattern, "*")
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		oracle, err := regexp.Compile(`(?s)\A` + strings.Join(parts, `.*`) + `\z`)
		if err != nil {
			return // no UTF-8
		}
		if got, want := identity.Matches(pattern, text), oracle.MatchString(text); got != want {
			t.Errorf("Matches(%q, %q) = %t, want %t", pattern, text, got, want)
		}
	})
}

// No star of a pattern reaches over a slash or into another account, whatever the names are.
func FuzzRolePatterns(f *testing.F) {
	const start = "arn:aws:iam::111122223333:role/"
	for _, seed := range [][2]string{
		{start + "dns-*", start + "dns-shop"}, {start + "*", start + "a/b"}, {"arn:aws:iam::*:role/x", "arn:aws:iam::444455556666:role/x"},
		{"arn:aws:iam::*:role/*", "arn:aws:iam::1:role/x"}, {start + "dns/*/zone", start + "dns/shop/zone"}, {"*", start + "x"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, pattern, role string) {
		patterns, err := identity.ParseRolePatterns([]string{pattern})
		if err != nil || !patterns.Allows(role) {
			return
		}
		allowing, named := strings.SplitN(pattern, ":", 6), strings.SplitN(role, ":", 6)
		for i, field := range named {
			if allowing[i] != field && !strings.Contains(allowing[i], "*") {
				t.Errorf("%q allows %q, which has another field %d", pattern, role, i)
			}
		}
		if strings.Count(pattern, "/") != strings.Count(role, "/") || strings.Contains(role, "*") || len(named[4]) != 12 {
			t.Errorf("%q allows %q", pattern, role)
		}
	})
}
