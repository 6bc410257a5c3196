package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// allowance is an action that a policy allows on a resource.
type allowance struct{ Policy, Action, Resource string }

// order is what a user gives to a template: features by their names, and the lists.
type order struct {
	Features []string
	Lists    map[string][]string // by their Parameter
}

// drawn is any order. A list of hosted zones always has an element, as without one the default applies.
func drawn(t *rapid.T) order {
	o := order{Lists: map[string][]string{}}
	for _, f := range rapid.SliceOfNDistinct(rapid.SampledFrom(byName()), 1, -1, rapid.ID).Draw(t, "features") {
		o.Features = append(o.Features, string(f))
	}
	for _, l := range lists {
		least := 0
		if l.All {
			least = 1
		}
		o.Lists[l.Parameter] = rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z:]{1,6}`), least, 3, rapid.ID).Draw(t, l.Parameter)
	}
	return o
}

// wants are the allowances that an order has to lead to.
func (o order) wants() []allowance {
	var out []allowance
	for _, p := range permissions {
		list, resources := o.resources(p.Resource)
		chosen := slices.Contains(o.Features, string(p.Feature))
		for l, by := range chooses {
			chosen = chosen || slices.Contains(by, p.Feature) && len(o.Lists[l]) > 0
		}
		if !chosen {
			continue
		}
		if list == "" {
			resources = []string{p.Resource}
		}
		for _, r := range resources {
			out = append(out, allowance{string(p.Feature), p.Action, r})
		}
	}
	return sorted(out)
}

// chooses are the features that are chosen by a list.
var chooses = map[string][]Feature{
	"AssumableRoleArns": {CrossAccountDNS}, "KeyValueStoreArns": {KeyValues}, "TableArns": {TenantSources, TableStreams},
	"StateTableArns": {StateTables}, "DatabaseLoginArns": {DatabaseLogins}, "EdgeFunctionArns": {EdgeFunctions}, "LogBucketArns": {AccessLogs},
}

// resources are those that stand for the example in a policy, and the list that has them, empty where it is no example.
func (o order) resources(example string) (list string, out []string) {
	before, after := "", ""
	switch example {
	case zones:
		list, before = "HostedZoneIds", "arn:aws:route53:::hostedzone/"
	case tableStreams:
		list, after = "TableArns", "/stream/*"
	case tables:
		list = "TableArns"
	case roles:
		list = "AssumableRoleArns"
	case stores:
		list = "KeyValueStoreArns"
	case stateTables:
		list = "StateTableArns"
	case databaseUsers, caches, cacheUsers:
		list = "DatabaseLoginArns"
	case functions:
		list = "EdgeFunctionArns"
	case buckets:
		list = "LogBucketArns"
	}
	for _, e := range o.Lists[list] {
		out = append(out, before+e+after)
	}
	return list, out
}

func sorted(list []allowance) []allowance {
	slices.SortFunc(list, func(a, b allowance) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return slices.Compact(list)
}

// document is a policy of a template, whose statements name one resource or several.
type document struct {
	Version   string
	Statement []struct {
		Sid, Effect string
		Action      []string
		Resource    any
	}
}

// allowances are what the policies allow, by their names.
func allowances(t rapid.TB, policies map[string]any) []allowance {
	t.Helper()
	var out []allowance
	for name, p := range policies {
		text, ok := p.(string)
		if !ok {
			b, err := json.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			text = string(b)
		}
		var d document
		if err := json.Unmarshal([]byte(text), &d); err != nil {
			t.Fatalf("the policy %s: %v", name, err)
		}
		out = append(out, d.allowances(t, name)...)
	}
	return sorted(out)
}

func (d document) allowances(t rapid.TB, name string) []allowance {
	t.Helper()
	if d.Version != "2012-10-17" || len(d.Statement) == 0 {
		t.Fatalf("the policy %s is %v", name, d)
	}
	var out []allowance
	sids := map[string]bool{}
	for _, s := range d.Statement {
		strange := strings.ContainsFunc(s.Sid, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		if s.Effect != "Allow" || s.Sid == "" || sids[s.Sid] || strange {
			t.Errorf("the policy %s has the statement %v", name, s)
		}
		sids[s.Sid] = true
		resources, several := s.Resource.([]any)
		if !several {
			resources = []any{s.Resource}
		}
		for _, r := range resources {
			for _, a := range s.Action {
				out = append(out, allowance{name, a, fmt.Sprint(r)})
			}
		}
	}
	return out
}

// A template makes exactly the policies of what was chosen, with the resources that were given, and no others.
func TestTemplatesAllowWhatIsChosen(t *testing.T) {
	t.Parallel()
	for name, build := range map[string]func(t rapid.TB, o order) map[string]any{"CloudFormation": deployed, "Terraform": applied} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				o := drawn(t)
				if d := cmp.Diff(o.wants(), allowances(t, build(t, o))); d != "" {
					t.Errorf("-want +got:\n%s", d)
				}
			})
		})
	}
}

// Without a choice, a template makes the policies that standard.json has in one.
func TestTemplatesDefaultToStandard(t *testing.T) {
	t.Parallel()
	var want []allowance
	for _, s := range policy(Standard).Statement {
		for _, a := range s.Action {
			want = append(want, allowance{"", a, s.Resource})
		}
	}
	for name, policies := range map[string]map[string]any{"CloudFormation": deployed(t, order{}), "Terraform": applied(t, order{})} {
		got := allowances(t, policies)
		for i := range got {
			got[i].Policy = ""
		}
		if d := cmp.Diff(sorted(want), sorted(got)); d != "" {
			t.Errorf("%s (-standard.json +template):\n%s", name, d)
		}
	}
}

// The limits of IAM count no white space. That of a template is what the AWS CLI sends without a bucket.
func TestLimitsOfAWS(t *testing.T) {
	t.Parallel()
	minified := func(p any) int {
		b, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		return len(b)
	}
	if n := minified(policy(Standard)); n > 6144 {
		t.Errorf("standard.json has %d characters, a managed policy at most 6144", n)
	}
	everything := order{Lists: map[string][]string{}}
	for _, f := range byName() {
		everything.Features = append(everything.Features, string(f))
	}
	for _, l := range lists {
		everything.Lists[l.Parameter] = []string{strings.Repeat("a", 90), strings.Repeat("b", 90)}
	}
	total := 0
	for _, p := range deployed(t, everything) {
		total += minified(p)
	}
	if total > 10240 {
		t.Errorf("with two resources in each list, the policies have %d characters, those of a role at most 10240", total)
	}
	text, err := renderTemplate(cloudFormationPath, cloudFormationText)
	if err != nil || len(text) > 51200 {
		t.Errorf("the template has %d bytes, a template at most 51200 (%v)", len(text), err)
	}
}

// checkArguments compares the arguments of a resource with those that its type has.
func checkArguments(t rapid.TB, kind string, given []string, known map[string]arguments) {
	t.Helper()
	a, ok := known[kind]
	if !ok {
		t.Fatalf("this test does not know the type %s", kind)
	}
	for _, name := range a.Required {
		if !slices.Contains(given, name) {
			t.Errorf("%s lacks %s", kind, name)
		}
	}
	for _, name := range given {
		if !slices.Contains(a.Required, name) && !slices.Contains(a.Optional, name) {
			t.Errorf("%s has no %s", kind, name)
		}
	}
}

// arguments are those of a type of resources, as far as templates may want them.
type arguments struct{ Required, Optional []string }

func keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
