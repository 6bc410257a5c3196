package convert

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/breaker"
)

// The classes of objects whose deletions are budgeted.
const (
	ClassDistributionTenant breaker.Class = "DistributionTenant"
	ClassDistribution       breaker.Class = "Distribution"
	ClassTenant             breaker.Class = "Tenant"
)

// BudgetItem is the deletion of an object, or the change of that harm.
func BudgetItem(class breaker.Class, o metav1.Object, harm string, now time.Time) breaker.Item {
	i := breaker.Item{
		Class: class, UID: string(o.GetUID()), Namespace: o.GetNamespace(), Name: o.GetName(), Since: now,
		Approval:    o.GetAnnotations()[v1alpha1.AnnotationApproveDeletions],
		Abandonment: o.GetAnnotations()[v1alpha1.AnnotationAbandonDeletions],
	}
	if t, is := o.(*kleffv1.Tenant); is {
		i.Owns = TenantNamespace(t)
	}
	if t := o.GetDeletionTimestamp(); t != nil {
		i.Since = t.Time
		return i
	}
	i.Harm, i.Generation = harm, o.GetGeneration()
	return i
}

// WeighsTenant reports whether the deletion of the object would take something away in AWS.
func WeighsTenant(o *v1alpha1.DistributionTenant) bool {
	_, marked := o.Annotations[v1alpha1.AnnotationCreatePending]
	return o.Spec.DeletionPolicy != v1alpha1.DeletionPolicyRetain && (o.Status.ID != "" || marked || o.Status.DNS != nil && len(o.Status.DNS.Records) > 0)
}

// WeighsDistribution reports whether the deletion of the object would take something away in AWS, and no tenant keeps it
// from that.
func WeighsDistribution(o *v1alpha1.Distribution) bool {
	_, marked := o.Annotations[v1alpha1.AnnotationCreatePending]
	return o.Spec.ConnectionMode == v1alpha1.ConnectionModeDirect && o.Spec.DeletionPolicy != v1alpha1.DeletionPolicyRetain &&
		(o.Status.ID != "" || marked)
}

// WeighsNamespace reports whether the deletion of the object would delete a customer's namespace.
func WeighsNamespace(o *kleffv1.Tenant) bool {
	return o.Spec.DeletionPolicy != kleffv1.DeletionRetain && !o.Spec.DeletionProtection
}
