package certificate_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
)

func TestCovers(t *testing.T) {
	tests := map[string]struct {
		names  []string
		domain string
		want   bool
	}{
		"the very name":                                {[]string{"a.example.com"}, "a.example.com", true},
		"the case does not matter":                     {[]string{"A.Example.COM"}, "a.EXAMPLE.com", true},
		"a wildcard covers one label":                  {[]string{"*.example.com"}, "a.example.com", true},
		"and not two":                                  {[]string{"*.example.com"}, "a.b.example.com", false},
		"and not none":                                 {[]string{"*.example.com"}, "example.com", false},
		"and nothing that merely ends alike":           {[]string{"*.example.com"}, "a.anexample.com", false},
		"a wildcard domain takes the same wildcard":    {[]string{"*.example.com"}, "*.example.com", true},
		"a wildcard domain is not a label":             {[]string{"*.example.com", "a.example.com"}, "*.a.example.com", false},
		"a name covers no wildcard":                    {[]string{"a.example.com"}, "*.example.com", false},
		"any of the names will do":                     {[]string{"x.example.org", "*.example.com"}, "a.example.com", true},
		"an empty label is no label":                   {[]string{"*.example.com"}, ".example.com", false},
		"without names nothing is covered":             {nil, "a.example.com", false},
		"a star that is not a whole label is a letter": {[]string{"a*.example.com"}, "ab.example.com", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := certificate.Covers(test.names, test.domain); got != test.want {
				t.Errorf("Covers(%q, %q) = %t, want %t", test.names, test.domain, got, test.want)
			}
		})
	}
}

func TestUncoveredKeepsTheOrder(t *testing.T) {
	got := certificate.Uncovered([]string{"*.example.com"}, []string{"z.example.org", "a.example.com", "b.c.example.com"})
	if d := cmp.Diff([]string{"z.example.org", "b.c.example.com"}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestOnlyPendingAndIssuedAreNoFailures(t *testing.T) {
	for _, s := range []certificate.State{certificate.Pending, certificate.Issued, "something new"} {
		if s.IsFailure() {
			t.Errorf("%s counts as a failure", s)
		}
	}
	for _, s := range []certificate.State{certificate.Inactive, certificate.Expired, certificate.TimedOut, certificate.Revoked, certificate.Failed} {
		if !s.IsFailure() {
			t.Errorf("%s does not count as a failure", s)
		}
	}
}

// Only the name itself and the wildcard of its parent cover a domain.
func FuzzCovers(f *testing.F) {
	for _, seed := range [][2]string{
		{"*.example.com", "a.example.com"}, {"a.example.com", "A.EXAMPLE.COM"}, {"*.", "."}, {"*", "*"}, {"*.*.com", "*.a.com"}, {"", ""},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, name, domain string) {
		got := certificate.Covers([]string{name}, domain)
		n, d := strings.ToLower(name), strings.ToLower(domain)
		want := n == d
		labels, parent := strings.Split(d, "."), strings.Split(n, ".")
		if len(labels) > 1 && parent[0] == "*" && labels[0] != "" && labels[0] != "*" {
			want = want || slices.Equal(parent[1:], labels[1:])
		}
		if got != want {
			t.Errorf("Covers(%q, %q) = %t, want %t", name, domain, got, want)
		}
		if again := certificate.Covers([]string{name, name}, strings.ToUpper(domain)); strings.ToLower(strings.ToUpper(domain)) == d && again != got {
			t.Errorf("spelled in capitals %q is judged otherwise", domain)
		}
	})
}
