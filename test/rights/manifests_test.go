package rights_test

import (
	"context"
	"net/http"
	"os/exec"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/install"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

// The operator runs with the flags and the rights of a release's install.yaml, as it does with the chart's.
func TestInstallYAMLIsEnough(t *testing.T) {
	const namespace = "cloudfront-tenant-operator"
	dir := t.TempDir()
	command := exec.CommandContext(t.Context(), host.Path("hack", "install-manifests.sh"), "1.2.3", "registry.example.com/operator:1.2.3", dir)
	command.Env = append(command.Environ(), "KUBEBUILDER_ASSETS="+host.ControlPlane.BinDir())
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("writing install.yaml: %v\n%s", err, out)
	}
	t.Cleanup(func() { // the chart's objects have the same names, and other tests need them as they were
		ctx := context.WithoutCancel(t.Context())
		if err := kube.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
			t.Error(err)
		}
		if _, err := host.Install(ctx, install.Options{}); err != nil {
			t.Error(err)
		}
		if err := removeAbandon(ctx); err != nil {
			t.Error(err)
		}
	})
	i, err := host.Install(t.Context(), install.Options{Release: "manifests", Namespace: namespace, Manifests: filepath.Join(dir, "install.yaml")})
	if err != nil {
		t.Fatal(err)
	}
	compareRights(t, i)

	r := newRig(t, i, newNamespace(t))
	op, err := r.stack.StartOperator(t.Context(), stack.OperatorOptions{Installation: i, Flags: asInstalled})
	if err != nil {
		t.Fatal(err)
	}
	r.scrapes(op, http.StatusOK)
	o := r.create()
	if err := kube.Delete(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	r.gone(o)
	if status, err := op.Stop(t.Context()); err != nil || status != 0 {
		t.Errorf("stopping: status %d, %v", status, err)
	}
	requests, err := host.ControlPlane.Audit(i.User())
	if err != nil {
		t.Fatal(err)
	}
	if len(requests) < 10 {
		t.Fatalf("the audit log has %d requests of %s", len(requests), i.User())
	}
	for _, request := range requests {
		if request.Forbidden || request.Code == http.StatusUnauthorized {
			t.Errorf("refused: %+v", request)
		}
	}
}
