package azure

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/dns/armdns"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/calls"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// pageSize is how many record sets Azure returns at once, as users report it; its documentation says up to 100. It is not asked
// for more: with $top, lists end there without a link to the rest.
const pageSize = 500

// GetZone implements port.Zones.
func (d *DNS) GetZone(ctx context.Context, id string) (dns.Zone, error) {
	return d.getZone(calls.Errand(ctx), id)
}

// getZone reads a zone, and remembers its name servers.
func (d *DNS) getZone(ctx context.Context, id string) (found dns.Zone, err error) {
	at, err := placeOf(opGetZone, id)
	if err != nil {
		return dns.Zone{}, err
	}
	err = d.read(ctx, opGetZone, func(ctx context.Context) error {
		out, err := d.zones.Get(ctx, at.group, at.zone, nil)
		if err != nil {
			return err
		}
		var servers []string
		if found, servers, err = zone(opGetZone, &out.Zone); err == nil {
			d.remember(id, servers)
		}
		return err
	})
	return found, err
}

func zone(operation string, z *armdns.Zone) (dns.Zone, []string, error) {
	if z == nil || z.ID == nil || z.Properties == nil {
		return dns.Zone{}, nil, unreadable(operation, "a zone with its ID and its properties")
	}
	at, ok := placeOfResource(*z.ID)
	if !ok {
		return dns.Zone{}, nil, unreadable(operation, "the ID of a zone")
	}
	private := z.Properties.ZoneType != nil && *z.Properties.ZoneType != armdns.ZoneTypePublic
	var servers []string
	for _, s := range z.Properties.NameServers {
		if s != nil {
			servers = append(servers, dns.Lower(*s))
		}
	}
	return dns.Zone{ID: at.id(), Name: at.zone, Private: private}, servers, nil
}

// ListZones implements port.Zones. The marker is Azure's link to the next page.
func (d *DNS) ListZones(ctx context.Context, marker string) ([]dns.Zone, string, error) {
	operation, fetch := opListZones, d.zonesOfSubscription
	if d.config.ResourceGroup != "" {
		operation, fetch = opListZonesOfGroup, d.zonesOfGroup
	}
	var (
		page []dns.Zone
		next string
	)
	err := d.read(calls.Errand(ctx), operation, func(ctx context.Context) error {
		list, err := fetch(ctx, marker)
		if err != nil {
			return err
		}
		if list.Value == nil {
			return unreadable(operation, "the list of zones")
		}
		page = make([]dns.Zone, 0, len(list.Value))
		for _, one := range list.Value {
			found, _, err := zone(operation, one)
			if err != nil {
				return err
			}
			page = append(page, found)
		}
		next, err = following(operation, list.NextLink, marker)
		return err
	})
	if err != nil {
		return nil, "", err
	}
	return page, next, nil
}

func (d *DNS) zonesOfSubscription(ctx context.Context, marker string) (armdns.ZoneListResult, error) {
	pager := d.zones.NewListPager(nil)
	page, err := fetch(ctx, pager, marker)
	return page.ZoneListResult, err
}

func (d *DNS) zonesOfGroup(ctx context.Context, marker string) (armdns.ZoneListResult, error) {
	pager := d.zones.NewListByResourceGroupPager(d.config.ResourceGroup, nil)
	page, err := fetch(ctx, pager, marker)
	return page.ZoneListResult, err
}

// fetch reads the page that a link leads to, without one the first.
func fetch[T any](ctx context.Context, pager *runtime.Pager[T], link string) (page T, err error) {
	if link != "" {
		current, err := json.Marshal(map[string]string{"nextLink": link})
		if err != nil {
			return page, err
		}
		// A pager that is given a page returns that first, without a call, and then continues after it.
		if err := json.Unmarshal(current, pager); err != nil {
			return page, err
		}
		if page, err = pager.NextPage(ctx); err != nil {
			return page, err
		}
	}
	return pager.NextPage(ctx)
}

// following is the marker of the next page. The same page again would never end.
func following(operation string, link *string, marker string) (string, error) {
	if link == nil || *link == "" {
		return "", nil
	}
	if *link == marker {
		return "", unreadable(operation, "a new link to the next page")
	}
	return *link, nil
}

// progress is a listing of records under way, and the marker of its next page.
type progress struct {
	// Link is Azure's to the next page. Listed is how many record sets the pages before had, and Want how many the zone had
	// before the first.
	Link         string
	Listed, Want int64
}

// ListRecords implements port.Zones. Azure lists the SOA set of the zone with the others.
func (d *DNS) ListRecords(ctx context.Context, zoneID, marker string) (page []dns.RecordSet, next string, err error) {
	at, err := placeOf(opListRecords, zoneID)
	if err != nil {
		return nil, "", err
	}
	ctx = calls.Errand(ctx)
	var p progress
	if marker == "" {
		p.Want, err = d.count(ctx, at)
	} else if json.Unmarshal([]byte(marker), &p) != nil {
		err = unreadable(opListRecords, "a marker of this list")
	}
	if err != nil {
		return nil, "", err
	}
	page, p.Link, err = d.pageOf(ctx, at, p.Link)
	if err != nil {
		return nil, "", err
	}
	if p.Listed += int64(len(page)); p.Link == "" {
		return page, "", d.whole(ctx, at, p)
	}
	rest, err := json.Marshal(p)
	return page, string(rest), err
}

