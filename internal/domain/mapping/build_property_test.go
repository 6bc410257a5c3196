package mapping_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

// samples are values that some field takes, or nearly.
var samples = rapid.OneOf(
	rapid.SampledFrom([]any{
		nil, true, int64(0), int64(1), int64(300), 2.5, 300.0, "", " ", "yes", "OFF", "300", "acme", "ab", "Acme", "acme.example.com",
		"a.example.com, B.example.com.", "*.example.com", "bücher.example.com", "a b", "route53", "Auto", "cloudfront", "self-hosted", "enabled",
		"override", "disable", "none", "whitelist", "DE,US", "report", "Retain", "Force", arn, "\xff", time.Unix(0, 0), mapping.Unsupported("bytea"),
		[]any{"a.example.com", nil, "b.example.com"}, []any{"DE"}, []any{int64(1)}, tree{"plan": "gold"}, strings.Repeat("ü", 300),
	}),
	rapid.Map(rapid.String(), func(s string) any { return s }),
	rapid.Map(rapid.Int64(), func(n int64) any { return n }),
	rapid.Map(rapid.Float64(), func(f float64) any { return f }),
	rapid.Map(rapid.SliceOfN(rapid.StringMatching(`[a-zA-Z0-9.*-]{1,12}`), 0, 5), func(list []string) any {
		out := make([]any, len(list))
		for i := range list {
			out[i] = list[i]
		}
		return out
	}),
)

// everyPath has a path for each line of the table.
func everyPath() []string {
	var out []string
	for _, path := range mapping.Paths() {
		base, _, keyed := strings.Cut(path, "[")
		if keyed {
			base += "[key]"
		}
		out = append(out, base)
	}
	return out
}

// anyProgram fills some fields from columns of the same names, some by expressions, over some template.
func anyProgram(t *rapid.T) (*mapping.Program, []string) {
	c := config(template(rapid.SampledFrom([]tree{
		full, {"dns": tree{"provider": "route53"}, "customizations": tree{"webAcl": tree{"action": "disable"}, "geoRestrictions": tree{"restrictionType": "none"}},
			"managedCertificateRequest": tree{"validationTokenHost": "cloudfront"}, "keyValues": tree{"storeArn": "s", "value": "v"}, "distributionRef": tree{"name": "main"}, "connectionGroupRef": tree{"name": "static"},
			"parameters": []any{tree{"name": "key", "value": "v"}}, "tags": []any{tree{"key": "a"}}},
	}).Draw(t, "template")))
	columns := []string{"name", "domain", "enabled", "connection_group_id"}
	for _, path := range rapid.SliceOfNDistinct(rapid.SampledFrom(everyPath()), 0, 4, rapid.ID).Draw(t, "fields") {
		if rapid.Bool().Draw(t, "by an expression") {
			c.Expressions = append(c.Expressions, mapping.Expression{Field: path, Expression: `row[?"` + path + `"]`})
		} else {
			c.Mapping = append(c.Mapping, mapping.Mapping{Column: path, Field: path, Optional: true})
		}
		columns = append(columns, path)
	}
	return compile(t, c), columns
}

func anyRow(t *rapid.T, columns []string) mapping.Row {
	values := tree{"name": "acme", "domain": "acme.example.com", "domains": "b.example.com a.example.com"}
	for _, column := range rapid.SliceOfDistinct(rapid.SampledFrom(columns), rapid.ID).Draw(t, "columns") {
		values[column] = samples.Draw(t, column)
	}
	return mapping.Row{Values: values}
}

// A row always becomes the same object or the same rejection; an object covers itself and is a valid
// DistributionTenant.
func TestWhateverARowHolds(t *testing.T) {
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		p, columns := anyProgram(t)
		row := anyRow(t, columns)
		o, rejection := p.Build(3, row)
		again, rejectedAgain := p.Build(3, row)
		if diff := cmp.Diff(o, again) + cmp.Diff(rejection, rejectedAgain); diff != "" {
			t.Fatalf("the second time it is different: %s", diff)
		}
		if rejection != nil {
			if rejection.Row == "" || rejection.Reason == "" || utf8.RuneCountInString(rejection.Reason) > 1000 {
				t.Fatalf("%+v", *rejection)
			}
			return
		}
		accepted++
		if o.Hash() != again.Hash() {
			t.Fatal("the hash is different")
		}
		if !mapping.Covers(o.Spec, o) {
			t.Fatalf("it does not cover itself: %v", o.Spec)
		}
		live := strictly(t, o.Spec)
		if !mapping.Covers(live, o) {
			t.Fatalf("stored and read back, it is not covered: %v\n%v", o.Spec, live)
		}
		if domains := o.Domains(); len(domains) == 0 || !slices.IsSorted(domains) {
			t.Fatalf("domains %v", domains)
		}
		if _, has := at(o.Spec, "customizations").(tree)["certificate"]; has && o.Spec["managedCertificateRequest"] != nil {
			t.Fatalf("a row with a certificate asks for another: %v", o.Spec)
		}
	})
	t.Logf("%d rows were accepted", accepted)
	if accepted == 0 {
		t.Error("no row was accepted, so little was checked")
	}
}

