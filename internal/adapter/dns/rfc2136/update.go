package rfc2136

import (
	wire "github.com/miekg/dns"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
)

// besides are the types of which a name must have no set when a CNAME replaces others: the prerequisite that
// the name has no records at all would refuse those that are deleted. A server leaves out the addition of a CNAME next to
// another set, and says that all went well. To Knot, signatures of sets that the same message has deleted are such a set.
var besides = []uint16{
	wire.TypeA, wire.TypeAAAA, wire.TypeCAA, wire.TypeCERT, wire.TypeCNAME, wire.TypeDNAME, wire.TypeDNSKEY, wire.TypeDS, wire.TypeHINFO,
	wire.TypeHTTPS, wire.TypeLOC, wire.TypeMX, wire.TypeNAPTR, wire.TypeNS, wire.TypeOPENPGPKEY, wire.TypePTR, wire.TypeRP,
	wire.TypeSMIMEA, wire.TypeSOA, wire.TypeSPF, wire.TypeSRV, wire.TypeSSHFP, wire.TypeSVCB, wire.TypeTLSA, wire.TypeTXT, wire.TypeURI,
}

// update writes the messages that carry out a batch.
type update struct {
	*wire.Msg
	// again create once more the CNAMEs that replace other sets, each if the server has left it out: the name is empty then.
	again           []*wire.Msg
	zone, clusterID string
	// deleted and created are the types of sets, by name.
	deleted, created map[string]map[uint16]bool
	// forgotten are the names whose notes are deleted.
	forgotten map[string]bool
}

func newUpdate(zone, clusterID string, changes []dns.Change) (*update, error) {
	u := &update{
		Msg: new(wire.Msg).SetUpdate(wire.Fqdn(zone)), zone: zone, clusterID: clusterID,
		deleted: map[string]map[uint16]bool{}, created: map[string]map[uint16]bool{}, forgotten: map[string]bool{},
	}
	if len(changes) == 0 {
		return nil, impossible("there is nothing to change")
	}
	for _, c := range changes {
		if err := u.check(c); err != nil {
			return nil, err
		}
	}
	// A server carries them out in this order.
	for _, apply := range []func(dns.Change) error{u.remove, u.forget, u.add, u.remember} {
		for _, c := range changes {
			if err := apply(c); err != nil {
				return nil, err
			}
		}
	}
	return u, nil
}

// check notes what is changed where, and refuses what a server would silently leave out.
func (u *update) check(c dns.Change) error {
	name, kind := c.Set.Name, wire.StringToType[c.Set.Type]
	at := u.created
	if c.Action == dns.Delete {
		at = u.deleted
	}
	switch {
	case !dns.Within(name, u.zone):
		return impossible("%s is not in the zone %s", name, u.zone)
	case at[name][kind]:
		return impossible("the %s record of %s is there twice", c.Set.Type, name)
	case c.Action == dns.Create && kind == wire.TypeCNAME && name == u.zone:
		return impossible("a CNAME record is not possible for %s, the apex of the zone", name)
	case c.Action == dns.Create && len(at[name]) > 0 && (kind == wire.TypeCNAME || at[name][wire.TypeCNAME]):
		return impossible("%s can't have a CNAME record and another one", name)
	}
	if at[name] == nil {
		at[name] = map[uint16]bool{}
	}
	at[name][kind] = true
	return nil
}

// remove deletes a set, if it is there with exactly these values.
func (u *update) remove(c dns.Change) error {
	if c.Action != dns.Delete {
		return nil
	}
	rrs, err := records(c.Set)
	if err != nil {
		return err
	}
	if !u.swaps(c.Set.Name) {
		u.RemoveRRset(rrs[:1])
	}
	u.Used(rrs)
	return nil
}

// swaps reports whether the name has another CNAME afterwards. To add it replaces the one that is there (RFC 2136, 3.4.2.2).
func (u *update) swaps(name string) bool {
	return u.deleted[name][wire.TypeCNAME] && u.created[name][wire.TypeCNAME]
}

// add creates a set, if there is none of that name and type, and none that excludes it.
func (u *update) add(c dns.Change) error {
	if c.Action != dns.Create {
		return nil
	}
	rrs, err := records(c.Set)
	if err != nil {
		return err
	}
	name, kind := c.Set.Name, rrs[0].Header().Rrtype
	switch deleted := u.deleted[name]; {
	case kind != wire.TypeCNAME:
		u.absent(name, kind)
		u.absent(name, wire.TypeCNAME)
	case len(deleted) == 0:
		u.NameNotUsed(rrs)
	default:
		for _, other := range besides {
			u.absent(name, other)
		}
		if !u.swaps(name) {
			more := new(wire.Msg).SetUpdate(wire.Fqdn(u.zone))
			more.NameNotUsed(rrs)
			more.Insert(rrs)
			u.again = append(u.again, more)
		}
	}
	u.Insert(rrs)
	return nil
}

// absent requires that there is no set of a name and type, unless the batch deletes it.
func (u *update) absent(name string, kind uint16) {
	if !u.deleted[name][kind] {
		u.RRsetNotUsed([]wire.RR{&wire.ANY{Hdr: wire.RR_Header{Name: wire.Fqdn(name), Rrtype: kind}}})
	}
}

// forget deletes the note on a name at which something changes: what is created gets another.
func (u *update) forget(c dns.Change) error {
	if at, ok := noteName(c.Set.Name); ok && !u.forgotten[at] {
		u.forgotten[at] = true
		u.RemoveRRset([]wire.RR{&wire.ANY{Hdr: wire.RR_Header{Name: wire.Fqdn(at), Rrtype: wire.TypeTXT}}})
	}
	return nil
}

// remember adds a note on a name at which something is created for an object.
func (u *update) remember(c dns.Change) error {
	if at, ok := noteName(c.Set.Name); ok && c.Action == dns.Create && c.Owner != (dns.Owner{}) {
		u.Insert([]wire.RR{note(at, u.clusterID, c.Set, c.Owner)})
	}
	return nil
}
