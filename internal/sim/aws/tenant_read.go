package aws

import "net/http"

func (s *Sim) getTenant(c *call) (reply, error) {
	return s.showTenant(c, c.vars[0])
}

// showTenant answers a read by id, name or ARN.
func (s *Sim) showTenant(c *call, identifier string) (reply, error) {
	v, err := s.seeTenant(c, identifier)
	if err != nil {
		return reply{}, err
	}
	return reply{
		status: http.StatusOK,
		etag:   s.etagAt(v.value.meta, v.at),
		body:   s.tenantBody("DistributionTenant", v, false, s.echoedTags(v.tags)),
	}, nil
}

// seeTenant finds a tenant as reads see it.
func (s *Sim) seeTenant(c *call, identifier string) (seen[tenant], error) {
	s.progressTenant(c.acct, c.acct.tenants.resolve(identifier), c.now)
	v, ok := c.acct.tenants.get(identifier, c.now, &s.switches)
	if !ok {
		return v, entityNotFound("distribution tenant", identifier)
	}
	c.about(v.id, v.name)
	return v, nil
}

// echoedTags are the tags Get and Update answer with: in the field they do not,
// though the response shape has a place for them.
func (s *Sim) echoedTags(tags []tag) []tag {
	if s.switches.GetReturnsTags {
		return tags
	}
	return nil
}

// getTenantByDomain sees the caller's own account only and matches exactly.
func (s *Sim) getTenantByDomain(c *call) (reply, error) {
	name := c.param("domain")
	if name == "" {
		return reply{}, invalidArgument("The parameter domain is required.")
	}
	holder, ok := s.world.domains[name]
	if !ok || holder.kind != kindTenant || holder.account != c.acct.id {
		return reply{}, entityNotFound("distribution tenant", name)
	}
	return s.showTenant(c, holder.id)
}

func (s *Sim) listTenants(c *call) (reply, error) {
	root, err := c.root("ListDistributionTenantsRequest")
	if err != nil {
		return reply{}, err
	}
	distributionID := root.str("AssociationFilter", "DistributionId")
	groupID := root.str("AssociationFilter", "ConnectionGroupId")
	if s.switches.FilterNeedsResource {
		if distributionID != "" && c.acct.distributions.find(distributionID) == nil {
			return reply{}, entityNotFound("distribution", distributionID)
		}
		if groupID != "" && c.acct.groups.find(groupID) == nil {
			return reply{}, entityNotFound("connection group", groupID)
		}
	}
	return s.pageOfTenants(c, root, "ListDistributionTenantsResult", func(t *tenant) bool {
		return (distributionID == "" || t.distributionID == distributionID) && (groupID == "" || t.groupID == groupID)
	})
}

func (s *Sim) listTenantsByCustomization(c *call) (reply, error) {
	root, err := c.root("ListDistributionTenantsByCustomizationRequest")
	if err != nil {
		return reply{}, err
	}
	acl, cert := root.str("WebACLArn"), root.str("CertificateArn")
	if (acl == "") == (cert == "") {
		return reply{}, invalidArgument("Exactly one of WebACLArn and CertificateArn is required.")
	}
	return s.pageOfTenants(c, root, "ListDistributionTenantsByCustomizationResult", func(t *tenant) bool {
		return (acl != "" && t.webACLArn() == acl) || (cert != "" && t.custom.cert == cert)
	})
}

func (s *Sim) pageOfTenants(c *call, in *node, root string, match func(*tenant) bool) (reply, error) {
	marker, size, err := s.bodyPage(in)
	if err != nil {
		return reply{}, err
	}
	found, next, err := page(c.acct.tenants, marker, size, func(r *record[tenant]) *node {
		v, ok := r.listed(c.now, &s.switches)
		if !ok || !match(v.value) {
			return nil
		}
		return s.tenantBody("DistributionTenantSummary", v, true, nil)
	})
	if err != nil {
		return reply{}, err
	}
	body := el(root, opt("NextMarker", next), el("DistributionTenantList", found...))
	return reply{status: http.StatusOK, body: body}, nil
}