// strictly reads a spec into the type of the API, which must know every field, and returns its JSON.
func strictly(t rapid.TB, spec tree) tree {
	t.Helper()
	text, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	var typed v1alpha1.DistributionTenantSpec
	if err := decoder.Decode(&typed); err != nil {
		t.Fatalf("%s is no spec: %v", text, err)
	}
	if text, err = json.Marshal(typed); err != nil {
		t.Fatal(err)
	}
	var out tree
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// Rows can fill every field of the API.
func TestEveryFieldOfTheAPICanBeFilled(t *testing.T) {
	var want []string
	for path := range leaves(reflect.TypeFor[v1alpha1.DistributionTenantSpec](), "") {
		want = append(want, path)
	}
	var got []string
	for _, path := range mapping.Paths() {
		base, _, keyed := strings.Cut(path, "[")
		switch {
		case path == "name" || strings.HasPrefix(path, "metadata."):
		case keyed, path == "domains":
			got = append(got, base+"[]")
		default:
			got = append(got, base)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("a field of DistributionTenantSpec is not in the table of fields: -api +table\n%s", diff)
	}
}

// leaves are the fields of a type of the API that have no fields of their own. A list of objects is one.
func leaves(t reflect.Type, path string) map[string]bool {
	out := map[string]bool{}
	for member := range t.Fields() {
		name, _, _ := strings.Cut(member.Tag.Get("json"), ",")
		name, kind := strings.TrimPrefix(path+"."+name, "."), member.Type
		if kind.Kind() == reflect.Pointer {
			kind = kind.Elem()
		}
		switch {
		case kind.Kind() == reflect.Struct:
			for leaf := range leaves(kind, name) {
				out[leaf] = true
			}
		case kind.Kind() == reflect.Slice && kind.Elem().Kind() == reflect.Struct:
			out[name+"[]"] = true
		default:
			out[name] = true
		}
	}
	return out
}

// A template may be anything: it is refused, or what it makes is a DistributionTenant.
func TestWhateverATemplateHolds(t *testing.T) {
	names := []string{
		"distributionId", "domains", "enabled", "parameters", "tags", "dns", "provider", "ttl", "customizations", "webAcl", "action", "arn",
		"certificate", "geoRestrictions", "locations", "managedCertificateRequest", "validationTokenHost", "name", "key", "value", "domain", "other",
	}
	leaf := samples
	block := rapid.Custom(func(t *rapid.T) any {
		return rapid.MapOfN(rapid.SampledFrom(names), leaf, 0, 3).Draw(t, "block")
	})
	list := rapid.Map(rapid.SliceOfN(block, 0, 3), func(l []any) any { return l })
	rapid.Check(t, func(t *rapid.T) {
		spec := rapid.MapOfN(rapid.SampledFrom(names), rapid.OneOf(leaf, block, list), 0, 4).Draw(t, "spec")
		p, err := mapping.Compile(config(template(spec)))
		if err != nil {
			if misprinted := "%!"; strings.Contains(err.Error(), misprinted) && !strings.Contains(fmt.Sprint(spec), misprinted) {
				t.Fatal(err)
			}
			return
		}
		if o, rejection := p.Build(1, acme(nil)); rejection == nil {
			strictly(t, o.Spec)
		}
	})
}

func FuzzCompile(f *testing.F) {
	for _, path := range everyPath() {
		f.Add(path, `row.slug + ".example.com"`)
	}
	for _, text := range []string{`row.?a.optMap(x, x)`, `[1, 2].map(i, string(i))`, `row.a.matches("^a+$")`, `"%s".format([row])`, `has(row.a) ? row.a : null`, `row[`, "\x00"} {
		f.Add("domains", text)
	}
	f.Fuzz(func(t *testing.T, path, text string) {
		p, err := mapping.Compile(config(expression(path, text)))
		if err != nil {
			return
		}
		required, optional, _ := p.Columns()
		if !slices.IsSorted(required) || !slices.IsSorted(optional) {
			t.Errorf("columns %v, %v", required, optional)
		}
		row := acme(tree{"slug": "acme", "a": "a", "l": []any{"x", int64(1), nil}, "m": tree{"b": true}, "u": mapping.Unsupported("u"), "t": time.Unix(0, 0)})
		o, rejection := p.Build(1, row)
		again, rejectedAgain := p.Build(1, row)
		if diff := cmp.Diff(o, again) + cmp.Diff(rejection, rejectedAgain); diff != "" {
			t.Errorf("the second time it is different: %s", diff)
		}
		if rejection == nil {
			strictly(t, o.Spec)
		}
	})
}
