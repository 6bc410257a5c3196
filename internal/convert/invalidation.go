package convert

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/grant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/invalidation"
)

// keptByDefault is spec.ttlAfterFinished of an object which was stored without the default of the schema.
const keptByDefault = 24 * time.Hour

// Invalidation is what an object asks for, and what its status has.
func Invalidation(o *v1alpha1.Invalidation) invalidation.Input {
	in := invalidation.Input{
		Created: o.CreationTimestamp.Time, Generation: o.Generation, Paths: len(o.Spec.Paths) + len(o.Spec.Tags), TTL: keptByDefault,
	}
	for _, path := range o.Spec.Paths {
		if strings.HasSuffix(path, "*") {
			in.Stars++
		}
	}
	in.Paused, in.PausedNote = Paused(o.Annotations)
	if o.Spec.TenantRef != nil {
		in.Tenant = o.Spec.TenantRef.Name
	}
	if o.Spec.TTLAfterFinished != nil {
		in.TTL = o.Spec.TTLAfterFinished.Duration
	}
	in.Memory.Started, in.Memory.Finished = instant(o.Status.StartTime), instant(o.Status.CompletionTime)
	in.Memory.Expected = instant(o.Status.ExpectedCompletionTime)
	in.Memory.Ready = conditionMemory(o.Status.Conditions)[chain.Ready]
	for _, t := range o.Status.Tenants {
		in.Memory.Tenants = append(in.Memory.Tenants, invalidation.Tenant{
			Name: t.Name, TenantID: t.TenantID, State: invalidation.State(t.State), InvalidationID: t.InvalidationID, Message: t.Message,
		})
	}
	all := invalidation.Totals{Requested: int(ptr.Deref(o.Status.Requested, 0)), Completed: int(ptr.Deref(o.Status.Completed, 0)), Failed: int(ptr.Deref(o.Status.Failed, 0))}
	in.Memory.Total, in.Memory.Left = int(ptr.Deref(o.Status.Total, 0)), all.Minus(invalidation.Counts(in.Memory.Tenants))
	return in
}

// InvalidatedItems are what AWS is asked to invalidate: a tag is written with a # before it.
func InvalidatedItems(o *v1alpha1.Invalidation) []string {
	items := slices.Clone(o.Spec.Paths)
	for _, tag := range o.Spec.Tags {
		items = append(items, "#"+tag)
	}
	return items
}

// InvalidationSpend is what an object counts for the daily limit of its namespace.
func InvalidationSpend(o *v1alpha1.Invalidation) invalidation.Spend {
	return invalidation.SpentBy(instant(o.Status.StartTime), int(ptr.Deref(o.Status.Total, 0)), len(o.Spec.Paths)+len(o.Spec.Tags))
}

// InvalidationWants is what an invalidation wants to use.
func InvalidationWants() []grant.Want {
	return []grant.Want{{Thing: grant.AKind, Value: string(v1alpha1.GrantedInvalidations)}}
}

// unowned are the reasons with which the tenant in AWS is not its object's, or nothing is to be changed for the object.
var unowned = map[string]bool{v1alpha1.ReasonAdoptionRequired: true, v1alpha1.ReasonWrongAccount: true, v1alpha1.ReasonNotGranted: true}

// InvalidationTarget is a tenant as an invalidation sees it. One that is being deleted is none.
func InvalidationTarget(o *v1alpha1.DistributionTenant) invalidation.Target {
	t := invalidation.Target{Name: o.Name, TenantID: o.Status.ID}
	_, marked := o.Annotations[v1alpha1.AnnotationCreatePending]
	if t.Unseen = marked && o.Status.ObservedGeneration == 0; !o.DeletionTimestamp.IsZero() {
		t.TenantID, t.Unseen = "", false
	}
	for _, kind := range []string{v1alpha1.ConditionReady, v1alpha1.ConditionSynced} {
		if c := meta.FindStatusCondition(o.Status.Conditions, kind); c != nil && c.Status != metav1.ConditionTrue && unowned[c.Reason] {
			t.Refused = chain.Reason(c.Reason)
		}
	}
	return t
}

// InvalidationReport writes what there is to say into status.
func InvalidationReport(s *v1alpha1.InvalidationStatus, in invalidation.Input, conditions []chain.Condition, now time.Time) {
	s.ObservedGeneration = in.Generation
	s.StartTime, s.CompletionTime = timeOf(in.Memory.Started), timeOf(in.Memory.Finished)
	s.ExpectedCompletionTime = timeOf(in.Memory.Expected)
	s.Tenants, s.Total, s.Requested, s.Completed, s.Failed = nil, nil, nil, nil, nil
	for _, t := range in.Memory.Tenants {
		s.Tenants = append(s.Tenants, v1alpha1.InvalidatedTenant{
			Name: t.Name, TenantID: t.TenantID, State: v1alpha1.InvalidationState(t.State), InvalidationID: t.InvalidationID, Message: t.Message,
		})
	}
	if in.Memory.Total > 0 {
		n := in.Totals()
		s.Total, s.Requested, s.Completed, s.Failed = new(int32(in.Memory.Total)), new(int32(n.Requested)), new(int32(n.Completed)), new(int32(n.Failed))
	}
	setConditions(&s.Conditions, chain.Sentences(conditions), now)
}

func instant(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time
}
