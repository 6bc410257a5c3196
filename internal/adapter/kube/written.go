package kube

import (
	"maps"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
)

// written has what the API server answered to our own writes and the cache has not caught up with, which takes milliseconds. Nothing would
// go wrong without it, since every write names the UID it is about; but the next pass over a tenant comes in those milliseconds, and would
// send everything again. Deletions are not noted: to delete an object again is one request that changes nothing.
type written struct {
	mu      sync.Mutex
	objects map[toolscache.ObjectName]plan.Live
}

// note remembers an answer.
func (w *watch) note(l plan.Live) {
	seen := w.informer.GetIndexer().LastStoreSyncResourceVersion()
	w.written.mu.Lock()
	defer w.written.mu.Unlock()
	w.written.prune(seen)
	if !behind(seen, l.ResourceVersion) {
		return
	}
	if w.written.objects == nil {
		w.written.objects = map[toolscache.ObjectName]plan.Live{}
	}
	w.written.objects[nameOf(&l.Object)] = clone(l)
}

func (w *watch) forget(o *plan.Object) {
	w.written.mu.Lock()
	defer w.written.mu.Unlock()
	delete(w.written.objects, nameOf(o))
}

// newer returns copies of what was written and isn't in the cache. It has to be called before the cache is read: what the cache gets
// in between is newer still, or the same.
func (w *watch) newer() map[toolscache.ObjectName]plan.Live {
	seen := w.informer.GetIndexer().LastStoreSyncResourceVersion()
	w.written.mu.Lock()
	defer w.written.mu.Unlock()
	w.written.prune(seen)
	out := make(map[toolscache.ObjectName]plan.Live, len(w.written.objects))
	for name, l := range w.written.objects {
		out[name] = clone(l)
	}
	return out
}

// prune forgets what the cache has seen, whether it was changed or deleted since.
func (w *written) prune(seen string) {
	maps.DeleteFunc(w.objects, func(_ toolscache.ObjectName, l plan.Live) bool { return !behind(seen, l.ResourceVersion) })
}

// behind reports whether a cache that has seen one version lacks the other. Versions of one kind can be compared.
func behind(seen, version string) bool {
	order, err := resourceversion.CompareResourceVersion(seen, version)
	return err == nil && order < 0
}

func clone(l plan.Live) plan.Live {
	l.Labels, l.Annotations, l.Body = maps.Clone(l.Labels), maps.Clone(l.Annotations), runtime.DeepCopyJSON(l.Body)
	return l
}
