package hostile_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

var size = flag.Int("tenants", 40, "number of tenants that a mistake deletes")

// patience ends what hangs. A large fleet takes longer.
func patience() time.Duration { return 3*time.Minute + time.Duration(*size)*100*time.Millisecond }

const crd = "distributiontenants.cloudfront-tenant-operator.io"

// fleet is a namespace of tenants that serve, and their operator with its deletion budget.
type fleet struct {
	t *testing.T
	*stack.Stack

	tenants   *stack.Fleet
	operator  *stack.Operator
	namespace string
	// shape is what the tenants have in addition; nil: nothing.
	shape func(*v1alpha1.DistributionTenant)
}

// newFleet creates the tenants, and waits until all serve. The flags win over those of a fleet.
func newFleet(t *testing.T, namespace string, flags ...string) *fleet {
	t.Helper()
	return newShapedFleet(t, namespace, nil, flags...)
}

func newShapedFleet(t *testing.T, namespace string, shape func(*v1alpha1.DistributionTenant), flags ...string) *fleet {
	t.Helper()
	forget(t, namespace)
	f := &fleet{t: t, namespace: namespace, shape: shape}
	var err error
	if f.Stack, err = host.Start(t.Context(), stack.Options{}); err != nil {
		t.Fatal(err)
	}
	if err := f.AWS.AllowTenants(t.Context(), max(10_000, 2**size)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Stop(); err != nil {
			t.Error(err)
		}
		if log, err := f.operator.Log(); err == nil && (t.Failed() || strings.Contains(log, "DATA RACE") || strings.Contains(log, "panic")) {
			t.Errorf("the end of the operator's log:\n%s", log[max(0, len(log)-6000):])
		}
	})
	// A large fleet takes people longer to delete.
	settle := 2*time.Second + time.Duration(*size)*time.Millisecond
	f.operator, err = f.StartOperator(t.Context(), stack.OperatorOptions{Flags: append([]string{
		"--deletion-budget=true", "--deletion-budget-settle=" + settle.String(), "--aws-rate=200", "--aws-burst=200", "--route53-rate=50", "--route53-burst=50", "--sweep-interval=10s",
	}, flags...)})
	if err != nil {
		t.Fatal(err)
	}
	f.create()
	return f
}

// create applies the namespace and all objects, and waits until they are Ready.
func (f *fleet) create() {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), patience())
	defer cancel()
	err := kube.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: f.namespace}})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		f.t.Fatal(err)
	}
	if f.tenants, err = stack.NewFleet(ctx, kube, f.namespace, "t", *size); err != nil {
		f.t.Fatal(err)
	}
	defer f.tenants.Close()
	f.tenants.Shape = func(o *v1alpha1.DistributionTenant) {
		o.Spec.DNS = &v1alpha1.DNS{Provider: v1alpha1.DNSProviderRoute53}
		if f.shape != nil {
			f.shape(o)
		}
	}
	if err := f.tenants.Create(ctx); err != nil {
		f.t.Fatal(err)
	}
	if err := f.tenants.WaitReady(ctx); err != nil {
		f.t.Fatal(err)
	}
}

// eventually waits until the check succeeds. Most checks list all objects, so that a large fleet is looked at less often.
func (f *fleet) eventually(check func(g gomega.Gomega)) {
	f.t.Helper()
	pause := 200*time.Millisecond + time.Duration(*size)*500*time.Microsecond
	gomega.NewWithT(f.t).Eventually(f.t.Context(), check).WithTimeout(patience()).WithPolling(pause).Should(gomega.Succeed())
}

func (f *fleet) objects(g gomega.Gomega) []v1alpha1.DistributionTenant {
	var list v1alpha1.DistributionTenantList
	err := kube.List(f.t.Context(), &list, client.InNamespace(f.namespace))
	if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
		return nil
	}
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return list.Items
}

