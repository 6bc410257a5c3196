package port

import (
	"context"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
)

// Zones is a DNS provider as one identity sees it.
type Zones interface {
	// GetZone reads a zone. fault.NotFound: there is none of that id.
	GetZone(ctx context.Context, id string) (dns.Zone, error)
	// ListZones reads one page of all zones, private ones included. next is empty on the last.
	ListZones(ctx context.Context, marker string) (page []dns.Zone, next string, err error)
	// ListRecords reads one page of the record sets of a zone, changes that are not in sync
	// yet included, and with the SOA at the zone's own name, which marks where it begins. next is empty on the last. An empty list is believed: where a zone always holds something, such as its
	// own NS and SOA, the adapter refuses one.
	ListRecords(ctx context.Context, zoneID, marker string) (page []dns.RecordSet, next string, err error)
	// ReadName reads all record sets of one name.
	ReadName(ctx context.Context, zoneID, name string) ([]dns.RecordSet, error)
	// Change carries out all changes or none, and returns the id of the change. A provider that can't do several at once
	// answers fault.Transient where it has carried out some: the names are read again, and the rest follows. A set is
	// deleted only if it is there as it is named, values and all, and created only if there is none.
	//
	// fault.Exists: a set that was to be created is there. fault.Invalid: the provider
	// refuses at least one of the changes as it stands. fault.NotFound: there is no such zone.
	// fault.Throttled also stands for an earlier change of the zone that is still worked on.
	Change(ctx context.Context, zoneID string, changes []dns.Change) (changeID string, err error)
	// InSync reports whether every server of the provider has the changes, as far as that can be told. dns.LeftOut is the
	// failure of a change that was accepted, and was not carried out at some names.
	InSync(ctx context.Context, zoneID string, sent dns.Sent) (bool, error)
}

// DNS reaches a provider under different identities. None of its methods makes a call.
type DNS interface {
	// As returns the provider as the identity sees it.
	As(access dns.Access) Zones
	// Traits returns what is particular to the provider.
	Traits() dns.Traits
}
