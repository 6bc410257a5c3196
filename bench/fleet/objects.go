package main

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

// watch begins to watch the fleet's objects, of whatever kind.
func (b *bench) watch(ctx context.Context) (*stack.Objects, error) {
	first, err := b.subject.object(0, false)
	if err != nil {
		return nil, err
	}
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(first.GetAPIVersion())
	list.SetKind(first.GetKind() + "List")
	objects, err := stack.Watch(ctx, b.Kube, stack.Kind{
		Size: b.Tenants, List: list,
		Build: func(n int) (client.Object, error) { return b.subject.object(n, false) },
		Ready: func(o client.Object) (int64, bool) {
			u, ok := o.(*unstructured.Unstructured)
			return o.GetGeneration(), ok && b.subject.ready.holds(u)
		},
	})
	if err != nil {
		return nil, fmt.Errorf("following the %s objects of --manifest: %w", first.GetKind(), err)
	}
	return objects, nil
}

// changedObject is the n-th after the change.
func (b *bench) changedObject(n int) (client.Object, error) { return b.subject.object(n, true) }

func (b *bench) apply(ctx context.Context, o client.Object) error {
	// Against nothing, the difference is all that the manifest says.
	return b.Kube.Patch(ctx, o, client.MergeFrom(&unstructured.Unstructured{Object: map[string]any{}}))
}
