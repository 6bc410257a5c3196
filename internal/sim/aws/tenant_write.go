package aws

import (
	"net/http"
	"time"
)

func (s *Sim) createTenant(c *call) (reply, error) {
	root, err := c.root("CreateDistributionTenantRequest")
	if err != nil {
		return reply{}, err
	}
	in, err := s.readTenant(root)
	if err != nil {
		return reply{}, err
	}
	tags, err := s.readTags(root.child("Tags"))
	if err != nil {
		return reply{}, err
	}
	next, err := s.admitTenant(c, in)
	if err != nil {
		return reply{}, err
	}
	if err := s.switches.Allowed.doubtBlocks(&tenant{}, root); err != nil {
		return reply{}, err
	}
	if next.groupID == "" {
		next.groupID = s.defaultGroup(c.acct, c.now).id
	}
	r := s.storeNewTenant(c.acct, "", in, next, tags, c.now)
	c.about(r.id, r.name)
	return s.tenantReply(http.StatusCreated, r, c.now, r.tags), nil
}

// admitTenant checks a create against everything else there is.
func (s *Sim) admitTenant(c *call, in tenantInput) (*tenant, error) {
	switch {
	case !tenantName.MatchString(in.name):
		return nil, invalidArgument("The name of a distribution tenant must match %s, got %q.", tenantName, in.name)
	case in.distributionID == "":
		return nil, invalidArgument("The parameter DistributionId is required.")
	case !in.hasDomains:
		return nil, invalidArgument("The parameter Domains is required.")
	}
	dist, err := c.acct.tenantOnly(in.distributionID)
	if err != nil {
		return nil, err
	}
	if err := c.acct.usableGroup(in.groupID); err != nil {
		return nil, err
	}
	if c.acct.tenants.names[in.name] != nil {
		return nil, conflict("EntityAlreadyExists", "A distribution tenant with the name %s already exists.", in.name)
	}
	if err := s.checkDomains(c, in, domainHolder{}, nil); err != nil {
		return nil, err
	}
	if err := checkParams(in.params, dist.current().params); err != nil {
		return nil, err
	}
	next := &tenant{
		distributionID: dist.id, groupID: in.groupID, params: s.disregard(in.params),
		custom: in.custom, enabled: s.switches.EnabledByDefault,
	}
	if in.enabled != nil {
		next.enabled = *in.enabled
	}
	if err := s.checkCustomizations(c, next, nil); err != nil {
		return nil, err
	}
	if next.domains, err = s.proveDomains(c, next, nil, in); err != nil {
		return nil, err
	}
	if len(c.acct.tenants.live) >= s.quotas.Tenants {
		return nil, limitExceeded("The account has reached its quota of %d distribution tenants.", s.quotas.Tenants)
	}
	return next, nil
}

// checkDomains refuses domains that the holder can't have. Those of a seed may lead anywhere.
func (s *Sim) checkDomains(c *call, in tenantInput, holder domainHolder, before *tenant) error {
	if err := s.world.domainsFree(in.domains, holder); err != nil || in.seeded {
		return err
	}
	return s.dnsFree(in.domains, before, c.now)
}

// storeNewTenant puts an admitted tenant into the world. The id is derived
// unless a seed gives it.
func (s *Sim) storeNewTenant(a *account, id string, in tenantInput, next *tenant, tags []tag, now time.Time) *record[tenant] {
	if id == "" {
		id = s.derive.ksuid("dt_", a.id, in.name, a.tenants.generation(in.name))
	}
	next.meta = s.changed(id, 0, now)
	if in.request != nil {
		next.managed = s.startManaged(a, id, in.name, next, in.request, now)
	}
	r := &record[tenant]{
		id: id, name: in.name, arn: "arn:aws:cloudfront::" + a.id + ":distribution-tenant/" + id, created: now, tags: tags,
	}
	r.put(next, now, s.keep())
	a.tenants.add(r)
	s.index(a, r.id, nil, next)
	return r
}

// index keeps what is looked up by domain, distribution, group or web ACL in
// step with a change; before is nil for a create, after for a delete.
func (s *Sim) index(a *account, id string, before, after *tenant) {
	if before != nil {
		for _, d := range before.domains {
			delete(s.world.domains, d.name)
		}
		a.tenantsOf[before.distributionID]--
		a.tenantsIn[before.groupID]--
		a.webACLUses[before.webACLArn()]--
		a.attach(before.custom.cert, before.distributionID, -1)
	}
	if after != nil {
		for _, d := range after.domains {
			s.world.domains[d.name] = domainHolder{kind: kindTenant, account: a.id, id: id}
		}
		a.tenantsOf[after.distributionID]++
		a.tenantsIn[after.groupID]++
		a.webACLUses[after.webACLArn()]++
		a.attach(after.custom.cert, after.distributionID, 1)
	}
}

// checkCustomizations looks at what the customizations refer to.
func (s *Sim) checkCustomizations(c *call, next, before *tenant) error {
	if arn := next.custom.cert; arn != "" && (before == nil || before.custom.cert != arn) {
		if _, err := s.issuedCertificate(c.acct, arn); err != nil {
			return err
		}
	}
	arn := next.webACLArn()
	if arn == "" || (before != nil && before.webACLArn() == arn) {
		return nil
	}
	if c.acct.webACLUses[arn] >= s.quotas.WebACLAssociations {
		return limitExceeded("The web ACL %s has reached its quota of %d associations.", arn, s.quotas.WebACLAssociations)
	}
	return nil
}

