// Package tenancy tests what customers get: their namespaces, on a real control plane with the controllers that empty
// namespaces and count quotas. The operator is the built one, installed from the chart and with the chart's rights, in a process of its own;
// all tests share it, and each has tenants and plans of its own. Those that look at the whole cluster or restart the operator run
// alone, before the others.
package tenancy_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/yaml"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/controlplane"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/install"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/module"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/process"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

const (
	// patience ends what hangs. It is far above what anything here takes.
	patience = 2 * time.Minute
	// poll is how often one looks.
	poll = 50 * time.Millisecond
	// quiet is how long nothing has to happen. A controller that does something without end does it many times in that.
	quiet = 3 * time.Second
)

var (
	host     *stack.Host
	kube     client.WithWatch
	aws      *stack.AWS
	operator *stack.Operator
)

// values are those of the chart. Whose tenants are protected the cluster says in other tests; here it is the finalizer alone.
var values = []string{
	"tenancy.enabled=true", "tenancy.deletionProtection.enabled=false",
	"tenancy.gatekeeper.constraints={testneedslabel,testneedsowner}",
}

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	// It tells of kinds that are deprecated, which a list of everything meets.
	ctrl.SetLogger(logr.Discard())
	if err := process.TestsAtOnce(16); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	dir, err := os.MkdirTemp("", "cloudfront-tenant-operator-tenancy-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	return controlplane.RunTests(withOperator{m}, controlplane.Options{Audit: true, APIServerFlags: []string{"--allow-privileged"}}, func(cp *controlplane.ControlPlane) (err error) {
		if host, err = stack.NewHost(context.Background(), cp, dir, module.OperatorRaces()); err != nil {
			return err
		}
		if host.Installation, err = host.Install(context.Background(), install.Options{Values: values}); err != nil {
			return err
		}
		if kube, err = host.Client(); err != nil {
			return err
		}
		return apiextensionsv1.AddToScheme(kube.Scheme())
	})
}

// withOperator runs the tests together with an operator.
type withOperator struct{ m *testing.M }

func (w withOperator) Run() (code int) {
	ctx := context.Background()
	s, err := host.Start(ctx, stack.Options{DeployDelay: time.Second})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		if err := s.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}()
	aws = s.AWS
	if operator, err = s.StartOperator(ctx, stack.OperatorOptions{Flags: []string{"--sweep-interval=10s"}}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return max(w.m.Run(), review(ctx))
}

// review ends the operator, and looks at what it has said.
func review(ctx context.Context) (code int) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if status, err := operator.Stop(ctx); err != nil || status != 0 {
		fmt.Fprintf(os.Stderr, "after SIGTERM the operator ended with status %d, %v\n", status, err)
		code = 1
	}
	log, err := operator.Log()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for _, alarm := range []string{"DATA RACE", "panic:", "Observed a panic"} {
		if at := strings.Index(log, alarm); at >= 0 {
			fmt.Fprintf(os.Stderr, "the operator's log has %q in it:\n%s\n", alarm, log[at:min(len(log), at+6000)])
			code = 1
		}
	}
	return code
}

// scene is one test with names of its own.
type scene struct {
	t *testing.T
	*gomega.WithT

	name string
}

func newScene(t *testing.T, name string) *scene {
	t.Helper()
	s := emptyScene(t, name)
	standing.Do(func() { s.plan("standing", "{}") })
	return s
}

// standing makes a plan that stays: in a cluster that has none, the names of plans are only labels.
var standing sync.Once

// emptyScene is for the test that needs a cluster without plans.
func emptyScene(t *testing.T, name string) *scene {
	t.Helper()
	s := &scene{t: t, WithT: gomega.NewWithT(t), name: name}
	t.Cleanup(func() {
		if !t.Failed() {
			return
		}
		log, err := operator.Log()
		if err != nil {
			t.Error(err)
		}
		lines := slices.DeleteFunc(strings.Split(log, "\n"), func(line string) bool { return !strings.Contains(line, name) })
		t.Logf("what the operator's log has of %s:\n%s", name, strings.Join(lines[max(0, len(lines)-20):], "\n"))
	})
	return s
}

