package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
)

// createdAt is a resource version that no object has. The API server takes an apply that carries one for an object that is
// not there, and answers 409 when there is one: an apply without it would take over whatever has that name.
const createdAt = "1"

// Create implements port.ChildWriter.
func (c *Children) Create(ctx context.Context, o plan.Object) (plan.Live, error) {
	u := render(o)
	u.SetResourceVersion(createdAt)
	live, err := c.apply(ctx, "Create"+o.Kind.Kind, o, u)
	if fault.CodeOf(err) == string(metav1.StatusReasonConflict) && !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return live, &fault.Error{
			Kind: fault.Exists, Operation: "Create" + o.Kind.Kind, Code: string(metav1.StatusReasonAlreadyExists),
			Message: fmt.Sprintf("the %s already exists", o.Ref()), Err: err,
		}
	}
	return live, err
}

// Apply implements port.ChildWriter.
func (c *Children) Apply(ctx context.Context, o plan.Object, uid string, drop ...string) (plan.Live, error) {
	operation := "Apply" + o.Kind.Kind
	u := render(o)
	u.SetUID(types.UID(uid))
	live, err := c.apply(ctx, operation, o, u)
	if err != nil || !slices.ContainsFunc(drop, func(label string) bool { return has(live.Labels, label) }) {
		return live, err
	}
	// Others' labels stay in an apply that does not mention them.
	patch, err := removal(uid, drop)
	if err != nil {
		return plan.Live{}, err
	}
	u = render(plan.Object{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name})
	if err := c.opts.Client.Patch(ctx, u, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(v1.FieldManager)); err != nil {
		return plan.Live{}, classify(operation, o, err)
	}
	return c.answered(o.Kind, u)
}

// Try implements port.ChildWriter.
func (c *Children) Try(ctx context.Context, o plan.Object) error {
	err := c.opts.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(render(o)),
		client.FieldOwner(v1.FieldManager), client.ForceOwnership, client.DryRunAll)
	if apierrors.IsBadRequest(err) && strings.Contains(err.Error(), noDryRun) {
		return nil
	}
	return classified("Try"+o.Kind.Kind, o, err)
}

// noDryRun is what the API server says where a webhook takes no part in dry runs: nothing is known of the object then.
const noDryRun = "does not support dry run"

// Delete implements port.ChildWriter.
func (c *Children) Delete(ctx context.Context, l plan.Live) error {
	u := render(plan.Object{Kind: l.Kind, Namespace: l.Namespace, Name: l.Name})
	uid := types.UID(l.UID)
	conditions := client.Preconditions{UID: &uid}
	if l.Kind == plan.KindNamespace && l.ResourceVersion != "" {
		// It may have been given away since it was looked at.
		conditions.ResourceVersion = &l.ResourceVersion
	}
	err := c.opts.Client.Delete(ctx, u, conditions, client.PropagationPolicy(metav1.DeletePropagationBackground))
	err = classified("Delete"+l.Kind.Kind, l.Object, err)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	if w := c.watch(l.Kind); w != nil {
		w.forget(&l.Object)
	}
	return nil
}

// apply takes over all fields of the object, whichever manager has them.
func (c *Children) apply(ctx context.Context, operation string, o plan.Object, u *unstructured.Unstructured) (plan.Live, error) {
	err := c.opts.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), client.FieldOwner(v1.FieldManager), client.ForceOwnership)
	if err != nil {
		return plan.Live{}, classify(operation, o, err)
	}
	return c.answered(o.Kind, u)
}

// answered is the object that the API server has answered with.
func (c *Children) answered(k plan.Kind, u *unstructured.Unstructured) (plan.Live, error) {
	live, err := liveOf(k, u)
	if w := c.watch(k); w != nil && err == nil {
		w.note(live)
	}
	return live, err
}

// render is the object as it is sent.
func render(o plan.Object) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	for key, value := range o.Body {
		u.Object[key] = runtime.DeepCopyJSONValue(value)
	}
	u.SetGroupVersionKind(gvk(o.Kind))
	u.SetNamespace(o.Namespace)
	u.SetName(o.Name)
	u.SetLabels(maps.Clone(o.Labels))
	u.SetAnnotations(maps.Clone(o.Annotations))
	return u
}

// removal is a merge patch that takes labels off the object with that UID.
func removal(uid string, drop []string) ([]byte, error) {
	gone := map[string]any{}
	for _, label := range drop {
		gone[label] = nil
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": uid, "labels": gone}})
	if err != nil {
		return nil, fmt.Errorf("writing a patch: %w", err)
	}
	return patch, nil
}

func has(m map[string]string, key string) bool {
	_, ok := m[key]
	return ok
}
