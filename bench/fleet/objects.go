package main

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

// servedWithin bounds the time until the API server lists a kind that it has accepted.
const servedWithin = 2 * time.Minute

// watch begins to watch the fleet's objects, of whatever kind.
func (b *bench) watch(ctx context.Context) (*stack.Objects, error) {
	first, err := b.subject.object(0, false)
	if err != nil {
		return nil, err
	}
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(first.GetAPIVersion())
	list.SetKind(first.GetKind() + "List")
	err = wait.PollUntilContextTimeout(ctx, 250*time.Millisecond, servedWithin, true, func(ctx context.Context) (bool, error) {
		return b.Kube.List(ctx, list) == nil, nil
	})
	if err != nil {
		return nil, fmt.Errorf("listing the %s objects of --manifest: %w", first.GetKind(), err)
	}
	return stack.Watch(ctx, b.Kube, stack.Kind{
		Size: b.Tenants, List: list,
		Build: func(n int) (client.Object, error) { return b.subject.object(n, false) },
		Ready: func(o client.Object) (int64, bool) {
			u, ok := o.(*unstructured.Unstructured)
			return o.GetGeneration(), ok && b.subject.ready.holds(u)
		},
	})
}

// changedObject is the n-th after the change.
func (b *bench) changedObject(n int) (client.Object, error) { return b.subject.object(n, true) }

func (b *bench) apply(ctx context.Context, o client.Object) error {
	// Against nothing, the difference is all that the manifest says.
	return b.Kube.Patch(ctx, o, client.MergeFrom(&unstructured.Unstructured{Object: map[string]any{}}))
}
