package rights_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/install"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

// large is a fleet that the guard does not release without approval.
const large = 25

// A namespace that is deleted takes the tenants of a source along only if the guard releases them. The
// namespace controller, the policy of the chart and the operator are the real ones.
func TestADeletedNamespaceAsksTheGuard(t *testing.T) {
	t.Parallel()
	home, desk, shelf, office, store, keep, small := newNamespace(t), newNamespace(t), newNamespace(t), newNamespace(t), newNamespace(t), newNamespace(t), newNamespace(t)
	r := newRigIn(t, stack.Options{DeployDelay: time.Second}, installed(t, install.Options{}, home, desk, office, keep, small), home)
	_, err := r.stack.StartOperator(t.Context(), stack.OperatorOptions{Installation: r.i, Flags: []string{
		"--watch-namespaces=" + strings.Join([]string{home, desk, shelf, office, store, keep, small}, ","),
		"--tenantsource-target-namespaces=" + desk + "/" + shelf + "," + office + "/" + store, "--aws-rate=100", "--aws-burst=200",
	}})
	if err != nil {
		t.Fatal(err)
	}
	in := func(namespace string) func(*v1alpha1.TenantSource) {
		return func(o *v1alpha1.TenantSource) { o.Spec.TargetNamespace = namespace }
	}
	t.Run("of", func(t *testing.T) { // ends when all of them have
		t.Run("a source and its tenants", func(t *testing.T) {
			t.Parallel()
			f := r.settle(t, home, home, "home", large)
			hand := f.byHand("by-hand")
			f.deleteNamespace(home)
			f.held()
			f.refused(home)
			f.gone(hand)
			f.unharmed()
			f.approve()
			f.gone(f.source)
			f.gone(f.space(home))
			f.left(0)
		})
		t.Run("a source whose tenants are elsewhere", func(t *testing.T) {
			t.Parallel()
			f := r.settle(t, desk, shelf, "desk", large, in(shelf))
			f.deleteNamespace(desk)
			f.held()
			f.unharmed()
			f.approve()
			f.gone(f.source)
			f.gone(f.space(desk))
			f.left(0)
		})
		t.Run("tenants whose source is elsewhere", func(t *testing.T) {
			t.Parallel()
			f := r.settle(t, office, store, "office", large, in(store))
			f.deleteNamespace(store)
			f.refused(store)
			f.annotate(f.source, v1alpha1.AnnotationSyncNow, "again")
			f.eventually(func(g gomega.Gomega) {
				g.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(f.source), f.source)).To(gomega.Succeed())
				g.Expect(f.source.Status.SyncToken).To(gomega.Equal("again"))
			})
			f.waitsFor(f.source, v1alpha1.ReasonPollSucceeded, "")
			f.unharmed()
			if err := kube.Delete(t.Context(), f.source); err != nil {
				t.Fatal(err)
			}
			f.held()
			f.unharmed()
			f.approve()
			f.gone(f.source)
			f.gone(f.space(store))
			f.left(0)
		})
		t.Run("a source that leaves its tenants", func(t *testing.T) {
			t.Parallel()
			f := r.settle(t, keep, keep, "keep", 3, func(o *v1alpha1.TenantSource) { o.Spec.DeletionPolicy = v1alpha1.SourceDeletionPolicyRetain })
			f.deleteNamespace(keep)
			f.gone(f.source)
			f.refused(keep)
			f.unharmed()
			for _, o := range f.objects() {
				base := o.DeepCopy()
				delete(o.Labels, v1alpha1.LabelSourceUID)
				if err := kube.Patch(t.Context(), &o, client.MergeFrom(base)); err != nil {
					t.Fatal(err)
				}
			}
			f.gone(f.space(keep))
			f.left(0)
		})
		t.Run("a few tenants, which the guard lets go", func(t *testing.T) {
			t.Parallel()
			f := r.settle(t, small, small, "small", 3)
			f.deleteNamespace(small)
			f.gone(f.source)
			f.gone(f.space(small))
			f.left(0)
		})
	})
}

// A user who deletes a tenant of a source means that tenant, unless its namespace is on its way out.
func TestPeopleMayDeleteTenantsOfSources(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	var tenants []*v1alpha1.DistributionTenant
	for _, name := range []string{"first", "second"} {
		o := &v1alpha1.DistributionTenant{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Finalizers: []string{"example.com/keep"}, Labels: map[string]string{
				v1alpha1.LabelSource: "customers", v1alpha1.LabelSourceNamespace: "shop", v1alpha1.LabelSourceUID: "uid",
			}},
			Spec: v1alpha1.DistributionTenantSpec{DistributionID: stack.DistributionID, Domains: []v1alpha1.TenantDomain{{Domain: name + ".example.com"}}},
		}
		if err := kube.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		tenants = append(tenants, o)
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context()) // which has ended
		for _, o := range tenants {
			(&rig{t: t}).remove(ctx, o)
		}
	})
	if err := kube.Delete(t.Context(), tenants[0]); err != nil {
		t.Errorf("deleting a tenant by hand: %v", err)
	}
	if err := kube.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		t.Fatal(err)
	}
	// The API server takes a moment to learn of it.
	gomega.NewWithT(t).Eventually(t.Context(), func(g gomega.Gomega) {
		err := kube.Delete(t.Context(), tenants[1], client.DryRunAll)
		g.Expect(apierrors.IsForbidden(err)).To(gomega.BeTrue(), "%v", err)
		for _, part := range []string{
			"the DistributionTenant " + namespace + "/second belongs to the TenantSource shop/customers", "approve-deletions to status.heldDeletions.planHash", "remove its label " + v1alpha1.LabelSourceUID,
		} {
			g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(part)))
		}
	}).WithTimeout(patience).Should(gomega.Succeed())
}