// held waits until n objects say that they are held, and returns the plan.
func (f *fleet) held(n int) (plan string) {
	f.t.Helper()
	f.eventually(func(g gomega.Gomega) {
		objects := slices.DeleteFunc(f.objects(g), func(o v1alpha1.DistributionTenant) bool {
			return o.DeletionTimestamp.IsZero() && (o.Spec.Enabled == nil || *o.Spec.Enabled)
		})
		g.Expect(objects).To(gomega.HaveLen(n))
		for i := range objects {
			ready := meta.FindStatusCondition(objects[i].Status.Conditions, v1alpha1.ConditionReady)
			g.Expect(ready.Reason).To(gomega.Equal(v1alpha1.ReasonDeletionHeld), "%s: %s", objects[i].Name, ready.Message)
			g.Expect(meta.IsStatusConditionTrue(objects[i].Status.Conditions, v1alpha1.ConditionStalled)).To(gomega.BeTrue())
			_, rest, found := strings.Cut(ready.Message, "This is plan ")
			g.Expect(found).To(gomega.BeTrue(), ready.Message)
			plan, _, _ = strings.Cut(rest, ".")
		}
	})
	f.eventually(func(g gomega.Gomega) {
		m, err := f.operator.Metrics(f.t.Context())
		g.Expect(err).NotTo(gomega.HaveOccurred())
		const holds = "cloudfront_tenant_operator_deletions_held"
		g.Expect(m.Sum(holds)).To(gomega.BeEquivalentTo(n), "%v", m.Series(holds))
	})
	return plan
}

// manifests writes tenants as people keep them in Git, and returns the file.
func (f *fleet) manifests(tenants []v1alpha1.DistributionTenant, change func(*v1alpha1.DistributionTenant)) string {
	f.t.Helper()
	var text strings.Builder
	for _, o := range tenants {
		o = v1alpha1.DistributionTenant{
			TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: "DistributionTenant"},
			ObjectMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: o.Name}, Spec: *o.Spec.DeepCopy(),
		}
		if change != nil {
			change(&o)
		}
		document, err := yaml.Marshal(o)
		if err != nil {
			f.t.Fatal(err)
		}
		text.WriteString("---\n" + string(document))
	}
	return writeFile(f.t, "tenants.yaml", text.String())
}

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func (f *fleet) kubectl(args ...string) {
	f.t.Helper()
	if out, err := host.Kubectl(f.t.Context(), append([]string{"--namespace", f.namespace}, args...)...); err != nil {
		f.t.Fatalf("%v: %s", err, out)
	}
}

