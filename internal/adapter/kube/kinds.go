package kube

import (
	"context"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/retry"
)

// kindDefinition is that of what defines kinds.
var kindDefinition = plan.Kind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}

// untilServed is when to look again for a kind: the first pause is about what the API server takes to serve one whose
// definition it has, and the last bounds what is asked for one that is never served in the version that we want.
var untilServed = retry.Backoff{First: 200 * time.Millisecond, Last: time.Minute}

// settleTimeout bounds the wait until the objects of new kinds are listed.
const settleTimeout = 30 * time.Second

// Served implements port.ChildReader. While it is not known yet which kinds there are it says yes, and reading fails: a kind
// that is there must not look as if it were missing, for a moment after each start.
func (c *Children) Served(k plan.Kind) bool {
	if !c.optional(k) {
		return true
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	return !c.found || c.watches[k] != nil && c.watches[k].settled.Load()
}

// ask lets follow look again. It never blocks.
func (c *Children) ask() {
	select {
	case c.poke <- struct{}{}:
	default:
	}
}

// follow keeps the cache in line with the kinds that the cluster has, until the context ends.
func (c *Children) follow(ctx context.Context) {
	var listed <-chan struct{} // of the definitions, where that takes long
	looks, first := 1, true
	for {
		definitions, again := c.definitions(ctx)
		if definitions != nil && first {
			first = false
			c.settle(ctx, definitions)
			listed = unlessSynced(definitions)
		}
		again = c.resolve(ctx, definitions) || again
		elapsed, stop := c.after(untilServed.Delay(looks), again)
		select {
		case <-ctx.Done():
			stop()
			return
		case <-c.poke:
			looks = 1
		case <-listed:
			listed = nil
		case <-elapsed:
			looks++
		}
		stop()
	}
}

// unlessSynced returns a channel that tells when the objects are listed, nil if they are.
func unlessSynced(w *watch) <-chan struct{} {
	if w.informer.HasSynced() {
		return nil
	}
	return w.informer.HasSyncedChecker().Done()
}

func (c *Children) after(pause time.Duration, wanted bool) (<-chan time.Time, func()) {
	if !wanted {
		return nil, func() {}
	}
	timer := c.opts.Clock.NewTimer(pause)
	return timer.C(), func() { timer.Stop() }
}

// definitions returns the watch of definitions, if kinds are wanted that need one. again says that it could not be had.
func (c *Children) definitions(ctx context.Context) (w *watch, again bool) {
	if !slices.ContainsFunc(c.opts.Watched, c.optional) {
		return nil, false
	}
	look := func(o any) {
		if gone, ok := o.(toolscache.DeletedFinalStateUnknown); ok {
			o = gone.Obj
		}
		// A cluster has hundreds of definitions, and no selector tells ours from the others'.
		if m, ok := o.(*metav1.PartialObjectMetadata); ok && c.concerns(m.Name) {
			c.ask()
		}
	}
	w, err := c.run(ctx, kindDefinition, toolscache.ResourceEventHandlerFuncs{
		AddFunc: look, UpdateFunc: func(_, o any) { look(o) }, DeleteFunc: look,
	})
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Optional CRDs are not detected until this works")
	}
	return w, err != nil
}

// concerns reports whether a definition is of a group that has kinds we want. Its name is the resource, a dot, and the group.
func (c *Children) concerns(name string) bool {
	_, group, _ := strings.Cut(name, ".")
	return slices.ContainsFunc(c.opts.Watched, func(k plan.Kind) bool { return k.Group == group && c.optional(k) })
}

// resolve starts to cache what is there now, and ends it for what has gone. It reports whether it has to be tried again.
func (c *Children) resolve(ctx context.Context, definitions *watch) (again bool) {
	wanted := slices.DeleteFunc(slices.Clone(c.opts.Watched), c.optional)
	known := definitions != nil && definitions.informer.HasSynced()
	if known {
		var there []plan.Kind
		there, again = c.there(ctx, definitions)
		wanted = append(wanted, there...)
	}
	var fresh []*watch
	for _, k := range wanted {
		if c.watch(k) != nil {
			continue
		}
		w, err := c.run(ctx, k, c.changes(k))
		if err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "Tenants wait until this works", "kind", k.Kind)
			again = true
			continue
		}
		fresh = append(fresh, w)
	}
	gone := false
	if known {
		gone = c.dropOthers(ctx, wanted)
	}
	// The kind was not usable before, and a controller that saw it half there would report that in each tenant's
	// status.
	c.settle(ctx, fresh...)
	c.fillOnce.Do(func() { close(c.filled) })
	if c.noteFound(known) || gone || len(fresh) > 0 {
		c.opts.Appeared()
	}
	return again
}

