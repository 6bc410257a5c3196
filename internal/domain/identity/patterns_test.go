package identity_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/identity"
)

func TestAllows(t *testing.T) {
	const dns = "arn:aws:iam::111122223333:role/tenant-dns"
	for name, tt := range map[string]struct {
		pattern, role string
		want          bool
	}{
		"the very role":                                {dns, dns, true},
		"another role":                                 {dns, dns + "2", false},
		"the same role of another account":             {dns, strings.Replace(dns, "1111", "9999", 1), false},
		"another case is another role":                 {dns, strings.Replace(dns, "dns", "DNS", 1), false},
		"a star is any text":                           {dns + "-*", dns + "-shop", true},
		"a star is no text too":                        {dns + "-*", dns + "-", true},
		"a star in the middle":                         {"arn:aws:iam::111122223333:role/a*c*e", "arn:aws:iam::111122223333:role/abcde", true},
		"what is between stars has to be there":        {"arn:aws:iam::111122223333:role/a*c*e", "arn:aws:iam::111122223333:role/abde", false},
		"what is before and after stars is not shared": {"arn:aws:iam::111122223333:role/ab*ba", "arn:aws:iam::111122223333:role/aba", false},
		"what is between stars is not shared either":   {"arn:aws:iam::111122223333:role/a*bb*b", "arn:aws:iam::111122223333:role/abb", false},
		"the last part may have to come late":          {"arn:aws:iam::111122223333:role/*-dns", "arn:aws:iam::111122223333:role/a-dns-b-dns", true},
		"a star ends at a slash":                       {"arn:aws:iam::111122223333:role/tenant*", "arn:aws:iam::111122223333:role/tenant/admin", false},
		"a star for a folder":                          {"arn:aws:iam::111122223333:role/dns/*/zone", "arn:aws:iam::111122223333:role/dns/shop/zone", true},
		"a role in a folder is not the one outside":    {dns, "arn:aws:iam::111122223333:role/x/tenant-dns", false},
		"a star for the account":                       {"arn:aws:iam::*:role/tenant-dns", dns, true},
		"a star for the account does not reach on":     {"arn:aws:iam::*:role/tenant-dns", "arn:aws:iam::111122223333:role/x:role/tenant-dns", false},
		"another partition":                            {dns, strings.Replace(dns, ":aws:", ":aws-us-gov:", 1), false},
		"another service":                              {"arn:aws:iam::*:role/*", "arn:aws:sts::111122223333:assumed-role/tenant-dns/x", false},
		"a user is no role":                            {"arn:aws:iam::*:role/*", "arn:aws:iam::111122223333:user/tenant-dns", false},
		"a pattern is no role":                         {"arn:aws:iam::111122223333:role/*", "arn:aws:iam::111122223333:role/*", false},
		"nor is one for the account":                   {"arn:aws:iam::*:role/*", "arn:aws:iam::*:role/tenant-dns", false},
		"nothing is no role":                           {"arn:aws:iam::*:role/*", "", false},
		"a name has to be there":                       {"arn:aws:iam::*:role/*", "arn:aws:iam::111122223333:role/", false},
		"a line break hides nothing":                   {dns, dns + "\n", false},
		"nor does one before":                          {"arn:aws:iam::*:role/*", "\n" + dns, false},
		"an account of other digits is none":           {"arn:aws:iam::*:role/*", "arn:aws:iam::١١١١٢٢٢٢٣٣٣٣:role/tenant-dns", false},
		"the longest part of a path":                   {"arn:aws:iam::*:role/*", "arn:aws:iam::111122223333:role/" + strings.Repeat("r", 512), true},
		"a part that is too long":                      {"arn:aws:iam::*:role/*", "arn:aws:iam::111122223333:role/" + strings.Repeat("r", 513), false},
		"what expressions use means itself":            {"arn:aws:iam::111122223333:role/a.c", "arn:aws:iam::111122223333:role/abc", false},
	} {
		t.Run(name, func(t *testing.T) {
			patterns, err := identity.ParseRolePatterns([]string{"arn:aws:iam::000000000000:role/unused", tt.pattern})
			if err != nil {
				t.Fatal(err)
			}
			if got := patterns.Allows(tt.role); got != tt.want {
				t.Errorf("%s allows %s: %t, want %t", tt.pattern, tt.role, got, tt.want)
			}
		})
	}
	if (identity.RolePatterns{}).Allows(dns) {
		t.Error("without patterns a role is allowed")
	}
}

func TestPatternsThatAreRefused(t *testing.T) {
	for name, tt := range map[string]struct{ pattern, says string }{
		"nothing":                           {"", "start with arn:aws:iam::"},
		"a single star":                     {"*", "start with arn:aws:iam::"},
		"a name without an ARN":             {"role/tenant-dns", "start with arn:aws:iam::"},
		"a star for the partition":          {"arn:*:iam::111122223333:role/x", "start with arn:aws:iam::"},
		"a region":                          {"arn:aws:iam:eu-west-1:111122223333:role/x", "start with arn:aws:iam::"},
		"a star that reaches over fields":   {"arn:aws:iam::*", "start with arn:aws:iam::"},
		"a star for a part of the account":  {"arn:aws:iam::1111*:role/x", `"1111*"`},
		"an account that is too short":      {"arn:aws:iam::1111:role/x", `"1111"`},
		"no account":                        {"arn:aws:iam:::role/x", `""`},
		"a user":                            {"arn:aws:iam::111122223333:user/x", "role/"},
		"a star for the kind":               {"arn:aws:iam::111122223333:*", "role/"},
		"no name":                           {"arn:aws:iam::111122223333:role/", `""`},
		"a folder without a name":           {"arn:aws:iam::111122223333:role/a/", `"a/"`},
		"a question mark, which is no star": {"arn:aws:iam::111122223333:role/a?", `"a?"`},
	} {
		t.Run(name, func(t *testing.T) {
			patterns, err := identity.ParseRolePatterns([]string{tt.pattern})
			if err == nil || !strings.Contains(err.Error(), tt.says) || !strings.Contains(err.Error(), "for example arn:") {
				t.Fatalf("error %v, want one that says %q and how to write it", err, tt.says)
			}
			if patterns.Allows("arn:aws:iam::111122223333:role/x") {
				t.Error("and yet it allows a role")
			}
		})
	}
}

// A role that a pattern was made from is allowed by it, and never through another account.
func TestAStarStaysInItsField(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.StringMatching(`[ab]{1,6}`)
		name := part.Draw(t, "name")
		i := rapid.IntRange(0, len(name)).Draw(t, "from")
		j := rapid.IntRange(i, len(name)).Draw(t, "to")
		patterns, err := identity.ParseRolePatterns([]string{"arn:aws:iam::111122223333:role/" + name[:i] + "*" + name[j:]})
		if err != nil {
			t.Fatal(err)
		}
		if !patterns.Allows("arn:aws:iam::111122223333:role/" + name) {
			t.Fatal("the role itself is not allowed")
		}
		for _, other := range []string{"arn:aws:iam::444455556666:role/" + name, "arn:aws:iam::111122223333:role/" + name + "/" + name} {
			if patterns.Allows(other) {
				t.Fatalf("%s is allowed", other)
			}
		}
	})
}
