// Package kube keeps what the operator creates in its own cluster for tenants and plans: it finds these objects in a
// cache of their own, and changes them by server-side apply. Kinds that the cluster may not have, such as those of
// Istio, come and go while it runs.
package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// Options are what Children needs.
type Options struct {
	// Config is the way to the API server, for a cache and for discovery.
	Config *rest.Config
	// Scheme has the kinds that every cluster with the operator has. They are cached in their own types, which take a
	// fraction of the memory.
	Scheme *runtime.Scheme
	Mapper meta.RESTMapper
	// Client writes. It is never read from.
	Client client.Client
	// Live reads past every cache.
	Live client.Reader
	// Watched are the kinds that are cached. One without a name, such as plan.ConstraintKind(""), stands for all kinds of its
	// group and version.
	Watched []plan.Kind
	// Changed is called with every object that was added, changed or deleted, with its last known state. Where its
	// labels changed it is called with the former state as well, as that may name another owner. It must return soon.
	Changed func(plan.Live)
	// Appeared is called when kinds have appeared or gone. It must return soon.
	Appeared func()
	Clock    clock.WithTicker
}

// Children implements the ports to what tenants and plans have. It is a runnable of the manager, and can be read from once it runs.
type Children struct {
	opts      Options
	cache     cache.Cache
	discovery discovery.ServerResourcesInterface
	// poke asks for a new lookup of the kinds that there are.
	poke chan struct{}

	// filled is closed when the kinds that are there at the start were listed, or can't be.
	filled   chan struct{}
	fillOnce sync.Once

	mu sync.RWMutex
	// found says that it was found out once which kinds of CustomResourceDefinitions there are.
	found   bool
	watches map[plan.Kind]*watch
}

var (
	_ port.ChildReader = (*Children)(nil)
	_ port.ChildWriter = (*Children)(nil)
)

// New makes Children, to be added to a manager.
func New(o Options) (*Children, error) {
	if o.Changed == nil || o.Appeared == nil || o.Clock == nil {
		return nil, errors.New("creating the cache of tenants' objects: Changed, Appeared and Clock are required")
	}
	c := &Children{opts: o, poke: make(chan struct{}, 1), filled: make(chan struct{}), watches: map[plan.Kind]*watch{}}
	http, err := rest.HTTPClientFor(o.Config)
	if err != nil {
		return nil, fmt.Errorf("creating the client of tenants' objects: %w", err)
	}
	if c.discovery, err = discovery.NewDiscoveryClientForConfigAndClient(o.Config, http); err != nil {
		return nil, fmt.Errorf("creating the discovery client: %w", err)
	}
	everything := cache.ByObject{Label: labels.Everything()}
	c.cache, err = cache.New(o.Config, cache.Options{
		HTTPClient: http, Scheme: o.Scheme, Mapper: o.Mapper, DefaultTransform: slim, NewInformer: c.newInformer,
		DefaultLabelSelector: labels.SelectorFromSet(labels.Set{v1.LabelManagedBy: v1.ManagedBy}),
		// Whether a name is taken is asked of all namespaces.
		ByObject: map[client.Object]cache.ByObject{&corev1.Namespace{}: everything, definition(): everything},
	})
	if err != nil {
		return nil, fmt.Errorf("creating the cache of tenants' objects: %w", err)
	}
	return c, nil
}

// Start fills the cache and keeps it, until the context ends. It implements the manager's Runnable.
func (c *Children) Start(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return c.cache.Start(ctx) })
	g.Go(func() error {
		c.follow(ctx)
		return nil
	})
	return g.Wait()
}

// WaitForSync waits until the cache can be read from: without it the first pass over each tenant would fail. It implements part of
// a source of a controller, which starts no worker before.
func (c *Children) WaitForSync(ctx context.Context) error {
	select {
	case <-c.filled:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for the cache of tenants' objects: %w", ctx.Err())
	}
}

// isFilled reports whether there is nothing to wait for.
func (c *Children) isFilled() bool {
	select {
	case <-c.filled:
		return true
	default:
		return false
	}
}

// NeedLeaderElection says that replicas that wait keep their caches warm.
func (c *Children) NeedLeaderElection() bool { return false }

// optional reports whether a cluster may be without the kind.
func (c *Children) optional(k plan.Kind) bool { return !c.opts.Scheme.Recognizes(gvk(k)) }

// watched reports whether the kind is one of those to be cached.
func (c *Children) watched(k plan.Kind) bool {
	return slices.Contains(c.opts.Watched, k) || slices.Contains(c.opts.Watched, plan.Kind{Group: k.Group, Version: k.Version})
}

// definition is a CustomResourceDefinition without its schemas, which are megabytes.
func definition() *metav1.PartialObjectMetadata {
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(gvk(kindDefinition))
	return o
}
