package externaldns

import (
	"context"
	"maps"
	"slices"

	wire "github.com/miekg/dns"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/calls"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// GetZone implements port.Zones.
func (d *DNS) GetZone(ctx context.Context, id string) (dns.Zone, error) {
	if !slices.Contains(d.domains, id) {
		return dns.Zone{}, fault.New(fault.NotFound, opZone, "the account has no zone %s: its domains are in dns.accounts", id)
	}
	if err := d.served(ctx, id); err != nil {
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
	ctx = calls.Errand(ctx)
	if marker == "" {
		if err := d.served(ctx, zoneID); err != nil {
			return nil, "", err
		}
		page = append(page, beginning(zoneID))
	}
	list, err := d.list(ctx, marker)
	if err != nil {
		return nil, "", err
	}
	for i := range list.Items {
		o := object{&list.Items[i]}
		if !d.ours(o, zoneID) {
			continue
		}
		sets, err := d.sets(ctx, zoneID, o)
		if err != nil {
			return nil, "", err
		}
		page = append(page, sets...)
	}
	if next = list.GetContinue(); next != "" {
		return page, next, nil
	}
	for _, name := range d.takenIn(zoneID) {
		sets, err := d.stillTaken(ctx, zoneID, name)
		if err != nil {
			return nil, "", err
		}
		page = append(page, sets...)
	}
	return page, "", nil
}

// stillTaken are the records of others at a name that had some, unless it has an object by now.
func (d *DNS) stillTaken(ctx context.Context, zone, name string) ([]dns.RecordSet, error) {
	o, err := d.get(ctx, objectName(name))
	switch {
	case err != nil && !fault.Is(err, fault.NotFound):
		return nil, err
	case err == nil && d.ours(o, zone):
		d.remember(zone, name, false)
		return nil, nil
	}
	return d.others(ctx, zone, name)
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

// sets are what servers may show of an object: what the operator gave it last. They are leaving if the object does not
// have that any more, because the operator has emptied it or others have changed it: then they can be deleted, and have
// to be created to stay.
func (d *DNS) sets(ctx context.Context, zone string, o object) ([]dns.RecordSet, error) {
	if d.intact(o) {
		sets, _ := o.noted()
		return sets, nil
	}
	sets, ok := o.noted()
	if !ok {
		sets = o.at(readEndpoints(o.raw()))
		shown, err := d.others(ctx, zone, o.GetAnnotations()[annotationName])
		if err != nil {
			return nil, err
		}
		for _, s := range shown {
			if s.Type == dns.CNAME && !slices.ContainsFunc(sets, func(o dns.RecordSet) bool { return equal(s, o) }) {
				sets = append(sets, s)
			}
		}
	}
	for i := range sets {
		sets[i].Leaving = true
	}
	return sets, nil
}

// ReadName implements port.Zones. Where no DNSEndpoint is for the name it has what the name servers show there.
func (d *DNS) ReadName(ctx context.Context, zoneID, name string) ([]dns.RecordSet, error) {
	if _, ok := wire.IsDomainName(name); !ok {
		return nil, fault.New(fault.Invalid, opRead, "%s is not a domain name", name)
	}
	ctx = calls.Errand(ctx)
	if err := d.served(ctx, zoneID); err != nil {
		return nil, err
	}
	var sets []dns.RecordSet
	if name == zoneID {
		sets = append(sets, beginning(zoneID))
	}
	o, err := d.get(ctx, objectName(name))
	switch {
	case err != nil && !fault.Is(err, fault.NotFound):
		return nil, err
	case err == nil && d.ours(o, zoneID):
		own, err := d.sets(ctx, zoneID, o)
		return append(sets, own...), err
	}
	others, err := d.others(ctx, zoneID, name)
	return append(sets, others...), err
}
