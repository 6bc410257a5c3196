package rfc2136

import (
	"context"
	"slices"
	"strconv"

	wire "github.com/miekg/dns"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/calls"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// GetZone implements port.Zones. The server has to be authoritative for the zone.
func (d *DNS) GetZone(ctx context.Context, id string) (dns.Zone, error) {
	if !slices.Contains(d.zones, id) {
		return dns.Zone{}, fault.New(fault.NotFound, opZone, "the account has no zone %s: its zones are in dns.accounts", id)
	}
	_, err := d.serial(ctx, id)
	if err != nil {
		return dns.Zone{}, err
	}
	return dns.Zone{ID: id, Name: id}, nil
}

// serial asks the primary for the serial number of a zone.
func (d *DNS) serial(ctx context.Context, zone string) (serial uint32, err error) {
	err = d.config.Gate.Do(ctx, calls.Call{Operation: opZone}, func(ctx context.Context) error {
		s, err := d.open(ctx, opZone)
		if err != nil {
			return err
		}
		defer s.close()
		serial, err = s.serial(zone)
		return err
	})
	return serial, err
}

// ListZones implements port.Zones. A server does not tell which zones it has, so they are those of the configuration. It
// makes no call.
func (d *DNS) ListZones(context.Context, string) ([]dns.Zone, string, error) {
	out := make([]dns.Zone, len(d.zones))
	for i, name := range d.zones {
		out[i] = dns.Zone{ID: name, Name: name}
	}
	return out, "", nil
}

// ListRecords implements port.Zones. A transfer has the whole zone at one moment, so there is one page.
func (d *DNS) ListRecords(ctx context.Context, zoneID, _ string) ([]dns.RecordSet, string, error) {
	found := sets{}
	if err := d.transfer(ctx, zoneID, found.take); err != nil {
		return nil, "", err
	}
	return found.list(), "", nil
}

// ReadName implements port.Zones. It takes a transfer as well: to a question a server may answer with what a wildcard
// covers, or with the servers of a delegation, and it leaves out sets of types that are not asked for.
func (d *DNS) ReadName(ctx context.Context, zoneID, name string) ([]dns.RecordSet, error) {
	found := sets{}
	err := d.transfer(ctx, zoneID, func(rr wire.RR) {
		if dns.Lower(rr.Header().Name) == name {
			found.take(rr)
		}
	})
	if err != nil {
		return nil, err
	}
	return found.list(), nil
}

// unknownSerial is the id of a change after which the serial number could not be read.
const unknownSerial = "unknown"

// Change implements port.Zones. The id of a change is the serial number of the zone after it.
func (d *DNS) Change(ctx context.Context, zoneID string, changes []dns.Change) (id string, err error) {
	u, err := newUpdate(zoneID, d.config.ClusterID, changes)
	if err != nil {
		return "", err
	}
	err = d.config.Gate.Do(ctx, calls.Call{Operation: opChange, Changes: true}, func(ctx context.Context) error {
		s, err := d.open(ctx, opChange)
		if err != nil {
			return err
		}
		defer s.close()
		if err := s.update(u); err != nil {
			return err
		}
		id = unknownSerial // it is carried out, whatever happens to the question
		if serial, err := s.serial(zoneID); err == nil {
			id = strconv.FormatUint(uint64(serial), 10)
		}
		return nil
	})
	return id, err
}
