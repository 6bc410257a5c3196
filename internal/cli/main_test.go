package cli_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/controlplane"
)

// plane is the control plane of this package, and admin a user who may do everything in it.
var (
	plane *controlplane.ControlPlane
	admin client.Client
)

func TestMain(m *testing.M) {
	os.Exit(controlplane.RunTests(m, controlplane.Options{}, func(cp *controlplane.ControlPlane) (err error) {
		plane = cp
		log.SetLogger(logr.Discard())
		scheme := runtime.NewScheme()
		for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme, kleffv1.AddToScheme} {
			if err := add(scheme); err != nil {
				return err
			}
		}
		if admin, err = client.New(cp.RESTConfig(), client.Options{Scheme: scheme}); err != nil {
			return err
		}
		crds := filepath.Join("..", "..", "config", "crd")
		_, err = controlplane.InstallCRDs(cp.RESTConfig(), envtest.CRDInstallOptions{Paths: []string{crds}, ErrorIfPathMissing: true})
		return err
	}))
}

// now is when all commands of these tests run: about 26 hours after their objects were created.
var now = time.Now().UTC().Truncate(time.Second).Add(26*time.Hour + 30*time.Minute)

// result is what a run of the command printed.
type result struct {
	out, err string
	failure  error
}

// command runs the command as a user would, who types the input.
func command(t *testing.T, input string, args ...string) result {
	t.Helper()
	return commandAt(t, plane.Kubeconfig(), input, args...)
}

// commandAt runs the command in another cluster.
func commandAt(t *testing.T, kubeconfig, input string, args ...string) result {
	t.Helper()
	var out, errOut bytes.Buffer
	c := cli.New(cli.Options{
		Streams:    genericiooptions.IOStreams{In: strings.NewReader(input), Out: &out, ErrOut: &errOut},
		Kubeconfig: kubeconfig, Clock: clocktesting.NewFakePassiveClock(now), Version: "1.2.3",
	})
	c.SetArgs(args)
	err := c.ExecuteContext(t.Context())
	return result{out.String(), errOut.String(), err}
}

// prints runs a command that has to succeed, and returns what it printed.
func prints(t *testing.T, args ...string) string {
	t.Helper()
	r := command(t, "", args...)
	if r.failure != nil {
		t.Fatalf("kubectl cfdt %s: %v", strings.Join(args, " "), r.failure)
	}
	return r.out
}

// shows checks that a text has all the parts.
func shows(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%q is missing in:\n%s", p, text)
		}
	}
}

// namespace makes one that the test has for itself.
func namespace(t *testing.T) string {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "cli-"}}
	create(t, ns)
	return ns.Name
}

func create(t *testing.T, o client.Object) {
	t.Helper()
	if err := admin.Create(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		//nolint:usetesting // the test's own context has ended
		_ = client.IgnoreNotFound(admin.Delete(context.Background(), o))
	})
}

// tenant creates an object with a status as the operator writes it.
func tenant(t *testing.T, ns, name string, change func(*v1alpha1.DistributionTenant)) *v1alpha1.DistributionTenant {
	t.Helper()
	o := &v1alpha1.DistributionTenant{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name},
		Spec:       v1alpha1.DistributionTenantSpec{DistributionID: "E2EXAMPLE1", Domains: []v1alpha1.TenantDomain{{Domain: name + ".example.com"}}},
	}
	create(t, o)
	if change == nil {
		return o
	}
	change(o)
	if err := admin.Status().Update(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	return o
}

// condition is one that has been so for a while.
func condition(kind string, status metav1.ConditionStatus, reason, message string, since time.Duration) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message, ObservedGeneration: 1, LastTransitionTime: metav1.NewTime(now.Add(-since))}
}

// ready, waiting and stuck are statuses.
func ready(o *v1alpha1.DistributionTenant) {
	o.Status.ID, o.Status.DistributionID, o.Status.DistributionTenantStatus, o.Status.AppliedGeneration = "dt_"+o.Name, "E2EXAMPLE1", "Deployed", new(int64(1))
	o.Status.Conditions = []metav1.Condition{
		condition("Ready", metav1.ConditionTrue, "Deployed", "Deployed and serving.", 48*time.Hour),
		condition("Synced", metav1.ConditionTrue, "InSync", "AWS matches the spec.", 48*time.Hour),
	}
}

func waiting(o *v1alpha1.DistributionTenant) {
	o.Status.DistributionID = "E2EXAMPLE1"
	o.Status.Conditions = []metav1.Condition{condition("Ready", metav1.ConditionFalse, "Deploying", "CloudFront deploys the tenant.", 3*time.Minute)}
}

func stuck(o *v1alpha1.DistributionTenant) {
	message := "www.example.com is used by another distribution tenant."
	o.Status.DistributionID = "E2EXAMPLE1"
	o.Status.Failure = &v1alpha1.Failure{Reason: "DomainConflict", Generation: 1, Since: metav1.NewTime(now.Add(-3 * time.Hour))}
	o.Status.Conditions = []metav1.Condition{
		condition("Ready", metav1.ConditionFalse, "DomainConflict", message, 3*time.Hour),
		condition("Stalled", metav1.ConditionTrue, "DomainConflict", message, 3*time.Hour),
		condition("Synced", metav1.ConditionFalse, "UpdatePending", "Not in AWS yet: domains.", 3*time.Hour),
	}
}
