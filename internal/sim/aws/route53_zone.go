package aws

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

const (
	maxCallerReference = 128
	maxZoneComment     = 256
	maxZonesPerPage    = 100

	zoneOwnSets = 2 // NS and SOA, which can't be deleted
)

// createZone makes a zone with its NS and SOA; one with a VPC is private.
func (s *Sim) createZone(c *call) (reply, error) {
	root, err := c.root("CreateHostedZoneRequest")
	if err != nil {
		return reply{}, err
	}
	name, err := parseName(root.str("Name"))
	if err != nil {
		return reply{}, refuse(http.StatusBadRequest, "InvalidDomainName", "The domain name is not valid: %v", err)
	}
	z := newZone("", c.acct.id, name)
	z.callerRef, z.comment, z.private = root.str("CallerReference"), root.str("HostedZoneConfig", "Comment"), root.child("VPC") != nil
	switch {
	case len(z.callerRef) < 1 || len(z.callerRef) > maxCallerReference:
		return reply{}, invalidInput("Value '%s' at 'callerReference' failed to satisfy constraint: Member must have 1 to %d characters", z.callerRef, maxCallerReference)
	case len(z.comment) > maxZoneComment:
		return reply{}, invalidInput("The comment of a hosted zone has at most %d characters.", maxZoneComment)
	case z.private != (root.str("HostedZoneConfig", "PrivateZone") == "true") && root.at("HostedZoneConfig", "PrivateZone") != nil:
		return reply{}, invalidInput("A hosted zone is private when, and only when, a VPC is given.")
	case slices.ContainsFunc(c.acct.zones, func(other *hostedZone) bool { return other.callerRef == z.callerRef }):
		return reply{}, conflict("HostedZoneAlreadyExists", "A hosted zone has already been created with the specified caller reference.")
	case len(c.acct.zones) >= s.quotas.HostedZones:
		return reply{}, refuse(http.StatusBadRequest, "TooManyHostedZones", "Limits Exceeded: MAX_HOSTED_ZONES_BY_OWNER - Cannot create more hosted zones.")
	}
	z.id = s.freshZoneID(c.acct.id, name, z.callerRef)
	s.openZone(c.acct, z)
	c.about(z.id, hostName(z.name))
	ch := s.submit(c, z, "")
	z.busyUntil = c.now
	body := el("CreateHostedZoneResponse", z.node(), s.changeInfo(ch, s.moment(c.now)), z.delegation())
	return reply{status: http.StatusCreated, location: "https://route53.amazonaws.com/2013-04-01/hostedzone/" + z.id, body: body}, nil
}

// freshZoneID is the id of a zone that may have had predecessors.
func (s *Sim) freshZoneID(account, name, callerRef string) string {
	for life := 0; ; life++ {
		id := s.derive.zoneID(account, name, callerRef, strconv.Itoa(life))
		if _, used := s.world.zoneIDs[id]; !used {
			return id
		}
	}
}

func (d deriver) zoneID(parts ...string) string {
	return "Z" + d.digits(upperDigits, 20, append([]string{"zone"}, parts...)...)
}

// openZone puts a zone with the records every zone has into the world.
func (s *Sim) openZone(a *account, z *hostedZone) {
	for i, tld := range []string{"org", "co.uk", "com", "net"} {
		z.servers = append(z.servers, "ns-"+strconv.Itoa(i*512+int(s.derive.fraction("ns", z.id)*512))+".awsdns-"+strconv.Itoa(10+i)+"."+tld)
	}
	var values []string
	for _, server := range z.servers {
		values = append(values, server+".")
	}
	m := s.moment(s.now())
	for _, set := range []*recordSet{
		{name: z.name, kind: typeNS, ttl: 172_800, values: values},
		{name: z.name, kind: typeSOA, ttl: 900, values: []string{values[0] + " awsdns-hostmaster.amazon.com. 1 7200 900 1209600 86400"}},
	} {
		z.put(set.name, set.key(), setVersion{set: set}, m)
	}
	s.world.addZone(a, z)
}

func (s *Sim) getZone(c *call) (reply, error) {
	z, err := s.zoneFor(c)
	if err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusOK, body: el("GetHostedZoneResponse", z.node(), z.delegation())}, nil
}

