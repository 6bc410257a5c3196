package v1_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/kubectl"
)

func TestEverySampleApplies(t *testing.T) {
	for _, folder := range []string{"tenantplan", "tenant"} {
		files, err := filepath.Glob(filepath.Join("..", "..", "..", "config", "samples", folder, "*.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		if len(files) < 2 {
			t.Errorf("%s has %d samples only", folder, len(files))
		}
		for _, file := range files {
			t.Run(folder+"/"+filepath.Base(file), func(t *testing.T) {
				for _, obj := range kubectl.Read(t, file) {
					sample := throughType(t, obj)["spec"]
					if err := kube.Create(t.Context(), obj, client.DryRunAll); err != nil {
						t.Errorf("applying %s: %v", obj.GetName(), err)
						continue
					}
					if diff := cmp.Diff(sample, kubectl.Given(throughType(t, obj)["spec"], sample)); diff != "" {
						t.Errorf("the API server stored something else (-sample +stored):\n%s", diff)
					}
				}
			})
		}
	}
}

// yamlBlock is a code block of a page.
var yamlBlock = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// Examples have to work: the tenants and plans of the samples and of the pages are taken by the API server, and
// the plans compile.
func TestWhatPeopleCopy(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	copied := map[string]*unstructured.Unstructured{}
	for _, folder := range []string{"tenantplan", "tenant"} {
		files, err := filepath.Glob(filepath.Join(root, "config", "samples", folder, "*.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			for _, obj := range kubectl.Read(t, file) {
				copied[folder+"/"+filepath.Base(file)+" "+obj.GetName()] = obj
			}
		}
	}
	for _, page := range []string{"README.md", "docs/tenancy.md", "docs/spec/tenant.md", "docs/spec/tenantplan.md"} {
		text, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Fatal(err)
		}
		for n, block := range yamlBlock.FindAllSubmatch(text, -1) {
			obj := &unstructured.Unstructured{}
			if err := yaml.UnmarshalStrict(block[1], &obj.Object); err != nil {
				t.Fatalf("%s: %v", page, err)
			}
			switch {
			case obj.GetKind() == "":
				// A piece of the spec of a plan.
				obj = tested("TenantPlan").Object(t, "", "piece", string(block[1]))
			case obj.GroupVersionKind().Group != kleffv1.GroupName:
				continue
			}
			copied[fmt.Sprintf("block %d of %s", n+1, page)] = obj
		}
	}
	if len(copied) < 13 {
		t.Fatalf("found %d only", len(copied))
	}
	for name, obj := range copied {
		t.Run(name, func(t *testing.T) {
			if err := kube.Create(t.Context(), obj, client.DryRunAll); err != nil {
				t.Fatal(err)
			}
			if obj.GetKind() == "TenantPlan" {
				compile(t, obj)
			} else {
				judge(t, obj)
			}
		})
	}
}

// compile does with a plan what the operator does first.
func compile(t *testing.T, obj *unstructured.Unstructured) {
	t.Helper()
	applied := &kleffv1.TenantPlan{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, applied); err != nil {
		t.Fatal(err)
	}
	spec, err := convert.PlanSpec(applied)
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := plan.Compile(applied.Name, "uid", 1, spec)
	if err != nil {
		t.Fatal(err)
	}
	customer := plan.Tenant{Name: "acme", UID: "uid", Namespace: "customer-acme", UserID: "jane@acme.example", Username: "acme", Plan: applied.Name}
	if _, err := plan.BuildMesh(customer, compiled); err != nil {
		t.Error(err)
	}
	if _, err := plan.BuildEdge(customer, compiled); err != nil {
		t.Error(err)
	}
}

// judge looks at the names of a tenant as the operator does.
func judge(t *testing.T, obj *unstructured.Unstructured) {
	t.Helper()
	customer := &kleffv1.Tenant{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, customer); err != nil {
		t.Fatal(err)
	}
	reserved, err := plan.ParsePatterns([]string{"default", "kube-*"})
	if err != nil {
		t.Fatal(err)
	}
	if problem := convert.Tenant(customer).Problem(plan.Namespaces{Reserved: reserved}, ""); problem != "" {
		t.Error(problem)
	}
}

