package kube

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
)

// List implements port.ChildReader.
func (c *Children) List(_ context.Context, k plan.Kind, namespace string) ([]plan.Live, error) {
	w, err := c.synced("List", k)
	if w == nil || err != nil {
		return nil, err
	}
	newer := w.newer()
	objects := w.informer.GetIndexer().List()
	if namespace != "" {
		if objects, err = w.informer.GetIndexer().ByIndex(toolscache.NamespaceIndex, namespace); err != nil {
			return nil, fmt.Errorf("listing %s: %w", k.Kind, err)
		}
	}
	out := make([]plan.Live, 0, len(objects))
	for _, o := range objects {
		live, err := liveOf(k, o)
		if err != nil {
			return nil, err
		}
		if own, ok := newer[nameOf(&live.Object)]; ok {
			live = own
			delete(newer, nameOf(&live.Object))
		}
		out = append(out, live)
	}
	for _, own := range newer {
		if namespace == "" || own.Namespace == namespace {
			out = append(out, own)
		}
	}
	slices.SortFunc(out, func(a, b plan.Live) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Namespace, b.Namespace))
	})
	return out, nil
}

// Find implements port.ChildReader.
func (c *Children) Find(_ context.Context, k plan.Kind, namespace, name string) (*plan.Live, error) {
	w, err := c.synced("Find", k)
	if w == nil || err != nil {
		return nil, err
	}
	key := toolscache.NewObjectName(namespace, name)
	if own, ok := w.newer()[key]; ok {
		return &own, nil
	}
	o, exists, err := w.informer.GetIndexer().GetByKey(key.String())
	if err != nil || !exists {
		return nil, err
	}
	live, err := liveOf(k, o)
	if err != nil {
		return nil, err
	}
	return &live, nil
}

// Read implements port.ChildReader.
func (c *Children) Read(ctx context.Context, k plan.Kind, namespace, name string) (plan.Live, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk(k))
	if err := c.opts.Live.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, u); err != nil {
		return plan.Live{}, classify("Get"+k.Kind, plan.Object{Kind: k, Namespace: namespace, Name: name}, err)
	}
	return liveOf(k, u)
}

// synced returns the cached objects of a kind, nil where the cluster has no such kind. It does not wait for them: a worker that
// waits is one that other tenants don't have.
func (c *Children) synced(verb string, k plan.Kind) (*watch, error) {
	failed := func(kind fault.Kind, format string, args ...any) (*watch, error) {
		return nil, &fault.Error{Kind: kind, Operation: verb + k.Kind, Message: fmt.Sprintf(format, args...)}
	}
	if !c.watched(k) {
		return failed(fault.Invalid, "%s of %s is not a cached kind", k.Kind, k.APIVersion())
	}
	c.mu.RLock()
	w, found, definitions := c.watches[k], c.found, c.watches[kindDefinition]
	c.mu.RUnlock()
	switch {
	case c.optional(k) && found && (w == nil || !w.settled.Load()):
		return nil, nil
	case c.optional(k) && w == nil:
		return failed(fault.Transient, "waiting for the list of CustomResourceDefinitions%s", definitions.trouble())
	case w == nil || !w.informer.HasSynced():
		return failed(fault.Transient, "waiting for the list of all objects of kind %s%s", k.Kind, w.trouble())
	case !c.isFilled():
		// A partial list looks as if the rest were gone.
		return failed(fault.Transient, "waiting for the lists of all kinds")
	}
	return w, nil
}

// trouble is what keeps the objects from being listed, as the end of a sentence.
func (w *watch) trouble() string {
	if w == nil {
		return ""
	}
	if text := w.failure.Load(); text != nil {
		return ": " + *text
	}
	return ""
}

// liveOf copies an object out of a cache or an answer.
func liveOf(k plan.Kind, from any) (plan.Live, error) {
	o, ok := from.(client.Object)
	if !ok {
		return plan.Live{}, fmt.Errorf("reading a %s: got a %T", k.Kind, from)
	}
	content, err := contentOf(o)
	if err != nil {
		return plan.Live{}, fmt.Errorf("reading the %s %s: %w", k.Kind, o.GetName(), err)
	}
	return plan.Live{
		Object: plan.Object{
			Kind: k, Namespace: o.GetNamespace(), Name: o.GetName(),
			Labels: maps.Clone(o.GetLabels()), Annotations: maps.Clone(o.GetAnnotations()), Body: content,
		},
		UID: string(o.GetUID()), ResourceVersion: o.GetResourceVersion(), Deleting: !o.GetDeletionTimestamp().IsZero(),
	}, nil
}

// contentOf is an object in the form of JSON, without what plan.Object has fields for.
func contentOf(o client.Object) (map[string]any, error) {
	content := map[string]any{}
	if u, ok := o.(*unstructured.Unstructured); ok {
		for key, value := range u.Object {
			if !named(key) {
				content[key] = runtime.DeepCopyJSONValue(value)
			}
		}
		return content, nil
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	maps.DeleteFunc(content, func(key string, _ any) bool { return named(key) })
	return content, err
}

func named(key string) bool { return key == "apiVersion" || key == "kind" || key == "metadata" }

func nameOf(o *plan.Object) toolscache.ObjectName {
	return toolscache.NewObjectName(o.Namespace, o.Name)
}
