package aws

import (
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/miekg/dns"
)

const (
	typeA     = "A"
	typeAAAA  = "AAAA"
	typeCNAME = "CNAME"
	typeTXT   = "TXT"
	typeNS    = "NS"
	typeSOA   = "SOA"

	cloudFrontSuffix = ".cloudfront.net"
	challengeLabel   = "_cf-challenge."

	// maxChain is how many CNAMEs are followed; resolvers give up at about as many.
	maxChain = 16
)

// publicZone finds the zone that answers for a name: of all accounts' public
// zones the most specific one, and of several with one name the oldest, as the
// one the parent delegates to.
func (w *world) publicZone(name string) *hostedZone {
	for {
		for _, z := range w.zonesNamed[name] {
			if !z.private {
				return z
			}
		}
		parent, found := parentName(name)
		if !found {
			return nil
		}
		name = parent
	}
}

// lookup finds what resolvers see at a name: its own records or, if there is nothing at or below the name, those of the
// wildcard next to it. The second result tells whether the name exists, with or without records.
func (z *hostedZone) lookup(name string, m moment) ([]*recordSet, bool) {
	if sets, exists := z.existing(name, m); exists || name == z.name {
		return sets, true
	}
	// The wildcard counts at the closest name above that exists, nowhere else.
	encloser, _ := parentName(name)
	for encloser != z.name {
		if _, exists := z.existing(encloser, m); exists {
			break
		}
		encloser, _ = parentName(encloser)
	}
	if wild := z.names[wildcardLabel+"."+encloser]; wild != nil {
		if sets := wild.public(m); len(sets) > 0 {
			return sets, true
		}
	}
	return nil, false
}

// existing returns what is exactly at a name, and whether there is anything at
// it or below.
func (z *hostedZone) existing(name string, m moment) ([]*recordSet, bool) {
	if n := z.names[name]; n != nil {
		if sets := n.public(m); len(sets) > 0 {
			return sets, true
		}
	}
	prefix := sortKey(name)
	for _, n := range z.order[z.position(prefix):] {
		if !strings.HasPrefix(n.key, prefix) {
			break
		}
		if len(n.public(m)) > 0 {
			return nil, true
		}
	}
	return nil, false
}

// delegates tells whether the zone leaves a name to other servers, which are
// not simulated: NS records are at it or above it, below the zone's own name.
func (z *hostedZone) delegates(name string, m moment) bool {
	for name != z.name {
		if n := z.names[name]; n != nil && ofType(n.public(m), typeNS) != nil {
			return true
		}
		name, _ = parentName(name)
	}
	return false
}

func ofType(sets []*recordSet, kind string) *recordSet {
	for _, set := range sets {
		if set.kind == kind {
			return set
		}
	}
	return nil
}

// trail is the way from a name through CNAMEs to where they end.
type trail struct {
	names []string     // the name asked for first
	links []*recordSet // the CNAME at each name but the last
	zone  *hostedZone  // of the last name; nil if no simulated zone has it
	sets  []*recordSet // at the last name
	known bool         // the last name exists
}

func (t *trail) last() string { return t.names[len(t.names)-1] }

// follow walks from a name through the public zones of all accounts. A loop of CNAMEs ends at a name that does not seem
// to exist.
func (s *Sim) follow(name string, now time.Time) trail {
	m := s.moment(now)
	t := trail{names: []string{name}}
	for {
		t.zone = s.world.publicZone(name)
		if t.zone != nil && t.zone.delegates(name, m) {
			t.zone = nil
		}
		if t.zone == nil {
			return t
		}
		t.sets, t.known = t.zone.lookup(name, m)
		link := ofType(t.sets, typeCNAME)
		if link == nil {
			return t
		}
		next, err := parseName(link.values[0])
		if err != nil || slices.Contains(t.names, next) || len(t.names) > maxChain {
			t.sets, t.known = nil, false
			return t
		}
		name = next
		t.names, t.links = append(t.names, name), append(t.links, link)
	}
}

// routingOf returns the CloudFront endpoint at which public DNS makes a name arrive, as CloudFront can tell. An alias
// and addresses hide the endpoint, so they count together with a TXT record that names it: _cf-challenge below the name,
// or below a name on the way to the addresses. A name that is in no simulated zone belongs to others: those that are
// said to resolve arrive at an unknown endpoint. It needs the lock.
func (s *Sim) routingOf(name string, now time.Time) (endpoint string, ok bool) {
	name, err := parseName(name)
	if err != nil {
		return "", false
	}
	t := s.follow(name, now)
	switch {
	case strings.HasSuffix(t.last(), cloudFrontSuffix):
		return t.last(), true
	case t.zone == nil:
		return "", s.world.resolves(hostName(t.last()))
	}
	for _, n := range t.names {
		for _, at := range s.textAt(challengeLabel+n, now) {
			if strings.HasSuffix(at, cloudFrontSuffix) && (t.aliasTo() == at || s.addressesOf(&t, at)) {
				return at, true
			}
		}
	}
	return "", false
}

// aliasTo returns the CloudFront endpoint that an address alias at the end points to.
func (t *trail) aliasTo() string {
	for _, set := range t.sets {
		if set.alias != nil && (set.kind == typeA || set.kind == typeAAAA) && strings.HasSuffix(set.alias.name, cloudFrontSuffix) {
			return set.alias.name
		}
	}
	return ""
}