// throughType is the object after it was read into its type and written again: what a field loses there the operator would
// never see.
func throughType(t *testing.T, obj *unstructured.Unstructured) map[string]any {
	t.Helper()
	text, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	typed := map[string]client.Object{"Tenant": &kleffv1.Tenant{}, "TenantPlan": &kleffv1.TenantPlan{}}[obj.GetKind()]
	if err := yaml.UnmarshalStrict(text, typed); err != nil {
		t.Fatalf("reading the object into its type: %v", err)
	}
	if text, err = json.Marshal(typed); err != nil {
		t.Fatal(err)
	}
	back := map[string]any{}
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	return back
}

// Manifests of the system that had this kind before apply as they are.
func TestManifestsOfThePredecessorApply(t *testing.T) {
	for name, manifest := range map[string]string{
		"in one line": `
apiVersion: kleff.kleff.io/v1
kind: Tenant
metadata: {name: example-tenant}
spec: {plan: "basic", userId: "user-12345", username: "exampleuser"}
`,
		// Its kind was in a namespace; the API server takes the namespace off.
		"with a namespace": `
apiVersion: kleff.kleff.io/v1
kind: Tenant
metadata:
  name: namespaced-tenant
  namespace: default
  labels:
    app.kubernetes.io/name: kleff
spec:
  plan: "basic"
  userId: "user-67890"
  username: "exampleuser"
`,
	} {
		t.Run(name, func(t *testing.T) {
			obj := &unstructured.Unstructured{}
			if err := yaml.UnmarshalStrict([]byte(manifest), &obj.Object); err != nil {
				t.Fatal(err)
			}
			if err := kube.Create(t.Context(), obj); err != nil {
				t.Fatal(err)
			}
			stored := &kleffv1.Tenant{}
			if err := kube.Get(t.Context(), client.ObjectKey{Name: obj.GetName()}, stored); err != nil {
				t.Fatal(err)
			}
			if stored.Namespace != "" || stored.Spec.Plan != "basic" || stored.Spec.Username != "exampleuser" {
				t.Errorf("stored in namespace %q with %+v", stored.Namespace, stored.Spec)
			}
		})
	}
}

