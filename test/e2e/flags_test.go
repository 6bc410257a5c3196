package e2e_test

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

// A flag that can't be ends the operator at once, and says which, what and how else.
func TestBadFlags(t *testing.T) {
	t.Parallel()
	s := newScene(t, stack.Options{WithoutAWS: true})
	for flag, cure := range map[string]string{
		"--drift-policy=sometimes":            "enforce, report or suspend",
		"--sweep-interval=soon":               "duration",
		"--default-tags=team":                 "key=value",
		"--aws-rate=NaN":                      "above 0",
		"--metrics-bind-address=nowhere":      "host:port",
		"--health-probe-bind-address=nowhere": "host:port",
		"leftover":                            "--help",
	} {
		t.Run(flag, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			cmd := exec.CommandContext(ctx, host.Binary("operator"), flag)
			cmd.Env = s.Env(nil)
			out, err := cmd.CombinedOutput()
			exit, ok := errors.AsType[*exec.ExitError](err)
			if !ok || exit.ExitCode() != 2 {
				t.Errorf("it ends with %v, want exit status 2", err)
			}
			name, value, _ := strings.Cut(strings.TrimLeft(flag, "-"), "=")
			for _, want := range []string{name, value, cure} {
				if !strings.Contains(string(out), want) {
					t.Errorf("it prints, without %q:\n%s", want, out)
				}
			}
		})
	}
}

func TestWatchNamespaces(t *testing.T) {
	t.Parallel()
	s := newScene(t, stack.Options{})
	s.operator(stack.OperatorOptions{})
	other := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-unwatched-"}}
	if err := kube.Create(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	unseen := s.tenant("unseen", func(o *v1alpha1.DistributionTenant) { o.Namespace = other.Name })
	s.apply(unseen)
	s.apply(s.tenant("seen"))
	s.ready("seen")
	// An operator that sees both would have begun with the older one.
	if tenants := s.inAWS(); len(tenants) != 1 {
		t.Errorf("AWS has %d tenants, want the one of the watched namespace", len(tenants))
	}
	if err := kube.Delete(t.Context(), unseen); err != nil {
		t.Fatal(err)
	}
	s.eventually(func(g gomega.Gomega) {
		g.Expect(host.Kubectl(t.Context(), "-n", other.Name, "get", "cfdt", "-o", "name")).To(gomega.Equal(""), "an object without our finalizer")
	})
}

func TestDefaultTags(t *testing.T) {
	t.Parallel()
	s := newScene(t, stack.Options{})
	s.operator(stack.OperatorOptions{Flags: []string{"--default-tags=team=edge,stage=test", "--cluster-id=e2e", "--cluster-check=false"}})
	s.apply(s.tenant("acme", func(o *v1alpha1.DistributionTenant) {
		o.Spec.Tags = []v1alpha1.Tag{{Key: "stage", Value: "of the object"}}
	}))
	s.ready("acme")
	want := map[string]string{
		"team": "edge", "stage": "of the object",
		"cloudfront-tenant-operator.io/cluster": "e2e", "cloudfront-tenant-operator.io/namespace": s.namespace,
		"cloudfront-tenant-operator.io/name": "acme", "cloudfront-tenant-operator.io/uid": string(s.get("acme").UID),
	}
	if diff := cmp.Diff(want, s.inAWS()["acme"].Tags); diff != "" {
		t.Errorf("the tenant's tags (-want +got):\n%s", diff)
	}
}

// Under report nothing is set back; what differs is said.
func TestDriftPolicyReport(t *testing.T) {
	t.Parallel()
	s := newScene(t, stack.Options{})
	op := s.operator(stack.OperatorOptions{Flags: []string{"--drift-policy=report", "--sweep-interval=10s"}})
	s.apply(s.tenant("acme"))
	s.ready("acme")
	s.eventually(func(g gomega.Gomega) {
		g.Expect(s.metrics(op).Sum("cloudfront_tenant_operator_inventory_in_flight")).To(gomega.BeZero())
	})
	if err := s.AWS.Disable(t.Context(), "acme"); err != nil {
		t.Fatal(err)
	}
	s.reaches("acme", v1alpha1.ConditionSynced, "False/DriftDetected")
	want := []v1alpha1.DriftedField{{Field: "enabled", Desired: "true", Observed: "false"}}
	if diff := cmp.Diff(want, s.get("acme").Status.Drift); diff != "" {
		t.Errorf("status.drift (-want +got):\n%s", diff)
	}
	if n := s.calls()["UpdateDistributionTenant"].Total; n != 1 || s.inAWS()["acme"].Enabled {
		t.Errorf("%d updates, want only the one behind the operator's back", n)
	}
}
