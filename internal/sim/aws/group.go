package aws

import (
	"net/http"
	"strconv"
	"time"
)

// group is one version of a connection group.
type group struct {
	meta

	endpoint  string
	ipv6      bool
	anycastID string
	enabled   bool
	isDefault bool
}

// usableGroup tells whether tenants can be put into a group; no id means the
// default one.
func (a *account) usableGroup(id string) error {
	if id == "" {
		return nil
	}
	r := a.groups.find(id)
	if r == nil {
		return entityNotFound("connection group", id)
	}
	if !r.current().enabled {
		return conflict("InvalidAssociation", "The connection group %s is disabled.", id)
	}
	return nil
}

// defaultGroup returns the account's default group and creates it the first
// time.
func (s *Sim) defaultGroup(a *account, now time.Time) *record[group] {
	if r := a.groups.find(a.defaultGroupID); r != nil {
		return r
	}
	id := s.derive.ksuid("cg_", a.id, "default")
	return s.storeGroup(a, id, "CreatedByCloudFront-"+id, &group{ipv6: true, enabled: true, isDefault: true}, nil, now)
}

func (s *Sim) storeGroup(a *account, id, name string, g *group, tags []tag, now time.Time) *record[group] {
	g.meta = s.changed(id, 0, now)
	if g.endpoint == "" {
		g.endpoint = s.derive.endpoint(id)
	}
	r := &record[group]{id: id, name: name, arn: "arn:aws:cloudfront::" + a.id + ":connection-group/" + id, created: now, tags: tags}
	r.put(g, now, s.keep())
	a.groups.add(r)
	a.endpoints[g.endpoint] = id
	if g.isDefault {
		a.defaultGroupID = id
	}
	return r
}

func (s *Sim) createGroup(c *call) (reply, error) {
	root, err := c.root("CreateConnectionGroupRequest")
	if err != nil {
		return reply{}, err
	}
	if err := s.fits(root, newGroupShape, "createConnectionGroupRequest"); err != nil {
		return reply{}, err
	}
	g := &group{ipv6: true, enabled: s.switches.EnabledByDefault}
	if err := s.switches.Allowed.doubtAnycast(root); err != nil {
		return reply{}, err
	}
	if err := s.apply(g, root); err != nil {
		return reply{}, err
	}
	tags, err := s.readTags(root.child("Tags"))
	if err != nil {
		return reply{}, err
	}
	name := root.str("Name")
	switch {
	case name == "" || len(name) > 128:
		return reply{}, invalidArgument("The name of a connection group must have 1 to 128 characters.")
	case c.acct.groups.names[name] != nil:
		return reply{}, conflict("EntityAlreadyExists", "A connection group with the name %s already exists.", name)
	case len(c.acct.groups.live) >= s.quotas.ConnectionGroups:
		return reply{}, limitExceeded("The account has reached its quota of %d connection groups.", s.quotas.ConnectionGroups)
	}
	if err := s.checkAnycastQuota(c.acct, g.anycastID, ""); err != nil {
		return reply{}, err
	}
	id := s.derive.ksuid("cg_", c.acct.id, "named", name, c.acct.groups.generation(name))
	r := s.storeGroup(c.acct, id, name, g, tags, c.now)
	c.about(r.id, r.name)
	return s.groupReply(http.StatusCreated, seen[group]{record: r, value: g, at: c.now}, tags), nil
}

// apply takes over the members that were sent.
func (s *Sim) apply(g *group, in *node) error {
	ipv6, err := in.boolean("Ipv6Enabled")
	if err != nil {
		return err
	}
	if ipv6 != nil {
		g.ipv6 = *ipv6
	}
	enabled, err := in.boolean("Enabled")
	if err != nil {
		return err
	}
	if enabled != nil {
		g.enabled = *enabled
	}
	if anycast := in.child("AnycastIpListId"); anycast != nil && (anycast.text != "" || s.switches.EmptyBlocksClear) {
		g.anycastID = anycast.text
	}
	return nil
}

// checkAnycastQuota counts the other groups that use a list.
func (s *Sim) checkAnycastQuota(a *account, listID, groupID string) error {
	others := 0
	for _, r := range a.groups.live {
		if r.id != groupID && r.current().anycastID == listID {
			others++
		}
	}
	if listID != "" && others >= s.quotas.GroupsPerAnycastList {
		return limitExceeded("The Anycast static IP list %s has reached its quota of %d connection groups.", listID, s.quotas.GroupsPerAnycastList)
	}
	return nil
}

func (s *Sim) getGroup(c *call) (reply, error) {
	return s.showGroup(c, c.vars[0])
}

func (s *Sim) getGroupByEndpoint(c *call) (reply, error) {
	endpoint := c.param("RoutingEndpoint")
	if endpoint == "" {
		return reply{}, invalidArgument("The parameter RoutingEndpoint is required.")
	}
	id, ok := c.acct.endpoints[endpoint]
	if !ok {
		return reply{}, entityNotFound("connection group", endpoint)
	}
	return s.showGroup(c, id)
}

func (s *Sim) showGroup(c *call, identifier string) (reply, error) {
	v, ok := c.acct.groups.get(identifier, c.now, &s.switches)
	if !ok {
		return reply{}, entityNotFound("connection group", identifier)
	}
	c.about(v.id, v.name)
	return s.groupReply(http.StatusOK, v, s.echoedTags(v.tags)), nil
}

