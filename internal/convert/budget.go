package convert

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/loss"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
)

// The classes of objects whose deletions are budgeted.
const (
	ClassDistributionTenant loss.Class = "DistributionTenant"
	ClassDistribution       loss.Class = "Distribution"
	ClassTenant             loss.Class = "Tenant"
	// The classes of parents that serve the customers of their tenants.
	ClassSharedDistribution loss.Class = "SharedDistribution"
	ClassConnectionGroup    loss.Class = "ConnectionGroup"
	// ClassOwnership has the tenants that are no longer tagged as their objects' own.
	ClassOwnership loss.Class = "Ownership"
)

// BudgetItem is the deletion of an object, or the change of that harm, which takes that many customers out of service. That
// of a Tenant gets what it owns from OwnedNamespace.
func BudgetItem(class loss.Class, o metav1.Object, customers int, harm string, now time.Time) loss.Item {
	i := loss.Item{
		Class: class, UID: string(o.GetUID()), Namespace: o.GetNamespace(), Name: o.GetName(), Weight: customers, Since: now,
		Approval:    o.GetAnnotations()[v1alpha1.AnnotationApproveDeletions],
		Abandonment: o.GetAnnotations()[v1alpha1.AnnotationAbandonDeletions],
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

// Customers is how many customers the tenant has: none before it has served for the first time.
func Customers(o *v1alpha1.DistributionTenant) int {
	s := &o.Status
	served := meta.IsStatusConditionTrue(s.Conditions, v1alpha1.ConditionReady) || s.Certificate != nil ||
		slices.ContainsFunc(s.DomainResults, func(r v1alpha1.DomainResult) bool { return r.Status == distributiontenant.DomainActive }) ||
		s.DNS != nil && slices.ContainsFunc(s.DNS.Records, func(r v1alpha1.DNSRecord) bool { return r.State == v1alpha1.RecordState(dns.Published) })
	if served {
		return 1
	}
	return 0
}

// One is the customer of an object that stands for itself.
func One[O any](O) int { return 1 }

// WeighsDistribution reports whether the deletion of the object would take something away in AWS, and no tenant keeps it
// from that.
func WeighsDistribution(o *v1alpha1.Distribution) bool {
	_, marked := o.Annotations[v1alpha1.AnnotationCreatePending]
	return o.Spec.ConnectionMode == v1alpha1.ConnectionModeDirect && o.Spec.DeletionPolicy != v1alpha1.DeletionPolicyRetain &&
		(o.Status.ID != "" || marked)
}

// OwnedNamespace is the namespace that is deleted with the Tenant, empty if the one that it names has another owner, or none.
func OwnedNamespace(t *kleffv1.Tenant, namespace *plan.Live) string {
	if namespace == nil || namespace.Labels[plan.LabelTenantUID] != string(t.UID) {
		return ""
	}
	return namespace.Name
}

// WeighsNamespace reports whether the deletion of the object would delete a customer's namespace.
func WeighsNamespace(o *kleffv1.Tenant) bool {
	return o.Spec.DeletionPolicy != kleffv1.DeletionRetain && !o.Spec.DeletionProtection
}
