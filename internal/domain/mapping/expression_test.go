package mapping_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

// A parameter shows best what an expression gives.
func evaluate(t *testing.T, text string, values tree) (string, *mapping.Rejection) {
	t.Helper()
	c := mapping.Config{
		DistributionID: "E1", Template: mapping.Template{Spec: tree{"domains": domainList("a.example.com")}},
		Expressions: []mapping.Expression{{Field: "name", Expression: `"fix"`}, {Field: "metadata.annotations[a]", Expression: text}},
	}
	o, rejection := compile(t, c).Build(1, mapping.Row{Values: values})
	return o.Annotations["a"], rejection
}

func TestExpressionsKnowWhatKubernetesUsersKnow(t *testing.T) {
	row := tree{
		"slug": "Acme Inc", "n": int64(3), "f": 2.5, "tags": []any{"b", "a", "b"}, "doc": tree{"plan": "gold", "seats": int64(5)},
		"b": true, "none": nil, "long": strings.Repeat("x", 1000),
	}
	for text, want := range map[string]string{
		`row.slug.lowerAscii().replace(" ", "-") + ".apps.example.com"`: "acme-inc.apps.example.com",
		`row.slug.replace("c", "k", 1)`:                                 "Akme Inc",
		`row.slug.replace("", "-", 2)`:                                  "-A-cme Inc",
		`row.slug.split(" ").join("_")`:                                 "Acme_Inc",
		`["", "a"].join("-")`:                                           "-a",
		`row.tags.join()`:                                               "bab",
		`row.tags.distinct().join(",") + ["b", "a"].sort().join()`:      "b,aab",
		`lists.range(3).map(i, string(i)).join("")`:                     "012",
		`sets.contains(row.tags, ["a"]) ? "yes" : "no"`:                 "yes",
		`string(math.greatest(row.n, 2))`:                               "3",
		`base64.encode(bytes(row.slug))`:                                "QWNtZSBJbmM=",
		`"%s-%d-%.1f".format([row.slug, row.n, row.f])`:                 "Acme Inc-3-2.5",
		`row.doc.plan`:                                 "gold",
		`row.doc["seats"] == 5 ? "x":""`:               "x",
		`row.n > 2.5 ? "more" : "less"`:                "more",
		`row.?missing.orValue("none")`:                 "none",
		`row.?doc.?plan.orValue("none")`:               "gold",
		`row.?slug.optMap(s, s + "!").orValue("")`:     "Acme Inc!",
		`row.none == null ? "null" : "value"`:          "null",
		`row.slug.matches("^[A-Z].*c$") ? "fits" : ""`: "fits",
		`row.tags.filter(t, t.startsWith("a"))[0]`:     "a",
		`row.n`: "3",
		`row.exists(k, k == "slug") ? "there" : ""`:                            "there",
		`string(size(row.long + row.long))`:                                    "2000",
		`row.?slug`:                                                            "Acme Inc",
		`row.tags.map(t, t + "x").join(" ")`:                                   "bx ax bx",
		`{"gold": "1", "free": "0"}[row.doc.plan]`:                             "1",
		`row.b ? string(timestamp("2026-01-02T03:04:05Z").getFullYear()) : ""`: "2026",
	} {
		got, rejection := evaluate(t, text, row)
		switch {
		case rejection != nil:
			t.Errorf("%s: %s", text, rejection.Reason)
		case got != want:
			t.Errorf("%s gives %s, want %s", text, got, want)
		}
	}
}

