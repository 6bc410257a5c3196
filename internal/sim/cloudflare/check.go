package cloudflare

import (
	"net/netip"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/miekg/dns"
)

// The bounds of TTLs; 1 stands for automatic.
const (
	automatic  = 1
	leastTTL   = 60
	longestTTL = 86400
	// longestText is how long the value of a TXT record can be.
	longestText = 2048
)

var (
	label = regexp.MustCompile(`^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$`)
	text  = regexp.MustCompile(`^"([^"\\]|\\.)*"( +"([^"\\]|\\.)*")*$`)
)

func proxiable(kind string) bool { return kind == "A" || kind == "AAAA" || kind == "CNAME" }

// isHost reports whether a name can be one of a host; the first label may be a star where that is allowed.
func isHost(name string, star bool) bool {
	if star {
		name = strings.TrimPrefix(name, "*.")
	}
	if len(name) > 253 {
		return false
	}
	for l := range strings.SplitSeq(name, ".") {
		if !label.MatchString(l) {
			return false
		}
	}
	return strings.Contains(name, ".")
}

// check refuses a record that can't be.
func (e *edit) check(r Record) error {
	switch {
	case r.Name == "" || !isHost(r.Name, true) || r.Name != e.zone.Name && !strings.HasSuffix(r.Name, "."+e.zone.Name):
		return refuse(codeBadName, "DNS name is invalid.")
	case r.Proxied && !r.Proxiable:
		return refuse(codeBadProxied, "This record type cannot be proxied.")
	case r.TTL != automatic && (r.TTL < leastTTL || r.TTL > longestTTL):
		return refuse(codeBadTTL, "Invalid TTL. Must be between 60 and 86400 seconds, or 1 for Automatic.")
	case utf8.RuneCountInString(r.Comment) > e.sim.options.CommentLimit:
		return refuse(codeComment, "DNS record comment exceeds the maximum length of %d characters.", e.sim.options.CommentLimit)
	case len(r.Tags) > 0:
		return refuse(codeTags, "DNS record has %d tags, exceeding the quota of 0.", len(r.Tags))
	}
	return r.checkContent()
}

func (r Record) checkContent() error {
	switch r.Type {
	case "A":
		if a, err := netip.ParseAddr(r.Content); err != nil || !a.Is4() {
			return refuse(codeBadA, "Content for A record must be a valid IPv4 address.")
		}
	case "AAAA":
		if a, err := netip.ParseAddr(r.Content); err != nil || !a.Is6() || a.Zone() != "" {
			return refuse(codeBadAAAA, "Content for AAAA record must be a valid IPv6 address.")
		}
	case "CNAME":
		if !isHost(r.Content, false) {
			return refuse(codeBadCNAME, "Content for CNAME record is invalid.")
		}
		if r.Content == r.Name {
			return refuse(codeSelfReference, "Content for CNAME record cannot reference itself.")
		}
	case "TXT":
		if len(r.Content) > longestText || r.Content == "" || !text.MatchString(quoted(r.Content)) || !parses(r) {
			return refuse(codeBadTXT, "Content for TXT record must consist of quoted character strings.")
		}
	case "MX":
		if r.Priority == nil || !isHost(r.Content, false) {
			return refuse(codeBadMX, "Content for MX record must be a hostname, with a priority.")
		}
	case "NS":
		if !isHost(r.Content, false) {
			return refuse(codeBadContentOther, "Content for NS record must be a hostname.")
		}
	default:
		return refuse(codeBadType, "DNS record type %q is invalid.", r.Type)
	}
	return nil
}

// parses reports whether a name server could read the record. Strings that are too long are split, as Cloudflare does.
func parses(r Record) bool {
	_, err := dns.NewRR("x. 60 IN " + r.Type + " " + quoted(r.Content))
	return err == nil
}

// quoted is the content of a TXT record as a zone file has it. One that does not begin with a quote is taken as it is, and the
// API shows it so.
func quoted(content string) string {
	if strings.HasPrefix(content, `"`) {
		return content
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(content) + `"`
}

// clash refuses a record next to those that its name has already. Only these rules are documented: Cloudflare takes a
// CNAME next to a TXT or MX record.
func (e *edit) clash(r Record) error {
	for _, o := range e.records {
		if o.Name != r.Name {
			continue
		}
		addresses := func(kind string) bool { return kind == "A" || kind == "AAAA" }
		switch {
		case o.Type == r.Type && o.Content == r.Content:
			return refuse(codeIdentical, "An identical record already exists.")
		case r.Type == "CNAME" && (addresses(o.Type) || o.Type == "CNAME"):
			return refuse(codeHostExists, "An A, AAAA, or CNAME record with that host already exists.")
		case addresses(r.Type) && o.Type == "CNAME":
			return refuse(codeCNAMEExists, "A CNAME record with that host already exists.")
		case (r.Type == "NS") != (o.Type == "NS"):
			return refuse(codeNSExists, "NS records with that host already exist.")
		}
	}
	return nil
}
