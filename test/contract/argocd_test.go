package contract

import (
	"os"
	"testing"

	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

// The conclusions of Argo CD, by its own interpreter and with the scripts that we ship.
func TestHealthInArgoCD(t *testing.T) {
	t.Parallel()
	names := map[verdict]string{
		underway: "Progressing", failed: "Degraded", done: "Healthy", terminating: "Progressing", suspended: "Suspended",
	}
	scripts := healthChecks(t)
	all := specimens(t)
	paused := all["DistributionTenant: all is well"].object.DeepCopy()
	paused.SetAnnotations(map[string]string{v1alpha1.AnnotationPaused: v1alpha1.PausedTrue})
	all["DistributionTenant: people have paused it"] = specimen{paused, suspended}
	for name, s := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kind := s.object.GroupVersionKind()
			script, has := scripts["resource.customizations.health."+kind.Group+"_"+kind.Kind]
			if !has {
				t.Fatalf("there is no check for %s", kind)
			}
			health, message := judge(t, script, s.object)
			if health != names[s.want] || message == "" {
				t.Errorf("%s (%s), want %s: %v", health, message, names[s.want], s.object.Object["status"])
			}
		})
	}
}

// healthChecks are the scripts that we ship, by the keys under which Argo CD looks for them.
func healthChecks(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../config/argocd/argocd-cm.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var patch struct {
		Data map[string]string `json:"data"`
	}
	if err := yaml.UnmarshalStrict(text, &patch); err != nil {
		t.Fatal(err)
	}
	return patch.Data
}

// judge runs a health check as Argo CD does: with the safe libraries alone, and the object in the variable obj.
func judge(t *testing.T, script string, o *unstructured.Unstructured) (health, message string) {
	t.Helper()
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for name, open := range map[string]lua.LGFunction{
		lua.LoadLibName: lua.OpenPackage, lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable, lua.StringLibName: lua.OpenString, lua.MathLibName: lua.OpenMath,
	} {
		if err := state.CallByParam(lua.P{Fn: state.NewFunction(open), Protect: true}, lua.LString(name)); err != nil {
			t.Fatal(err)
		}
	}
	state.SetGlobal("obj", value(t, state, o.Object))
	if err := state.DoString(script); err != nil {
		t.Fatal(err)
	}
	answer, ok := state.Get(-1).(*lua.LTable)
	if !ok {
		t.Fatalf("the script returned %s", state.Get(-1))
	}
	return answer.RawGetString("status").String(), answer.RawGetString("message").String()
}

// value is a tree of JSON as the interpreter sees it.
func value(t *testing.T, state *lua.LState, tree any) lua.LValue {
	t.Helper()
	switch v := tree.(type) {
	case nil:
		return lua.LNil
	case bool:
		return lua.LBool(v)
	case string:
		return lua.LString(v)
	case int64:
		return lua.LNumber(v)
	case []any:
		list := state.NewTable()
		for _, one := range v {
			list.Append(value(t, state, one))
		}
		return list
	case map[string]any:
		table := state.NewTable()
		for key, one := range v {
			table.RawSetString(key, value(t, state, one))
		}
		return table
	}
	t.Fatalf("no value of JSON: %T", tree)
	return nil
}