// fleet is a source with tenants that serve.
type fleet struct {
	rig
	source *v1alpha1.TenantSource
	// target is where the tenants are, prefix what their names begin with.
	target, prefix string
	size           int
}

// settle makes a source, and waits until its tenants serve.
func (r *rig) settle(t *testing.T, namespace, target, prefix string, size int, change ...func(*v1alpha1.TenantSource)) *fleet {
	t.Helper()
	f := &fleet{rig: *r, target: target, prefix: prefix, size: size}
	f.t, f.namespace = t, namespace
	f.source = f.follow("customers", newTable(t, prefix, size), change...)
	f.waitsFor(f.source, v1alpha1.ReasonPollSucceeded, "")
	for n := range size {
		f.settled(&v1alpha1.DistributionTenant{ObjectMeta: metav1.ObjectMeta{Namespace: target, Name: fmt.Sprintf("%s-%02d", prefix, n)}})
	}
	return f
}

// settled waits until a tenant serves, and removes its mark.
func (f *fleet) settled(o *v1alpha1.DistributionTenant) {
	f.t.Helper()
	f.reaches(o, func(o *v1alpha1.DistributionTenant) bool {
		return meta.IsStatusConditionTrue(o.Status.Conditions, v1alpha1.ConditionReady)
	})
	f.unmark(o)
}

// byHand makes a tenant of no source in the namespace of the tenants.
func (f *fleet) byHand(name string) *v1alpha1.DistributionTenant {
	f.t.Helper()
	o := &v1alpha1.DistributionTenant{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.target, Name: name},
		Spec:       v1alpha1.DistributionTenantSpec{DistributionID: stack.DistributionID, Domains: []v1alpha1.TenantDomain{{Domain: name + ".example.com"}}},
	}
	if err := kube.Create(f.t.Context(), o); err != nil {
		f.t.Fatal(err)
	}
	f.settled(o)
	return o
}

func (f *fleet) space(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func (f *fleet) deleteNamespace(name string) {
	f.t.Helper()
	if err := kube.Delete(f.t.Context(), f.space(name)); err != nil {
		f.t.Fatal(err)
	}
}

// held waits until the source asks for approval.
func (f *fleet) held() {
	f.t.Helper()
	f.waitsFor(f.source, v1alpha1.ReasonDeletionHeld, fmt.Sprintf("%d tenants would be deleted with it", f.size))
}

func (f *fleet) approve() {
	f.t.Helper()
	f.annotate(f.source, v1alpha1.AnnotationApproveDeletions, f.source.Status.HeldDeletions.PlanHash)
}

// refused waits until the namespace says why it does not end, and what to do.
func (f *fleet) refused(namespace string) {
	f.t.Helper()
	f.eventually(func(g gomega.Gomega) {
		ns := f.space(namespace)
		g.Expect(kube.Get(f.t.Context(), client.ObjectKeyFromObject(ns), ns)).To(gomega.Succeed())
		message := ""
		for _, c := range ns.Status.Conditions {
			if c.Type == corev1.NamespaceDeletionContentFailure {
				message = c.Message
			}
		}
		g.Expect(message).To(gomega.ContainSubstring("the DistributionTenant " + namespace + "/" + f.prefix + "-00 belongs to the TenantSource " + f.namespace + "/customers"))
		g.Expect(message).To(gomega.ContainSubstring("approve its plan"))
		g.Expect(message).To(gomega.ContainSubstring("remove its label"))
	})
}

// objects are the source's.
func (f *fleet) objects() []v1alpha1.DistributionTenant {
	f.t.Helper()
	var list v1alpha1.DistributionTenantList
	if err := kube.List(f.t.Context(), &list, client.InNamespace(f.target), client.HasLabels{v1alpha1.LabelSourceUID}); err != nil {
		f.t.Fatal(err)
	}
	return list.Items
}

// unharmed checks that every tenant is there and serves.
func (f *fleet) unharmed() {
	f.t.Helper()
	there := 0
	for _, o := range f.objects() {
		if o.DeletionTimestamp.IsZero() && meta.IsStatusConditionTrue(o.Status.Conditions, v1alpha1.ConditionReady) {
			there++
		}
	}
	if there != f.size {
		f.t.Errorf("%d of %d tenants are there", there, f.size)
	}
	f.left(f.size)
}

// left waits until n of the tenants are left in AWS, enabled.
func (f *fleet) left(want int) {
	f.t.Helper()
	f.eventually(func(g gomega.Gomega) {
		tenants, err := f.stack.AWS.Tenants(f.t.Context())
		g.Expect(err).NotTo(gomega.HaveOccurred())
		enabled, all := 0, 0
		for _, tenant := range tenants {
			if strings.HasPrefix(tenant.Name, f.prefix+"-") {
				all++
				if tenant.Enabled {
					enabled++
				}
			}
		}
		g.Expect([]int{all, enabled}).To(gomega.Equal([]int{want, want}))
	})
}
