package aws

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

const (
	kindTenant       = "distribution-tenant"
	kindDistribution = "distribution"
)

// domainHolder is the one resource, in any account, a domain is attached to.
type domainHolder struct {
	kind, account, id string
}

// domainsFree refuses domains that are attached to anything but the holder.
func (w *world) domainsFree(names []string, holder domainHolder) error {
	for _, name := range names {
		if held, taken := w.domains[name]; taken && held != holder {
			return conflict("CNAMEAlreadyExists", "One or more of the domains you provided are already associated with a different resource: %s.", name)
		}
	}
	return nil
}

// dnsFree refuses a domain that is new to a tenant and whose public DNS leads to a standard distribution: the tenant
// would not be reached.
func (s *Sim) dnsFree(names []string, before *tenant, now time.Time) error {
	for _, name := range names {
		if before != nil && slices.Contains(before.domainNames(), name) {
			continue
		}
		endpoint, _ := s.routingOf(name, now)
		if endpoint == "" {
			continue
		}
		if r := s.distributionAt(endpoint); r != nil && r.current().mode == modeDirect {
			return conflict("CNAMEAlreadyExists", "The domain %s has a DNS record that points to another CloudFront distribution (%s). "+
				"You must update the DNS record correctly to proceed.", name, endpoint)
		}
	}
	return nil
}

// resolves tells whether DNS that is not simulated is said to lead from a name
// to CloudFront. A seeded *.x stands for every name one label below x.
func (w *world) resolves(name string) bool {
	if _, ok := w.resolving[name]; ok {
		return true
	}
	_, parent, found := strings.Cut(name, ".")
	if !found {
		return false
	}
	_, ok := w.resolving["*."+parent]
	return ok
}

// covers applies the TLS rule: a wildcard stands for exactly one label.
func covers(names []string, domain string) bool {
	if slices.Contains(names, domain) {
		return true
	}
	first, parent, found := strings.Cut(domain, ".")
	return found && first != "*" && slices.Contains(names, "*."+parent)
}

// covered tells whether the tenant's own certificate or the one inherited from
// the distribution is valid for a domain.
func (s *Sim) covered(c *call, t *tenant, domain string) bool {
	arns := []string{t.custom.cert}
	if dist := c.acct.distributions.find(t.distributionID); dist != nil {
		arns = append(arns, dist.current().certArn)
	}
	return s.anyCovers(c, arns, domain)
}

func (s *Sim) anyCovers(c *call, arns []string, domain string) bool {
	return slices.ContainsFunc(arns, func(arn string) bool {
		if arn == "" {
			return false
		}
		cert, err := s.issuedCertificate(c.acct, arn)
		return err == nil && covers(cert.names, domain)
	})
}

// proveDomains decides which domains a tenant may have and which of them are
// served. A domain once active stays active; a covered one is active at once;
// one that is new and not covered needs a managed certificate request with the
// proof its token host asks for.
func (s *Sim) proveDomains(c *call, next, before *tenant, in tenantInput) ([]domain, error) {
	held := map[string]bool{}
	names := in.domains
	if before != nil {
		for _, d := range before.domains {
			held[d.name] = d.active
		}
		if !in.hasDomains {
			names = before.domainNames()
		}
	}
	if err := s.checkManagedRequest(c, before, names, in.request); err != nil {
		return nil, err
	}
	domains := make([]domain, 0, len(names))
	for _, name := range names {
		active, known := held[name]
		d := domain{name: name, active: active || in.seeded || s.covered(c, next, name)}
		if !d.active && !(known && in.request == nil) && !s.requestProves(in.request, name, c.now) {
			return nil, ownershipUnproven()
		}
		domains = append(domains, d)
	}
	return domains, s.doubtPrimary(c, next, in.request, domains)
}

// requestProves tells whether a certificate request makes up for a missing
// certificate. With the token at CloudFront the DNS must lead there already;
// with the token at the customer's own host it may still point elsewhere.
func (s *Sim) requestProves(request *managedInput, name string, now time.Time) bool {
	switch {
	case request == nil:
		return false
	case request.host == hostCloudFront || s.switches.SelfHostedNeedsDNS:
		return s.leadsToCloudFront(name, now)
	}
	return true
}

// verifyDNS reports per domain whether DNS leads to the tenant's endpoint.
func (s *Sim) verifyDNS(c *call) (reply, error) {
	root, err := c.root("VerifyDnsConfigurationRequest")
	if err != nil {
		return reply{}, err
	}
	v, err := s.seeTenant(c, root.str("Identifier"))
	if err != nil {
		return reply{}, err
	}
	names := v.value.domainNames()
	if one := root.str("Domain"); one != "" {
		if !slices.Contains(names, one) {
			return reply{}, invalidArgument("The domain %s does not belong to the distribution tenant %s.", one, v.id)
		}
		names = []string{one}
	}
	want := c.acct.groups.find(v.value.groupID).current().endpoint
	list := el("DnsConfigurationList")
	for _, name := range names {
		item := el("DnsConfiguration", txt("Domain", name), txt("Status", "valid-configuration"))
		if endpoint, ok := s.routingOf(name, c.now); !ok || (endpoint != "" && endpoint != want) {
			item = el("DnsConfiguration", txt("Domain", name), txt("Status", "invalid-configuration"),
				txt("Reason", "No DNS record leads from the domain to the routing endpoint of the connection group."))
		}
		list.kids = append(list.kids, item)
	}
	return reply{status: http.StatusOK, body: el("VerifyDnsConfigurationResult", list)}, nil
}
