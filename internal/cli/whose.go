package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli/fleet"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/claim"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

func whoseCommand(s *session) *cobra.Command {
	c := &cobra.Command{
		Use: "whose DOMAIN", GroupID: look, Args: cobra.ExactArgs(1), Short: "Show which objects have a domain",
		Long: "Show which objects of all namespaces have a domain, or a wildcard that covers it: tenants, aliases of distributions,\n" +
			"customer targets of connection groups, and DomainClaims, with what the operator says of each. An object whose domain\n" +
			"AWS has given to another resource says so.",
		Example: "  kubectl cfdt whose www.example.com\n  kubectl cfdt whose '*.example.com' -o json",
	}
	out := outputOf(c)
	c.RunE = run(func(ctx context.Context, args []string) error {
		domain := claim.Canonical(args[0])
		f, err := s.load(ctx, kindTenant, "Distribution", "ConnectionGroup", "DomainClaim")
		if err != nil {
			return err
		}
		w := holdersOf(f, domain)
		if len(w.Holders) == 0 {
			return fmt.Errorf("no object in %s has the domain %s", s.cluster.scope(), prose.Quote(domain))
		}
		w.Scope = s.cluster.scope()
		return s.print(out, "DomainHolders", w)
	})
	return c
}

// holders is the answer of whose.
type holders struct {
	Domain  string   `json:"domain"`
	Scope   string   `json:"scope"`
	Holders []holder `json:"holders"`
}

type holder struct {
	Kind string `json:"kindOfObject"`
	Name string `json:"name"`
	// Domain is the wildcard that covers the domain, or the domain.
	Domain  string      `json:"domain"`
	State   string      `json:"state"`
	Since   metav1.Time `json:"since"`
	Message string      `json:"message"`
	color   string
}

func holdersOf(f *fleet.Fleet, domain string) holders {
	out := holders{Domain: domain, Holders: []holder{}}
	for _, i := range f.All() {
		o, claims := i.Object.(*v1alpha1.DomainClaim)
		seen := map[string]bool{}
		for _, d := range domainsOf(i) {
			c := claim.Claim{Domain: claim.Canonical(d), Subdomains: claims && o.Spec.Subdomains}
			if c.Covers(domain) && !seen[c.Domain] {
				seen[c.Domain] = true
				out.Holders = append(out.Holders, holderOf(i, c.Domain))
			}
		}
	}
	return out
}

// domainsOf are the domains that an object has or asks for.
func domainsOf(i fleet.Item) (out []string) {
	switch o := i.Object.(type) {
	case *v1alpha1.DistributionTenant:
		for _, d := range o.Spec.Domains {
			out = append(out, d.Domain)
		}
		for _, d := range o.Status.Domains {
			out = append(out, d.Domain)
		}
	case *v1alpha1.Distribution:
		return o.Spec.Aliases
	case *v1alpha1.ConnectionGroup:
		for _, t := range o.Spec.CustomerTargets {
			out = append(out, t.Name)
		}
	case *v1alpha1.DomainClaim:
		return []string{o.Spec.Domain}
	}
	return out
}

// holderOf says of a tenant how far the domain is, and of another object how far that is.
func holderOf(i fleet.Item, domain string) holder {
	why := i.Why()
	h := holder{
		Kind: i.Kind, Name: i.Name(), Domain: domain, State: why.Reason, Since: why.LastTransitionTime, Message: why.Message, color: stateColor(i.State()),
	}
	switch o := i.Object.(type) {
	case *v1alpha1.DistributionTenant:
		n := slices.IndexFunc(o.Status.Domains, func(d v1alpha1.DomainStatus) bool { return claim.Canonical(d.Domain) == domain })
		if n >= 0 {
			d := domainView{DomainStatus: o.Status.Domains[n]}
			h.State, h.Since, h.Message, h.color = string(d.State), d.Since, d.Message, d.color()
		}
	case *v1alpha1.DomainClaim:
		h.State, h.Message = cmp.Or(string(o.Status.Phase), h.State), "For namespace "+o.Spec.Namespace+"."
		if o.Spec.TenantRef != nil {
			h.Message = "For DistributionTenant " + o.Spec.Namespace + "/" + o.Spec.TenantRef.Name + "."
		}
	}
	return h
}

func (w holders) text(p *page) {
	p.line("%s   %s in %s", p.paint(bold, w.Domain), count(len(w.Holders), "object", "objects"), w.Scope)
	t := table{head: []string{"KIND", "NAME", "DOMAIN", "STATE", "SINCE", "MESSAGE"}}
	for _, h := range w.Holders {
		t.addColored([]string{"", "", "", h.color}, h.Kind, h.Name, h.Domain, h.State, p.ago(h.Since.Time), h.Message)
	}
	p.table(t)
}
