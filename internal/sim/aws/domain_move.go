package aws

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// domainTarget is a resource that carries domains: a tenant or a standard
// distribution.
type domainTarget struct {
	tenant *record[tenant]
	dist   *record[distribution]
}

func (t domainTarget) id() string {
	if t.tenant != nil {
		return t.tenant.id
	}
	return t.dist.id
}

func (t domainTarget) enabled() bool {
	if t.tenant != nil {
		return t.tenant.current().enabled
	}
	return t.dist.current().enabled
}

func (t domainTarget) meta() meta {
	if t.tenant != nil {
		return t.tenant.current().meta
	}
	return t.dist.current().meta
}

// certificates are the ARNs that vouch for the target's domains.
func (t domainTarget) certificates(a *account) []string {
	if t.tenant == nil {
		return []string{t.dist.current().certArn}
	}
	arns := []string{t.tenant.current().custom.cert}
	if dist := a.distributions.find(t.tenant.current().distributionID); dist != nil {
		arns = append(arns, dist.current().certArn)
	}
	return arns
}

// readTarget reads the one of DistributionId and DistributionTenantId that has
// to be given.
func (c *call) readTarget(block *node, what string) (domainTarget, error) {
	tenantID, distID := block.str("DistributionTenantId"), block.str("DistributionId")
	if (tenantID == "") == (distID == "") {
		return domainTarget{}, invalidArgument("%s needs exactly one of DistributionId and DistributionTenantId.", what)
	}
	target := domainTarget{tenant: c.acct.tenants.find(tenantID), dist: c.acct.distributions.find(distID)}
	if target.tenant == nil && target.dist == nil {
		return target, entityNotFound("resource", tenantID+distID)
	}
	return target, nil
}

// updateDomainAssociation moves a domain from whatever holds it to the target,
// in one step.
func (s *Sim) updateDomainAssociation(c *call) (reply, error) {
	root, err := c.root("UpdateDomainAssociationRequest")
	if err != nil {
		return reply{}, err
	}
	name := root.str("Domain")
	target, err := c.readTarget(root.child("TargetResource"), "TargetResource")
	if err != nil {
		return reply{}, err
	}
	if err := s.checkETag(c, target.meta(), false); err != nil {
		return reply{}, err
	}
	holder, held := s.world.domains[name]
	if !held {
		return reply{}, entityNotFound("domain", name)
	}
	if err := s.checkMove(c, target, holder, name); err != nil {
		return reply{}, err
	}
	if holder.id != target.id() {
		s.dropDomain(c, holder, name)
		s.addDomain(c, target, name)
	}
	c.about(target.id(), "")
	body := el("UpdateDomainAssociationResult", txt("Domain", name), txt("ResourceId", target.id()))
	return reply{status: http.StatusOK, etag: s.etagAt(target.meta(), c.now), body: body}, nil
}

// checkMove refuses a move the target has no certificate for, and one away from
// an enabled resource of another account or without the TXT proof that takes.
func (s *Sim) checkMove(c *call, target domainTarget, holder domainHolder, name string) error {
	if target.dist != nil && target.dist.current().mode == modeTenantOnly {
		return invalidArgument("A multi-tenant distribution has no domains of its own.")
	}
	if !s.anyCovers(c, target.certificates(c.acct), name) {
		return invalidArgument("No certificate of the target covers the domain %s.", name)
	}
	if target.tenant != nil && len(target.tenant.current().domains) >= s.quotas.DomainsPerTenant {
		return invalidArgument("A distribution tenant can have %d domains.", s.quotas.DomainsPerTenant)
	}
	if s.locked(holder, name) {
		return illegalUpdate("The domain %s is locked while a certificate request of the distribution tenant that holds it is pending.", name)
	}
	foreign := holder.account != c.acct.id
	if (foreign || s.switches.MoveNeedsDisabledSource) && s.source(holder).enabled() {
		return illegalUpdate("The resource that holds the domain %s must be disabled first.", name)
	}
	if foreign && !s.provesMove(name, s.endpointOf(c.acct, target), c.now) {
		return ownershipUnproven()
	}
	return nil
}

// endpointOf is the host in cloudfront.net at which a target is reached.
func (s *Sim) endpointOf(a *account, target domainTarget) string {
	if target.tenant != nil {
		return a.groups.find(target.tenant.current().groupID).current().endpoint
	}
	return target.dist.current().endpoint
}

