// Package policies tests the chart's admission policies and roles for people on a real API server: it acts as users
// with and without rights. No operator runs; its account is one of these users.
package policies_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/controlplane"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/install"
)

// patience ends what hangs.
const patience = 2 * time.Minute

var (
	cluster *controlplane.ControlPlane
	kube    client.Client
	chart   *install.Installation
)

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "cloudfront-tenant-operator-policies-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := controlplane.RunTests(m, controlplane.Options{}, func(cp *controlplane.ControlPlane) (err error) {
		cluster = cp
		ctx := context.Background()
		if chart, err = install.Install(ctx, install.Options{ControlPlane: cp, Root: "../..", Dir: dir, Values: []string{"tenancy.enabled=true", "webhook.enabled=true", "tenancy.namespaces={fence-*,kube-*,istio-system}"}}); err != nil {
			return err
		}
		if kube, err = clientAs(""); err != nil {
			return err
		}
		// Nothing but a policy keeps the operator's account from anything, as if RBAC had a hole.
		return bindCluster(ctx, "cluster-admin", chart.User())
	})
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

// clientAs is a client of a user, or of the administrator.
func clientAs(user string) (client.Client, error) {
	config := cluster.RESTConfig()
	config.Impersonate.UserName = user
	return clientOf(config)
}

func clientOf(config *rest.Config) (client.Client, error) {
	scheme, err := operator.Scheme()
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	return client.New(config, client.Options{Scheme: scheme})
}

func as(t *testing.T, user string) client.Client {
	t.Helper()
	c, err := clientAs(user)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// bindCluster gives users a ClusterRole in the whole cluster, bind in a namespace.
func bindCluster(ctx context.Context, role string, users ...string) error {
	return kube.Create(ctx, &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{GenerateName: "policies-"}, RoleRef: refTo(role), Subjects: subjects(users)})
}

func bind(t *testing.T, namespace, role string, users ...string) {
	t.Helper()
	create(t, &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{GenerateName: "policies-", Namespace: namespace}, RoleRef: refTo(role), Subjects: subjects(users)})
}

func refTo(role string) rbacv1.RoleRef {
	return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role}
}

func subjects(users []string) []rbacv1.Subject {
	var out []rbacv1.Subject
	for _, user := range users {
		out = append(out, rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user})
	}
	return out
}

func create(t *testing.T, o client.Object) {
	t.Helper()
	if err := kube.Create(t.Context(), o); err != nil {
		t.Fatalf("creating %T %s: %v", o, o.GetName(), err)
	}
}

func createNamespace(t *testing.T, name string, adjust ...func(*corev1.Namespace)) *corev1.Namespace {
	t.Helper()
	o := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, a := range adjust {
		a(o)
	}
	create(t, o)
	return o
}

// object reads a manifest.
func object(t *testing.T, manifest string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(manifest), &o.Object); err != nil {
		t.Fatalf("%v:\n%s", err, manifest)
	}
	return o
}

// refused fails unless a policy has refused it, with all of that in the message.
func refused(err error, says ...string) error {
	if err == nil {
		return fmt.Errorf("it is allowed, want that it is refused with %q", says)
	}
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "ValidatingAdmissionPolicy") {
		return fmt.Errorf("it fails, but not by a policy: %w", err)
	}
	for _, text := range says {
		if !strings.Contains(err.Error(), text) {
			return fmt.Errorf("the message lacks %q: %w", text, err)
		}
	}
	return nil
}

// eventually waits for what the API server takes up after a moment: policies, roles and bindings.
func eventually(t *testing.T, what string, check func() error) {
	t.Helper()
	gomega.NewWithT(t).Eventually(t.Context(), check).WithTimeout(patience).WithPolling(50*time.Millisecond).Should(gomega.Succeed(), what)
}