// plan makes a plan. Its spec is YAML.
func (s *scene) plan(name, spec string) *kleffv1.TenantPlan {
	s.t.Helper()
	o := &kleffv1.TenantPlan{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: s.planSpec(spec)}
	s.create(o)
	return o
}

func (s *scene) planSpec(text string) (spec kleffv1.TenantPlanSpec) {
	s.t.Helper()
	if err := yaml.UnmarshalStrict([]byte(text), &spec); err != nil {
		s.t.Fatalf("reading a plan: %v", err)
	}
	return spec
}

// replan gives the plan another spec.
func (s *scene) replan(name, spec string) {
	s.t.Helper()
	change(s, &kleffv1.TenantPlan{ObjectMeta: metav1.ObjectMeta{Name: name}}, func(o *kleffv1.TenantPlan) { o.Spec = s.planSpec(spec) })
}

// tenant makes a tenant whose namespace is <name>-id. It waits for nothing.
func (s *scene) tenant(name, plan string, adjust ...func(*kleffv1.Tenant)) *kleffv1.Tenant {
	s.t.Helper()
	o := &kleffv1.Tenant{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: kleffv1.TenantSpec{Plan: plan, UserID: name + "-id", Username: name}}
	for _, a := range adjust {
		a(o)
	}
	s.create(o)
	return o
}

// settled makes a tenant that has all that its plan says.
func (s *scene) settled(name, plan string, adjust ...func(*kleffv1.Tenant)) *kleffv1.Tenant {
	s.t.Helper()
	o := s.tenant(name, plan, adjust...)
	s.says(o, kleffv1.ConditionTenantReady, "True/Ready")
	return o
}

func (s *scene) create(o client.Object) {
	s.t.Helper()
	if err := kube.Create(s.t.Context(), o); err != nil {
		s.t.Fatalf("creating %T %s: %v", o, o.GetName(), err)
	}
}

func (s *scene) delete(o client.Object) {
	s.t.Helper()
	if err := kube.Delete(s.t.Context(), o); err != nil {
		s.t.Fatalf("deleting %T %s: %v", o, o.GetName(), err)
	}
}

// change edits an object as it is now.
func change[O client.Object](s *scene, o O, edit func(O)) {
	s.t.Helper()
	s.read(o)
	base := o.DeepCopyObject().(O)
	edit(o)
	if err := kube.Patch(s.t.Context(), o, client.MergeFrom(base)); err != nil {
		s.t.Fatalf("changing %T %s: %v", o, o.GetName(), err)
	}
}

// read reads an object that is there.
func (s *scene) read(o client.Object) {
	s.t.Helper()
	if err := kube.Get(s.t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
		s.t.Fatalf("reading %T %s: %v", o, o.GetName(), err)
	}
}

// eventually waits for a state of the world.
func (s *scene) eventually(check func(g gomega.Gomega)) {
	s.t.Helper()
	s.Eventually(s.t.Context(), check).WithTimeout(patience).WithPolling(poll).Should(gomega.Succeed())
}

// consistently wants a state of the world to stay.
func (s *scene) consistently(check func(g gomega.Gomega)) {
	s.t.Helper()
	s.Consistently(s.t.Context(), check).WithTimeout(quiet).WithPolling(poll).Should(gomega.Succeed())
}

// appears waits for an object.
func (s *scene) appears(o client.Object) {
	s.t.Helper()
	s.eventually(func(g gomega.Gomega) {
		g.Expect(kube.Get(s.t.Context(), client.ObjectKeyFromObject(o), o)).To(gomega.Succeed())
	})
}

