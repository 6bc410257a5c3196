// Package fleet has the operator's objects of a cluster, and figures about all of them together.
package fleet

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
)

// State is what an object needs.
type State string

// The states.
const (
	Ready   State = "Ready"
	Working State = "Working"
	// Person is an object that needs an action.
	Person State = "NeedsPerson"
)

// Unprocessed is the reason of an object that the operator has not looked at.
const Unprocessed = "NotProcessed"

// Item is one object of any kind.
type Item struct {
	Kind       string
	Object     client.Object
	Conditions []metav1.Condition
}

// Name is the object's name, behind its namespace if it has one.
func (i Item) Name() string {
	if i.Object.GetNamespace() == "" {
		return i.Object.GetName()
	}
	return i.Object.GetNamespace() + "/" + i.Object.GetName()
}

// Condition is the condition of that type, nil if there is none.
func (i Item) Condition(kind string) *metav1.Condition {
	return meta.FindStatusCondition(i.Conditions, kind)
}

// State is what the object needs. An object that was paused or suspended on purpose needs none.
func (i Item) State() State {
	ready := i.Condition(v1alpha1.ConditionReady)
	switch stalled := i.Condition(v1alpha1.ConditionStalled); {
	case stalled != nil && stalled.Status == metav1.ConditionTrue, i.Held():
		return Person
	case ready != nil && ready.Status == metav1.ConditionTrue && i.Object.GetDeletionTimestamp() == nil && i.current(ready):
		return Ready
	}
	return Working
}

// Held reports whether the deletion budget holds the object.
func (i Item) Held() bool {
	return slices.ContainsFunc(i.Conditions, func(c metav1.Condition) bool {
		return c.Status == metav1.ConditionFalse && c.Reason == v1alpha1.ReasonDeletionHeld
	})
}

// current reports whether the condition is about the spec as it is now.
func (i Item) current(c *metav1.Condition) bool {
	return c.ObservedGeneration == 0 || c.ObservedGeneration >= i.Object.GetGeneration()
}

// Why is the condition that says why the object is in its state: one that needs an action, or else one that is not
// ready.
func (i Item) Why() metav1.Condition {
	if stalled := i.Condition(v1alpha1.ConditionStalled); stalled != nil && stalled.Status == metav1.ConditionTrue {
		return *stalled
	}
	for _, c := range i.Conditions {
		if c.Status == metav1.ConditionFalse && c.Reason == v1alpha1.ReasonDeletionHeld {
			return c
		}
	}
	ready, synced := i.Condition(v1alpha1.ConditionReady), i.Condition(v1alpha1.ConditionSynced)
	switch {
	case ready == nil:
	case ready.Status == metav1.ConditionTrue && !i.current(ready) && synced != nil && synced.Status == metav1.ConditionFalse:
		return *synced // what is served is that of an older spec
	default:
		return *ready
	}
	return metav1.Condition{
		Type: v1alpha1.ConditionReady, Status: metav1.ConditionUnknown, Reason: Unprocessed, LastTransitionTime: i.Object.GetCreationTimestamp(),
		Message: "The operator has not processed this object yet. Check that it runs, and that it watches this namespace.",
	}
}

// Since is when the object's state began.
func (i Item) Since() time.Time { return i.Why().LastTransitionTime.Time }

// NeedsPerson reports whether the condition stays as it is until someone acts.
func NeedsPerson(c metav1.Condition) bool {
	return c.Status == metav1.ConditionFalse && chain.NeedsPerson(chain.Reason(c.Reason))
}

// Oldest sorts by the time since when the state lasts, the longest first.
func Oldest(items []Item) {
	slices.SortFunc(items, func(a, b Item) int {
		return cmp.Or(a.Since().Compare(b.Since()), strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name(), b.Name()))
	})
}

// Of is the item of an object, which has to be one of the operator's.
func Of(o client.Object) Item {
	switch o := o.(type) {
	case *v1alpha1.DistributionTenant:
		return Item{Kind: "DistributionTenant", Object: o, Conditions: o.Status.Conditions}
	case *v1alpha1.Distribution:
		return Item{Kind: "Distribution", Object: o, Conditions: o.Status.Conditions}
	case *v1alpha1.ConnectionGroup:
		return Item{Kind: "ConnectionGroup", Object: o, Conditions: o.Status.Conditions}
	case *v1alpha1.TenantSource:
		return Item{Kind: "TenantSource", Object: o, Conditions: o.Status.Conditions}
	case *v1alpha1.Invalidation:
		return Item{Kind: "Invalidation", Object: o, Conditions: o.Status.Conditions}
	case *v1alpha1.EdgeGrant:
		return Item{Kind: "EdgeGrant", Object: o, Conditions: o.Status.Conditions}
	case *v1alpha1.DomainClaim:
		return Item{Kind: "DomainClaim", Object: o}
	case *kleffv1.Tenant:
		return Item{Kind: "Tenant", Object: o, Conditions: o.Status.Conditions}
	case *kleffv1.TenantPlan:
		return Item{Kind: "TenantPlan", Object: o, Conditions: o.Status.Conditions}
	}
	return Item{Object: o}
}
