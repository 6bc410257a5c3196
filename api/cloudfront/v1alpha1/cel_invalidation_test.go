package v1alpha1_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/kubectl"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/limits"
)

const leastInvalidation = `{tenantRef: {name: shop}, paths: [/index.html]}`

// invalidationCases are those of an Invalidation.
func invalidationCases() map[string]limits.Case {
	in := limits.In
	return limits.Merged(invalidationRules(), limits.Lists(
		limits.ListBound{Field: "paths", Set: in("paths: %s"), Most: 300, Item: "/page-%d"},
		limits.ListBound{Field: "tags", Set: in("tags: %s"), Most: 100, Item: "tag-%d"},
	), limits.Texts(
		limits.TextBound{Field: "tenantRef.name", Set: in("tenantRef: {name: %s}").Text, Longest: 253, Shortest: "s"},
		limits.TextBound{Field: "paths[0]", Set: in("paths: [%s]").Text, Longest: 1024, Start: "/", Shortest: "/"},
		limits.TextBound{Field: "tags[0]", Set: in("tags: [%s]").Text, Longest: 256, Shortest: "t"},
	), limits.Required("tenantRef.", in("tenantRef: %s"), "{name: shop}", "name"),
		limits.Required("selector.matchExpressions[0].", in("{tenantRef: null, selector: {matchExpressions: [%s]}}"), "{key: tier, operator: Exists}", "key", "operator"),
	)
}

