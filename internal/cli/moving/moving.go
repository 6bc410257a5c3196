// Package moving decides how a domain is moved from one DistributionTenant to another: what stands in the way, what has
// been done already, and what comes next. It is pure: a move that was interrupted is planned again from what the cluster
// shows.
package moving

import (
	"slices"
	"strings"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli/fleet"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/claim"
)

// Tristate is a fact that may be unknown.
type Tristate int

// The values.
const (
	Unknown Tristate = iota
	Yes
	No
)

// Facts are what the cluster shows.
type Facts struct {
	// Domain is in lower case, in punycode and without a dot at the end.
	Domain string
	// From has the domain, or had it at the beginning of the move, and To gets it.
	From, To *v1alpha1.DistributionTenant
	// Gone means that From is deleted. It is only a name then.
	Gone bool
	// Claim is the one for the domain; nil: there is none.
	Claim *v1alpha1.DomainClaim
	// Enabled is whether the operator heeds claims.
	Enabled Tristate
	// Denied are the rights that the user lacks, as kubectl auth can-i names them.
	Denied []string
	// Files means that the changes are made in Git, so that others may manage the objects and the user needs no rights.
	Files bool
}

// Step is one step of a move.
type Step string

// The steps, in their order.
const (
	CreateClaim    Step = "CreateClaim"
	AddDomain      Step = "AddDomain"
	WaitForMove    Step = "WaitForMove"
	RemoveDomain   Step = "RemoveDomain"
	WaitForRelease Step = "WaitForRelease"
	DeleteClaim    Step = "DeleteClaim"
)

// Steps are all of them.
var Steps = []Step{CreateClaim, AddDomain, WaitForMove, RemoveDomain, WaitForRelease, DeleteClaim}

// Planned is a step with what it does.
type Planned struct {
	Step Step   `json:"step"`
	What string `json:"what"`
	// Done is true where the cluster shows that nothing of it is left to do.
	Done bool `json:"done"`
}

// Finding is something that stands in the way of a move, or that its user has to know.
type Finding struct {
	What string `json:"what"`
	Why  string `json:"why"`
	Fix  string `json:"fix"`
}

// Plan is how a domain is moved.
type Plan struct {
	Domain   string    `json:"domain"`
	From     string    `json:"from"`
	To       string    `json:"to"`
	Steps    []Planned `json:"steps"`
	Refusals []Finding `json:"refusals,omitempty"`
	Notes    []Finding `json:"notes,omitempty"`
}

// Name is the object's name behind its namespace.
func Name(o *v1alpha1.DistributionTenant) string { return o.Namespace + "/" + o.Name }

// Make makes the plan.
func Make(f Facts) Plan {
	p := Plan{Domain: f.Domain, From: Name(f.From), To: Name(f.To), Refusals: f.refusals(), Notes: f.notes()}
	for _, s := range Steps {
		p.Steps = append(p.Steps, Planned{Step: s, What: f.what(s), Done: f.Done(s)})
	}
	return p
}

// Next is the first step that is not done. Empty: the move is over.
func (p Plan) Next() Step {
	for _, s := range p.Steps {
		if !s.Done {
			return s.Step
		}
	}
	return ""
}

func (f Facts) what(s Step) string {
	switch s {
	case CreateClaim:
		return "create the DomainClaim " + claim.Name(f.Domain) + ", which hands " + f.Domain + " over to " + Name(f.To)
	case AddDomain:
		return "add " + f.Domain + " to spec.domains of " + Name(f.To)
	case WaitForMove:
		if f.From.Spec.DNS != nil {
			return "wait until the operator has moved the domain and its DNS record to " + Name(f.To) + ", and " + Name(f.To) + " is Ready"
		}
		return "wait until the operator has moved the domain to " + Name(f.To) + ", and " + Name(f.To) + " is Ready"
	case RemoveDomain:
		return "remove " + f.Domain + " from spec.domains of " + Name(f.From)
	case WaitForRelease:
		return "wait until " + Name(f.From) + " is in sync without it"
	case DeleteClaim:
		if f.Claim != nil && !Made(f.Claim) {
			return "keep the DomainClaim " + f.Claim.Name + ", which was there before"
		}
		return "delete the DomainClaim " + claim.Name(f.Domain)
	}
	return string(s)
}

