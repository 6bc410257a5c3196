package kubename_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"
	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/kubename"
)

// The API server's own library is the measure.
func TestNamesAreThoseOfTheAPIServer(t *testing.T) {
	for name, c := range map[string]struct {
		ours   func(string) bool
		theirs func(string) []string
	}{
		"a namespace": {kubename.IsNamespace, validation.IsDNS1123Label},
		"an object":   {kubename.IsSubdomain, validation.IsDNS1123Subdomain},
		"a name in DNS": {kubename.IsDomain, func(s string) []string {
			problems := validation.IsDNS1123Subdomain(s)
			for label := range strings.SplitSeq(s, ".") {
				problems = append(problems, validation.IsDNS1123Label(label)...)
			}
			return problems
		}},
		"the value of a label": {kubename.IsLabelValue, validation.IsValidLabelValue},
		"a qualified name":     {kubename.IsQualified, validation.IsQualifiedName},
	} {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			text := rapid.OneOf(
				rapid.StringMatching(`[a-zA-Z0-9._/-]{0,8}`), rapid.StringMatching(`[a-z0-9]([a-z0-9.-]{0,260})`),
				rapid.Map(rapid.IntRange(60, 66), func(n int) string { return strings.Repeat("a", n) }),
				rapid.Map(rapid.IntRange(250, 256), func(n int) string { return strings.Repeat("a", n) }), rapid.String(),
			).Draw(t, "text")
			if problems := c.theirs(text); c.ours(text) != (len(problems) == 0) {
				t.Errorf("%q is taken: %t; the API server says %v", text, c.ours(text), problems)
			}
		}))
	}
}
