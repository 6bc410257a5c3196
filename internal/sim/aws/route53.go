package aws

import (
	"net/http"
	"strconv"
	"strings"
)

const (
	route53Version   = "/2013-04-01/"
	route53Namespace = "https://route53.amazonaws.com/doc/2013-04-01/"
)

// route53 speaks REST-XML, API version 2013-04-01.
type route53 struct{}

var route53Operations = []*operation{
	{name: "CreateHostedZone", mutating: true, handle: (*Sim).createZone, method: "POST", path: "hostedzone"},
	{name: "ListHostedZones", handle: (*Sim).listZones, method: "GET", path: "hostedzone"},
	{name: "GetHostedZone", handle: (*Sim).getZone, method: "GET", path: "hostedzone/{}"},
	{name: "DeleteHostedZone", mutating: true, handle: (*Sim).deleteZone, method: "DELETE", path: "hostedzone/{}"},
	{name: "ListHostedZonesByName", handle: (*Sim).listZonesByName, method: "GET", path: "hostedzonesbyname"},
	{name: "ChangeResourceRecordSets", mutating: true, handle: (*Sim).changeRecords, method: "POST", path: "hostedzone/{}/rrset"},
	{name: "ListResourceRecordSets", handle: (*Sim).listRecords, method: "GET", path: "hostedzone/{}/rrset"},
	{name: "GetChange", handle: (*Sim).getChange, method: "GET", path: "change/{}"},
}

func (route53) accepts(r *http.Request) bool {
	return strings.HasPrefix(r.URL.EscapedPath(), route53Version)
}

func (route53) decode(r *http.Request, body []byte) (*call, error) {
	return decodeREST(r, body, "Route 53", route53Version, route53Operations)
}

func (route53) encode(_ *call, out reply) answer { return encodeREST(out, route53Namespace) }

// encodeError has two forms for refused batches, because clients meet both.
func (route53) encodeError(c *call, err error) answer {
	if refused, ok := asBatchError(err); ok && refused.bare {
		list := el("Messages")
		for _, message := range refused.messages {
			list.kids = append(list.kids, txt("Message", message))
		}
		a := refuseREST(c, err, route53Namespace)
		a.body = el(codeInvalidBatch, list, txt("RequestId", c.requestID)).document(route53Namespace)
		return a
	}
	return refuseREST(c, err, route53Namespace)
}

func (route53) codeOf(err error) string { return asAPIError(err).Code }

func (route53) throttleCode() string { return "Throttling" }

// route53Mentions notes the zone and the records a call is about.
func (s *Sim) route53Mentions(c *call) {
	if len(c.vars) == 1 {
		if z := s.world.zones[c.vars[0]]; z != nil {
			c.about(z.id, hostName(z.name))
			c.mentions = append(c.mentions, z.id, hostName(z.name))
		} else {
			c.about(c.vars[0], "")
		}
	}
	for _, key := range []string{"name", "dnsname"} {
		if name := c.param(key); name != "" {
			c.mentions = append(c.mentions, mention(name))
		}
	}
	for _, item := range c.body.at("ChangeBatch", "Changes").items("Change") {
		name := mention(item.str("ResourceRecordSet", "Name"))
		c.mentions = append(c.mentions, name)
		c.records = append(c.records, item.str("Action")+" "+item.str("ResourceRecordSet", "Type")+" "+name)
	}
}

// mention is how faults and the journal write a record's name.
func mention(text string) string {
	if name, err := parseName(text); err == nil {
		return hostName(name)
	}
	return text
}

// zoneFor finds the zone a call names. A zone of another account is there, but
// not for this caller.
func (s *Sim) zoneFor(c *call) (*hostedZone, error) {
	z := s.world.zones[c.vars[0]]
	switch {
	case z == nil:
		return nil, refuse(http.StatusNotFound, "NoSuchHostedZone", "No hosted zone found with ID: %s", c.vars[0])
	case z.account != c.acct.id:
		return nil, refuse(http.StatusForbidden, "AccessDenied",
			"User: %s is not authorized to access this resource", c.caller())
	}
	return z, nil
}

func invalidInput(format string, args ...any) error {
	return refuse(http.StatusBadRequest, "InvalidInput", format, args...)
}

// changeCost is what a call draws from the account's change throughput.
func (c *call) changeCost() float64 {
	switch c.op.name {
	case "CreateHostedZone", "DeleteHostedZone":
		return 2
	case "ChangeResourceRecordSets":
		cost := 0
		for _, item := range c.body.at("ChangeBatch", "Changes").items("Change") {
			cost += changeWeight(item.str("Action"))
		}
		return float64(cost)
	}
	return 0
}

// maxItems reads the page size of a list; what is above the cap is cut to it.
func (c *call) maxItems(limit int) (int, error) {
	text := c.param("maxitems")
	if text == "" {
		return limit, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, invalidInput("Value '%s' at 'maxItems' failed to satisfy constraint: Member must be a number greater than 0", text)
	}
	return min(n, limit), nil
}

// pageFrom cuts a list at the start position and the page size. The second result
// is what the next page starts with, nil at the end.
func pageFrom[T any](list []T, start, size int) ([]T, *T) {
	rest := list[start:]
	if len(rest) <= size {
		return rest, nil
	}
	return rest[:size], &rest[size]
}