// prune applies the tenants as ten applications, and then all of these without tenants: kubectl deletes five objects a
// second, so that a large fleet needs more than one.
func (f *fleet) prune() {
	f.t.Helper()
	application := func(o *v1alpha1.DistributionTenant) string { return f.namespace + "-" + o.Name[len(o.Name)-1:] }
	f.kubectl("apply", "-f", f.manifests(f.objects(gomega.NewWithT(f.t)), func(o *v1alpha1.DistributionTenant) { o.Labels = map[string]string{"app": application(o)} }))
	group, ctx := errgroup.WithContext(f.t.Context())
	for digit := range 10 {
		app := fmt.Sprintf("%s-%d", f.namespace, digit)
		left := writeFile(f.t, "left.yaml", fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: left-%d, labels: {app: %s}}\n", digit, app))
		group.Go(func() error {
			out, err := host.Kubectl(ctx, "--namespace", f.namespace, "apply", "-f", left, "--prune", "-l", "app="+app,
				"--prune-allowlist=core/v1/ConfigMap", "--prune-allowlist=cloudfront-tenant-operator.io/v1alpha1/DistributionTenant", "--wait=false")
			if err != nil {
				return fmt.Errorf("%w: %s", err, out)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		f.t.Fatal(err)
	}
}

// gone waits until no object is left.
func (f *fleet) gone() {
	f.t.Helper()
	f.eventually(func(g gomega.Gomega) { g.Expect(f.objects(g)).To(gomega.BeEmpty()) })
}

// answer sets an annotation of the ConfigMap, as the message says.
func (f *fleet) answer(annotation, plan string) {
	f.t.Helper()
	if out, err := host.Kubectl(f.t.Context(), "-n", budget.Namespace, "annotate", "configmap", budget.Name, annotation+"="+plan, "--overwrite"); err != nil {
		f.t.Fatalf("%v: %s", err, out)
	}
}

// changes are the calls that have changed anything in AWS, without those of tags.
func (f *fleet) changes(since uint64) (changes []string, tags int, last uint64) {
	f.t.Helper()
	entries, err := f.AWS.Journal(f.t.Context(), since)
	if err != nil {
		f.t.Fatal(err)
	}
	last = since
	for _, e := range entries {
		last = max(last, e.Seq)
		switch {
		case !e.Mutating:
		case e.Operation == "TagResource":
			tags++
		default:
			changes = append(changes, fmt.Sprintf("%s %s %s", e.Operation, e.Name, e.Code))
		}
	}
	return changes, tags, last
}

// tenantsInAWS are what AWS serves, without what changes when tags do.
func (f *fleet) tenantsInAWS() map[string]sim.TenantState {
	f.t.Helper()
	list, err := f.AWS.Tenants(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	out := map[string]sim.TenantState{}
	for _, s := range list {
		s.Tags = nil
		out[s.Name] = s
	}
	return out
}

// However a fleet is deleted, nothing is changed in AWS before an administrator has approved it. Tenants that were
// deleted by mistake are as before once their objects are back.
func TestAFleetIsNotDeletedByMistake(t *testing.T) {
	f := newFleet(t, "shop")
	before, ctx := f.tenantsInAWS(), t.Context()
	for _, mistake := range []struct {
		name    string
		make    func()
		restore func()
	}{
		{"a selector", func() { f.kubectl("delete", "cfdt", "--all", "--wait=false") }, func() {}},
		{"while the operator is away", func() {
			if _, err := f.operator.Stop(ctx); err != nil {
				f.t.Fatal(err)
			}
			if err := kube.DeleteAllOf(ctx, &v1alpha1.DistributionTenant{}, client.InNamespace(f.namespace)); err != nil {
				f.t.Fatal(err)
			}
			if err := f.operator.Start(ctx); err != nil {
				f.t.Fatal(err)
			}
		}, func() {}},
		{"a prune of all applications", f.prune, func() {}},
		{"Helm releases", f.uninstall, func() {}},
		{"the CRD", f.deleteCRD, f.reinstall},
	} {
		passed := t.Run(mistake.name, func(sub *testing.T) {
			f.t = sub
			f.survives(mistake.make, mistake.restore, before)
		})
		if f.t = t; !passed {
			return
		}
	}
	t.Run("a namespace", func(sub *testing.T) {
		f.t = sub
		defer func() { f.t = t }()
		f.deleteOnPurpose()
	})
}

// survives makes a mistake, lets the objects go without what they stand for, and creates them again.
func (f *fleet) survives(mistake, restore func(), before map[string]sim.TenantState) {
	f.t.Helper()
	_, _, last := f.changes(0)
	mistake()
	plan := f.held(*size)
	if changes, tags, _ := f.changes(last); len(changes)+tags > 0 {
		f.t.Fatalf("%d calls change AWS, and %d tags, such as %s", len(changes), tags, changes[:min(3, len(changes))])
	}
	f.answer(v1alpha1.AnnotationAbandonDeletions, plan)
	f.gone()
	if changes, tags, _ := f.changes(last); len(changes)+tags > 0 {
		f.t.Errorf("letting the objects go changes AWS: %v, %d tags", changes, tags)
	}
	restore()
	f.create()
	if changes, tags, _ := f.changes(last); len(changes) > 0 || tags != *size {
		f.t.Errorf("taking the tenants over again takes %d calls that change AWS, such as %v, and %d tags, want %d", len(changes), changes[:min(3, len(changes))], tags, *size)
	}
	if d := cmp.Diff(before, f.tenantsInAWS()); d != "" {
		f.t.Errorf("the tenants in AWS (-before +after):\n%s", d)
	}
}

// ofARelease is how many tenants a Helm release has at most: Helm deletes all of its objects at the same time.
const ofARelease = 1000

// uninstall deletes the tenants with their Helm releases.
func (f *fleet) uninstall() {
	f.t.Helper()
	helm := func(args ...string) {
		f.t.Helper()
		if out, err := host.Helm(f.t.Context(), append(args, "--namespace", f.namespace, "--qps=1000", "--burst-limit=1000")...); err != nil {
			f.t.Fatalf("helm %s: %s", args[0], out)
		}
	}
	var releases []string
	for tenants := range slices.Chunk(f.objects(gomega.NewWithT(f.t)), ofARelease) {
		name := fmt.Sprintf("fleet-%d", len(releases))
		helm("install", name, f.chart(name, tenants), "--take-ownership")
		releases = append(releases, name)
	}
	for _, name := range releases {
		helm("uninstall", name, "--wait=hookOnly")
	}
}

// chart writes a Helm chart of tenants, and returns its directory.
func (f *fleet) chart(name string, tenants []v1alpha1.DistributionTenant) string {
	f.t.Helper()
	dir := f.t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "templates"), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.Rename(f.manifests(tenants, nil), filepath.Join(dir, "templates", "tenants.yaml")); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "Chart.yaml"), fmt.Appendf(nil, "apiVersion: v2\nname: %s\nversion: 1.0.0\n", name), 0o600); err != nil {
		f.t.Fatal(err)
	}
	return dir
}

// deleteCRD deletes the definition of the tenants, which is refused until it is asked for.
func (f *fleet) deleteCRD() {
	f.t.Helper()
	out, err := host.Kubectl(f.t.Context(), "delete", "crd", crd, "--wait=false")
	if allow := "kubectl annotate crd " + crd + " cloudfront-tenant-operator.io/allow-deletion=true"; err == nil || !strings.Contains(out+err.Error(), allow) {
		f.t.Fatalf("deleting the CRD: %v %s, want that it is refused and says %q", err, out, allow)
	}
	f.kubectl("annotate", "crd", crd, v1alpha1.GroupName+"/allow-deletion=true")
	f.kubectl("delete", "crd", crd, "--wait=false")
}

// deleteOnPurpose deletes the namespace, which is no mistake.
func (f *fleet) deleteOnPurpose() {
	f.t.Helper()
	_, _, last := f.changes(0)
	if err := kube.Delete(f.t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: f.namespace}}); err != nil {
		f.t.Fatal(err)
	}
	plan := f.held(*size)
	if changes, tags, _ := f.changes(last); len(changes)+tags > 0 {
		f.t.Errorf("%d calls change AWS, such as %s", len(changes), changes[:min(3, len(changes))])
	}
	f.answer(v1alpha1.AnnotationApproveDeletions, plan)
	f.gone()
	f.eventually(func(g gomega.Gomega) { g.Expect(f.tenantsInAWS()).To(gomega.BeEmpty()) })
}

