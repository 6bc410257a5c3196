package externaldns_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/externaldns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/kubename"
)

func TestObjectName(t *testing.T) {
	long := strings.Repeat("a", 63)
	for says, c := range map[string]struct{ name, want string }{
		"a usual name is its own":               {"www.example.com", "www.example.com"},
		"so is an international one":            {"xn--bcher-kva.example.com", "xn--bcher-kva.example.com"},
		"and the longest label":                 {long + ".example.com", long + ".example.com"},
		"a wildcard gets another first label":   {"*.example.com", "x.example.com-"},
		"an underscore at the start is removed": {"_under.example.com", "under.example.com-"},
		"one in between becomes a hyphen":       {"a_b.example.com", "a-b.example.com-"},
		"a label of nothing else stays a label": {"_.example.com", "x.example.com-"},
	} {
		got := externaldns.ObjectName(c.name)
		if !strings.HasPrefix(got, c.want) || !strings.HasSuffix(c.want, "-") && got != c.want {
			t.Errorf("%s: %q is %q, want %q", says, c.name, got, c.want)
		}
	}
}

// names are any in a zone, of up to 253 characters.
var names = rapid.Custom(func(t *rapid.T) string {
	labels := rapid.SliceOfN(rapid.StringMatching(`[a-z0-9_*-]{1,63}`), 1, 4).Draw(t, "labels")
	name := strings.Join(append(labels, "example.com"), ".")
	return name[max(0, len(name)-253):]
})

func TestObjectNamesAreValidAndDiffer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one, other := names.Draw(t, "one"), names.Draw(t, "other")
		for _, name := range []string{one, other} {
			if got := externaldns.ObjectName(name); !kubename.IsSubdomain(got) {
				t.Fatalf("%q becomes %q, which no object can be named", name, got)
			}
		}
		a, b := externaldns.ObjectName(one), externaldns.ObjectName(other)
		if (a == b) != (one == other) {
			t.Fatalf("%q and %q become %q and %q", one, other, a, b)
		}
		// A name that looks like that of another's object is in no zone of the other.
		if a != one && externaldns.ObjectName(a) != a {
			t.Fatalf("%q becomes %q, and that another", one, a)
		}
	})
}
