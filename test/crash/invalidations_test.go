package crash_test

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strings"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

const (
	requestInvalidation = "CreateInvalidationForDistributionTenant"
	followInvalidation  = "GetInvalidationForDistributionTenant"
)

// oracleInvalidations wants exactly one invalidation in AWS for each tenant of each object, whatever was lost or repeated.
const oracleInvalidations = "one invalidation"

// shelf are the tenants of the lifecycles with invalidations. Both have a label that selects them.
var shelf = []string{"acme", "beta"}

// asked are the invalidations that the objects of those lifecycles stand for, each as its tenant and its paths.
var asked = []string{"acme /assets/*,/prices.html", "acme /index.html", "beta /assets/*,/prices.html"}

// invalidationLifecycles are those in which paths are removed from caches.
func invalidationLifecycles() []*lifecycle {
	return []*lifecycle{{
		name: "invalidate", about: "Paths of one tenant, and of all with a label, are invalidated at the same time. Then the objects are deleted.", invalidates: true,
		prepare: func(s *stage) {
			for _, name := range shelf {
				s.create(name, func(o *tenantObject) { o.Labels = map[string]string{"tier": "gold"} })
			}
			s.await("the prepared objects to be Ready", func() bool { return s.isReady("acme") && s.isReady("beta") })
		},
		steps: []step{
			{(*stage).invalidate, (*stage).areInvalidated},
			{(*stage).forgetInvalidations, func(s *stage) bool { return len(s.invalidations()) == 0 }},
		},
	}}
}

// telling are the cases of the short selection: faults at the requests, which are what might be sent twice, and at writes of
// what was requested.
func telling(k *kase) bool {
	return k.lifecycle.invalidates && (k.family == "reference" || k.family == "kube" || strings.Contains(k.what, requestInvalidation))
}

// invalidationMutations are mistakes about invalidations.
func invalidationMutations() []mutation {
	return []mutation{{
		name: "each request of an invalidation has a caller reference of its own",
		replacements: []replacement{{invalidationController, "(*pass).reference",
			`return original(t) + strconv.FormatInt(p.Clock.Now().UnixNano(), 10)`, []string{"strconv"}}},
		cases:   []string{"kill/invalidate/aws:CreateInvalidationForDistributionTenant#1/kill-committed"},
		oracles: []string{oracleInvalidations, oracleForeign},
	}, {
		name:         "tenants are requested before they are stored",
		replacements: []replacement{{invalidationRules, "stored", passes, nil}},
		cases:        []string{"reference/invalidate/undisturbed"},
		oracles:      []string{oracleLedger},
	}}
}

// invalidate creates an object for one tenant, and one for all with the label.
func (s *stage) invalidate() {
	page := &v1alpha1.Invalidation{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "page"}}
	page.Spec.TenantRef = &v1alpha1.InvalidationTenantReference{Name: "acme"}
	page.Spec.Paths = []string{"/index.html"}
	gold := &v1alpha1.Invalidation{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "gold"}}
	gold.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "gold"}}
	gold.Spec.Paths = []string{"/prices.html", "/assets/*"}
	s.add(page)
	s.add(gold)
}

func (s *stage) invalidations() []v1alpha1.Invalidation {
	var list v1alpha1.InvalidationList
	s.must("listing the invalidations", s.rig.kube.List(s.ctx, &list, client.InNamespace(s.namespace)))
	return list.Items
}

func (s *stage) areInvalidated() bool {
	all := s.invalidations()
	for i := range all {
		if !meta.IsStatusConditionTrue(all[i].Status.Conditions, v1alpha1.ConditionReady) {
			return false
		}
	}
	return len(all) > 0
}

func (s *stage) forgetInvalidations() {
	all := s.invalidations()
	for i := range all {
		s.gate.note("a person deletes %s", all[i].Name)
		s.must("deleting "+all[i].Name, client.IgnoreNotFound(s.rig.kube.Delete(s.ctx, &all[i])))
	}
}

// checkInvalidationHonest wants each tenant that is said to be completed to be so in AWS.
func (s *stage) checkInvalidationHonest(o *v1alpha1.Invalidation) {
	completed := map[string]bool{}
	for _, i := range s.sim.Invalidations("") {
		completed[i.Of+" "+i.ID] = i.Status == "Completed"
	}
	ended := len(o.Status.Tenants) > 0
	for _, t := range o.Status.Tenants {
		ended = ended && t.State == v1alpha1.InvalidationCompleted
		if t.State == v1alpha1.InvalidationCompleted && !completed[t.TenantID+" "+t.InvalidationID] {
			s.violate(oracleHonesty, "%s says that %s of %s is completed, and AWS has not completed it", o.Name, t.InvalidationID, t.Name)
		}
	}
	if meta.IsStatusConditionTrue(o.Status.Conditions, v1alpha1.ConditionReady) && !ended {
		s.violate(oracleHonesty, "%s is Ready before all of its tenants are: %+v", o.Name, o.Status.Tenants)
	}
}

// checkInvalidationRequest wants a tenant to be in the status of its object before AWS is asked: what is chosen once can't be
// chosen again after a crash.
func (s *stage) checkInvalidationRequest(c call) {
	var batch struct {
		CallerReference string
	}
	if err := xml.Unmarshal(c.body, &batch); err != nil {
		s.violate("harness", "reading %s: %v", c.target, err)
		return
	}
	id := tenantID.FindString(c.target)
	uid := types.UID(strings.TrimSuffix(batch.CallerReference, "-"+id))
	s.mu.Lock()
	name, known := s.uids[uid]
	wiped := s.wiped
	s.mu.Unlock()
	if !known {
		s.violate(oracleForeign, "%s has the reference %q, which is that of no object and this tenant", c.target, batch.CallerReference)
		return
	}
	var o v1alpha1.Invalidation
	if err := s.rig.kube.Get(s.ctx, client.ObjectKey{Namespace: s.namespace, Name: name}, &o); err != nil || o.UID != uid || wiped {
		return // The object is gone, as may be when a stopped process continues.
	}
	if !slices.ContainsFunc(o.Status.Tenants, func(t v1alpha1.InvalidatedTenant) bool { return t.TenantID == id }) {
		s.violate(oracleLedger, "%s: the status of %s does not have the tenant", c.target, name)
	}
}

// invalidated are the invalidations in AWS, each as its tenant and its paths.
func (s *stage) invalidated() (out []string) {
	names := map[string]string{}
	for _, t := range s.sim.Tenants("") {
		names[t.ID] = t.Name
	}
	for _, i := range s.sim.Invalidations("") {
		out = append(out, fmt.Sprintf("%s %s", names[i.Of], strings.Join(i.Paths, ",")))
	}
	slices.Sort(out)
	return out
}

// checkInvalidations compares AWS with what the objects stand for.
func (s *stage) checkInvalidations() {
	var want []string
	if s.lifecycle.invalidates {
		want = asked
	}
	if d := gocmp.Diff(want, s.invalidated(), cmpopts.EquateEmpty()); d != "" {
		s.violate(oracleInvalidations, "(-objects +AWS):\n%s", d)
	}
}