func (s *Sim) updateTenant(c *call) (reply, error) {
	r, err := s.tenantForWrite(c, true)
	if err != nil {
		return reply{}, err
	}
	root, err := c.root("UpdateDistributionTenantRequest")
	if err != nil {
		return reply{}, err
	}
	in, err := s.readTenant(root)
	if err != nil {
		return reply{}, err
	}
	before := r.current()
	next, err := s.mergeTenant(c, before, in, root.child("Customizations"))
	if err != nil {
		return reply{}, err
	}
	if err := s.checkDomains(c, in, domainHolder{kind: kindTenant, account: c.acct.id, id: r.id}, before); err != nil {
		return reply{}, err
	}
	if err := s.checkCustomizations(c, next, before); err != nil {
		return reply{}, err
	}
	if next.domains, err = s.proveDomains(c, next, before, in); err != nil {
		return reply{}, err
	}
	if err := s.switches.Allowed.doubtUpdate(before, root, in); err != nil {
		return reply{}, err
	}
	if next.groupID == "" {
		next.groupID = s.defaultGroup(c.acct, c.now).id
	}
	if in.request != nil {
		next.managed = s.startManaged(c.acct, r.id, r.name, next, in.request, c.now)
	}
	s.replaceTenant(c.acct, r, next, c.now)
	return s.tenantReply(http.StatusOK, r, c.now, s.echoedTags(r.tags)), nil
}

// tenantForWrite finds the tenant of a write, which takes the id only, and
// checks the precondition.
func (s *Sim) tenantForWrite(c *call, etagRequired bool) (*record[tenant], error) {
	r := c.acct.tenants.find(c.vars[0])
	if r == nil {
		return nil, entityNotFound("distribution tenant", c.vars[0])
	}
	s.progressTenant(c.acct, r, c.now)
	return r, s.checkETag(c, r.current().meta, etagRequired)
}

// mergeTenant applies an update: top-level members that are not sent stay as
// they are, blocks that are sent are replaced as a whole.
func (s *Sim) mergeTenant(c *call, before *tenant, in tenantInput, customBlock *node) (*tenant, error) {
	next := *before
	if in.enabled != nil {
		next.enabled = *in.enabled
	}
	if in.distributionID != "" {
		next.distributionID = in.distributionID
	}
	if in.groupID != "" {
		if err := c.acct.usableGroup(in.groupID); err != nil && in.groupID != before.groupID {
			return nil, err
		}
		next.groupID = in.groupID
	}
	if in.hasParams {
		next.params = s.disregard(in.params)
	}
	if in.hasCustom {
		next.custom = s.mergeCustomizations(before.custom, in.custom, customBlock)
	}
	if in.hasParams || in.distributionID != "" {
		dist, err := c.acct.tenantOnly(next.distributionID)
		if err != nil {
			return nil, err
		}
		if err := checkParams(next.params, dist.current().params); err != nil {
			return nil, err
		}
	}
	return &next, nil
}

func (s *Sim) mergeCustomizations(before, sent customizations, block *node) customizations {
	if !s.switches.CustomizationsMerge || len(block.kids) == 0 {
		return sent
	}
	merged := before
	if sent.webACL != nil {
		merged.webACL = sent.webACL
	}
	if sent.cert != "" {
		merged.cert = sent.cert
	}
	if sent.geo != nil {
		merged.geo = sent.geo
	}
	return merged
}

// replaceTenant stores a new version: a new ETag, InProgress again.
func (s *Sim) replaceTenant(a *account, r *record[tenant], next *tenant, now time.Time) {
	before := r.current()
	r.rev++
	next.meta = s.changed(r.id, r.rev, now)
	r.put(next, now, s.keep())
	s.index(a, r.id, before, next)
}

func (s *Sim) deleteTenant(c *call) (reply, error) {
	r, err := s.tenantForWrite(c, true)
	if err != nil {
		return reply{}, err
	}
	t := r.current()
	if t.enabled || (s.switches.DeleteNeedsDeployed && t.status(c.now) != statusDeployed) {
		return reply{}, conflict("ResourceNotDisabled", "The distribution tenant %s is not disabled.", r.id)
	}
	s.index(c.acct, r.id, t, nil)
	c.acct.tenants.remove(r, c.now, s.keep())
	return reply{status: http.StatusNoContent}, nil
}

func (s *Sim) associateWebACL(c *call) (reply, error) {
	r, err := s.tenantForWrite(c, false)
	if err != nil {
		return reply{}, err
	}
	root, err := c.root("AssociateDistributionTenantWebACLRequest")
	if err != nil {
		return reply{}, err
	}
	arn := root.str("WebACLArn")
	if !webACLArn.MatchString(arn) {
		return reply{}, invalidArgument("The web ACL ARN is not valid: %q.", arn)
	}
	next := *r.current()
	next.custom.webACL = &webACL{action: "override", arn: arn}
	if err := s.checkCustomizations(c, &next, r.current()); err != nil {
		return reply{}, err
	}
	s.replaceTenant(c.acct, r, &next, c.now)
	body := el("AssociateDistributionTenantWebACLResult", txt("Id", r.id), txt("WebACLArn", arn))
	return reply{status: http.StatusOK, etag: s.etagAt(next.meta, c.now), body: body}, nil
}

func (s *Sim) disassociateWebACL(c *call) (reply, error) {
	r, err := s.tenantForWrite(c, false)
	if err != nil {
		return reply{}, err
	}
	next := *r.current()
	next.custom.webACL = nil
	s.replaceTenant(c.acct, r, &next, c.now)
	body := el("DisassociateDistributionTenantWebACLResult", txt("Id", r.id))
	return reply{status: http.StatusOK, etag: s.etagAt(next.meta, c.now), body: body}, nil
}