// deleteZone removes a zone that has only what every zone has.
func (s *Sim) deleteZone(c *call) (reply, error) {
	z, err := s.zoneFor(c)
	if err != nil {
		return reply{}, err
	}
	if z.sets > zoneOwnSets {
		return reply{}, refuse(http.StatusBadRequest, "HostedZoneNotEmpty",
			"The specified hosted zone contains non-required resource record sets and so cannot be deleted.")
	}
	if err := z.idle(c); err != nil {
		return reply{}, err
	}
	ch := s.submit(c, z, "")
	s.world.dropZone(c.acct, z)
	return reply{status: http.StatusOK, body: el("DeleteHostedZoneResponse", s.changeInfo(ch, s.moment(c.now)))}, nil
}

func (s *Sim) listZones(c *call) (reply, error) {
	size, err := c.maxItems(maxZonesPerPage)
	if err != nil {
		return reply{}, err
	}
	start := 0
	if marker := c.param("marker"); marker != "" {
		start = slices.IndexFunc(c.acct.zones, func(z *hostedZone) bool { return z.id == strings.TrimPrefix(marker, "/hostedzone/") })
		if start < 0 {
			return reply{}, refuse(http.StatusNotFound, "NoSuchHostedZone", "No hosted zone found with ID: %s", marker)
		}
	}
	found, next := pageFrom(c.acct.zones, start, size)
	body := el("ListHostedZonesResponse", zoneList(found), opt("Marker", c.param("marker")), boolEl("IsTruncated", next != nil))
	if next != nil {
		body.kids = append(body.kids, txt("NextMarker", (*next).id))
	}
	body.kids = append(body.kids, intEl("MaxItems", size))
	return reply{status: http.StatusOK, body: body}, nil
}

// listZonesByName starts at a name; it does not look for that name only.
func (s *Sim) listZonesByName(c *call) (reply, error) {
	size, err := c.maxItems(maxZonesPerPage)
	if err != nil {
		return reply{}, err
	}
	name, id := c.param("dnsname"), strings.TrimPrefix(c.param("hostedzoneid"), "/hostedzone/")
	if id != "" && name == "" {
		return reply{}, invalidInput("The input is not valid: hostedzoneid was given without dnsname.")
	}
	zones := slices.SortedFunc(slices.Values(c.acct.zones), func(a, b *hostedZone) int { return a.compare(sortKey(b.name), b.id) })
	start := 0
	if name != "" {
		first, err := parseName(name)
		if err != nil {
			return reply{}, refuse(http.StatusBadRequest, "InvalidDomainName", "The domain name is not valid: %v", err)
		}
		if start = slices.IndexFunc(zones, func(z *hostedZone) bool { return z.compare(sortKey(first), id) >= 0 }); start < 0 {
			start = len(zones)
		}
	}
	found, next := pageFrom(zones, start, size)
	body := el("ListHostedZonesByNameResponse", zoneList(found), opt("DNSName", name), opt("HostedZoneId", id), boolEl("IsTruncated", next != nil))
	if next != nil {
		body.kids = append(body.kids, txt("NextDNSName", (*next).name+"."), txt("NextHostedZoneId", (*next).id))
	}
	body.kids = append(body.kids, intEl("MaxItems", size))
	return reply{status: http.StatusOK, body: body}, nil
}

// compare orders zones by name and id.
func (z *hostedZone) compare(key, id string) int {
	if by := strings.Compare(sortKey(z.name), key); by != 0 {
		return by
	}
	return strings.Compare(z.id, id)
}

func zoneList(zones []*hostedZone) *node {
	list := el("HostedZones")
	for _, z := range zones {
		list.kids = append(list.kids, z.node())
	}
	return list
}

// node renders a zone.
func (z *hostedZone) node() *node {
	return el("HostedZone",
		txt("Id", "/hostedzone/"+z.id), txt("Name", z.name+"."), txt("CallerReference", z.callerRef),
		el("Config", opt("Comment", z.comment), boolEl("PrivateZone", z.private)),
		intEl("ResourceRecordSetCount", z.sets))
}

// delegation renders the name servers; a private zone shows none.
func (z *hostedZone) delegation() *node {
	if z.private {
		return nil
	}
	servers := el("NameServers")
	for _, name := range z.servers {
		servers.kids = append(servers.kids, txt("NameServer", name))
	}
	return el("DelegationSet", servers)
}

// idle refuses a change while the one before it is still being processed.
func (z *hostedZone) idle(c *call) error {
	if c.now.Before(z.busyUntil) {
		return refuse(http.StatusBadRequest, "PriorRequestNotComplete",
			"The request was rejected because Route 53 was still processing a prior request.")
	}
	return nil
}