// Done reports whether nothing of a step is left to do.
func (f Facts) Done(s Step) bool {
	switch s {
	case CreateClaim:
		return f.Claim != nil || f.Done(WaitForRelease)
	case AddDomain:
		return Wants(f.To, f.Domain)
	case WaitForMove:
		return Moved(f.From, f.To, f.Domain)
	case RemoveDomain:
		return f.Done(WaitForMove) && !Wants(f.From, f.Domain)
	case WaitForRelease:
		return f.Done(RemoveDomain) && (f.Gone || Released(f.From, f.Domain))
	case DeleteClaim:
		return f.Done(WaitForRelease) && (f.Claim == nil || !Made(f.Claim))
	}
	return false
}

// Made reports whether the claim was made by a move.
func Made(c *v1alpha1.DomainClaim) bool { return c.Annotations[v1alpha1.AnnotationMovedFrom] != "" }

// Wants reports whether the object's spec has the domain.
func Wants(o *v1alpha1.DistributionTenant, domain string) bool { return index(o, domain) >= 0 }

func index(o *v1alpha1.DistributionTenant, domain string) int {
	return slices.IndexFunc(o.Spec.Domains, func(d v1alpha1.TenantDomain) bool { return claim.Canonical(d.Domain) == domain })
}

// Moved reports whether one object serves the domain, and the other has nothing of it.
func Moved(from, to *v1alpha1.DistributionTenant, domain string) bool {
	return Wants(to, domain) && settled(to) && serves(to, domain) && !has(from, domain) && !recorded(from, domain)
}

// Released reports whether the object has nothing of the domain any more. It need not be ready.
func Released(o *v1alpha1.DistributionTenant, domain string) bool {
	return !Wants(o, domain) && o.Status.ObservedGeneration >= o.Generation && !has(o, domain) && !recorded(o, domain)
}

// Resumes reports whether the move of that name was begun, so that it can be ended without the object that had the domain.
func (f Facts) Resumes(from string) bool {
	return f.Claim != nil && f.Claim.Annotations[v1alpha1.AnnotationMovedFrom] == from && Wants(f.To, f.Domain)
}

// FormerDeleted notes that the object that had the domain is deleted. With it went all that it had of the domain.
func (f *Facts) FormerDeleted() {
	name := ""
	if f.Claim != nil {
		name = f.Claim.Annotations[v1alpha1.AnnotationMovedFrom]
	}
	if f.From != nil {
		name = Name(f.From)
	}
	f.Gone, f.From = true, &v1alpha1.DistributionTenant{}
	f.From.Namespace, f.From.Name, _ = strings.Cut(name, "/")
}

// settled reports whether the object is ready and in sync, as its spec is now.
func settled(o *v1alpha1.DistributionTenant) bool {
	i := fleet.Of(o)
	synced := i.Condition(v1alpha1.ConditionSynced)
	return i.State() == fleet.Ready && o.Status.ObservedGeneration >= o.Generation && synced != nil && synced.Status == "True"
}

// has reports whether the object's tenant has the domain in AWS.
func has(o *v1alpha1.DistributionTenant, domain string) bool { return result(o, domain) != nil }

// serves reports whether CloudFront answers for the domain with the object's tenant.
func serves(o *v1alpha1.DistributionTenant, domain string) bool {
	r := result(o, domain)
	return r != nil && r.Status == active
}

// active is what AWS calls a domain for which CloudFront answers.
const active = "active"

func result(o *v1alpha1.DistributionTenant, domain string) *v1alpha1.DomainResult {
	for i := range o.Status.DomainResults {
		if r := &o.Status.DomainResults[i]; claim.Canonical(r.Domain) == domain {
			return r
		}
	}
	return nil
}

// recorded reports whether the object's ledger has a record of the domain.
func recorded(o *v1alpha1.DistributionTenant, domain string) bool {
	return o.Status.DNS != nil && slices.ContainsFunc(o.Status.DNS.Records, func(r v1alpha1.DNSRecord) bool {
		return claim.Canonical(dns.Domain(r.Name)) == domain
	})
}

// NewClaim is the claim of the move.
func (f Facts) NewClaim() *v1alpha1.DomainClaim {
	c := &v1alpha1.DomainClaim{Spec: v1alpha1.DomainClaimSpec{
		Domain: f.Domain, Namespace: f.To.Namespace, HandOver: true, TenantRef: &v1alpha1.DomainClaimTenantReference{Name: f.To.Name},
	}}
	c.SetGroupVersionKind(v1alpha1.SchemeGroupVersion.WithKind("DomainClaim"))
	c.Name, c.Annotations = claim.Name(f.Domain), map[string]string{v1alpha1.AnnotationMovedFrom: Name(f.From)}
	return c
}
