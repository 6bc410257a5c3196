package route53

import (
	"context"
	"errors"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// The most that Route 53 returns at once.
const (
	zonesPerPage   = 100
	recordsPerPage = 300
)

// The most that Route 53 takes in one batch: single records, an alias counting as one, and characters of all values.
const (
	recordsPerBatch    = 1000
	charactersPerBatch = 32_000
)

// GetZone implements port.Zones.
func (z *Zones) GetZone(ctx context.Context, id string) (dns.Zone, error) {
	out, err := z.api.GetHostedZone(ctx, &sdk.GetHostedZoneInput{Id: &id}, z.read)
	if err != nil {
		return dns.Zone{}, classify(opGetZone, err)
	}
	return zone(opGetZone, out.HostedZone)
}

// ListZones implements port.Zones.
func (z *Zones) ListZones(ctx context.Context, marker string) ([]dns.Zone, string, error) {
	in := &sdk.ListHostedZonesInput{MaxItems: awssdk.Int32(zonesPerPage)}
	if marker != "" {
		in.Marker = &marker
	}
	out, err := z.api.ListHostedZones(ctx, in, z.read)
	if err != nil {
		return nil, "", classify(opListZones, err)
	}
	if out.HostedZones == nil {
		return nil, "", aws.Unreadable(opListZones, "the list of zones")
	}
	page := make([]dns.Zone, 0, len(out.HostedZones))
	for _, h := range out.HostedZones {
		found, err := zone(opListZones, &h)
		if err != nil {
			return nil, "", err
		}
		page = append(page, found)
	}
	if !out.IsTruncated {
		return page, "", nil
	}
	next := awssdk.ToString(out.NextMarker)
	if next == "" || next == marker {
		return nil, "", aws.Unreadable(opListZones, "a new marker for the next page")
	}
	return page, next, nil
}

// position is where a page of records starts: it is part of the request, and of the answer
// to the one before. Route 53 has no marker for it.
type position struct{ name, kind, identifier string }

// The names and types of Route 53 have no spaces, identifiers may have some.
func (p position) marker() string { return p.name + " " + p.kind + " " + p.identifier }

func positionAt(marker string) (p position) {
	p.name, marker, _ = strings.Cut(marker, " ")
	p.kind, p.identifier, _ = strings.Cut(marker, " ")
	return p
}

// ListRecords implements port.Zones.
func (z *Zones) ListRecords(ctx context.Context, zoneID, marker string) ([]dns.RecordSet, string, error) {
	from := positionAt(marker)
	page, next, err := z.list(ctx, zoneID, from)
	if err == nil && marker == "" && len(page) == 0 {
		// Every zone has the records that make it one.
		err = aws.Unreadable(opListRecords, "the record sets of the zone itself")
	}
	switch {
	case err != nil:
		return nil, "", err
	case next == position{}:
		return page, "", nil
	}
	return page, next.marker(), nil
}

// ReadName implements port.Zones. Only a name with hundreds of routed sets takes more than
// one call.
func (z *Zones) ReadName(ctx context.Context, zoneID, name string) ([]dns.RecordSet, error) {
	var found []dns.RecordSet
	for from := (position{name: writeName(name)}); ; {
		page, next, err := z.list(ctx, zoneID, from)
		if err != nil {
			return nil, err
		}
		// The position is where the list starts, and no filter.
		for _, s := range page {
			if s.Name == name {
				found = append(found, s)
			}
		}
		if next == (position{}) || readName(next.name) != name {
			return found, nil
		}
		from = next
	}
}

// list reads the record sets from a position on, and the position of those that follow.
func (z *Zones) list(ctx context.Context, zoneID string, from position) ([]dns.RecordSet, position, error) {
	in := &sdk.ListResourceRecordSetsInput{HostedZoneId: &zoneID, MaxItems: awssdk.Int32(recordsPerPage)}
	if from.name != "" {
		in.StartRecordName = &from.name
		in.StartRecordType = types.RRType(from.kind)
	}
	if from.identifier != "" {
		in.StartRecordIdentifier = &from.identifier
	}
	out, err := z.api.ListResourceRecordSets(ctx, in, z.read)
	if err != nil {
		return nil, position{}, classify(opListRecords, err)
	}
	if out.ResourceRecordSets == nil {
		return nil, position{}, aws.Unreadable(opListRecords, "the list of record sets")
	}
	page := make([]dns.RecordSet, 0, len(out.ResourceRecordSets))
	for _, s := range out.ResourceRecordSets {
		set, err := recordSet(s)
		if err != nil {
			return nil, position{}, err
		}
		page = append(page, set)
	}
	if !out.IsTruncated {
		return page, position{}, nil
	}
	next := position{awssdk.ToString(out.NextRecordName), string(out.NextRecordType), awssdk.ToString(out.NextRecordIdentifier)}
	if next.name == "" || next == from {
		return nil, position{}, aws.Unreadable(opListRecords, "a new position for the next page")
	}
	return page, next, nil
}

// Change implements port.Zones.
func (z *Zones) Change(ctx context.Context, zoneID string, changes []dns.Change) (string, error) {
	batch := &types.ChangeBatch{Changes: make([]types.Change, len(changes))}
	for i, c := range changes {
		var err error
		if batch.Changes[i], err = wireChange(c); err != nil {
			return "", err
		}
	}
	if err := z.allowance.take(len(changes)); err != nil {
		return "", err
	}
	out, err := z.api.ChangeResourceRecordSets(ctx,
		&sdk.ChangeResourceRecordSetsInput{HostedZoneId: &zoneID, ChangeBatch: batch}, z.write)
	if err != nil {
		err = classifyChange(err)
		if !wasSent(err) {
			z.allowance.giveBack(len(changes))
		}
		return "", err
	}
	if out.ChangeInfo == nil || awssdk.ToString(out.ChangeInfo.Id) == "" {
		return "", aws.Unreadable(opChange, "the id of the change")
	}
	return strings.TrimPrefix(*out.ChangeInfo.Id, changePrefix), nil
}

// wasSent reports whether a batch that failed may have reached Route 53: neither the limiter
// nor the role that is to be assumed stood in its way.
func wasSent(err error) bool {
	failure, ok := errors.AsType[*fault.Error](err)
	return !ok || failure.Operation == opChange && failure.Code != aws.CodeLocalRateLimit && failure.Code != aws.CodeHalted
}

// InSync implements port.Zones.
func (z *Zones) InSync(ctx context.Context, _ string, sent dns.Sent) (bool, error) {
	out, err := z.api.GetChange(ctx, &sdk.GetChangeInput{Id: &sent.ID}, z.read)
	if err != nil {
		return false, classify(opGetChange, err)
	}
	if err := present(opGetChange, "the change", out.ChangeInfo); err != nil {
		return false, err
	}
	return out.ChangeInfo.Status == types.ChangeStatusInsync, nil
}
