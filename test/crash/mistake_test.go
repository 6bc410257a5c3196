package crash_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8stypes "k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

// oracleMass objects to a write for a deletion that is more than the budget allows, and that was not approved.
const oracleMass = "mass deletion"

// budgetConfigMap has the memory of the deletion budget.
const budgetConfigMap = "cloudfront-tenant-operator-deletion-budget"

// budgetSettle is how long a burst of deletions takes to be judged.
const budgetSettle = time.Second

// crowd are the tenants of a lifecycle in which a user deletes most of them by mistake: more than half, and fewer than
// what the budget allows in numbers.
var crowd = []string{"acme", "beta", "gamma", "delta", "epsilon"}

// mistakeLifecycles are those in which deletions wait for an approval.
func mistakeLifecycles() []*lifecycle {
	return []*lifecycle{{
		name: "mistake", about: "Most tenants are deleted at once. Nothing happens until a person approves it.", parks: true,
		prepare: func(s *stage) {
			for _, name := range crowd {
				s.create(name)
			}
			s.await("the prepared objects to be Ready", func() bool {
				for _, name := range crowd {
					if !s.isReady(name) {
						return false
					}
				}
				return true
			})
		},
		steps: []step{
			{(*stage).deleteMost, (*stage).isHeld},
			{(*stage).approve, (*stage).mostAreGone},
		},
	}}
}

// deleteMost deletes three of five.
func (s *stage) deleteMost() {
	for _, name := range crowd[:3] {
		s.remove(name)
	}
}

// isHeld is when all that were deleted name one plan.
func (s *stage) isHeld() bool { return s.plan() != "" }

// plan is the one that all deleted objects name; empty while there is none.
func (s *stage) plan() string {
	plan := ""
	for _, name := range crowd[:3] {
		o, found := s.get(name)
		if !found {
			return ""
		}
		ready := meta.FindStatusCondition(o.Status.Conditions, v1alpha1.ConditionReady)
		_, rest, held := strings.Cut(ready.Message, "This is plan ")
		name, _, _ := strings.Cut(rest, ".")
		if !held || plan != "" && name != plan {
			return ""
		}
		plan = name
	}
	return plan
}

// approve does what the message says.
func (s *stage) approve() {
	plan := s.plan()
	s.mu.Lock()
	s.approved = true
	s.mu.Unlock()
	s.gate.note("a person approves the plan %s", plan)
	c := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: budgetConfigMap}}
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, v1alpha1.AnnotationApproveDeletions, plan)
	s.must("approving the plan", s.rig.kube.Patch(s.ctx, c, client.RawPatch(k8stypes.MergePatchType, patch)))
}

// mostAreGone is when those that were deleted are gone, and the others say that they are well.
func (s *stage) mostAreGone() bool {
	return !slices.ContainsFunc(crowd[:3], func(name string) bool { return !s.isGone(name) }) &&
		!slices.ContainsFunc(crowd[3:], func(name string) bool { return !s.isReady(name) })
}

// checkMass looks at writes for objects that were deleted by mistake.
func (s *stage) checkMass(name string, c call) {
	s.mu.Lock()
	approved := s.approved
	s.mu.Unlock()
	if s.lifecycle.name != "mistake" || approved {
		return
	}
	if o, found := s.get(name); found && !o.DeletionTimestamp.IsZero() {
		s.violate(oracleMass, "%s: %s was deleted together with more than the budget allows, without an approval", c.target, name)
	}
}