func invalidationRules() map[string]limits.Case {
	const ttl = "ttlAfterFinished: "
	return map[string]limits.Case{
		"an invalidation is of one tenant or of several": {
			Accepted: `{tenantRef: null, selector: {matchLabels: {tier: gold}}}`, Refused: `selector: {matchLabels: {tier: gold}}`,
			Says: []string{"spec.tenantRef", "set tenantRef for one, or selector for several"},
		},
		"and not of none": {
			Accepted: leastInvalidation, Refused: `tenantRef: null`, Says: []string{"spec.tenantRef", "set tenantRef for one, or selector for several"},
		},
		"a selector without labels would select everything": {
			Accepted: `{tenantRef: null, selector: {matchExpressions: [{key: tier, operator: Exists}]}}`, Refused: `{tenantRef: null, selector: {matchLabels: {}}}`,
			Says: []string{"spec.selector", "an empty selector would select every tenant"},
		},
		"there are paths or tags": {
			Accepted: `{paths: null, tags: [a]}`, Refused: `paths: null`, Says: []string{"set paths, such as /* for everything, or tags"},
		},
		"and not only empty lists of them": {
			Accepted: `{paths: [], tags: [a]}`, Refused: `{paths: [], tags: []}`, Says: []string{"set paths, such as /* for everything, or tags"},
		},
		"a tag is no path": {
			Accepted: `tags: ["product:7"]`, Refused: `paths: ["#product:7"]`, Says: []string{"spec.paths", `"#product:7" does not begin with a slash`, "as a tag in spec.tags, without the #"},
		},
		"a tag is written without the sign that AWS uses": {
			Accepted: `tags: ["a#b"]`, Refused: `tags: ["#b"]`, Says: []string{"spec.tags", `"#b" begins with #, which the operator adds`},
		},
		"a tag has no star": {
			Accepted: `tags: ["!a~)+-./"]`, Refused: `tags: [product-*]`, Says: []string{"spec.tags", `"product-*" has a comma, a star`},
		},
		"nor a comma": {Accepted: `tags: [a, b]`, Refused: `tags: ["a,b"]`, Says: []string{"spec.tags", `"a,b" has a comma`}},
		"nor a space": {Accepted: `tags: [a, A]`, Refused: `tags: ["a b"]`, Says: []string{"spec.tags", `"a b" has a comma, a star, a space`}},
		"a tag is listed once": {
			Accepted: `tags: [a, A]`, Refused: `tags: [a, a]`, Says: []string{"spec.tags[1]", "Duplicate value"},
		},
		"a path begins with a slash": {
			Accepted: `paths: ["/*"]`, Refused: `paths: [/a, https://shop.example.com/a]`,
			Says: []string{"spec.paths", `"https://shop.example.com/a" does not begin with a slash`, "without the domain"},
		},
		"a star is the last character of a path": {
			Accepted: `paths: [/images/*, "/a*"]`, Refused: `paths: ["/*/logo.png"]`,
			Says: []string{"spec.paths", `"/*/logo.png" has a star before its end`, "like /images/*"},
		},
		"a path has one star": {
			Accepted: `paths: [/images/*]`, Refused: `paths: [/images/**]`, Says: []string{`"/images/**" has a star before its end`},
		},
		"a path is encoded": {
			Accepted: `paths: ["/a%20b?x=1&y=2"]`, Refused: `paths: [/a b]`, Says: []string{"spec.paths", `"/a b" has a space or a character outside ASCII`, "%20"},
		},
		"also what is not ASCII": {
			Accepted: `paths: [/b%C3%BCcher]`, Refused: `paths: [/bücher]`, Says: []string{`"/bücher" has a space or a character outside ASCII`},
		},
		"a path is listed once": {
			Accepted: `paths: [/a, /A]`, Refused: `paths: [/a, /a]`, Says: []string{"spec.paths[1]", "Duplicate value"},
		},
		"CloudFront takes fifteen paths with a star": {
			Accepted: starred(15), Refused: starred(16), Says: []string{"spec.paths", "at most 15 paths with a star"},
		},
		"a finished object is kept for a minute at least": {
			Accepted: ttl + "1m", Refused: ttl + "59s", Says: []string{"spec.ttlAfterFinished", `"59s" is not a duration of 1m to 720h`, "write it like 24h"},
		},
		"and for 30 days at most": {
			Accepted: ttl + "720h", Refused: ttl + "720h1s", Says: []string{"spec.ttlAfterFinished", `"720h1s" is not a duration`},
		},
		"a duration has a unit": {
			Accepted: ttl + "1h30m", Refused: ttl + `"30"`, Says: []string{"spec.ttlAfterFinished", `"30" is not a duration`},
		},
		"a duration is short": {
			Accepted: ttl + strings.Repeat("0", 30) + "5m", Refused: ttl + strings.Repeat("0", 31) + "5m", Says: []string{"spec.ttlAfterFinished", "Too long", "32"},
		},
		"the paths stay": {
			Stored: leastInvalidation, Accepted: leastInvalidation, Refused: `paths: [/other.html]`, Says: []string{"spec", "carried out once", "create another Invalidation"},
		},
		"the tenant stays": {
			Stored: leastInvalidation, Accepted: leastInvalidation, Refused: `tenantRef: {name: other}`, Says: []string{"create another Invalidation"},
		},
		"the selector stays": {
			Stored: `{tenantRef: null, selector: {matchLabels: {tier: gold}}}`, Accepted: `{tenantRef: null, selector: {matchLabels: {tier: gold}}}`,
			Refused: `{tenantRef: null, selector: {matchLabels: {tier: silver}}}`, Says: []string{"create another Invalidation"},
		},
		"the time after which it is deleted stays": {
			Stored: leastInvalidation, Accepted: ttl + "24h", Refused: ttl + "1h", Says: []string{"create another Invalidation"},
		},
	}
}

// starred are n paths with a star.
func starred(n int) string {
	var paths []string
	for i := range n {
		paths = append(paths, fmt.Sprintf(`"/%d/*"`, i))
	}
	return "paths: [/plain, " + strings.Join(paths, ", ") + "]"
}

func TestHowKubectlShowsInvalidations(t *testing.T) {
	table := kubectl.Table(t, restConfig, v1alpha1.SchemeGroupVersion, newNamespace(t), "invalidations")
	narrow, wide := kubectl.Columns(table)
	if diff := cmp.Diff([]string{"Name", "READY", "REASON", "TENANTS", "COMPLETED", "FAILED", "AGE"}, narrow); diff != "" {
		t.Errorf("columns of kubectl get (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"EXPECTED", "STARTED", "FINISHED"}, wide); diff != "" {
		t.Errorf("further columns of kubectl get -o wide (-want +got):\n%s", diff)
	}
}