// noteFound notes that the kinds are known, and reports whether they were not before.
func (c *Children) noteFound(known bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	first := known && !c.found
	c.found = c.found || known
	return first
}

// dropOthers ends the caching of the optional kinds that are not wanted, and reports whether there was any.
func (c *Children) dropOthers(ctx context.Context, wanted []plan.Kind) bool {
	c.mu.RLock()
	var gone []plan.Kind
	for k := range c.watches {
		if k != kindDefinition && !slices.Contains(wanted, k) {
			gone = append(gone, k)
		}
	}
	c.mu.RUnlock()
	for _, k := range gone {
		c.drop(ctx, k)
	}
	return len(gone) > 0
}

// settle waits until the objects of new kinds are listed. It also ends when they can't be listed.
func (c *Children) settle(ctx context.Context, fresh ...*watch) {
	timer := c.opts.Clock.NewTimer(settleTimeout)
	defer timer.Stop()
	waiting := true
	for _, w := range fresh {
		if waiting {
			select {
			case <-w.informer.HasSyncedChecker().Done():
			case <-w.failed:
			case <-timer.C():
				waiting = false
			case <-ctx.Done():
				waiting = false
			}
		}
		w.settled.Store(true)
	}
}

// there returns the optional kinds that are wanted and that the API server has. again reports that more may appear
// later.
func (c *Children) there(ctx context.Context, definitions *watch) (kinds []plan.Kind, again bool) {
	defined := map[string]map[string]bool{} // resources by group
	for _, o := range definitions.informer.GetStore().List() {
		m, ok := o.(*metav1.PartialObjectMetadata)
		// One that is being deleted takes no new objects.
		if !ok || !m.DeletionTimestamp.IsZero() || !c.concerns(m.Name) {
			continue
		}
		resource, group, _ := strings.Cut(m.Name, ".")
		if defined[group] == nil {
			defined[group] = map[string]bool{}
		}
		defined[group][resource] = true
	}
	for _, version := range c.versions() {
		if len(defined[version.Group]) == 0 {
			continue
		}
		served, more, err := c.served(version, defined[version.Group])
		if err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "Finding out which CRDs are installed", "group", version.Group)
			served, more = c.cached(version), true
		}
		kinds, again = append(kinds, served...), again || more
	}
	return kinds, again
}

// versions are the groups and versions of optional kinds.
func (c *Children) versions() []plan.Kind {
	var out []plan.Kind
	for _, k := range c.opts.Watched {
		version := plan.Kind{Group: k.Group, Version: k.Version}
		if c.optional(k) && !slices.Contains(out, version) {
			out = append(out, version)
		}
	}
	return out
}

// served asks the API server for the kinds of a version. Only those count whose definition is there: it still lists
// others for a moment. more says that a definition may still become one of the kinds that are wanted.
func (c *Children) served(version plan.Kind, defined map[string]bool) (kinds []plan.Kind, more bool, err error) {
	list, err := c.discovery.ServerResourcesForGroupVersion(version.APIVersion())
	if apierrors.IsNotFound(err) {
		return nil, true, nil
	}
	if err != nil {
		return nil, false, err
	}
	unseen := len(defined)
	for _, r := range list.APIResources {
		if !defined[r.Name] {
			continue // a subresource, too
		}
		unseen--
		if k := (plan.Kind{Group: version.Group, Version: version.Version, Kind: r.Kind}); c.watched(k) {
			kinds = append(kinds, k)
		}
	}
	missing := slices.ContainsFunc(c.opts.Watched, func(k plan.Kind) bool {
		return k.Group == version.Group && k.Version == version.Version && !slices.Contains(kinds, k)
	})
	return kinds, unseen > 0 && missing, nil
}

// cached are the kinds of a version that are cached now.
func (c *Children) cached(version plan.Kind) []plan.Kind {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var out []plan.Kind
	for k := range c.watches {
		if k.Group == version.Group && k.Version == version.Version {
			out = append(out, k)
		}
	}
	return out
}
