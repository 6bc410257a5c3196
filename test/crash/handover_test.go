package crash_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"io"
	"net/http"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

// oracleHandOver wants a domain that is handed over to have one tenant at each moment, and the one that the claim names in
// the end.
const oracleHandOver = "hand-over"

// moveDomain is the call with which AWS moves a domain in one step.
const moveDomain = "UpdateDomainAssociation"

// The objects between which the domain moves.
const (
	giver    = "acme"
	receiver = "beta"
)

// claimsPath is where the API server has the claims, which are in no namespace.
const claimsPath = "/apis/" + v1alpha1.GroupName + "/v1alpha1/domainclaims"

// caseLabel says which case a claim is of.
const caseLabel = "crash-test/case"

// handing is what is known of a domain that is handed over.
type handing struct {
	mu sync.Mutex
	// giver and receiver are the IDs of their tenants. Empty: nothing is watched yet.
	giver, receiver string
	// holder is the ID of the tenant that has the domain.
	holder string
	// claimed is true while there is a claim that names the receiver, ordered from the time when it was made.
	claimed, ordered bool
	// refused is true once the giver has said that the domain is not its own any more.
	refused bool
	// released is true once a user has deleted the receiver.
	released bool
}

// handOverLifecycles are those in which a domain moves from one object to another.
func handOverLifecycles() []*lifecycle {
	return []*lifecycle{{
		name: "hand-over", about: "A claim hands a domain over from one object to another. Then the claim and both objects are deleted.", handsOver: true, parks: true,
		// A released domain is held until a deletion is certainly over, and no longer.
		flags: []string{"--domain-claims", "--domain-hold=10s", "--domain-hold-customer=10s"},
		prepare: func(s *stage) {
			s.create(giver, func(o *tenantObject) { setDomains(o, s.ownDomain(giver), s.movedDomain()) })
			s.create(receiver, func(o *tenantObject) { setDomains(o, s.ownDomain(receiver)) })
			s.await("the prepared objects to be Ready", func() bool { return s.isReady(giver) && s.isReady(receiver) })
			s.watchHolder()
		},
		steps: []step{
			{(*stage).claimForReceiver, (*stage).isClaimed},
			{
				func(s *stage) {
					s.edit(receiver, func(o *tenantObject) { setDomains(o, s.ownDomain(receiver), s.movedDomain()) })
				},
				func(s *stage) bool {
					return s.isReady(receiver) && saysOf(giver, v1alpha1.ConditionSynced, v1alpha1.ReasonDomainClaimed)(s)
				},
			},
			{
				func(s *stage) { s.edit(giver, func(o *tenantObject) { setDomains(o, s.ownDomain(giver)) }) },
				func(s *stage) bool { return s.isReady(receiver) && s.isReady(giver) },
			},
			{func(s *stage) { s.checkHolder(); s.unclaim(); s.remove(giver) }, func(s *stage) bool { return s.isGone(giver) }},
			{(*stage).releaseDomain, func(s *stage) bool { return s.isGone(receiver) && len(s.domainClaims()) == 0 }},
		},
	}}
}

// handOverMutations are mistakes about who has a domain.
func handOverMutations() []mutation {
	return []mutation{{
		name: "who had a domain takes it back",
		replacements: []replacement{
			{claimRegistry, "(*Registry).Judge", `return nil`, nil},
			{claimRules, "(*Index).Moves", `for d, holdings := range x.domains {
				wants, taken := false, false
				for _, h := range holdings {
					wants = wants || h.of.Key == key && h.wanted
					taken = taken || h.of.Key != key && h.stake >= InAWS
				}
				if c, claimed := x.claims[d]; claimed && c.HandOver && wants && taken {
					domains = append(domains, d)
				}
			}
			return domains`, nil},
		},
		cases:   []string{"reference/hand-over/undisturbed"},
		oracles: []string{oracleHandOver},
	}}
}

// ownDomain is a domain that no other case has: claims are named by their domains, and all cases have one API server.
func ownDomain(name, namespace string) string { return name + "-" + namespace + ".example.com" }

func (s *stage) ownDomain(name string) string { return ownDomain(name, s.namespace) }

// movedDomain is the one that is handed over.
func (s *stage) movedDomain() string { return s.ownDomain("moves") }