// whole refuses a listing that ends before all record sets were listed. If some were deleted meanwhile the zone has fewer now.
func (d *DNS) whole(ctx context.Context, at place, p progress) error {
	if p.Listed >= p.Want {
		return nil
	}
	now, err := d.count(ctx, at)
	if err != nil || p.Listed >= now {
		return err
	}
	return fault.New(fault.Transient, opListRecords, "Azure lists fewer record sets than it says that the zone has")
}

// count is how many record sets a zone has, zero where Azure does not tell.
func (d *DNS) count(ctx context.Context, at place) (sets int64, err error) {
	err = d.read(ctx, opGetZone, func(ctx context.Context) error {
		out, err := d.zones.Get(ctx, at.group, at.zone, nil)
		if err == nil && out.Properties != nil && out.Properties.NumberOfRecordSets != nil {
			sets = *out.Properties.NumberOfRecordSets
		}
		return err
	})
	return sets, err
}

// pageOf reads the page of a zone's record sets that a link leads to, without one the first.
func (d *DNS) pageOf(ctx context.Context, at place, link string) (page []dns.RecordSet, next string, err error) {
	err = d.read(ctx, opListRecords, func(ctx context.Context) error {
		list, err := fetch(ctx, d.records.NewListAllByDNSZonePager(at.group, at.zone, nil), link)
		if err != nil {
			return err
		}
		if list.Value == nil || link == "" && len(list.Value) == 0 {
			// Every zone has the records that make it one.
			return unreadable(opListRecords, "the record sets of the zone itself")
		}
		page = make([]dns.RecordSet, 0, len(list.Value))
		for _, one := range list.Value {
			found, err := at.recordSet(opListRecords, one)
			if err != nil {
				return err
			}
			page = append(page, found)
		}
		next, err = following(opListRecords, list.NextLink, link)
		return err
	})
	return page, next, err
}

// ReadName implements port.Zones. Azure has no question for a name: each type is read alone, the one first that excludes
// all others.
func (d *DNS) ReadName(ctx context.Context, zoneID, name string) ([]dns.RecordSet, error) {
	at, err := placeOf(opGetRecord, zoneID)
	if err != nil {
		return nil, err
	}
	if _, inside := at.relative(name); !inside {
		return nil, nil
	}
	ctx = calls.Errand(ctx)
	var found []dns.RecordSet
	for _, kind := range at.kindsOf(name) {
		one, err := d.getRecord(ctx, at, dns.Key{Name: name, Type: kind})
		switch {
		case err != nil:
			return nil, err
		case one == nil:
			continue
		}
		found = append(found, one.set)
		if kind == dns.CNAME {
			return found, nil
		}
	}
	if len(found) == 0 {
		// The zone may be missing as well: Azure answers with the same status.
		_, err = d.getZone(ctx, zoneID)
	}
	return found, err
}

// kindsOf are the types that a name can have.
func (p place) kindsOf(name string) []string {
	kinds := []string{dns.CNAME, dns.A, dns.AAAA, dns.TXT, "MX", "NS", "SRV", "CAA", "PTR"}
	if name == p.zone {
		return append([]string{"SOA"}, kinds[1:]...)
	}
	return kinds
}

// versioned is a record set with what Azure calls its version.
type versioned struct {
	set  dns.RecordSet
	etag string
}

// getRecord reads a record set, nil if there is none.
func (d *DNS) getRecord(ctx context.Context, at place, k dns.Key) (*versioned, error) {
	relative, _ := at.relative(k.Name)
	var found *versioned
	err := d.read(ctx, opGetRecord, func(ctx context.Context) error {
		out, err := d.records.Get(ctx, at.group, at.zone, relative, armdns.RecordType(k.Type), nil)
		if isAbsent(err) {
			return nil
		}
		if err != nil {
			return err
		}
		set, err := at.recordSet(opGetRecord, &out.RecordSet)
		if err != nil {
			return err
		}
		if out.Etag == nil || *out.Etag == "" || set.Key != k {
			return unreadable(opGetRecord, "the record set that was asked for, with its etag")
		}
		found = &versioned{set: set, etag: *out.Etag}
		return nil
	})
	return found, err
}

// isAbsent reports whether Azure says of a record set, and not of what it belongs to, that there is none. Anything else
// that answers with that status, such as a proxy, says nothing.
func isAbsent(err error) bool {
	answer, ok := errors.AsType[*azcore.ResponseError](err)
	return ok && answer.StatusCode == http.StatusNotFound && (answer.ErrorCode == codeNoRecord || answer.ErrorCode == codeNoResource)
}
