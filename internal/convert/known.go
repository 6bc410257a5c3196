package convert

import (
	"cmp"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/rollout"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// SourceUID is the UID of the TenantSource of an object with such labels. Empty: it is of none.
func SourceUID(labels map[string]string) string { return labels[v1alpha1.LabelSourceUID] }

// lately is for how long a tenant that was given a value counts as part of the same change. A value that many have had for
// long says nothing about those that get it now.
const lately = 24 * time.Hour

// Known is what is known of an object for the rollout of those changes: that it asks for the same, and what became of it.
func Known(o *v1alpha1.DistributionTenant, d Defaults, changes []resource.Difference, now time.Time) (k rollout.Known, has bool) {
	s := o.Status
	if !o.DeletionTimestamp.IsZero() || s.LastModifiedTime == nil || now.Sub(s.LastModifiedTime.Time) > lately || appliedGeneration(s.ObservedGeneration, s.AppliedGeneration) != o.Generation {
		return k, false
	}
	asks := Desired(o, d)
	asks.DistributionID, asks.ConnectionGroupID = cmp.Or(asks.DistributionID, s.DistributionID), cmp.Or(asks.ConnectionGroupID, s.ConnectionGroupID)
	// A tenant without service proves nothing.
	if !asks.Enabled || !asks.Has(changes) {
		return k, false
	}
	k = known(o)
	k.Since = s.LastModifiedTime.Time
	synced, ready := meta.IsStatusConditionTrue(s.Conditions, v1alpha1.ConditionSynced), meta.FindStatusCondition(s.Conditions, v1alpha1.ConditionReady)
	switch {
	case ready == nil || !synced:
		return k, false
	case ready.Status == metav1.ConditionTrue:
		k.State = rollout.Applied
	case now.Sub(k.Since) < rollout.InFlightAtMost:
		k.State = rollout.InFlight
	default:
		k.State, k.Failure = rollout.Failed, ready.Reason+": "+ready.Message
	}
	return k, true
}

// OpenCanary is an object that comes first, and is about to ask for its turn.
func OpenCanary(o *v1alpha1.DistributionTenant, canaries map[string]string) (k rollout.Known, is bool) {
	if !IsCanary(&v1alpha1.RolloutCanary{MatchLabels: canaries}, o.Labels) || !o.DeletionTimestamp.IsZero() || o.Status.ID == "" ||
		appliedGeneration(o.Status.ObservedGeneration, o.Status.AppliedGeneration) == o.Generation {
		return k, false
	}
	k = known(o)
	k.State, k.Canary = rollout.Held, true
	return k, true
}

func known(o *v1alpha1.DistributionTenant) rollout.Known {
	return rollout.Known{UID: string(o.UID), Namespace: o.Namespace, Name: o.Name}
}