// reinstall waits until the CRD is gone, and installs it again.
func (f *fleet) reinstall() {
	f.t.Helper()
	f.eventually(func(g gomega.Gomega) {
		out, err := host.Kubectl(f.t.Context(), "get", "crd", crd, "--ignore-not-found")
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(out).To(gomega.BeEmpty())
	})
	if out, err := host.Kubectl(f.t.Context(), "apply", "--server-side", "-f", host.Path("config", "crd", "cloudfront-tenant-operator.io_distributiontenants.yaml")); err != nil {
		f.t.Fatalf("%v: %s", err, out)
	}
	if out, err := host.Kubectl(f.t.Context(), "wait", "--for=condition=Established", "crd/"+crd); err != nil {
		f.t.Fatalf("%v: %s", err, out)
	}
}

// Taking a fleet out of service by its specs is as much of a mistake, and is undone by restoring them.
func TestAFleetIsNotSwitchedOffByMistake(t *testing.T) {
	f := newFleet(t, "bank")
	f.freezes()
	before := f.tenantsInAWS()
	_, _, last := f.changes(0)
	f.enable(0, *size, false)
	plan := f.held(*size)
	// Reverted deletions are no part of the plan any more, which keeps its name.
	f.enable(0, *size/4, true)
	f.eventually(func(g gomega.Gomega) {
		for _, o := range f.objects(g) {
			ready := meta.FindStatusCondition(o.Status.Conditions, v1alpha1.ConditionReady)
			g.Expect(ready.Status == metav1.ConditionTrue).To(gomega.Equal(*o.Spec.Enabled), "%s: %s", o.Name, ready.Message)
		}
	})
	if again := f.held(*size - *size/4); again != plan {
		t.Errorf("the plan %s is %s after it has shrunk", plan, again)
	}
	if changes, tags, _ := f.changes(last); len(changes)+tags > 0 {
		t.Errorf("%d calls change AWS, such as %v, and %d tags", len(changes), changes[:min(3, len(changes))], tags)
	}
	if d := cmp.Diff(before, f.tenantsInAWS()); d != "" {
		t.Errorf("the tenants in AWS (-before +after):\n%s", d)
	}
	f.answer(v1alpha1.AnnotationApproveDeletions, plan)
	f.eventually(func(g gomega.Gomega) {
		off := 0
		for _, s := range f.tenantsInAWS() {
			if !s.Enabled {
				off++
			}
		}
		g.Expect(off).To(gomega.Equal(*size - *size/4))
	})
}

