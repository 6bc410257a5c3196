package distributiontenant_test

import (
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/controlplane"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// awaited reports whether "kubectl wait" ends well for the tenant.
func awaited(t *testing.T, w *world.World, name, condition string) bool {
	t.Helper()
	bin, err := controlplane.FindBinaries("")
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := controlplane.WriteKubeconfig(kubeconfig, kubeConfig); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), filepath.Join(bin, "kubectl"), "wait", "-n", w.Namespace, "distributiontenants/"+name, "--for=condition="+condition, "--timeout=1s")
	command.Env = append(command.Environ(), "KUBECONFIG="+kubeconfig, "HOME="+t.TempDir())
	out, err := command.CombinedOutput()
	t.Logf("kubectl wait: %s", out)
	return err == nil
}

// kstatusOf is what Flux and Helm take the object for.
func kstatusOf(t *testing.T, o *v1alpha1.DistributionTenant) status.Status {
	t.Helper()
	o.SetGroupVersionKind(v1alpha1.SchemeGroupVersion.WithKind("DistributionTenant"))
	tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		t.Fatal(err)
	}
	got, err := status.Compute(&unstructured.Unstructured{Object: tree})
	if err != nil {
		t.Fatal(err)
	}
	return got.Status
}

// A tenant keeps serving what was applied before while a change has to wait. A pipeline that waits for the change must not
// be told that it is done.
func TestPipelinesWaitForAChangeThatIsNotApplied(t *testing.T) {
	t.Parallel()
	for name, hold := range map[string]struct {
		begin, end func(*testing.T, *world.World)
	}{
		"while the object is paused": {
			func(_ *testing.T, w *world.World) { pause(w, "alpha", "true") },
			func(_ *testing.T, w *world.World) { pause(w, "alpha", "false") },
		},
		"while the distribution that it references is missing": {
			func(_ *testing.T, w *world.World) { w.Edit("alpha", on("main")) },
			func(t *testing.T, w *world.World) {
				t.Helper()
				put(t, w, w.Distribution("main"), world.DistributionID)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := parentless(t)
			ready(t, w, "alpha")
			if !awaited(t, w, "alpha", "Ready") {
				t.Fatal("kubectl waits for a tenant that is ready")
			}
			hold.begin(t, w)
			w.Edit("alpha", params("tier", "silver"))
			w.Advance(time.Minute)
			is(t, w, "alpha", readyTrue)
			if awaited(t, w, "alpha", "Ready") {
				t.Error("kubectl does not wait for a change that is not applied")
			}
			if got := kstatusOf(t, get(t, w, "alpha")); got != status.InProgressStatus {
				t.Errorf("kstatus says %s of a change that is not applied", got)
			}
			hold.end(t, w)
			w.Advance(settle)
			is(t, w, "alpha", readyTrue, syncedTrue)
			if !awaited(t, w, "alpha", "Ready") {
				t.Error("kubectl waits for a change that is applied")
			}
			if got := kstatusOf(t, get(t, w, "alpha")); got != status.CurrentStatus {
				t.Errorf("kstatus says %s of a change that is applied", got)
			}
		})
	}
}
