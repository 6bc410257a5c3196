package rfc2136

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	wire "github.com/miekg/dns"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/authority"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/calls"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/query"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// InSync implements port.Zones: every secondary has the zone as of the change or later, and what was created is visible at
// each server. A deleted set may be covered by a wildcard, and then nothing looks different: only the serial number
// tells. The primary shows what it has created, or dns.LeftOut is the failure.
func (d *DNS) InSync(ctx context.Context, zoneID string, sent dns.Sent) (bool, error) {
	want, err := d.serialOf(ctx, zoneID, sent)
	if err != nil {
		return false, err
	}
	done := false
	err = d.config.Gate.Do(ctx, calls.Call{Operation: opZone}, func(ctx context.Context) (err error) {
		done, err = d.everywhere(ctx, zoneID, want, sent.Changes)
		return err
	})
	return done, err
}

// serialOf is the serial number of the zone after a change. Where it could not be read then, that of now is a later one.
func (d *DNS) serialOf(ctx context.Context, zoneID string, sent dns.Sent) (uint32, error) {
	if n, err := strconv.ParseUint(sent.ID, 10, 32); err == nil {
		return uint32(n), nil
	}
	return d.serial(ctx, zoneID)
}

func (d *DNS) everywhere(ctx context.Context, zoneID string, want uint32, changes []dns.Change) (bool, error) {
	for _, secondary := range d.config.Secondaries {
		have, err := askSerial(ctx, secondary, zoneID)
		if err != nil || older(have, want) {
			return false, err
		}
	}
	created := slices.DeleteFunc(slices.Clone(changes), func(c dns.Change) bool { return c.Action != dns.Create })
	missing, err := authority.Missing(ctx, d.config.Server, created)
	if err != nil {
		return false, err
	}
	if len(missing) > 0 {
		return false, dns.NewLeftOut(opZone, missing)
	}
	for _, server := range d.config.Secondaries {
		shown, err := authority.Show(ctx, []string{server}, "", created)
		if err != nil || !shown {
			return false, err
		}
	}
	return true, nil
}

// older compares serial numbers, which begin again after their highest (RFC 1982).
func older(a, b uint32) bool { return int32(a-b) < 0 }

// askSerial asks a secondary for its serial number of a zone. It may not know our key.
func askSerial(ctx context.Context, server, zone string) (uint32, error) {
	response, err := query.Ask(ctx, server, query.Question{Name: zone, Kind: wire.TypeSOA})
	if err != nil {
		return 0, &fault.Error{
			Kind: fault.Transient, Operation: opZone, Err: err,
			Message: fmt.Sprintf("the secondary %s did not respond", server),
		}
	}
	if soa := query.SOA(response.Msg, zone); soa != nil {
		return soa.Serial, nil
	}
	if response.Rcode == wire.RcodeServerFailure {
		return 0, &fault.Error{
			Kind: fault.Transient, Operation: opZone, Code: wire.RcodeToString[response.Rcode],
			Message: fmt.Sprintf("the secondary %s has no copy of the zone %s yet", server, zone),
		}
	}
	return 0, &fault.Error{
		Kind: fault.Denied, Operation: opZone, Code: wire.RcodeToString[response.Rcode],
		Message: fmt.Sprintf("the secondary %s does not serve the zone %s to the operator: have it do that, or remove it from the account's secondaries", server, zone),
	}
}