// proofName is where the TXT record for a move between accounts has to be.
func proofName(domain string) string {
	if strings.Count(domain, ".") == 1 {
		return "_." + domain
	}
	return "_" + domain
}

func (s *Sim) source(h domainHolder) domainTarget {
	a := s.account(h.account)
	if h.kind == kindTenant {
		return domainTarget{tenant: a.tenants.find(h.id)}
	}
	return domainTarget{dist: a.distributions.find(h.id)}
}

// dropDomain takes a domain off its holder; that is a change of the holder and
// moves its ETag.
func (s *Sim) dropDomain(c *call, h domainHolder, name string) {
	a, source := s.account(h.account), s.source(h)
	if source.tenant != nil {
		next := *source.tenant.current()
		next.domains = slices.DeleteFunc(slices.Clone(next.domains), func(d domain) bool { return d.name == name })
		s.replaceTenant(a, source.tenant, &next, c.now)
		return
	}
	s.setAliases(a, source.dist, slices.DeleteFunc(slices.Clone(source.dist.current().aliases), func(n string) bool { return n == name }), c)
}

func (s *Sim) addDomain(c *call, target domainTarget, name string) {
	if target.tenant != nil {
		next := *target.tenant.current()
		next.domains = append(slices.Clone(next.domains), domain{name: name, active: true})
		s.replaceTenant(c.acct, target.tenant, &next, c.now)
		return
	}
	s.setAliases(c.acct, target.dist, append(slices.Clone(target.dist.current().aliases), name), c)
}

func (s *Sim) setAliases(a *account, r *record[distribution], names []string, c *call) {
	next := *r.current()
	next.aliases, next.config = names, next.config.clone()
	items := el("Items")
	for _, name := range names {
		items.kids = append(items.kids, txt("CNAME", name))
	}
	next.config.set(el("Aliases", intEl("Quantity", len(names)), items))
	s.replaceDistribution(a, r, &next, c.now)
}

// listDomainConflicts lists what else holds a domain or one that overlaps with
// it, in any account. Ids of foreign resources are masked.
func (s *Sim) listDomainConflicts(c *call) (reply, error) {
	root, err := c.root("ListDomainConflictsRequest")
	if err != nil {
		return reply{}, err
	}
	name := root.str("Domain")
	if err := checkDomainName(name); err != nil {
		return reply{}, err
	}
	proof, err := c.readTarget(root.child("DomainControlValidationResource"), "DomainControlValidationResource")
	if err != nil {
		return reply{}, err
	}
	if !s.anyCovers(c, proof.certificates(c.acct), name) {
		return reply{}, invalidArgument("The domain control validation resource has no certificate that covers %s.", name)
	}
	marker, size, err := s.bodyPage(root)
	if err != nil {
		return reply{}, err
	}
	first, err := openMarker(marker)
	if err != nil {
		return reply{}, err
	}
	names := s.world.overlapping(name, proof.id())
	start := min(len(names), int(min(first, uint64(len(names)))))
	end := min(len(names), start+size)
	list := el("DomainConflicts")
	for _, found := range names[start:end] {
		list.kids = append(list.kids, conflictItem(found, s.world.domains[found], c.acct.id))
	}
	next := ""
	if end < len(names) {
		next = sealMarker(uint64(end))
	}
	return reply{status: http.StatusOK, body: el("ListDomainConflictsResult", list, opt("NextMarker", next))}, nil
}

// overlapping lists held domains that conflict with one: the same, the wildcard
// above it, or everything a wildcard covers.
func (w *world) overlapping(name, except string) []string {
	var found []string
	consider := func(candidate string) {
		if h, held := w.domains[candidate]; held && h.id != except {
			found = append(found, candidate)
		}
	}
	consider(name)
	first, parent, _ := strings.Cut(name, ".")
	if first != "*" {
		consider("*." + parent)
		return found
	}
	for _, candidate := range slices.Sorted(maps.Keys(w.domains)) {
		if candidate != name && covers([]string{name}, candidate) {
			consider(candidate)
		}
	}
	return found
}

func conflictItem(name string, h domainHolder, caller string) *node {
	id, account := h.id, h.account
	if account != caller {
		id, account = mask(id), mask(account)
	}
	return el("DomainConflicts", txt("Domain", name), txt("ResourceType", h.kind), txt("ResourceId", id), txt("AccountId", account))
}

// mask hides all but the last six characters.
func mask(text string) string {
	hidden := max(0, len(text)-6)
	return strings.Repeat("*", hidden) + text[hidden:]
}
