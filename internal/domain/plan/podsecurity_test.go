package plan_test

import (
	"strings"
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/plans"
)

// A namespace enforces the level of its plan, and never less than the minimum of all namespaces. A plan that says less
// is a mistake, and one that says nothing is not.
func TestMinPodSecurity(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		says, least, enforces, mistake string
	}{
		"a plan that says nothing gets the lowest level":          {"", "baseline", "baseline", ""},
		"also where that is the highest":                          {"", "restricted", "restricted", ""},
		"a higher level stays":                                    {"restricted", "baseline", "restricted", ""},
		"the lowest level is allowed":                             {"baseline", "baseline", "baseline", ""},
		"a lower one is a mistake, and raised meanwhile":          {"privileged", "baseline", "baseline", `spec.podSecurity.enforce "privileged" allows more than customers' namespaces may: use baseline or restricted, or lower`},
		"so is one that is in the middle":                         {"baseline", "restricted", "restricted", "use restricted, or lower --min-pod-security (chart value tenancy.minPodSecurity)"},
		"where everything is allowed, the namespace has no label": {"", "privileged", "", ""},
		"unless the plan says so":                                 {"privileged", "privileged", "privileged", ""},
		"without a lowest level it is the same":                   {"", "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := plan.Spec{PodSecurity: plan.PodSecurity{Enforce: c.says}}
			compiled, err := plan.Compile("basic", "p1", 1, spec)
			if err != nil {
				t.Fatal(err)
			}
			tenant := plans.Tenant()
			tenant.MinPodSecurity = c.least
			o, _ := plan.BuildNamespace(tenant, compiled)
			if got := o.Labels["pod-security.kubernetes.io/enforce"]; got != c.enforces {
				t.Errorf("the namespace enforces %q", got)
			}
			if version, labelled := o.Labels["pod-security.kubernetes.io/enforce-version"]; labelled != (c.enforces != "") || labelled && version != "latest" {
				t.Errorf("the version is %q", version)
			}
			mistake := ""
			if err := spec.PodSecurity.CheckMin(c.least); err != nil {
				mistake = err.Error()
			}
			if !strings.Contains(mistake, c.mistake) || (mistake == "") != (c.mistake == "") {
				t.Errorf("the mistake is %q", mistake)
			}
		})
	}
	bare := plans.Tenant()
	bare.MinPodSecurity = "baseline"
	if o, _ := plan.BuildNamespace(bare, nil); o.Labels["pod-security.kubernetes.io/enforce"] != "baseline" {
		t.Errorf("without a plan the namespace has the labels %v", o.Labels)
	}
	if err := plan.CheckPodSecurityLevel("strict"); err == nil || plan.CheckPodSecurityLevel("baseline") != nil {
		t.Errorf("a level that does not exist: %v", err)
	}
}
