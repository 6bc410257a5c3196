package plan_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/plans"
)

var update = flag.Bool("update", false, "write the golden files")

type goldenCase struct {
	about  string
	tenant func(*plan.Tenant)
	// plan is nil for none.
	plan *plan.Spec
}

func goldenCases() map[string]goldenCase {
	suspended := func(t *plan.Tenant) { t.Suspended = true }
	full := plans.Full()
	isolated := func(i plan.Isolation) *plan.Spec {
		return &plan.Spec{NetworkIsolation: i, Istio: plan.Istio{AuthorizationPolicy: i}}
	}
	mesh := func(i plan.Istio) *plan.Spec { return &plan.Spec{Istio: i} }
	gateway := plan.Gateway{Selector: map[string]string{"istio": "ingressgateway"}, Hosts: []string{"{{username}}.apps.example.com"}}
	withTLS := gateway
	withTLS.TLSSecret = "apps-tls"
	return map[string]goldenCase{
		"no-plan":                       {about: "Without a plan there is the namespace with its labels."},
		"no-plan-suspended":             {about: "A suspended tenant gets no new pods, also without a plan.", tenant: suspended},
		"empty-plan":                    {about: "A plan that says nothing is like none.", plan: &plan.Spec{}},
		"full-plan":                     {about: "A plan that says something in every place.", plan: &full},
		"full-plan-suspended":           {about: "What a suspended tenant has stays, and no new pods start.", tenant: suspended, plan: &full},
		"revision":                      {about: "A revision of Istio replaces istio-injection.", plan: mesh(plan.Istio{Revision: "1-29"})},
		"ambient":                       {about: "Pods join the ambient mesh, without sidecars.", plan: mesh(plan.Istio{Injection: plan.InjectionAmbient})},
		"no-injection":                  {about: "Pods do not join the mesh, even where it takes all by default.", plan: mesh(plan.Istio{Injection: plan.InjectionDisabled})},
		"isolation-none":                {about: "Everybody gets in.", plan: isolated(plan.IsolationNone)},
		"isolation-namespace":           {about: "Only the tenant's own pods get in.", plan: isolated(plan.IsolationNamespace)},
		"isolation-namespaceandingress": {about: "The tenant's own pods get in, and the ingress of a plan that names none.", plan: isolated(plan.IsolationNamespaceAndIngress)},
		"gateway-plain":                 {about: "Without a certificate the hosts are served over HTTP.", plan: mesh(plan.Istio{Gateway: &gateway})},
		"gateway-tls":                   {about: "With a certificate the hosts are served over HTTPS, and HTTP is redirected.", plan: mesh(plan.Istio{Gateway: &withTLS})},
		"edge":                          {about: "An edge tenant by template, mapping and expressions. It is named like the Tenant.", plan: &plan.Spec{Edge: plans.Edge()}},
		"pod-security-enforce-only":     {about: "Levels of pod security that the plan does not name are left out, and the version is the latest.", plan: &plan.Spec{PodSecurity: plan.PodSecurity{Enforce: "restricted"}}},
		"user-of-another-namespace-name": {
			about:  "The owner is the user, whatever the namespace is called.",
			tenant: func(t *plan.Tenant) { t.Namespace, t.UserID, t.Explicit = "customer-1", "Jane@Example.com", true },
			plan:   &plan.Spec{OwnerClusterRole: "example:tenant-admin"},
		},
	}
}

func TestWhatATenantHas(t *testing.T) {
	for name, tt := range goldenCases() {
		t.Run(name, func(t *testing.T) {
			tenant := plans.Tenant()
			if tt.tenant != nil {
				tt.tenant(&tenant)
			}
			var plan *plan.Plan
			if tt.plan != nil {
				plan = plans.Compile(t, *tt.plan)
			}
			golden(t, name, rendered(t, tt.about, tenant, plan))
		})
	}
}

func TestEveryGoldenFileHasACase(t *testing.T) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	cases := goldenCases()
	for _, file := range files {
		if name := strings.TrimSuffix(filepath.Base(file), ".yaml"); cases[name].about == "" {
			t.Errorf("%s belongs to no case: remove it", file)
		}
	}
}

func rendered(t *testing.T, about string, tenant plan.Tenant, compiled *plan.Plan) string {
	t.Helper()
	namespace, drop := plan.BuildNamespace(tenant, compiled)
	mesh, err := plan.BuildMesh(tenant, compiled)
	if err != nil {
		t.Fatal(err)
	}
	edge, err := plan.BuildEdge(tenant, compiled)
	if err != nil {
		t.Fatal(err)
	}
	objects := slices.Concat([]plan.Object{namespace}, plan.BuildLimits(tenant, compiled), plan.BuildIsolation(tenant, compiled), mesh, edge, plan.BuildPolicy(compiled))
	documents := []string{fmt.Sprintf("# %s\n# Labels that the namespace must not have: %s\n", about, strings.Join(drop, ", "))}
	for _, o := range objects {
		text, err := yaml.Marshal(manifest(o))
		if err != nil {
			t.Fatal(err)
		}
		documents = append(documents, string(text))
	}
	return strings.Join(documents, "---\n")
}

// manifest is an object in the form in which people write it.
func manifest(o plan.Object) plans.Tree {
	metadata := map[string]any{"name": o.Name, "labels": o.Labels}
	if o.Namespace != "" {
		metadata["namespace"] = o.Namespace
	}
	if len(o.Annotations) > 0 {
		metadata["annotations"] = o.Annotations
	}
	out := map[string]any{"apiVersion": o.APIVersion(), "kind": o.Kind.Kind, "metadata": metadata}
	maps.Copy(out, o.Body)
	return out
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".yaml")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs, use -update where that is meant (-want +got):\n%s", file, diff)
	}
}
