package azuredns

import (
	"net"
	"strings"

	"github.com/miekg/dns"
)

// DNSHandler answers DNS queries as the name servers of all public zones would. Of zones that have one name it
// answers for the first that has what is asked for: each has servers of its own, which here are one.
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
	if r.Opcode != dns.OpcodeQuery || len(r.Question) != 1 || r.Question[0].Qtype == dns.TypeANY {
		return m.SetRcode(r, dns.RcodeNotImplemented)
	}
	m.SetReply(r)
	question := r.Question[0]
	name := strings.ToLower(strings.TrimSuffix(question.Name, "."))
	s.mu.Lock()
	defer s.mu.Unlock()
	zones := s.serving(name)
	if len(zones) == 0 {
		m.Rcode = dns.RcodeRefused
		return m
	}
	m.Authoritative = true
	var z *zone
	var sets []Record
	for _, z = range zones {
		if !s.stalled {
			z.settle(s.now())
		}
		if sets = z.resolve(relative(name, z.name)); len(sets) > 0 {
			break
		}
	}
	if len(sets) == 0 && !z.above(relative(name, z.name)) {
		m.Rcode = dns.RcodeNameError
	}
	for _, set := range sets {
		if set.Type == dns.TypeToString[question.Qtype] || set.Type == "CNAME" {
			m.Answer = append(m.Answer, set.resources(question.Name)...)
		}
	}
	if len(m.Answer) == 0 {
		m.Ns = z.public[key{"@", "SOA"}].resources(dns.Fqdn(z.name))
	}
	return m
}

// serving are the public zones of a name, those with the longest name.
func (s *Sim) serving(name string) (found []*zone) {
	for _, z := range s.zones {
		if z.private || name != strings.ToLower(z.name) && !strings.HasSuffix(name, "."+strings.ToLower(z.name)) {
			continue
		}
		if len(found) > 0 && len(z.name) > len(found[0].name) {
			found = nil
		}
		if len(found) == 0 || len(z.name) == len(found[0].name) {
			found = append(found, z)
		}
	}
	return found
}

func relative(name, zone string) string {
	if name == strings.ToLower(zone) {
		return "@"
	}
	return strings.TrimSuffix(name, "."+strings.ToLower(zone))
}

// resolve returns what is visible at a name, or at the wildcard that covers it.
func (z *zone) resolve(name string) []Record {
	for at := name; ; {
		if found := z.visible(at); len(found) > 0 {
			return found
		}
		if z.above(at) {
			return nil
		}
		_, rest, more := strings.Cut(strings.TrimPrefix(at, "*."), ".")
		if !more {
			if at == "*" || name == "@" {
				return nil
			}
			at = "*"
			continue
		}
		at = "*." + rest
	}
}

func (z *zone) visible(name string) (out []Record) {
	for _, kind := range kinds {
		if r, ok := z.public[key{name, kind}]; ok && (len(r.Values) > 0 || len(r.Texts) > 0) {
			out = append(out, r)
		}
	}
	return out
}

// above reports whether something is below the name, which then exists.
func (z *zone) above(name string) bool {
	for k := range z.public {
		if strings.HasSuffix(k.name, "."+name) {
			return true
		}
	}
	return name == "@"
}

// resources renders a set for the wire.
func (r Record) resources(owner string) (out []dns.RR) {
	header := dns.RR_Header{Name: owner, Rrtype: dns.StringToType[r.Type], Class: dns.ClassINET, Ttl: uint32(r.TTL)}
	for _, t := range r.Texts {
		out = append(out, &dns.TXT{Hdr: header, Txt: t})
	}
	for _, v := range r.Values {
		// Names without the dot at the end are whole ones here.
		if rr, err := dns.NewRR(". 0 IN " + r.Type + " " + v); err == nil && rr != nil {
			*rr.Header() = header
			out = append(out, rr)
		}
	}
	return out
}