func TestDefaults(t *testing.T) {
	ingress := []any{"istio-system", "istio-ingress"}
	rollout := map[string]any{"maxConcurrent": int64(10), "maxFailedPercent": int64(10)}
	for name, tc := range map[string]struct {
		kind, fields string
		want         map[string]any
	}{
		"a namespace goes with its tenant": {
			kind: "Tenant", fields: `{}`,
			want: map[string]any{"plan": "basic", "userId": "user-12345", "username": "exampleuser", "deletionPolicy": "Delete"},
		},
		"what is said of a tenant stays": {
			kind: "Tenant", fields: `{suspended: false, deletionProtection: false, deletionPolicy: Retain}`,
			want: map[string]any{
				"plan": "basic", "userId": "user-12345", "username": "exampleuser", "deletionPolicy": "Retain", "suspended": false, "deletionProtection": false,
			},
		},
		"a plan that says nothing asks for nothing": {
			kind: "TenantPlan", fields: `{}`,
			want: map[string]any{"networkIsolation": "None", "ingressNamespaces": ingress, "rollout": rollout},
		},
		"no failure at all can be asked for": {
			kind: "TenantPlan", fields: `rollout: {maxFailedPercent: 0}`,
			want: map[string]any{
				"networkIsolation": "None", "ingressNamespaces": ingress, "rollout": map[string]any{"maxConcurrent": int64(10), "maxFailedPercent": int64(0)},
			},
		},
		"a constraint denies": {
			kind: "TenantPlan", fields: constraint(`{}`),
			want: map[string]any{
				"networkIsolation": "None", "ingressNamespaces": ingress, "rollout": rollout,
				"gatekeeper": map[string]any{"constraints": []any{map[string]any{
					"kind": "KleffAllowedRegistries", "name": "basic", "enforcementAction": "deny",
				}}},
			},
		},
		"nothing is added to quotas, the mesh and edge tenants: it would be set back when others change it": {
			kind: "TenantPlan", fields: `{resourceQuota: {}, limitRange: {limits: [{type: Container}]}, istio: {}, distributionTenant: {template: {spec: {dns: {provider: route53}}}}}`,
			want: map[string]any{
				"networkIsolation": "None", "ingressNamespaces": ingress, "rollout": rollout,
				"resourceQuota": map[string]any{}, "limitRange": map[string]any{"limits": []any{map[string]any{"type": "Container"}}}, "istio": map[string]any{},
				"distributionTenant": map[string]any{"template": map[string]any{"spec": map[string]any{"dns": map[string]any{"provider": "route53"}}}},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			obj := tested(tc.kind).Object(t, "", "defaults", tc.fields)
			if err := kube.Create(t.Context(), obj, client.DryRunAll); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, obj.Object["spec"]); diff != "" {
				t.Errorf("spec differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStatusTakesWhatTheOperatorSays(t *testing.T) {
	now := metav1.Now().Rfc3339Copy()
	condition := func(kind, reason string) metav1.Condition {
		return metav1.Condition{
			Type: kind, Status: metav1.ConditionFalse, Reason: reason, ObservedGeneration: 1, LastTransitionTime: now, Message: strings.Repeat("m", 1024),
		}
	}
	t.Run("of a tenant", func(t *testing.T) {
		tenant := &kleffv1.Tenant{
			ObjectMeta: metav1.ObjectMeta{Name: "status"},
			Spec:       kleffv1.TenantSpec{Plan: "basic", UserID: "user-1", Username: "status"},
		}
		if err := kube.Create(t.Context(), tenant); err != nil {
			t.Fatal(err)
		}
		if err := kube.Get(t.Context(), client.ObjectKeyFromObject(tenant), tenant); err != nil || tenant.Status.ObservedGeneration != -1 {
			t.Errorf("a new tenant was observed at generation %d (%v)", tenant.Status.ObservedGeneration, err)
		}
		tenant.Status = kleffv1.TenantStatus{
			Conditions: []metav1.Condition{
				condition(kleffv1.ConditionTenantReady, kleffv1.ReasonPlanNotFound), condition(kleffv1.ConditionNamespaceReady, kleffv1.ReasonProvisioned),
				condition(kleffv1.ConditionPlanApplied, kleffv1.ReasonPlanNotFound), condition(kleffv1.ConditionMeshReady, kleffv1.ReasonNotConfigured),
				condition(kleffv1.ConditionPolicyReady, kleffv1.ReasonCRDMissing), condition(kleffv1.ConditionEdgeReady, kleffv1.ReasonNotConfigured),
			},
			ObservedGeneration: 1, AppliedGeneration: new(int64(0)), Namespace: strings.Repeat("n", 63), Plan: strings.Repeat("p", 253), PlanUID: "7f1c5b1e-3f0e-4b7a-9d55-6c2b0c6d0a11", PlanGeneration: 7,
		}
		want := tenant.Status.DeepCopy()
		if err := kube.Status().Update(t.Context(), tenant); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(*want, tenant.Status); diff != "" {
			t.Errorf("the API server stored another status (-want +got):\n%s", diff)
		}
	})
	t.Run("of a plan, where a zero is a figure", func(t *testing.T) {
		plan := &kleffv1.TenantPlan{ObjectMeta: metav1.ObjectMeta{Name: "status"}}
		if err := kube.Create(t.Context(), plan); err != nil {
			t.Fatal(err)
		}
		if err := kube.Get(t.Context(), client.ObjectKeyFromObject(plan), plan); err != nil || plan.Status.ObservedGeneration != -1 {
			t.Errorf("a new plan was observed at generation %d (%v)", plan.Status.ObservedGeneration, err)
		}
		plan.Status = kleffv1.TenantPlanStatus{
			Conditions:         []metav1.Condition{condition(kleffv1.ConditionReady, kleffv1.ReasonRollingOut), condition(kleffv1.ConditionRolledOut, kleffv1.ReasonRollingOut)},
			ObservedGeneration: 1, Tenants: new(int32(3)), Applied: new(int32(0)), Failed: new(int32(0)),
			Content: &kleffv1.PlanContent{Generation: 1, ObservedGeneration: 1, Hash: strings.Repeat("f", 16)},
		}
		want := plan.Status.DeepCopy()
		if err := kube.Status().Update(t.Context(), plan); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(*want, plan.Status); diff != "" {
			t.Errorf("the API server stored another status (-want +got):\n%s", diff)
		}
	})
}

func TestHowKubectlShowsThem(t *testing.T) {
	kinds, err := discovery.NewDiscoveryClientForConfigOrDie(restConfig).ServerResourcesForGroupVersion(kleffv1.SchemeGroupVersion.String())
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range kinds.APIResources {
		// In no category: `kubectl delete all --all`, or of another one, would take the customers.
		if kind.Namespaced || len(kind.Categories) > 0 {
			t.Errorf("%s: namespaced %v, categories %v", kind.Name, kind.Namespaced, kind.Categories)
		}
	}
	for resource, tc := range map[string]struct {
		object, status string
		narrow, wide   []string
		row            []any
	}{
		"tenants": {
			object: `{plan: pro, userId: shown, username: example, suspended: true}`,
			status: `{namespace: shown, conditions: [{type: TenantReady, status: "False", reason: PlanNotFound, message: "", lastTransitionTime: "2026-01-02T03:04:05Z"}]}`,
			narrow: []string{"Name", "NAMESPACE", "PLAN", "READY", "REASON", "AGE"},
			wide:   []string{"SUSPENDED", "USERNAME"},
			row:    []any{"shown", "shown", "pro", "False", "PlanNotFound", true, "example"},
		},
		"tenantplans": {
			object: `{}`,
			status: `{tenants: 12, applied: 11, failed: 0, conditions: [{type: Ready, status: "False", reason: RollingOut, message: "", lastTransitionTime: "2026-01-02T03:04:05Z"}]}`,
			narrow: []string{"Name", "TENANTS", "APPLIED", "FAILED", "READY", "REASON", "AGE"},
			// Nothing done yet is a zero and not a blank.
			row: []any{"shown", 12.0, 11.0, 0.0, "False", "RollingOut"},
		},
	} {
		t.Run(resource, func(t *testing.T) {
			kind := map[string]string{"tenants": "Tenant", "tenantplans": "TenantPlan"}[resource]
			obj := tested(kind).Object(t, "", "shown", tc.object)
			if err := kube.Create(t.Context(), obj); err != nil {
				t.Fatal(err)
			}
			status := map[string]any{}
			if err := yaml.Unmarshal([]byte(tc.status), &status); err != nil {
				t.Fatal(err)
			}
			obj.Object["status"] = status
			if err := kube.Status().Update(t.Context(), obj); err != nil {
				t.Fatal(err)
			}
			table := kubectl.Table(t, restConfig, kleffv1.SchemeGroupVersion, "", resource)
			narrow, wide := kubectl.Columns(table)
			if diff := cmp.Diff(tc.narrow, narrow); diff != "" {
				t.Errorf("columns of kubectl get (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.wide, wide); diff != "" {
				t.Errorf("further columns of kubectl get -o wide (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.row, cellsOf(t, table, "shown")); diff != "" {
				t.Errorf("cells (-want +got):\n%s", diff)
			}
		})
	}
}

// cellsOf are those of an object, but for its age.
func cellsOf(t *testing.T, table *metav1.Table, name string) []any {
	t.Helper()
	for _, row := range table.Rows {
		if row.Cells[0] != name {
			continue
		}
		var cells []any
		for i, cell := range row.Cells {
			if table.ColumnDefinitions[i].Name != "AGE" {
				cells = append(cells, cell)
			}
		}
		return cells
	}
	t.Fatalf("%s is not listed", name)
	return nil
}
