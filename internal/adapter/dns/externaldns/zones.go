package externaldns

import (
	"context"
	"fmt"
	"maps"
	"slices"

	wire "github.com/miekg/dns"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// GetZone implements port.Zones.
func (d *DNS) GetZone(ctx context.Context, id string) (dns.Zone, error) {
	if !slices.Contains(d.domains, id) {
		return dns.Zone{}, &fault.Error{
			Kind: fault.NotFound, Operation: opZone,
			Message: fmt.Sprintf("the account has no zone %s: its domains are in dns.accounts", id),
		}
	}
	if err := d.errand().served(ctx, id); err != nil {
		return dns.Zone{}, err
	}
	return dns.Zone{ID: id, Name: id}, nil
}

// ListZones implements port.Zones. ExternalDNS does not tell which zones it has, so they are those of the configuration.
func (d *DNS) ListZones(context.Context, string) ([]dns.Zone, string, error) {
	out := make([]dns.Zone, len(d.domains))
	for i, name := range d.domains {
		out[i] = dns.Zone{ID: name, Name: name}
	}
	return out, "", nil
}

// beginning marks where a zone begins.
func beginning(zone string) dns.RecordSet {
	return dns.RecordSet{Key: dns.Key{Name: zone, Type: "SOA"}, Routed: true}
}

// ListRecords implements port.Zones. It has what DNSEndpoints stand for, and what was found at names that were to get one:
// the zone may have more, which is not seen.
func (d *DNS) ListRecords(ctx context.Context, zoneID, marker string) (page []dns.RecordSet, next string, err error) {
	e := d.errand()
	if marker == "" {
		if err := e.served(ctx, zoneID); err != nil {
			return nil, "", err
		}
		page = append(page, beginning(zoneID))
	}
	list, err := e.list(ctx, marker)
	if err != nil {
		return nil, "", err
	}
	for i := range list.Items {
		o := object{&list.Items[i]}
		if !d.ours(o, zoneID) {
			continue
		}
		sets, err := d.setsOf(o)
		if err != nil {
			return nil, "", err
		}
		page = append(page, sets...)
	}
	if next = list.GetContinue(); next != "" {
		return page, next, nil
	}
	for _, name := range d.takenIn(zoneID) {
		sets, err := e.stillTaken(ctx, zoneID, name)
		if err != nil {
			return nil, "", err
		}
		page = append(page, sets...)
	}
	return page, "", nil
}

// stillTaken are the records of others at a name that had some, unless it has an object by now.
func (e *errand) stillTaken(ctx context.Context, zone, name string) ([]dns.RecordSet, error) {
	o, err := e.get(ctx, objectName(name))
	switch {
	case err != nil && !fault.Is(err, fault.NotFound):
		return nil, err
	case err == nil && e.ours(o, zone):
		e.remember(zone, name, false)
		return nil, nil
	}
	return e.others(ctx, zone, name)
}

// remember notes whether a name has records of others.
func (d *DNS) remember(zone, name string, taken bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.taken[zone] == nil {
		d.taken[zone] = map[string]bool{}
	}
	if taken {
		d.taken[zone][name] = true
	} else {
		delete(d.taken[zone], name)
	}
}

func (d *DNS) takenIn(zone string) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(maps.Keys(d.taken[zone]))
}

// setsOf are the sets of an object at the name that it is for. What else it may have been given is not the operator's.
func (d *DNS) setsOf(o object) ([]dns.RecordSet, error) {
	sets, err := o.sets()
	if err != nil {
		return nil, &fault.Error{
			Kind: fault.Invalid, Operation: opList, Err: err,
			Message: fmt.Sprintf("the DNSEndpoint %s/%s can't be read: delete it, and the operator creates it as it has to be", o.GetNamespace(), o.GetName()),
		}
	}
	name := o.GetAnnotations()[annotationName]
	return slices.DeleteFunc(sets, func(s dns.RecordSet) bool { return s.Name != name }), nil
}

// ReadName implements port.Zones. Where no DNSEndpoint is for the name it has what the name servers show there.
func (d *DNS) ReadName(ctx context.Context, zoneID, name string) ([]dns.RecordSet, error) {
	if _, ok := wire.IsDomainName(name); !ok {
		return nil, &fault.Error{Kind: fault.Invalid, Operation: opRead, Message: fmt.Sprintf("%s is not a domain name", name)}
	}
	e := d.errand()
	if err := e.served(ctx, zoneID); err != nil {
		return nil, err
	}
	var sets []dns.RecordSet
	if name == zoneID {
		sets = append(sets, beginning(zoneID))
	}
	o, err := e.get(ctx, objectName(name))
	switch {
	case err != nil && !fault.Is(err, fault.NotFound):
		return nil, err
	case err == nil && d.ours(o, zoneID):
		own, err := d.setsOf(o)
		return append(sets, own...), err
	}
	others, err := e.others(ctx, zoneID, name)
	return append(sets, others...), err
}