// Each of these would take all memory, or an hour, if one let it.
func TestExpressionsAreBounded(t *testing.T) {
	values := make([]any, 1000)
	for i := range values {
		values[i] = int64(i)
	}
	row := tree{
		"s": strings.Repeat("a", 1000), "big": strings.Repeat("a", 60_000), "huge": strings.Repeat("a", 70_000),
		"list": values[:900], "long": append(values, values...), "deep": tree{"a": values, "b": values},
	}
	const large = "a value is too large"
	for text, want := range map[string]string{
		`row.s.replace("", row.s)`:                     large,
		`row.s.replace("a", row.s, 100)`:               large,
		`row.big + row.big`:                            large,
		`row.huge`:                                     large,
		`string(row.long.size())`:                      large,
		`string(size(row.deep))`:                       large,
		`string(size(lists.range(100000000000)))`:      large,
		`row.list.map(i, row.s).join("")`:              "it takes too long",
		`lists.range(100).map(i, row.s).join("")`:      large,
		`[row.s, row.s].join(row.big.replace("", ""))`: "",
		`string(size([row.list].map(a, a + a)` + strings.Repeat(".map(a, a + a)", 12) + `))`: "",
		`string([[row.list, row.list]].all(a, [[a, a]].all(b, [[b, b]].all(c, c == c))))`:    large,
		`string(size([row.big].map(a, [a, a])))`:                                             large,
		`string(size(optional.of(row.big).optMap(a, [a, a]).orValue([])))`:                   large,
		`string(size({"a": row.big, "b": row.big}))`:                                         large,
		`string(row.list.all(a, row.list.all(b, a + b >= 0)))`:                               "it takes too long for this row",
		`string(row.list.all(a, row.list.all(b, row.list.all(c, true))))`:                    "it takes too long for this row",
		`string(sets.contains(row.list, row.list) && sets.contains(row.list, row.list))`:     "it takes too long for this row",
		`string(row.big.matches("(a|b)*c"))`:                                                 "it takes too long for this row",
	} {
		got, rejection := evaluate(t, text, row)
		if rejection == nil || !strings.Contains(rejection.Reason, want) {
			t.Errorf("%s gives a text of %d, rejection %+v, want %s", text, len(got), rejection, want)
		}
	}
	// The row itself may be as large as it likes: only what is used counts.
	got, rejection := evaluate(t, `"huge" in row && row.exists(k, k == "long") ? row.s.substring(0, 3) : ""`, row)
	if rejection != nil || got != "aaa" {
		t.Errorf("a large row: %q %+v", got, rejection)
	}
}

func TestAnExpressionThatTakesTooLongNamesTheCure(t *testing.T) {
	_, got := evaluate(t, `string(row.l.all(a, row.l.all(b, row.l.all(c, a + b + c > -1))))`, tree{"l": make([]any, 0)})
	if got != nil {
		t.Fatalf("rejected: %+v", *got)
	}
	list := make([]any, 200)
	for i := range list {
		list[i] = int64(i)
	}
	_, got = evaluate(t, `string(row.l.all(a, row.l.all(b, a + b > -1)))`, tree{"l": list})
	want := &mapping.Rejection{Row: "fix", Name: "fix", Reason: "the expression for metadata.annotations[a]: it takes too long for this row: make the expression simpler, or compute the value in the query or in the store"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Usual expressions fit into the bounds of the parser.
func TestLongExpressionsAreAllowed(t *testing.T) {
	for name, text := range map[string]string{
		"a text of sixty parts":      `row.a` + strings.Repeat(` + row.a`, 59),
		"a choice of twenty":         strings.Repeat(`row.a == "b" ? "c" : (`, 20) + `"d"` + strings.Repeat(")", 20),
		"a chain of twenty calls":    `row.a` + strings.Repeat(`.replace("b", "c")`, 20),
		"a list of a hundred values": `row.a in ["b"` + strings.Repeat(`, "c"`, 99) + `] ? "x" : "y"`,
	} {
		if _, rejection := evaluate(t, text, tree{"a": "a"}); rejection != nil {
			t.Errorf("%s: %s", name, rejection.Reason)
		}
	}
}

// A loop over as many domains as a tenant may have is within the limit.
func TestALoopOverAHundredDomainsIsAllowed(t *testing.T) {
	labels := make([]any, 100)
	for i := range labels {
		labels[i] = strings.Repeat("a", i%20+1) + strings.Repeat("b", i/20)
	}
	p := compile(t, config(expression("domains", `row.labels.map(l, l.lowerAscii() + "." + row.zone)`)))
	o, rejection := p.Build(1, mapping.Row{Values: tree{"name": "acme", "labels": labels, "zone": "apps.example.com"}})
	if rejection != nil || len(o.Domains()) != 100 {
		t.Errorf("%d domains, %+v", len(o.Domains()), rejection)
	}
}