// gone waits until an object is gone.
func (s *scene) gone(objects ...client.Object) {
	s.t.Helper()
	for _, o := range objects {
		s.eventually(func(g gomega.Gomega) {
			err := kube.Get(s.t.Context(), client.ObjectKeyFromObject(o), o)
			g.Expect(apierrors.IsNotFound(err)).To(gomega.BeTrue(), "%T %s is still there (%v)", o, o.GetName(), err)
		})
	}
}

// says waits until a condition is Status/Reason, and its message has the texts.
func (s *scene) says(o client.Object, kind, want string, texts ...string) {
	s.t.Helper()
	s.eventually(func(g gomega.Gomega) {
		g.Expect(kube.Get(s.t.Context(), client.ObjectKeyFromObject(o), o)).To(gomega.Succeed())
		c := condition(o, kind)
		g.Expect(stated(c)).To(gomega.Equal(want), "%s: %s", kind, c.Message)
		for _, text := range texts {
			g.Expect(c.Message).To(gomega.ContainSubstring(text))
		}
	})
}

// told wants an event about an object without a namespace.
func (s *scene) told(o client.Object, reason, text string) {
	s.t.Helper()
	s.eventually(func(g gomega.Gomega) {
		var events eventsv1.EventList
		g.Expect(kube.List(s.t.Context(), &events, client.InNamespace(metav1.NamespaceDefault))).To(gomega.Succeed())
		var notes []string
		for _, e := range events.Items {
			if e.Regarding.UID == o.GetUID() && e.Reason == reason {
				notes = append(notes, e.Note)
			}
		}
		g.Expect(notes).To(gomega.ContainElement(gomega.ContainSubstring(text)))
	})
}

// keepsSaying wants a condition to stay as it is.
func (s *scene) keepsSaying(o client.Object, kind, want string) {
	s.t.Helper()
	s.says(o, kind, want)
	s.consistently(func(g gomega.Gomega) {
		g.Expect(kube.Get(s.t.Context(), client.ObjectKeyFromObject(o), o)).To(gomega.Succeed())
		g.Expect(stated(condition(o, kind))).To(gomega.Equal(want))
	})
}

func stated(c metav1.Condition) string { return string(c.Status) + "/" + c.Reason }

// condition is empty where there is none of that type.
func condition(o client.Object, kind string) metav1.Condition {
	if c := meta.FindStatusCondition(conditionsOf(o), kind); c != nil {
		return *c
	}
	return metav1.Condition{}
}

func conditionsOf(o client.Object) []metav1.Condition {
	switch o := o.(type) {
	case *kleffv1.Tenant:
		return o.Status.Conditions
	case *kleffv1.TenantPlan:
		return o.Status.Conditions
	case *v1alpha1.DistributionTenant:
		return o.Status.Conditions
	}
	return nil
}

// tenant and plan name objects that exist.
func tenant(name string) *kleffv1.Tenant {
	return &kleffv1.Tenant{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func plan(name string) *kleffv1.TenantPlan {
	return &kleffv1.TenantPlan{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func namespace(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// in names what an object in a namespace is.
func in(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name}
}

// stuck is an object that keeps its namespace from going, until let says that it may.
func (s *scene) stuck(namespace string) (let func()) {
	s.t.Helper()
	const finalizer = "example.com/stuck"
	o := &corev1.ConfigMap{ObjectMeta: in(namespace, "stuck")}
	o.Finalizers = []string{finalizer}
	s.create(o)
	return func() {
		s.t.Helper()
		change(s, o, func(o *corev1.ConfigMap) { controllerutil.RemoveFinalizer(o, finalizer) })
	}
}

// pod is one that is never run.
func pod(namespace, name string, adjust ...func(*corev1.Pod)) *corev1.Pod {
	o := &corev1.Pod{ObjectMeta: in(namespace, name), Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "registry.example.com/main"}}}}
	for _, a := range adjust {
		a(o)
	}
	return o
}

// may asks whether a user may do something with pods.
func (s *scene) may(user, verb, namespace string) bool {
	s.t.Helper()
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user, ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: verb, Resource: "pods", Namespace: namespace},
	}}
	s.create(review)
	return review.Status.Allowed
}