func (s *Sim) changeInfo(ch *change, m moment) *node {
	status := "PENDING"
	if ch.isSynced(m) {
		status = "INSYNC"
	}
	return el("ChangeInfo", txt("Id", "/change/"+ch.id), txt("Status", status), txt("SubmittedAt", stamp(ch.submitted)), opt("Comment", ch.comment))
}

// submit makes a change that becomes INSYNC, and then public, automatically.
func (s *Sim) submit(c *call, z *hostedZone, comment string) *change {
	synced := c.now.Add(s.switches.Route53SyncDelay)
	ch := &change{
		id:        "C" + s.derive.digits(upperDigits, 20, "change", z.id, strconv.Itoa(z.changes)),
		comment:   comment,
		submitted: c.now,
		synced:    synced,
		public:    synced.Add(s.switches.DNSPropagationDelay),
		stuck:     s.switches.Route53NeverInSync,
	}
	z.changes++
	z.busyUntil = c.now.Add(s.switches.Route53ProcessingDelay)
	c.acct.changes[ch.id] = ch
	return ch
}

func (s *Sim) getChange(c *call) (reply, error) {
	ch := c.acct.changes[c.vars[0]]
	if ch == nil {
		return reply{}, refuse(http.StatusNotFound, "NoSuchChange", "A change with the ID %s does not exist.", c.vars[0])
	}
	return reply{status: http.StatusOK, body: el("GetChangeResponse", s.changeInfo(ch, s.moment(c.now)))}, nil
}

// listRecords shows records as they were last changed, PENDING or not.
func (s *Sim) listRecords(c *call) (reply, error) {
	z, err := s.zoneFor(c)
	if err != nil {
		return reply{}, err
	}
	start, err := c.startRecord()
	if err != nil {
		return reply{}, err
	}
	size, err := c.maxItems(maxRecordsPerPage)
	if err != nil {
		return reply{}, err
	}
	found := z.listFrom(start, size+1)
	if len(found) <= size {
		return reply{status: http.StatusOK, body: recordPage(found, nil, size)}, nil
	}
	return reply{status: http.StatusOK, body: recordPage(found[:size], found[size], size)}, nil
}

// maxRecordsPerPage is also the default size of a page.
const maxRecordsPerPage = 300

// startRecord reads where a list of records is to start: a position, which need
// not be that of a record; nil is the beginning.
func (c *call) startRecord() (*recordSet, error) {
	start := &recordSet{kind: c.param("type"), identifier: c.param("identifier")}
	name := c.param("name")
	switch {
	case start.kind != "" && name == "":
		return nil, invalidInput("The input is not valid: type was given without name.")
	case start.kind != "" && !isRecordType(start.kind):
		return nil, invalidInput("Value '%s' at 'type' failed to satisfy constraint: Member must satisfy enum value set: %v", start.kind, recordTypes)
	case start.identifier != "" && start.kind == "":
		return nil, invalidInput("The input is not valid: identifier was given without type.")
	case name == "":
		return nil, nil //nolint:nilnil // the list starts at its beginning
	}
	var err error
	if start.name, err = parseName(name); err != nil {
		return nil, invalidInput("%v", err)
	}
	return start, nil
}

// listFrom returns up to n records of a zone from a position on.
func (z *hostedZone) listFrom(start *recordSet, count int) []*recordSet {
	first := 0
	if start != nil {
		first = z.position(sortKey(start.name))
	}
	var found []*recordSet
	for _, n := range z.order[first:] {
		for _, set := range n.current() {
			if start != nil && n.name == start.name && compareSets(set, start) < 0 {
				continue
			}
			if found = append(found, set); len(found) == count {
				return found
			}
		}
	}
	return found
}

func recordPage(found []*recordSet, next *recordSet, size int) *node {
	list := el("ResourceRecordSets")
	for _, set := range found {
		list.kids = append(list.kids, set.node())
	}
	body := el("ListResourceRecordSetsResponse", list, boolEl("IsTruncated", next != nil))
	if next != nil {
		body.kids = append(body.kids, txt("NextRecordName", next.name+"."), txt("NextRecordType", next.kind))
		if next.identifier != "" {
			body.kids = append(body.kids, txt("NextRecordIdentifier", next.identifier))
		}
	}
	body.kids = append(body.kids, intEl("MaxItems", size))
	return body
}

// node renders a record set.
func (set *recordSet) node() *node {
	n := el("ResourceRecordSet", txt("Name", set.name+"."), txt("Type", set.kind), opt("SetIdentifier", set.identifier))
	n.kids = append(n.kids, set.policy...)
	if set.alias != nil {
		n.kids = append(n.kids, el("AliasTarget", txt("HostedZoneId", set.alias.zoneID), txt("DNSName", set.alias.name+"."), boolEl("EvaluateTargetHealth", set.alias.evaluate)))
		return n
	}
	records := el("ResourceRecords")
	for _, value := range set.values {
		records.kids = append(records.kids, el("ResourceRecord", txt("Value", value)))
	}
	n.kids = append(n.kids, intEl("TTL", set.ttl), records)
	return n
}