// freezes stops everything, and lets it continue.
func (f *fleet) freezes() {
	f.t.Helper()
	_, _, last := f.changes(0)
	synced := func(g gomega.Gomega) (reason string, generation int64) {
		o := f.objects(g)[0]
		c := meta.FindStatusCondition(o.Status.Conditions, v1alpha1.ConditionSynced)
		return c.Reason, c.ObservedGeneration
	}
	freeze := func(value string) {
		if out, err := host.Kubectl(f.t.Context(), "-n", budget.Namespace, "patch", "configmap", budget.Name, "--type=merge", "-p", `{"data":{"freeze":`+value+`}}`); err != nil {
			f.t.Fatalf("%v: %s", err, out)
		}
	}
	freeze(`"true"`)
	f.eventually(func(g gomega.Gomega) {
		reason, _ := synced(g)
		g.Expect(reason).To(gomega.Equal(v1alpha1.ReasonFrozen))
	})
	f.enable(0, 1, false)
	f.eventually(func(g gomega.Gomega) {
		reason, generation := synced(g)
		g.Expect(reason).To(gomega.Equal(v1alpha1.ReasonFrozen))
		g.Expect(generation).To(gomega.Equal(int64(2)))
	})
	if changes, tags, _ := f.changes(last); len(changes)+tags > 0 {
		f.t.Errorf("%d calls of a frozen operator change AWS, such as %v, and %d tags", len(changes), changes[:min(3, len(changes))], tags)
	}
	f.enable(0, 1, true)
	freeze("null")
	f.eventually(func(g gomega.Gomega) {
		reason, generation := synced(g)
		g.Expect(reason).To(gomega.Equal(v1alpha1.ReasonInSync))
		g.Expect(generation).To(gomega.Equal(int64(3)))
	})
}

