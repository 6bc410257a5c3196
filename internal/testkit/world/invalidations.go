package world

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/invalidation"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

// KindInvalidation is that of invalidations, as in ID.
const KindInvalidation = "Invalidation"

// invalidations is their controller.
func (w *World) invalidations(p *process) kind {
	c := invalidation.New(invalidation.Options{
		Client: w.kube, Accounts: p.Accounts, Halt: w.Halt, Grants: w.Grants, Clock: w.Clock,
		ClusterID: ClusterID, PathsPerDay: w.options.PathsPerDay, Rate: w.options.InvalidationRate, Observer: invalidationObserver{w},
	})
	driver := &reconcile.Driver[*v1alpha1.Invalidation]{
		Client: w.kube, Live: w.Kube, Kind: c, Failed: w.failed,
		Publish: func(o *v1alpha1.Invalidation, e reconcile.Event) {
			w.Events = append(w.Events, Event{Object: o.Name, Warning: e.Warning, Reason: e.Reason, Message: e.Message})
		},
	}
	return kind{name: KindInvalidation, reconcile: driver.Reconcile, watch: c.Watch(1), list: func() (all []client.Object) {
		for _, namespace := range w.namespaces {
			var list v1alpha1.InvalidationList
			w.listIn(namespace, &list)
			all = append(all, pointers(list.Items, func(o *v1alpha1.Invalidation) client.Object { return o })...)
		}
		return all
	}}
}

type invalidationObserver struct{ w *World }

func (o invalidationObserver) PathsRequested(n int) { o.w.Paths += n }

func (o invalidationObserver) InvalidationEnded(completed bool) {
	if o.w.Ended == nil {
		o.w.Ended = map[bool]int{}
	}
	o.w.Ended[completed]++
}

func (o invalidationObserver) InvalidationTook(d time.Duration) { o.w.Took = append(o.w.Took, d) }

// Invalidation builds one of the page /index.html of a tenant.
func (w *World) Invalidation(name, tenant string, change ...func(*v1alpha1.Invalidation)) *v1alpha1.Invalidation {
	o := &v1alpha1.Invalidation{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: name},
		Spec:       v1alpha1.InvalidationSpec{TenantRef: &v1alpha1.InvalidationTenantReference{Name: tenant}, Paths: []string{"/index.html"}},
	}
	for _, c := range change {
		c(o)
	}
	return o
}

// InvalidationStatus is what an invalidation says, nil for an object that is gone.
func (w *World) InvalidationStatus(name string) *v1alpha1.InvalidationStatus {
	w.t.Helper()
	var o v1alpha1.Invalidation
	err := w.Kube.Get(w.t.Context(), client.ObjectKey{Namespace: w.Namespace, Name: name}, &o)
	if client.IgnoreNotFound(err) != nil {
		w.t.Fatalf("reading %s: %v", name, err)
	}
	if err != nil {
		return nil
	}
	return &o.Status
}

// InvalidationReady renders Ready of an invalidation as Status/Reason, or says that there is none, and with it its message.
func (w *World) InvalidationReady(name string) (ready, message string) {
	w.t.Helper()
	s := w.InvalidationStatus(name)
	if s == nil {
		return "object is gone", ""
	}
	c := meta.FindStatusCondition(s.Conditions, v1alpha1.ConditionReady)
	if c == nil {
		return "Ready is not there", ""
	}
	return string(c.Status) + "/" + c.Reason, c.Message
}

// Invalidated are the invalidations in AWS, each as the name of its tenant and its paths.
func (w *World) Invalidated() (out []string) {
	names := map[string]string{}
	for _, t := range w.Sim.Tenants(sim.DefaultAccount) {
		names[t.ID] = t.Name
	}
	for _, i := range w.Sim.Invalidations(sim.DefaultAccount) {
		name := names[i.Of]
		if name == "" {
			name = "deleted"
		}
		out = append(out, name+" "+strings.Join(i.Paths, " "))
	}
	return out
}