// ownClaims lets the operators of a case see the claims of this case alone. Claims are in no namespace, and each
// operator keeps all that it sees.
func (s *stage) ownClaims(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != claimsPath {
			next.ServeHTTP(w, r)
			return
		}
		r = r.Clone(r.Context())
		switch r.Method {
		case http.MethodGet:
			q := r.URL.Query()
			q.Set("labelSelector", caseLabel+"="+s.namespace)
			r.URL.RawQuery = q.Encode()
		case http.MethodPost:
			s.label(r)
		}
		next.ServeHTTP(w, r)
	})
}

// label puts the label of the case on a claim that is on its way.
func (s *stage) label(r *http.Request) {
	o := &v1alpha1.DomainClaim{}
	err := json.NewDecoder(r.Body).Decode(o)
	if err != nil {
		s.violate("harness", "reading a claim that is created: %v", err)
	}
	o.Labels = s.caseLabels()
	body, err := json.Marshal(o)
	if err != nil {
		s.violate("harness", "labelling a claim that is created: %v", err)
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	r.Header.Del("Content-Length")
}

func (s *stage) caseLabels() map[string]string { return map[string]string{caseLabel: s.namespace} }

// The actions of users.

// claimForReceiver creates the claim that hands the domain over.
func (s *stage) claimForReceiver() {
	s.handing.mu.Lock()
	s.handing.claimed, s.handing.ordered = true, true
	s.handing.mu.Unlock()
	s.gate.note("an administrator hands %s over to %s", s.movedDomain(), receiver)
	s.must("creating the claim", s.rig.kube.Create(s.ctx, &v1alpha1.DomainClaim{
		ObjectMeta: metav1.ObjectMeta{Name: s.movedDomain(), Labels: s.caseLabels()},
		Spec: v1alpha1.DomainClaimSpec{
			Domain: s.movedDomain(), Namespace: s.namespace, HandOver: true, TenantRef: &v1alpha1.DomainClaimTenantReference{Name: receiver},
		},
	}))
}

// unclaim deletes it.
func (s *stage) unclaim() {
	s.handing.mu.Lock()
	s.handing.claimed = false
	s.handing.mu.Unlock()
	s.gate.note("an administrator deletes the claim for %s", s.movedDomain())
	s.must("deleting the claim", s.rig.kube.Delete(s.ctx, &v1alpha1.DomainClaim{ObjectMeta: metav1.ObjectMeta{Name: s.movedDomain()}}))
}

// releaseDomain deletes the object that has the domain.
func (s *stage) releaseDomain() {
	s.handing.mu.Lock()
	s.handing.released = true
	s.handing.mu.Unlock()
	s.remove(receiver)
}

// forgetClaims deletes what is left of a case that went wrong.
func (s *stage) forgetClaims(ctx context.Context) {
	if s.lifecycle.handsOver {
		_ = s.rig.kube.DeleteAllOf(ctx, &v1alpha1.DomainClaim{}, client.MatchingLabels(s.caseLabels()))
	}
}

// The observations.

// domainClaims are the claims of the case.
func (s *stage) domainClaims() []v1alpha1.DomainClaim {
	if !s.lifecycle.handsOver {
		return nil
	}
	var list v1alpha1.DomainClaimList
	s.must("listing the claims", s.rig.kube.List(s.ctx, &list, client.MatchingLabels(s.caseLabels())))
	return list.Items
}

// isClaimed is when the operator has seen the claim.
func (s *stage) isClaimed() bool {
	return slices.ContainsFunc(s.domainClaims(), func(o v1alpha1.DomainClaim) bool {
		return o.Spec.Domain == s.movedDomain() && o.Status.Phase == v1alpha1.DomainHandOver
	})
}

// isLosing reports whether an object asks for a domain that a claim takes from it. It says that it has the domain until
// it has seen that.
func (s *stage) isLosing(o *tenantObject) bool {
	s.handing.mu.Lock()
	defer s.handing.mu.Unlock()
	return s.handing.ordered && o.Name == giver && asksFor(o, s.movedDomain())
}

func asksFor(o *tenantObject, domain string) bool {
	return slices.ContainsFunc(o.Spec.Domains, func(d v1alpha1.TenantDomain) bool { return d.Domain == domain })
}

// The oracle.

// watchHolder begins to watch who has the domain.
func (s *stage) watchHolder() {
	from, found := s.tenant(giver)
	to, exists := s.tenant(receiver)
	if !found || !exists {
		s.fatal("harness", "the tenants between which a domain moves are not there")
	}
	s.handing.mu.Lock()
	defer s.handing.mu.Unlock()
	s.handing.giver, s.handing.receiver, s.handing.holder = from.ID, to.ID, from.ID
}

// checkTaken looks at who has the domain, before and after each change in AWS. It is always served, goes from the giver to
// the receiver once it is claimed, and never back.
func (s *stage) checkTaken(v sim.View) {
	if !s.lifecycle.handsOver {
		return
	}
	h := &s.handing
	h.mu.Lock()
	defer h.mu.Unlock()
	now := v.Domains()[s.movedDomain()]
	if h.giver == "" || now == h.holder {
		return
	}
	switch {
	case now == h.receiver && h.holder == h.giver && h.claimed:
	case now == "" && h.holder == h.receiver && h.released:
	case now == "":
		s.violate(oracleHandOver, "%s is not served any more, around %s", s.movedDomain(), v.Operation)
	default:
		s.violate(oracleHandOver, "%s goes from %s to %s (giver %s, receiver %s, claimed %t), around %s", s.movedDomain(), h.holder, now, h.giver, h.receiver, h.claimed, v.Operation)
	}
	h.holder = now
}

// checkMove looks at what the operator asks AWS to move, when it does.
func (s *stage) checkMove(c call) {
	var in struct {
		Domain string
		Target string `xml:"TargetResource>DistributionTenantId"`
	}
	if err := xml.Unmarshal(c.body, &in); err != nil {
		s.violate("harness", "reading %s: %v", c.target, err)
	}
	s.handing.mu.Lock()
	defer s.handing.mu.Unlock()
	if !s.handing.claimed || in.Domain != s.movedDomain() || in.Target != s.handing.receiver {
		s.violate(oracleHandOver, "%s is sent to move to %s, which no claim says", in.Domain, in.Target)
	}
}

// checkRefused wants an object that was told to have lost the domain never to say again that it has it.
func (s *stage) checkRefused(o *tenantObject) {
	if !s.lifecycle.handsOver || !s.isLosing(o) {
		return
	}
	synced := meta.FindStatusCondition(o.Status.Conditions, v1alpha1.ConditionSynced)
	s.handing.mu.Lock()
	defer s.handing.mu.Unlock()
	if s.handing.refused && claims(o) {
		s.violate(oracleHandOver, "%s says again that it has %s: %s", o.Name, s.movedDomain(), brief(o.Status))
	}
	s.handing.refused = s.handing.refused || synced != nil && synced.Reason == v1alpha1.ReasonDomainClaimed
}

// checkHolder wants the domain to be of the object that its claim names, in AWS and in status, and of no other.
func (s *stage) checkHolder() {
	named := ""
	for _, o := range s.domainClaims() {
		if o.Spec.Domain == s.movedDomain() && o.Spec.TenantRef != nil {
			named = o.Spec.TenantRef.Name
		}
	}
	for _, o := range s.objects() {
		t, _ := s.tenant(o.Name)
		said := slices.ContainsFunc(o.Status.DomainResults, func(r v1alpha1.DomainResult) bool { return r.Domain == s.movedDomain() })
		if has := t.Domains[s.movedDomain()] == "active"; has != (o.Name == named) || said != has {
			s.violate(oracleHandOver, "%s is handed over to %q; %s has it: %t, and says so: %t", s.movedDomain(), named, o.Name, has, said)
		}
	}
}

// checkHandedOver wants nothing to be left at the end: no claim, and no tenant that has the domain.
func (s *stage) checkHandedOver() {
	if !s.lifecycle.handsOver {
		return
	}
	for _, o := range s.domainClaims() {
		s.violate(oracleLeak, "at the end there is the claim %s", o.Name)
	}
	s.handing.mu.Lock()
	defer s.handing.mu.Unlock()
	if s.handing.holder != "" {
		s.violate(oracleHandOver, "at the end %s is served by %s", s.movedDomain(), s.handing.holder)
	}
}
