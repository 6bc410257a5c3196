package model_test

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/module"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/overlay"
)

// lossMutations are mistakes that let one event harm many customers, each with a part of the objection to it.
var lossMutations = []struct {
	name, objection string
	overlay.Replacement
}{
	{"the weight of a parent is not asked", outOfService, overlay.Replacement{
		Dir: "internal/domain/distribution", Function: "Input.Customers", Body: `return 0`,
	}},
	{"drift is not asked", outOfService, overlay.Replacement{
		Dir: "internal/domain/distributiontenant", Function: "Input.harm", Body: `if v.Applied {
			return ""
		}
		return original(v)`,
	}},
	{"doubt withdraws", outOfService, overlay.Replacement{
		Dir: "internal/domain/distributiontenant", Function: "Input.inDoubt", Body: `return false`,
	}},
	{"each object is a group of its own", underway, overlay.Replacement{
		Dir: "internal/domain/guard/rollout", Function: "keyOf", Body: `key := original(p, a)
		key.fields += a.UID
		return key`,
	}},
	{"all that ask for a change get it at once", underway, overlay.Replacement{
		Dir: "internal/domain/guard/rollout", Function: "(*group).admits", Body: `return e.state == Waiting`,
	}},
}

// mutated is how many schedules have to show a mistake.
const mutated = "400"

// TestLossMutations builds each mistake into the operator and wants the property of losses to fail. Without the flag of a long
// run, it only compiles them.
func TestLossMutations(t *testing.T) {
	root, err := module.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all, packages := overlay.Of(root), []string{}
	for _, m := range lossMutations {
		if err := all.Apply(m.name, m.Replacement); err != nil {
			t.Fatal(err)
		}
		packages = append(packages, "./"+m.Dir)
	}
	path, err := all.Write(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := module.Build(t.Context(), root, nil, append([]string{"-overlay", path}, packages...)...); err != nil {
		t.Fatalf("the mutations do not compile: %v", err)
	}
	if *schedules == 0 {
		return
	}
	for _, m := range lossMutations {
		t.Run(m.name, func(t *testing.T) {
			mistaken, dir := overlay.Of(root), t.TempDir()
			if err := mistaken.Apply(m.name, m.Replacement); err != nil {
				t.Fatal(err)
			}
			path, err := mistaken.Write(dir)
			if err != nil {
				t.Fatal(err)
			}
			binary := filepath.Join(dir, "model.test")
			build := exec.CommandContext(t.Context(), "go", "test", "-c", "-o", binary, "-overlay", path, "./test/model")
			build.Dir = root
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			play := exec.CommandContext(t.Context(), binary, "-test.run=^TestNoSingleMistakeTakesCustomersDown$", "-rapid.checks="+mutated, "-rapid.nofailfile", "-rapid.shrinktime=1s")
			out, err := play.CombinedOutput()
			if err == nil || !bytes.Contains(out, []byte(m.objection)) {
				t.Errorf("%s schedules do not show it: %v\n%s", mutated, err, out)
				return
			}
			_, objection, _ := strings.Cut(string(out), "[rapid] ")
			objection, _, _ = strings.Cut(objection, "\n")
			t.Log(objection)
		})
	}
}
