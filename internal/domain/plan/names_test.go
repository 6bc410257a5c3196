package plan_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/plans"
)

var platform = []string{"default", "kube-*", "openshift", "openshift-*"}

func patterns(t interface {
	Helper()
	Fatal(args ...any)
}, list ...string,
) plan.Patterns {
	t.Helper()
	p, err := plan.ParsePatterns(list)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestProblem(t *testing.T) {
	long := strings.Repeat("a", 64)
	for name, tt := range map[string]struct {
		change func(*plan.Tenant)
		want   string
	}{
		"nothing is wrong":                         {func(*plan.Tenant) {}, ""},
		"a user who is no namespace, but has one":  {func(t *plan.Tenant) { t.UserID, t.Namespace, t.Explicit = "Jane@Example.com", "jane", true }, ""},
		"a reserved user who has another one":      {func(t *plan.Tenant) { t.UserID, t.Namespace, t.Explicit = "kube-system", "jane", true }, ""},
		"a name that only begins with a whole one": {func(t *plan.Tenant) { t.Namespace = "default-1" }, ""},
		"a reserved prefix without more":           {func(t *plan.Tenant) { t.Namespace = "kube" }, ""},
		"the longest of all names": {func(t *plan.Tenant) {
			t.Name, t.Plan, t.Username, t.Namespace = long[1:], long[1:], long[1:], long[1:]
		}, ""},
		"a user who is reserved": {
			func(t *plan.Tenant) { t.UserID, t.Namespace = "kube-system", "kube-system" },
			`spec.userId "kube-system" is a reserved namespace name and can't be changed later: delete this Tenant and create one with another name in spec.namespace`,
		},
		"a namespace that is reserved": {
			func(t *plan.Tenant) { t.Namespace, t.Explicit = "default", true },
			`spec.namespace "default" is a reserved namespace name and can't be changed later: delete this Tenant and create one with another name in spec.namespace`,
		},
		"a user who can't be a namespace": {
			func(t *plan.Tenant) { t.UserID, t.Namespace = "User_1", "User_1" },
			`spec.userId "User_1" is not a valid namespace name (1 to 63 lower-case letters, digits and inner hyphens): set spec.namespace to one`,
		},
		"a namespace that can't be": {
			func(t *plan.Tenant) { t.Namespace, t.Explicit = "a.b", true },
			`spec.namespace "a.b" is not a valid namespace name (1 to 63 lower-case letters, digits and inner hyphens): change it to one`,
		},
		"a namespace that is too long": {
			func(t *plan.Tenant) { t.Namespace, t.Explicit = long, true },
			`spec.namespace "` + long + `" is not a valid namespace name (1 to 63 lower-case letters, digits and inner hyphens): change it to one`,
		},
		"a name that is too long for a label": {
			func(t *plan.Tenant) { t.Name = long },
			`metadata.name "` + long + `" is not a valid label value (1 to 63 letters, digits and inner - _ .): delete this Tenant and create a new one`,
		},
		"a username that is no label": {
			func(t *plan.Tenant) { t.Username = "Jane Doe" },
			`spec.username "Jane Doe" is not a valid label value (1 to 63 letters, digits and inner - _ .): change it`,
		},
		"a plan that is no label, and nothing in place of the username": {
			func(t *plan.Tenant) { t.Plan, t.Username = "-gold", "" },
			`spec.plan "-gold" is not a valid label value (1 to 63 letters, digits and inner - _ .): change it, and the name of the TenantPlan. ` +
				`spec.username "" is not a valid label value (1 to 63 letters, digits and inner - _ .): change it`,
		},
		"a text without end": {
			func(t *plan.Tenant) { t.Username = strings.Repeat("ä", 250) },
			`spec.username "` + strings.Repeat("ä", 100) + `…" is not a valid label value (1 to 63 letters, digits and inner - _ .): change it`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			tenant := plans.Tenant()
			tt.change(&tenant)
			if got := tenant.Problem(plan.Namespaces{Reserved: patterns(t, platform...)}, ""); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestPatternsThatMatchNothingOrEverything(t *testing.T) {
	for pattern, want := range map[string]string{
		"*":       `the pattern "*" matches every name: use a prefix, such as kube-*`,
		"":        `the pattern "" does not match any valid namespace name: use a name such as default, or a prefix such as kube-*`,
		"Default": `the pattern "Default" does not match any valid namespace name: use a name such as default, or a prefix such as kube-*`,
		"*-x":     `the pattern "*-x" does not match any valid namespace name: use a name such as default, or a prefix such as kube-*`,
		"a*b":     `the pattern "a*b" does not match any valid namespace name: use a name such as default, or a prefix such as kube-*`,
		"-a*":     `the pattern "-a*" does not match any valid namespace name: use a name such as default, or a prefix such as kube-*`,
		"kube_*":  `the pattern "kube_*" does not match any valid namespace name: use a name such as default, or a prefix such as kube-*`,
	} {
		t.Run(pattern, func(t *testing.T) {
			if _, err := plan.ParsePatterns([]string{"default", pattern}); err == nil || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
}

func TestEveryPatternThatIsWrongIsNamed(t *testing.T) {
	_, err := plan.ParsePatterns([]string{"A", "b", "C"})
	if err == nil || !strings.Contains(err.Error(), `"A"`) || !strings.Contains(err.Error(), `"C"`) || strings.Contains(err.Error(), `"b"`) {
		t.Error(err)
	}
}

// A name matches if and only if it is one of the names, or begins with one of the prefixes.
func TestWhatPatternsMatch(t *testing.T) {
	names := rapid.StringMatching(`[a-b]{1,3}(-[a-b]{1,2})?`)
	rapid.Check(t, func(t *rapid.T) {
		exact, begins, name := names.Draw(t, "a name"), names.Draw(t, "a beginning"), names.Draw(t, "the namespace")
		p := patterns(t, exact, begins+"*")
		want := name == exact || strings.HasPrefix(name, begins)
		if got := p.Match(name); got != want {
			t.Fatalf("it matches: %t, want %t", got, want)
		}
		if (plan.Patterns{}).Match(name) {
			t.Fatal("it matches nothing at all")
		}
	})
}

// No tenant has a reserved name, whatever is allowed. Of the others a tenant may have the allowed ones, or all.
func TestWhichNamespacesATenantMayHave(t *testing.T) {
	const again = " and can't be changed later: delete this Tenant and create one with another name in spec.namespace"
	for name, tt := range map[string]struct {
		namespace string
		allowed   []string
		ingressOf string
		want      string
	}{
		"any name, where none is listed": {namespace: "shop-1"},
		"a name that is listed":          {namespace: "shop", allowed: []string{"user-*", "shop"}},
		"a name with a listed prefix":    {namespace: "user-1", allowed: []string{"user-*", "shop"}},
		"a name that is not listed": {
			namespace: "velero", allowed: []string{"user-*", "shop"},
			want: `spec.namespace "velero" is not a namespace name that tenants may have (user-*, shop)` + again +
				`, or add it to --tenant-namespaces (chart value tenancy.namespaces)`,
		},
		"a reserved name that is listed": {
			namespace: "kube-system", allowed: []string{"kube-*"},
			want: `spec.namespace "kube-system" is a reserved namespace name` + again,
		},
		"an ingress namespace": {
			namespace: "edge", ingressOf: "gold",
			want: `spec.namespace "edge" is an ingress namespace of the TenantPlan "gold"` + again + `, or change spec.ingressNamespaces of that plan`,
		},
		"an ingress namespace that is listed": {
			namespace: "edge", ingressOf: "gold", allowed: []string{"edge"},
			want: `spec.namespace "edge" is an ingress namespace of the TenantPlan "gold"` + again + `, or change spec.ingressNamespaces of that plan`,
		},
		"a reserved ingress namespace": {
			namespace: "kube-edge", ingressOf: "gold",
			want: `spec.namespace "kube-edge" is a reserved namespace name` + again,
		},
		"a list without end": {
			namespace: "velero", allowed: slices.Repeat([]string{"user-*"}, 100),
			want: `spec.namespace "velero" is not a namespace name that tenants may have (` + strings.Repeat("user-*, ", 37) + `u…)` + again +
				`, or add it to --tenant-namespaces (chart value tenancy.namespaces)`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			tenant := plans.Tenant()
			tenant.Namespace, tenant.Explicit = tt.namespace, true
			rules := plan.Namespaces{Allowed: patterns(t, tt.allowed...), Reserved: patterns(t, platform...)}
			if got := tenant.Problem(rules, tt.ingressOf); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}
