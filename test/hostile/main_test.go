// Package hostile tests what must not happen: the built operator, on a real control plane and against the simulated AWS,
// with people and systems around it that make mistakes or mean harm.
package hostile_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/controlplane"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/install"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/module"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

var (
	host *stack.Host
	kube client.WithWatch
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "cloudfront-tenant-operator-hostile-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	return controlplane.RunTests(m, controlplane.Options{APIServerFlags: []string{"--allow-privileged"}}, func(cp *controlplane.ControlPlane) (err error) {
		if host, err = stack.NewHost(context.Background(), cp, dir, module.RaceDetector); err != nil {
			return err
		}
		if host.Installation, err = host.Install(context.Background(), install.Options{Values: []string{"tenancy.enabled=true"}}); err != nil {
			return err
		}
		kube, err = host.Client()
		return err
	})
}

// budget is where the operators remember which deletions they have let go, and which plans are held.
var budget = client.ObjectKey{Namespace: install.Namespace, Name: "cloudfront-tenant-operator-deletion-budget"}

// forget deletes what a test has made in these namespaces, once its operator has ended and its AWS is gone, and what that operator
// remembers of them: the operators of the tests after it would create all of it again, and keep its plans. It has to be called
// before the operator starts, which would put the finalizers back.
func forget(t *testing.T, namespaces ...string) {
	t.Helper()
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		for _, namespace := range namespaces {
			var sources v1alpha1.TenantSourceList
			var tenants v1alpha1.DistributionTenantList
			var parents v1alpha1.DistributionList
			var objects []client.Object
			for _, list := range []client.ObjectList{&sources, &tenants, &parents} {
				if err := kube.List(ctx, list, client.InNamespace(namespace)); err != nil {
					t.Error(err)
				}
			}
			for i := range sources.Items {
				objects = append(objects, &sources.Items[i])
			}
			for i := range tenants.Items {
				objects = append(objects, &tenants.Items[i])
			}
			for i := range parents.Items {
				objects = append(objects, &parents.Items[i])
			}
			for _, o := range objects {
				o.SetFinalizers(nil)
				if err := errors.Join(kube.Update(ctx, o), client.IgnoreNotFound(kube.Delete(ctx, o))); err != nil {
					t.Error(err)
				}
			}
		}
		memory := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: budget.Namespace, Name: budget.Name}}
		if err := client.IgnoreNotFound(kube.Delete(ctx, memory)); err != nil {
			t.Error(err)
		}
	})
}
