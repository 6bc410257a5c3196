package rights_test

import (
	"crypto/rand"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/install"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

// A right that is lost while the operator runs is reported by the source, and nothing is taken for a fault of
// its rows. An apply that creates is a patch in the audit log; this shows that it needs both rights.
func TestSourcesTellOfARightThatIsLost(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	r := newRig(t, installed(t, install.Options{Release: namespace, Namespace: namespace + "-home", Values: ofItsOwn}, namespace), namespace)
	_, err := r.stack.StartOperator(t.Context(), stack.OperatorOptions{Installation: r.i, Flags: []string{"--watch-namespaces=" + namespace}})
	if err != nil {
		t.Fatal(err)
	}
	r.takeAway(r.own(grant{Group: v1alpha1.GroupName, Resource: "distributiontenants", Verb: "create"}))
	table := newTable(t, "customer", 3)
	o := r.follow("customers", table)
	r.waitsFor(o, v1alpha1.ReasonPollFailed, "The API server rejects every change: ")
	r.waitsFor(o, v1alpha1.ReasonPollFailed, `cannot create resource "distributiontenants"`)
	if o.Status.RejectedRowsTotal != 0 {
		t.Errorf("%d rows are rejected for what is no fault of theirs", o.Status.RejectedRowsTotal)
	}
}

// newTable is a table in PostgreSQL with customers whose names begin with the prefix.
func newTable(t *testing.T, prefix string, customers int) *database.Table {
	t.Helper()
	table, err := database.Shared(t, mapping.Postgres).NewTable(t.Context(), database.TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// The tests share a cluster, in which a domain belongs to one namespace.
	domains := strings.ToLower(rand.Text()) + ".example.com"
	for n := range customers {
		name := fmt.Sprintf("%s-%02d", prefix, n)
		if err := table.Put(t.Context(), map[string]any{"name": name, "domain": name + "-" + domains}); err != nil {
			t.Fatal(err)
		}
	}
	return table
}

// follow makes a source for the table, with a Secret.
func (r *rig) follow(name string, table *database.Table, change ...func(*v1alpha1.TenantSource)) *v1alpha1.TenantSource {
	r.t.Helper()
	q := table.Query()
	o := &v1alpha1.TenantSource{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: name},
		Spec: v1alpha1.TenantSourceSpec{
			Provider: v1alpha1.SourceProviderPostgres, DistributionID: stack.DistributionID,
			// The table is read when it is asked for.
			PollInterval:  &metav1.Duration{Duration: time.Hour},
			DeletionGuard: &v1alpha1.DeletionGuard{Grace: &metav1.Duration{}},
			Postgres:      &v1alpha1.SQLSource{ConnectionSecretRef: &v1alpha1.SecretReference{Name: name}, Query: q.SQL.Query},
		},
	}
	for _, c := range change {
		c(o)
	}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: name, Labels: map[string]string{v1alpha1.LabelTenantSource: name}},
		StringData: map[string]string{"connectionString": q.Connection.Reveal()},
	}
	for _, o := range []client.Object{secret, o} {
		if err := kube.Create(r.t.Context(), o); err != nil {
			r.t.Fatal(err)
		}
	}
	return o
}

// annotate sets an annotation of a source.
func (r *rig) annotate(o *v1alpha1.TenantSource, key, value string) {
	r.t.Helper()
	base := o.DeepCopy()
	metav1.SetMetaDataAnnotation(&o.ObjectMeta, key, value)
	if err := kube.Patch(r.t.Context(), o, client.MergeFrom(base)); err != nil {
		r.t.Fatal(err)
	}
}

// waitsFor waits until the source is Ready, or not, for that reason and with that in its message.
func (r *rig) waitsFor(o *v1alpha1.TenantSource, reason, message string) {
	r.t.Helper()
	r.eventually(func(g gomega.Gomega) {
		g.Expect(kube.Get(r.t.Context(), client.ObjectKeyFromObject(o), o)).To(gomega.Succeed())
		ready := meta.FindStatusCondition(o.Status.Conditions, v1alpha1.ConditionReady)
		g.Expect(ready).NotTo(gomega.BeNil())
		g.Expect(ready.Reason).To(gomega.Equal(reason), ready.Message)
		g.Expect(ready.Message).To(gomega.ContainSubstring(message))
	})
}

// beginToFollow makes a source with a tenant.
func (r *rig) beginToFollow() (*v1alpha1.TenantSource, *database.Table) {
	r.t.Helper()
	table := newTable(r.t, "customer", 1)
	return r.follow("customers", table), table
}

// followAndLeave has the source change its tenant, and take it along when it is deleted itself.
func (r *rig) followAndLeave(o *v1alpha1.TenantSource, table *database.Table) {
	t := r.t
	t.Helper()
	r.waitsFor(o, v1alpha1.ReasonPollSucceeded, "")
	tenant := &v1alpha1.DistributionTenant{ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: "customer-00"}}
	r.reaches(tenant, func(o *v1alpha1.DistributionTenant) bool {
		return meta.IsStatusConditionTrue(o.Status.Conditions, v1alpha1.ConditionReady)
	})
	if err := table.Put(t.Context(), map[string]any{"name": tenant.Name, "domain": r.namespace + "-other.example.com"}); err != nil {
		t.Fatal(err)
	}
	r.annotate(o, v1alpha1.AnnotationSyncNow, "changed")
	r.reaches(tenant, func(o *v1alpha1.DistributionTenant) bool {
		return o.Spec.Domains[0].Domain == r.namespace+"-other.example.com"
	})
	r.unmark(tenant)
	if err := kube.Delete(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	r.gone(o)
	r.eventually(func(g gomega.Gomega) { g.Expect(r.stack.AWS.Tenants(t.Context())).To(gomega.BeEmpty()) })
}

// gone waits until an object is.
func (r *rig) gone(o client.Object) {
	r.t.Helper()
	r.eventually(func(g gomega.Gomega) {
		err := kube.Get(r.t.Context(), client.ObjectKeyFromObject(o), o)
		g.Expect(client.IgnoreNotFound(err)).To(gomega.Succeed())
		g.Expect(err).To(gomega.HaveOccurred(), "%s is still there", o.GetName())
	})
}
