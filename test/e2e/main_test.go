// Package e2e tests what an installation runs: the built operator, as a process, on a
// real control plane and against the simulated AWS as another process. Nothing is asserted
// on time: the deadlines are there so that a test that hangs ends.
package e2e_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/controlplane"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/module"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/process"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

// patience ends what hangs. It is far above what anything here takes, also where many tests share a slow machine.
const patience = 10 * time.Minute

var (
	host *stack.Host
	kube client.WithWatch
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if err := process.TestsAtOnce(4); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	dir, err := os.MkdirTemp("", "cloudfront-tenant-operator-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	return controlplane.RunTests(m, controlplane.Options{}, func(cp *controlplane.ControlPlane) (err error) {
		if host, err = stack.NewHost(context.Background(), cp, dir, module.OperatorRaces()); err != nil {
			return err
		}
		kube, err = host.Client()
		return err
	})
}

// scene is one test's namespace and stack.
type scene struct {
	t *testing.T
	*stack.Stack

	namespace string
}

// newScene starts a simulated AWS; the test starts its operators.
func newScene(t *testing.T, o stack.Options) *scene {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-"}}
	if err := kube.Create(t.Context(), ns); err != nil {
		t.Fatalf("creating a namespace: %v", err)
	}
	s := &scene{t: t, namespace: ns.Name}
	var err error
	if s.Stack, err = host.Start(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.leave)
	return s
}

// leave lets no object behind that the next test's operator could find.
func (s *scene) leave() {
	if err := s.Stop(); err != nil {
		s.t.Error(err)
	}
	for _, o := range s.Operators() {
		log, err := o.Log()
		if err != nil {
			s.t.Error(err)
		}
		for _, alarm := range []string{"DATA RACE", "panic:", "Observed a panic"} {
			if strings.Contains(log, alarm) {
				s.t.Errorf("the operator's log has %q in it", alarm)
			}
		}
		isJSON(s.t, log)
		if s.t.Failed() {
			s.t.Logf("the end of the operator's log:\n%s", log[max(0, len(log)-6000):])
		}
	}
	ctx := context.Background() // the test's own has ended
	for _, list := range []client.ObjectList{&v1alpha1.DistributionTenantList{}, &v1alpha1.DistributionList{}, &v1alpha1.ConnectionGroupList{}, &v1alpha1.InvalidationList{}} {
		if err := kube.List(ctx, list, client.InNamespace(s.namespace)); err != nil {
			s.t.Error(err)
		}
		if err := meta.EachListItem(list, func(o runtime.Object) error { return remove(ctx, o.(client.Object)) }); err != nil {
			s.t.Error(err)
		}
	}
}

// remove deletes an object that no controller takes care of.
func remove(ctx context.Context, o client.Object) error {
	base := o.DeepCopyObject().(client.Object)
	o.SetFinalizers(nil)
	err := kube.Delete(ctx, o)
	if err == nil {
		err = kube.Patch(ctx, o, client.MergeFrom(base))
	}
	return client.IgnoreNotFound(err)
}

// operator starts one that sees this namespace only, unless the flags say otherwise.
func (s *scene) operator(o stack.OperatorOptions) *stack.Operator {
	s.t.Helper()
	o.Flags = append([]string{"--watch-namespaces=" + s.namespace}, o.Flags...)
	op, err := s.StartOperator(s.t.Context(), o)
	if err != nil {
		s.t.Fatal(err)
	}
	return op
}

// stop sends SIGTERM and wants status 0.
func (s *scene) stop(op *stack.Operator) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	status, err := op.Stop(ctx)
	if err != nil {
		s.t.Fatal(err)
	}
	if status != 0 {
		s.t.Errorf("after SIGTERM the operator ended with status %d, want 0", status)
	}
}

func (s *scene) start(op *stack.Operator) {
	s.t.Helper()
	if err := op.Start(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

// eventually waits for a condition on the API server or the simulated AWS.
func (s *scene) eventually(check func(g gomega.Gomega)) {
	s.t.Helper()
	gomega.NewWithT(s.t).Eventually(s.t.Context(), check).WithTimeout(patience).WithPolling(100 * time.Millisecond).Should(gomega.Succeed())
}

// tenant builds an object with the domain <name>.example.com.
func (s *scene) tenant(name string, change ...func(*v1alpha1.DistributionTenant)) *v1alpha1.DistributionTenant {
	o := &v1alpha1.DistributionTenant{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name},
		Spec: v1alpha1.DistributionTenantSpec{
			DistributionID: stack.DistributionID,
			Domains:        []v1alpha1.TenantDomain{{Domain: name + ".example.com"}},
		},
	}
	for _, c := range change {
		c(o)
	}
	return o
}

func (s *scene) apply(o *v1alpha1.DistributionTenant) {
	s.t.Helper()
	if err := kube.Create(s.t.Context(), o); err != nil {
		s.t.Fatalf("creating %s: %v", o.Name, err)
	}
}

func (s *scene) get(name string) *v1alpha1.DistributionTenant {
	s.t.Helper()
	o := &v1alpha1.DistributionTenant{}
	if err := kube.Get(s.t.Context(), client.ObjectKey{Namespace: s.namespace, Name: name}, o); err != nil {
		s.t.Fatalf("reading %s: %v", name, err)
	}
	return o
}

// condition renders a condition as Status/Reason.
func (s *scene) condition(name, conditionType string) string {
	s.t.Helper()
	c := meta.FindStatusCondition(s.get(name).Status.Conditions, conditionType)
	if c == nil {
		return "none"
	}
	return string(c.Status) + "/" + c.Reason
}

// reaches waits until a condition is Status/Reason.
func (s *scene) reaches(name, conditionType, want string) {
	s.t.Helper()
	s.eventually(func(g gomega.Gomega) { g.Expect(s.condition(name, conditionType)).To(gomega.Equal(want), name) })
}

func (s *scene) ready(names ...string) {
	s.t.Helper()
	for _, name := range names {
		s.reaches(name, v1alpha1.ConditionReady, "True/Deployed")
	}
}

// inAWS lists the tenants by name.
func (s *scene) inAWS() map[string]sim.TenantState {
	s.t.Helper()
	tenants, err := s.AWS.Tenants(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	out := map[string]sim.TenantState{}
	for _, t := range tenants {
		if _, twice := out[t.Name]; twice {
			s.t.Errorf("two tenants are named %s", t.Name)
		}
		out[t.Name] = t
	}
	return out
}

func (s *scene) calls() stack.Calls {
	s.t.Helper()
	calls, err := s.AWS.Calls(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return calls
}

func (s *scene) fault(f sim.Fault) {
	s.t.Helper()
	if err := s.AWS.AddFault(s.t.Context(), f); err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) seed(seed sim.Seed) {
	s.t.Helper()
	if err := s.AWS.Seed(s.t.Context(), seed); err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) metrics(op *stack.Operator) stack.Metrics {
	s.t.Helper()
	m, err := op.Metrics(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return m
}

func (s *scene) kubectl(args ...string) string {
	s.t.Helper()
	out, err := host.Kubectl(s.t.Context(), append([]string{"-n", s.namespace}, args...)...)
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

// without copies a map without some keys.
func without(m map[string]int, keys ...string) map[string]int {
	out := maps.Clone(m)
	for _, k := range keys {
		delete(out, k)
	}
	return out
}