// enable sets spec.enabled of some of the objects.
func (f *fleet) enable(from, to int, enabled bool) {
	f.t.Helper()
	for n := from; n < to; n++ {
		o := &v1alpha1.DistributionTenant{ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: f.tenants.Name(n)}}
		if err := kube.Patch(f.t.Context(), o, client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"enabled":%t}}`, enabled))); err != nil {
			f.t.Fatal(err)
		}
	}
}

// Customers' namespaces are deleted with their data, so that fewer may go at once. They come back to their Tenants.
func TestNamespacesAreNotDeletedByMistake(t *testing.T) {
	const customers = 8
	forget(t)
	s, err := host.Start(t.Context(), stack.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f := &fleet{t: t, Stack: s}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	if f.operator, err = s.StartOperator(t.Context(), stack.OperatorOptions{Flags: []string{"--deletion-budget=true", "--deletion-budget-settle=2s"}}); err != nil {
		t.Fatal(err)
	}
	name := func(n int) string { return fmt.Sprintf("customer-%d", n) }
	create := func() {
		for n := range customers {
			o := &kleffv1.Tenant{ObjectMeta: metav1.ObjectMeta{Name: name(n)}, Spec: kleffv1.TenantSpec{UserID: name(n), Username: name(n), Plan: "free"}}
			if err := kube.Create(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
		f.eventually(func(g gomega.Gomega) {
			for n := range customers {
				var o kleffv1.Tenant
				g.Expect(kube.Get(t.Context(), client.ObjectKey{Name: name(n)}, &o)).To(gomega.Succeed())
				g.Expect(meta.IsStatusConditionTrue(o.Status.Conditions, kleffv1.ConditionReady)).To(gomega.BeTrue(), "%s: %+v", o.Name, o.Status.Conditions)
			}
		})
	}
	held := func() (plan string) {
		f.eventually(func(g gomega.Gomega) {
			for n := range customers {
				var o kleffv1.Tenant
				g.Expect(kube.Get(t.Context(), client.ObjectKey{Name: name(n)}, &o)).To(gomega.Succeed())
				ready := meta.FindStatusCondition(o.Status.Conditions, kleffv1.ConditionReady)
				g.Expect(ready.Reason).To(gomega.Equal(kleffv1.ReasonDeletionHeld), ready.Message)
				_, rest, _ := strings.Cut(ready.Message, "This is plan ")
				plan, _, _ = strings.Cut(rest, ".")
			}
		})
		return plan
	}
	namespaces := func() map[string]types.UID {
		var list corev1.NamespaceList
		if err := kube.List(t.Context(), &list, client.HasLabels{kleffv1.LabelTenantUID}); err != nil {
			t.Fatal(err)
		}
		out := map[string]types.UID{}
		for _, ns := range list.Items {
			if ns.DeletionTimestamp.IsZero() {
				out[ns.Name] = ns.UID
			}
		}
		return out
	}
	remove := func() {
		if out, err := host.Kubectl(t.Context(), "delete", "tenants.kleff.kleff.io", "--all", "--wait=false"); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	gone := func() {
		f.eventually(func(g gomega.Gomega) {
			var list kleffv1.TenantList
			g.Expect(kube.List(t.Context(), &list)).To(gomega.Succeed())
			g.Expect(list.Items).To(gomega.BeEmpty())
		})
	}

	create()
	before := namespaces()
	if len(before) != customers {
		t.Fatalf("%d customers have %d namespaces", customers, len(before))
	}
	remove()
	f.answer(v1alpha1.AnnotationAbandonDeletions, held())
	gone()
	create()
	if d := cmp.Diff(before, namespaces()); d != "" {
		t.Errorf("the namespaces (-before +after):\n%s", d)
	}
	remove()
	plan := held()
	if d := cmp.Diff(before, namespaces()); d != "" {
		t.Errorf("the namespaces (-before +held):\n%s", d)
	}
	f.answer(v1alpha1.AnnotationApproveDeletions, plan)
	f.eventually(func(g gomega.Gomega) { g.Expect(namespaces()).To(gomega.BeEmpty()) })
}