// addressesOf tells whether the addresses at the end are those of a CloudFront endpoint, or some of them. A provider
// that flattens an ALIAS or ANAME record publishes them, and so does a customer with those of an Anycast static IP list.
func (s *Sim) addressesOf(t *trail, endpoint string) bool {
	found := false
	for _, kind := range []string{typeA, typeAAAA} {
		set := ofType(t.sets, kind)
		if set == nil {
			continue
		}
		var known []string
		for _, rr := range s.addresses(endpoint, ".", dns.StringToType[kind]) {
			known = append(known, addressIn(rr).String())
		}
		foreign := func(ip string) bool { return !slices.Contains(known, net.ParseIP(ip).String()) }
		if set.alias != nil || slices.ContainsFunc(set.values, foreign) {
			return false
		}
		found = true
	}
	return found
}

// addressIn is the address of an A or AAAA record.
func addressIn(rr dns.RR) net.IP {
	switch rr := rr.(type) {
	case *dns.A:
		return rr.A
	case *dns.AAAA:
		return rr.AAAA
	}
	return nil
}

// anycastAddresses is how many addresses an Anycast static IP list for apex domains has.
const anycastAddresses = 3

// AnycastAddresses returns the addresses of the Anycast static IP list with that id, out of a range that is set aside
// for tests. A connection group with the list is reached there.
func (s *Sim) AnycastAddresses(listID string) []string {
	if listID == "" {
		return nil
	}
	list := make([]string, anycastAddresses)
	for i := range list {
		sum := s.derive.sum("anycast", listID, strconv.Itoa(i))
		list[i] = net.IPv4(198, 18+sum[0]%2, sum[1], sum[2]).String()
	}
	return list
}

// textAt returns the TXT values resolvers see at a name, without quotes.
func (s *Sim) textAt(name string, now time.Time) []string {
	t := s.follow(name, now)
	set := ofType(t.sets, typeTXT)
	if set == nil {
		return nil
	}
	var texts []string
	for _, value := range set.values {
		if parts, err := parseText(value); err == nil {
			texts = append(texts, strings.Join(parts, ""))
		}
	}
	return texts
}

// leadsToCloudFront tells whether public DNS proves that the owner of a name wants it at CloudFront: it arrives at an
// endpoint that exists.
func (s *Sim) leadsToCloudFront(name string, now time.Time) bool {
	endpoint, ok := s.routingOf(name, now)
	return ok && (endpoint == "" || s.endpointExists(endpoint))
}

// endpointExists tells whether any account has a connection group or a
// distribution at a host in cloudfront.net.
func (s *Sim) endpointExists(endpoint string) bool {
	for _, a := range s.world.accounts {
		if a.endpoints[endpoint] != "" {
			return true
		}
	}
	return s.distributionAt(endpoint) != nil
}

// distributionAt finds the distribution of any account at a host in cloudfront.net.
func (s *Sim) distributionAt(endpoint string) *record[distribution] {
	for _, a := range s.world.accounts {
		for _, r := range a.distributions.live {
			if r.current().endpoint == endpoint {
				return r
			}
		}
	}
	return nil
}

// provesMove tells whether the TXT record that a move between accounts takes is
// public: it names the endpoint the domain is to move to. In no simulated zone
// it is there if its name is said to resolve.
func (s *Sim) provesMove(domain, endpoint string, now time.Time) bool {
	name, err := parseName(proofName(domain))
	if err != nil {
		return false
	}
	if s.world.publicZone(name) == nil {
		return s.world.resolves(proofName(domain))
	}
	return slices.Contains(s.textAt(name, now), endpoint)
}

// parseText splits the value of a TXT record into its strings: each in quotes,
// with spaces between, a quote or a backslash inside escaped by a backslash,
// other bytes as octal escapes.
func parseText(value string) ([]string, error) {
	var parts []string
	rest := strings.TrimSpace(value)
	for rest != "" {
		part, after, err := quoted(rest)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
		if after != "" && after[0] != ' ' && after[0] != '\t' {
			return nil, errUnquoted
		}
		rest = strings.TrimLeft(after, " \t")
	}
	if parts == nil {
		return nil, errUnquoted
	}
	return parts, nil
}

// What is wrong with the value of a TXT record, as the service words it.
var (
	errUnquoted    = errors.New("InvalidCharacterString (Value should be enclosed in quotation marks)")
	errLongText    = errors.New("CharacterStringTooLong (Value is too long)")
	errUnsupported = errors.New("UnsupportedCharacter (Value contains unsupported characters)")
)

// maxText is how long one string of a TXT record can be.
const maxText = 255

// quoted reads one string in quotes off the front.
func quoted(text string) (content, rest string, err error) {
	if text[0] != '"' {
		return "", "", errUnquoted
	}
	var out []byte
	for i := 1; i < len(text); {
		switch c := text[i]; {
		case c == '"' && len(out) > maxText:
			return "", "", errLongText
		case c == '"':
			return string(out), text[i+1:], nil
		case c < ' ' || c > '~':
			return "", "", errUnsupported
		case c == '\\':
			b, width := textEscape(text[i:])
			out = append(out, b)
			i += width
		default:
			out = append(out, c)
			i++
		}
	}
	return "", "", errUnquoted
}

// textEscape reads a backslash and what it stands for: three octal digits, or
// the character behind it.
func textEscape(text string) (b byte, width int) {
	if len(text) > 3 {
		if n, err := strconv.ParseUint(text[1:4], 8, 8); err == nil {
			return byte(n), 4
		}
	}
	if len(text) > 1 {
		return text[1], 2
	}
	return text[0], 1
}