func (s *Sim) updateGroup(c *call) (reply, error) {
	r, err := s.groupForWrite(c)
	if err != nil {
		return reply{}, err
	}
	root, err := c.root("UpdateConnectionGroupRequest")
	if err != nil {
		return reply{}, err
	}
	next := *r.current()
	if s.switches.UpdateReplaces {
		next.ipv6, next.anycastID, next.enabled = true, "", s.switches.EnabledByDefault
	}
	if err := s.fits(root, groupShape, "updateConnectionGroupRequest"); err != nil {
		return reply{}, err
	}
	if err := s.switches.Allowed.doubtAnycast(root); err != nil {
		return reply{}, err
	}
	if err := s.apply(&next, root); err != nil {
		return reply{}, err
	}
	if !next.enabled && (next.isDefault || c.acct.tenantsIn[r.id] > 0) {
		return reply{}, conflict("ResourceInUse", "The connection group %s is in use.", r.id)
	}
	if err := s.checkAnycastQuota(c.acct, next.anycastID, r.id); err != nil {
		return reply{}, err
	}
	r.rev++
	next.meta = s.changed(r.id, r.rev, c.now)
	r.put(&next, c.now, s.keep())
	return s.groupReply(http.StatusOK, seen[group]{record: r, value: &next, at: c.now}, s.echoedTags(r.tags)), nil
}

func (s *Sim) groupForWrite(c *call) (*record[group], error) {
	r := c.acct.groups.find(c.vars[0])
	if r == nil {
		return nil, entityNotFound("connection group", c.vars[0])
	}
	return r, s.checkETag(c, r.current().meta, true)
}

func (s *Sim) deleteGroup(c *call) (reply, error) {
	r, err := s.groupForWrite(c)
	if err != nil {
		return reply{}, err
	}
	g := r.current()
	switch {
	case g.isDefault:
		return reply{}, conflict("CannotDeleteEntityWhileInUse", "The default connection group %s cannot be deleted.", r.id)
	case c.acct.tenantsIn[r.id] > 0:
		return reply{}, conflict("CannotDeleteEntityWhileInUse", "The connection group %s has distribution tenants.", r.id)
	case g.enabled || (s.switches.DeleteNeedsDeployed && g.status(c.now) != statusDeployed):
		return reply{}, conflict("ResourceNotDisabled", "The connection group %s is not disabled.", r.id)
	}
	delete(c.acct.endpoints, g.endpoint)
	c.acct.groups.remove(r, c.now, s.keep())
	return reply{status: http.StatusNoContent}, nil
}

func (s *Sim) listGroups(c *call) (reply, error) {
	root, err := c.root("ListConnectionGroupsRequest")
	if err != nil {
		return reply{}, err
	}
	marker, size, err := s.bodyPage(root)
	if err != nil {
		return reply{}, err
	}
	anycast := root.str("AssociationFilter", "AnycastIpListId")
	found, next, err := page(c.acct.groups, marker, size, func(r *record[group]) *node {
		v, ok := r.listed(c.now, &s.switches)
		if !ok || (anycast != "" && v.value.anycastID != anycast) {
			return nil
		}
		return s.groupBody("ConnectionGroupSummary", v, true, nil)
	})
	if err != nil {
		return reply{}, err
	}
	body := el("ListConnectionGroupsResult", opt("NextMarker", next), el("ConnectionGroups", found...))
	return reply{status: http.StatusOK, body: body}, nil
}

func (s *Sim) groupReply(status int, v seen[group], tags []tag) reply {
	return reply{status: status, etag: s.etagAt(v.value.meta, v.at), body: s.groupBody("ConnectionGroup", v, false, tags)}
}

// groupBody renders a group; a summary has neither tags nor Ipv6Enabled.
func (s *Sim) groupBody(root string, v seen[group], summary bool, tags []tag) *node {
	g := v.value
	n := el(root,
		txt("Id", v.id),
		txt("Name", v.name),
		txt("Arn", v.arn),
		txt("RoutingEndpoint", g.endpoint),
		txt("CreatedTime", stamp(v.created)),
		txt("LastModifiedTime", stamp(g.modified)),
		opt("AnycastIpListId", g.anycastID),
		boolEl("Enabled", g.enabled),
		txt("Status", g.status(v.at)),
		boolEl("IsDefault", g.isDefault),
	)
	if summary {
		n.set(txt("ETag", s.summaryETag(v.id, g.meta, v.at)))
		return n
	}
	n.set(boolEl("Ipv6Enabled", g.ipv6))
	if len(tags) > 0 {
		n.set(tagsBody(tags))
	}
	return n
}

// getAnycastList shows a list that a connection group of the account has: none is made here.
func (s *Sim) getAnycastList(c *call) (reply, error) {
	id := c.vars[0]
	for _, r := range c.acct.groups.live {
		if r.current().anycastID != id {
			continue
		}
		addresses := el("AnycastIps")
		for _, ip := range s.AnycastAddresses(id) {
			addresses.kids = append(addresses.kids, txt("AnycastIp", ip))
		}
		return reply{status: http.StatusOK, body: el("AnycastIpList",
			txt("Id", id), txt("Name", id), txt("Status", statusDeployed), txt("Arn", "arn:aws:cloudfront::"+c.acct.id+":anycast-ip-list/"+id),
			addresses, txt("IpCount", strconv.Itoa(len(addresses.kids))), txt("LastModifiedTime", stamp(r.created)),
		)}, nil
	}
	return reply{}, entityNotFound("Anycast static IP list", id)
}
