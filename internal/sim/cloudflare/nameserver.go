package cloudflare

import (
	"context"
	"fmt"
	"strings"

	"github.com/miekg/dns"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/dnsserver"
)

// The addresses that stand for whatever a flattened name leads to, and for Cloudflare's proxies.
const (
	FlattenedA    = "192.0.2.10"
	FlattenedAAAA = "2001:db8::10"
	ProxyA        = "198.51.100.1"
)

// automaticTTL is what name servers show for a TTL of 1.
const automaticTTL = 300

// StartDNS serves all zones over UDP and TCP at the address, for example 127.0.0.1:0.
func (s *Sim) StartDNS(ctx context.Context, address string) (*dnsserver.Server, error) {
	return dnsserver.Start(ctx, address, dns.HandlerFunc(s.serveDNS))
}

func (s *Sim) serveDNS(w dns.ResponseWriter, q *dns.Msg) {
	a := new(dns.Msg).SetReply(q)
	if len(q.Question) != 1 {
		a.Rcode = dns.RcodeFormatError
	} else {
		s.resolve(a, strings.ToLower(strings.TrimSuffix(q.Question[0].Name, ".")), q.Question[0].Qtype)
	}
	size := dns.MinMsgSize
	if opt := q.IsEdns0(); opt != nil {
		size = int(opt.UDPSize())
	}
	if w.RemoteAddr().Network() == "udp" {
		a.Truncate(size)
	}
	_ = w.WriteMsg(a) // who asked will ask again
}

// resolve fills in an answer.
func (s *Sim) resolve(a *dns.Msg, name string, kind uint16) {
	s.mu.Lock()
	defer s.mu.Unlock()
	z := s.zoneOf(name)
	if z == nil {
		a.Rcode = dns.RcodeRefused
		return
	}
	records := z.visible(s.options.Now(), s.options.VisibleAfter)
	if cut := delegated(records, z.Name, name); len(cut) > 0 {
		for _, r := range cut {
			a.Ns = append(a.Ns, rr(r.Name, r))
		}
		return
	}
	a.Authoritative = true
	owner, below := match(records, name)
	if owner == "" && !below && name != z.Name {
		a.Rcode = dns.RcodeNameError
	}
	if owner != "" {
		a.Answer = answers(records, owner, name, kind, name == z.Name)
	}
	if name == z.Name {
		a.Answer = append(a.Answer, z.own(kind)...)
	}
	if len(a.Answer) == 0 {
		a.Ns = z.own(dns.TypeSOA)
	}
}

// zoneOf is the active zone with the longest name that the name is in.
func (s *Sim) zoneOf(name string) (found *zoneState) {
	for _, z := range s.zones {
		in := name == z.Name || strings.HasSuffix(name, "."+z.Name)
		if in && z.Status == "active" && (found == nil || len(z.Name) > len(found.Name)) {
			found = z
		}
	}
	return found
}

// own are the records that every zone has and the API never lists.
func (z *zoneState) own(kind uint16) (out []dns.RR) {
	text := []string{}
	switch kind {
	case dns.TypeSOA:
		text = append(text, fmt.Sprintf("%s. 1800 IN SOA %s. dns.cloudflare.com. 1 10000 2400 604800 1800", z.Name, z.NameServers[0]))
	case dns.TypeNS:
		for _, host := range z.NameServers {
			text = append(text, fmt.Sprintf("%s. 86400 IN NS %s.", z.Name, host))
		}
	}
	for _, t := range text {
		out = append(out, mustRR(t))
	}
	return out
}

// delegated are the NS records by which a zone leaves a name to other servers.
func delegated(records []Record, zone, name string) (cut []Record) {
	for ; name != zone && name != ""; _, name, _ = strings.Cut(name, ".") {
		var here []Record
		for _, r := range records {
			if r.Name == name && r.Type == "NS" {
				here = append(here, r)
			}
		}
		if len(here) > 0 {
			cut = here
		}
	}
	return cut
}

// match finds the name whose records answer for a name: itself, or a wildcard. below is true if names exist below it.
func match(records []Record, name string) (owner string, below bool) {
	for _, r := range records {
		if r.Name == name {
			return name, true
		}
		below = below || strings.HasSuffix(r.Name, "."+name)
	}
	if below {
		return "", true
	}
	for _, rest, ok := strings.Cut(name, "."); ok; _, rest, ok = strings.Cut(rest, ".") {
		for _, r := range records {
			if r.Name == "*."+rest {
				return r.Name, false
			}
		}
		for _, r := range records {
			if r.Name == rest || strings.HasSuffix(r.Name, "."+rest) {
				return "", false // the closest name that exists ends the search
			}
		}
	}
	return "", false
}

// answers are the records of the owner that fit the question. Records that are proxied or flattened show addresses
// only.
func answers(records []Record, owner, name string, kind uint16, apex bool) (out []dns.RR) {
	for _, r := range records {
		if r.Name != owner {
			continue
		}
		addresses := map[uint16]string{}
		switch {
		case r.Proxied:
			addresses[dns.TypeA] = ProxyA
		case r.Type == "CNAME" && (apex || r.Settings["flatten_cname"] == true):
			addresses[dns.TypeA], addresses[dns.TypeAAAA] = FlattenedA, FlattenedAAAA
		case r.Type == "CNAME" || dns.StringToType[r.Type] == kind:
			out = append(out, rr(name, r))
			continue
		}
		if address, ok := addresses[kind]; ok {
			out = append(out, rr(name, Record{Type: dns.TypeToString[kind], Content: address, TTL: r.TTL}))
		}
	}
	return out
}

// rr is a record as a name server shows it under a name.
func rr(name string, r Record) dns.RR {
	ttl, content := r.TTL, r.Content
	if ttl == automatic {
		ttl = automaticTTL
	}
	switch r.Type {
	case "CNAME", "NS":
		content += "."
	case "TXT":
		content = quoted(content)
	case "MX":
		content = fmt.Sprintf("%d %s.", *r.Priority, content)
	}
	return mustRR(fmt.Sprintf("%s. %d IN %s %s", name, ttl, r.Type, content))
}

func mustRR(text string) dns.RR {
	r, err := dns.NewRR(text)
	if err != nil {
		panic(fmt.Sprintf("a record that can't be served: %s: %v", text, err))
	}
	return r
}
