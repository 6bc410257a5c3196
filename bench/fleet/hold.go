package main

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/bench/rig"
)

// budgetConfigMap is where a plan of deletions is approved.
const budgetConfigMap = "cloudfront-tenant-operator-deletion-budget"

// hold deletes all objects, as a user does by mistake, and waits until each says that it is held.
func (b *bench) hold(ctx context.Context) error {
	if err := b.Objects.Delete(ctx); err != nil {
		return err
	}
	return rig.Until(ctx, func(ctx context.Context) (bool, error) {
		plan, left, err := b.plan(ctx)
		return plan != "" || err == nil && left == 0, err // a small fleet is within the budget
	})
}

// plan is the one that all objects name, empty while there is none, and left is how many objects there are.
func (b *bench) plan(ctx context.Context) (plan string, left int, err error) {
	var list v1alpha1.DistributionTenantList
	if err := b.Kube.List(ctx, &list); err != nil {
		return "", 0, fmt.Errorf("listing the held objects: %w", err)
	}
	for i := range list.Items {
		ready := meta.FindStatusCondition(list.Items[i].Status.Conditions, v1alpha1.ConditionReady)
		_, rest, held := strings.Cut(ready.Message, "This is plan ")
		name, _, _ := strings.Cut(rest, ".")
		if !held || plan != "" && name != plan {
			return "", len(list.Items), nil
		}
		plan = name
	}
	return plan, len(list.Items), nil
}

// approve lets the objects that are held be deleted.
func (b *bench) approve(ctx context.Context) error {
	plan, _, err := b.plan(ctx)
	if err != nil || plan == "" {
		return err
	}
	c := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: budgetConfigMap}}
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, v1alpha1.AnnotationApproveDeletions, plan)
	if err := b.Kube.Patch(ctx, c, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return fmt.Errorf("approving the plan %s: %w", plan, err)
	}
	return nil
}
