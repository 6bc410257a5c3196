package world

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/awsresource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/connectiongroup"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/distribution"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/claim"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

// The kinds of objects other than tenants, as in ID.
const (
	KindDistribution    = "Distribution"
	KindConnectionGroup = "ConnectionGroup"
)

// kind is one kind of objects of the world.
type kind struct {
	// name is empty for tenants.
	name      string
	list      func() []client.Object
	reconcile func(context.Context, ctrl.Request) (ctrl.Result, error)
	watch     reconcile.Watch
}

// tenants lists them as objects.
func (w *World) tenants() (all []client.Object) {
	for _, o := range w.list() {
		all = append(all, o)
	}
	return all
}

// parents are the controllers of what tenants refer to.
func (w *World) parents(p *process) []kind {
	options := awsresource.Options{Shared: w.shared(p), Observer: observer{w}, Objects: p.controller.ObjectsOf}
	options.Claimant = claim.KindDistribution
	p.distributions = awsresource.New(distribution.In, options)
	options.Claimant, options.Zones = claim.KindConnectionGroup, p.zones
	p.groups = awsresource.New(connectiongroup.In, options)
	if p.breaker != nil {
		operator.AddLosses(p.breaker, w.kube, w.due(KindDistribution), convert.ClassDistribution, convert.ClassSharedDistribution)
		operator.AddLosses(p.breaker, w.kube, w.due(KindConnectionGroup), convert.ClassConnectionGroup)
	}
	return []kind{
		following(w, p, KindDistribution, p.distributions, func(ns string) []client.Object {
			var list v1alpha1.DistributionList
			w.listIn(ns, &list)
			return pointers(list.Items, func(o *v1alpha1.Distribution) client.Object { return o })
		}),
		following(w, p, KindConnectionGroup, p.groups, func(ns string) []client.Object {
			var list v1alpha1.ConnectionGroupList
			w.listIn(ns, &list)
			return pointers(list.Items, func(o *v1alpha1.ConnectionGroup) client.Object { return o })
		}),
	}
}

// following makes a kind from its controller.
func following[O client.Object, R any](w *World, p *process, name string, c *awsresource.Controller[O, R], list func(namespace string) []client.Object) kind {
	driver := &reconcile.Driver[O]{
		Client: w.kube, Live: w.Kube, Kind: c, Failed: w.failed,
		Publish: func(o O, e reconcile.Event) {
			w.Events = append(w.Events, Event{Object: o.GetName(), Warning: e.Warning, Reason: e.Reason, Message: e.Message})
		},
	}
	p.freed = append(p.freed, func(tenant string) {
		for _, key := range c.Freed(tenant) {
			w.objects[ID{Kind: name, ObjectKey: key}].due = w.Clock.Now()
		}
	})
	run := driver.Reconcile
	if w.options.WithoutParents {
		run = func(context.Context, ctrl.Request) (ctrl.Result, error) { return ctrl.Result{}, nil }
	}
	return kind{name: name, reconcile: run, watch: c.Watch(name, 1), list: func() (all []client.Object) {
		for _, namespace := range w.namespaces {
			all = append(all, list(namespace)...)
		}
		return all
	}}
}

func (w *World) listIn(namespace string, list client.ObjectList) {
	w.t.Helper()
	err := w.Kube.List(w.t.Context(), list, client.InNamespace(namespace))
	if meta.IsNoMatchError(err) {
		return // a cluster of before this kind
	}
	if err != nil {
		w.t.Fatalf("listing the objects: %v", err)
	}
}

func pointers[T any](items []T, as func(*T) client.Object) (all []client.Object) {
	for n := range items {
		all = append(all, as(&items[n]))
	}
	return all
}
