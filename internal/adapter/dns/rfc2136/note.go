package rfc2136

import (
	"fmt"
	"slices"
	"strings"

	wire "github.com/miekg/dns"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/values"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
)

// The label before a name whose records are ours, below which a TXT record says whose. A star that is not at the
// beginning of a name would make that an ordinary one, so that of a wildcard is next to the names that it covers.
const (
	noteLabel         = "_cloudfront-tenant-operator-owner."
	wildcardNoteLabel = "_cloudfront-tenant-operator-owner-wildcard."
	wildcard          = "*."
)

// noteStart begins the text of every note.
const noteStart = "cloudfront-tenant-operator cluster="

// noteName is where the note on a name's records is. It is not ok where the name is too long to have one.
func noteName(name string) (note string, ok bool) {
	if below, covers := strings.CutPrefix(name, wildcard); covers {
		note = wildcardNoteLabel + below
	} else {
		note = noteLabel + name
	}
	_, ok = wire.IsDomainName(note)
	return note, ok
}

// note says whose the records of a name are.
func note(name, clusterID string, set dns.RecordSet, owner dns.Owner) wire.RR {
	return &wire.TXT{
		Hdr: wire.RR_Header{Name: wire.Fqdn(name), Rrtype: wire.TypeTXT, Class: wire.ClassINET, Ttl: uint32(set.TTL)},
		Txt: values.Decimal.Strings(fmt.Sprintf("%s%s object=%s/%s", noteStart, clusterID, owner.Namespace, owner.Name)),
	}
}

// isNote reports whether a set is a note, of whichever operator. Notes are written with what they are about, and are no
// sets of their own.
func isNote(s dns.RecordSet) bool {
	if s.Type != dns.TXT || !strings.HasPrefix(s.Name, noteLabel) && !strings.HasPrefix(s.Name, wildcardNoteLabel) {
		return false
	}
	return !slices.ContainsFunc(s.Values, func(v string) bool { return !strings.HasPrefix(v, noteStart) })
}
