package aws

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/miekg/dns"
)

const (
	// aliasTTL is what Route 53 answers aliases to CloudFront with, and
	// CloudFront its own names.
	aliasTTL = 60
	// negativeTTL is how long resolvers may remember that something isn't there.
	negativeTTL = 900
)

// DNSHandler answers DNS queries as the simulated world's public DNS: for the public zones of all accounts, as
// resolvers see them by now, and for hosts in cloudfront.net. It follows CNAMEs through all of them, as a resolver
// does. It refuses names in other zones, except for those that are said to resolve.
func (s *Sim) DNSHandler() dns.Handler {
	return dns.HandlerFunc(func(w dns.ResponseWriter, r *dns.Msg) {
		m := s.answerDNS(r)
		if opt := r.IsEdns0(); opt != nil {
			m.SetEdns0(dns.DefaultMsgSize, false)
		}
		if _, udp := w.RemoteAddr().(*net.UDPAddr); udp {
			size := dns.MinMsgSize
			if opt := r.IsEdns0(); opt != nil {
				size = int(opt.UDPSize())
			}
			m.Truncate(size)
		}
		_ = w.WriteMsg(m) // a client that went away is no concern of ours
	})
}

func (s *Sim) answerDNS(r *dns.Msg) *dns.Msg {
	m := new(dns.Msg)
	if r.Opcode != dns.OpcodeQuery || len(r.Question) != 1 || r.Question[0].Qclass != dns.ClassINET || r.Question[0].Qtype == dns.TypeANY {
		return m.SetRcode(r, dns.RcodeNotImplemented)
	}
	m.SetReply(r)
	name, err := nameFromDNS(r.Question[0].Name)
	if err != nil {
		return m.SetRcode(r, dns.RcodeFormatError)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	t := s.follow(name, now)
	if r.Question[0].Qtype == dns.TypeCNAME && len(t.links) > 0 {
		t.links, t.names = t.links[:1], t.names[:1]
		m.Authoritative = true
		m.Answer = records(t.links[0], r.Question[0].Name)
		return m
	}
	s.answerTrail(m, &t)
	return m
}

// answerTrail puts the CNAMEs on the way and what is at its end into an answer.
func (s *Sim) answerTrail(m *dns.Msg, t *trail) {
	question := m.Question[0]
	owner := func(i int) string {
		if i == 0 {
			return question.Name // spelled as it was asked for
		}
		return nameToDNS(t.names[i])
	}
	for i, link := range t.links {
		m.Answer = append(m.Answer, records(link, owner(i))...)
	}
	m.Authoritative = true
	last, end := t.last(), owner(len(t.names)-1)
	switch {
	case strings.HasSuffix(last, cloudFrontSuffix):
		if !s.endpointExists(last) {
			m.Rcode = dns.RcodeNameError
		}
		m.Answer = append(m.Answer, s.addresses(last, end, question.Qtype)...)
	case t.zone == nil:
		m.Authoritative = len(t.links) > 0
		if s.world.resolves(hostName(last)) {
			m.Answer = append(m.Answer, s.addresses(last, end, question.Qtype)...)
		} else if len(t.links) == 0 {
			m.Rcode = dns.RcodeRefused
		}
		return
	default:
		if !t.known {
			m.Rcode = dns.RcodeNameError
		}
		if set := ofType(t.sets, dns.TypeToString[question.Qtype]); set != nil && set.alias == nil {
			m.Answer = append(m.Answer, records(set, end)...)
		} else if set != nil {
			m.Answer = append(m.Answer, s.addresses(set.alias.name, end, question.Qtype)...)
		}
	}
	if len(m.Answer) == len(t.links) {
		m.Ns = append(m.Ns, startOfAuthority(t.zone))
	}
}

// startOfAuthority is what is in an answer that has nothing to say.
func startOfAuthority(z *hostedZone) dns.RR {
	if z != nil {
		if set := z.at(z.name, setKey{kind: typeSOA}); set != nil {
			if found := records(set, nameToDNS(z.name)); len(found) == 1 {
				found[0].Header().Ttl = negativeTTL
				return found[0]
			}
		}
	}
	return &dns.SOA{
		Hdr: dns.RR_Header{Name: "cloudfront.net.", Rrtype: dns.TypeSOA, Class: dns.ClassINET, Ttl: negativeTTL},
		Ns:  "ns-1.awsdns-10.com.", Mbox: "awsdns-hostmaster.amazon.com.", Serial: 1, Refresh: 7200, Retry: 900, Expire: 1209600, Minttl: aliasTTL,
	}
}

// addresses makes up where a host at CloudFront is, out of the ranges that are
// set aside for documentation.
func (s *Sim) addresses(host, owner string, kind uint16) []dns.RR {
	sum := s.derive.sum("address", host)
	header := dns.RR_Header{Name: owner, Rrtype: kind, Class: dns.ClassINET, Ttl: aliasTTL}
	switch {
	case strings.HasSuffix(host, cloudFrontSuffix) && !s.endpointExists(host):
		return nil
	case kind == dns.TypeA && s.anycastAt(host) != "":
		var found []dns.RR
		for _, ip := range s.AnycastAddresses(s.anycastAt(host)) {
			found = append(found, &dns.A{Hdr: header, A: net.ParseIP(ip)})
		}
		return found
	case kind == dns.TypeA:
		return []dns.RR{
			&dns.A{Hdr: header, A: net.IPv4(198, 51, 100, sum[0])},
			&dns.A{Hdr: header, A: net.IPv4(203, 0, 113, sum[1])},
		}
	case kind == dns.TypeAAAA && s.speaksIPv6(host):
		ip := append(net.IP{0x20, 0x01, 0x0d, 0xb8}, sum[:12]...)
		return []dns.RR{&dns.AAAA{Hdr: header, AAAA: ip}}
	}
	return nil
}

// anycastAt is the Anycast static IP list of the connection group at a host, if it has one.
func (s *Sim) anycastAt(host string) string {
	for _, a := range s.world.accounts {
		if g := a.groups.find(a.endpoints[host]); g != nil {
			return g.current().anycastID
		}
	}
	return ""
}

// speaksIPv6 tells whether a host has IPv6 addresses: all but the connection
// groups that were made without.
func (s *Sim) speaksIPv6(host string) bool {
	for _, a := range s.world.accounts {
		if g := a.groups.find(a.endpoints[host]); g != nil {
			return g.current().ipv6
		}
	}
	return true
}

// records renders a set without an alias for the wire. Its values were judged
// when they were accepted.
func records(set *recordSet, owner string) []dns.RR {
	header := dns.RR_Header{Name: owner, Rrtype: dns.StringToType[set.kind], Class: dns.ClassINET, Ttl: uint32(min(set.ttl, maxTTL))}
	var found []dns.RR
	for _, value := range set.values {
		switch set.kind {
		case typeCNAME:
			if target, err := parseName(value); err == nil {
				found = append(found, &dns.CNAME{Hdr: header, Target: nameToDNS(target)})
			}
		case typeTXT:
			if parts, err := parseText(value); err == nil {
				found = append(found, &dns.TXT{Hdr: header, Txt: slices.Collect(escaped(parts))})
			}
		default:
			// Names in the value without the dot at the end are whole ones here.
			if rr, err := dns.NewRR(". 0 IN " + set.kind + " " + value); err == nil && rr != nil {
				*rr.Header() = header
				found = append(found, rr)
			}
		}
	}
	return found
}

// escaped writes strings as the DNS library wants them.
func escaped(parts []string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for _, part := range parts {
			var out strings.Builder
			for i := range len(part) {
				switch b := part[i]; {
				case b == '"' || b == '\\':
					out.WriteByte('\\')
					out.WriteByte(b)
				case b < ' ' || b > '~':
					fmt.Fprintf(&out, `\%03d`, b)
				default:
					out.WriteByte(b)
				}
			}
			if !yield(out.String()) {
				return
			}
		}
	}
}

// nameFromDNS reads a name with the escapes of zone files, which are decimal.
func nameFromDNS(text string) (string, error) {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		b := text[i]
		if b == '.' {
			out.WriteByte('.')
			continue
		}
		if b == '\\' && i+1 < len(text) {
			i++
			b = text[i]
			if n, err := strconv.ParseUint(text[i:min(i+3, len(text))], 10, 8); err == nil && b >= '0' && b <= '9' {
				b = byte(n)
				i += 2
			}
		}
		fmt.Fprintf(&out, `\%03o`, b)
	}
	return parseName(out.String())
}

// nameToDNS writes a name with such escapes.
func nameToDNS(name string) string {
	var out strings.Builder
	for i := 0; i < len(name); i++ {
		if name[i] != '\\' {
			out.WriteByte(name[i])
			continue
		}
		n, err := strconv.ParseUint(name[i+1:i+4], 8, 8)
		switch b := byte(n); {
		case err != nil || b <= ' ' || b > '~':
			fmt.Fprintf(&out, `\%03d`, b)
		case strings.IndexByte(`.\"();@$`, b) >= 0:
			out.WriteByte('\\')
			out.WriteByte(b)
		default:
			out.WriteByte(b)
		}
		i += 3
	}
	return out.String() + "."
}
