package tenancy_test

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

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenancy"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/plans"
)

var update = flag.Bool("update", false, "write the golden files")

type goldenCase struct {
	about  string
	tenant func(*tenancy.Tenant)
	// plan is nil for none.
	plan *tenancy.PlanSpec
}

func goldenCases() map[string]goldenCase {
	suspended := func(t *tenancy.Tenant) { t.Suspended = true }
	full := plans.Full()
	isolated := func(i tenancy.Isolation) *tenancy.PlanSpec {
		return &tenancy.PlanSpec{NetworkIsolation: i, Istio: tenancy.Istio{AuthorizationPolicy: i}}
	}
	mesh := func(i tenancy.Istio) *tenancy.PlanSpec { return &tenancy.PlanSpec{Istio: i} }
	gateway := tenancy.Gateway{Selector: map[string]string{"istio": "ingressgateway"}, Hosts: []string{"{{username}}.apps.example.com"}}
	withTLS := gateway
	withTLS.TLSSecret = "apps-tls"
	return map[string]goldenCase{
		"no-plan":                       {about: "Without a plan there is the namespace with its labels."},
		"no-plan-suspended":             {about: "A suspended tenant gets no new pods, also without a plan.", tenant: suspended},
		"empty-plan":                    {about: "A plan that says nothing is like none.", plan: &tenancy.PlanSpec{}},
		"full-plan":                     {about: "A plan that says something in every place.", plan: &full},
		"full-plan-suspended":           {about: "What a suspended tenant has stays, and no new pods start.", tenant: suspended, plan: &full},
		"revision":                      {about: "A revision of Istio takes the place of istio-injection.", plan: mesh(tenancy.Istio{Revision: "1-29"})},
		"ambient":                       {about: "Pods join the ambient mesh, without sidecars.", plan: mesh(tenancy.Istio{Injection: tenancy.InjectionAmbient})},
		"no-injection":                  {about: "Pods do not join the mesh, even where it takes all by default.", plan: mesh(tenancy.Istio{Injection: tenancy.InjectionDisabled})},
		"isolation-none":                {about: "Everybody gets in.", plan: isolated(tenancy.IsolationNone)},
		"isolation-namespace":           {about: "Only the tenant's own pods get in.", plan: isolated(tenancy.IsolationNamespace)},
		"isolation-namespaceandingress": {about: "The tenant's own pods get in, and the ingress of a plan that names none.", plan: isolated(tenancy.IsolationNamespaceAndIngress)},
		"gateway-plain":                 {about: "Without a certificate the hosts are served over HTTP.", plan: mesh(tenancy.Istio{Gateway: &gateway})},
		"gateway-tls":                   {about: "With a certificate the hosts are served over HTTPS, and HTTP is redirected.", plan: mesh(tenancy.Istio{Gateway: &withTLS})},
		"edge":                          {about: "An edge tenant by template, mapping and expressions. It is named like the Tenant.", plan: &tenancy.PlanSpec{Edge: plans.Edge()}},
		"pod-security-enforce-only":     {about: "Levels of pod security that the plan does not name are left out, and the version is the latest.", plan: &tenancy.PlanSpec{PodSecurity: tenancy.PodSecurity{Enforce: "restricted"}}},
		"user-of-another-namespace-name": {
			about:  "The owner is the user, whatever the namespace is called.",
			tenant: func(t *tenancy.Tenant) { t.Namespace, t.UserID, t.Explicit = "customer-1", "Jane@Example.com", true },
			plan:   &tenancy.PlanSpec{OwnerClusterRole: "example:tenant-admin"},
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
			var plan *tenancy.Plan
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

func rendered(t *testing.T, about string, tenant tenancy.Tenant, plan *tenancy.Plan) string {
	t.Helper()
	namespace, drop := tenancy.BuildNamespace(tenant, plan)
	mesh, err := tenancy.BuildMesh(tenant, plan)
	if err != nil {
		t.Fatal(err)
	}
	edge, err := tenancy.BuildEdge(tenant, plan)
	if err != nil {
		t.Fatal(err)
	}
	objects := slices.Concat([]tenancy.Object{namespace}, tenancy.BuildLimits(tenant, plan), tenancy.BuildIsolation(tenant, plan), mesh, edge, tenancy.BuildPolicy(plan))
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
func manifest(o tenancy.Object) plans.Tree {
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
