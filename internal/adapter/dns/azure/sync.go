package azure

import (
	"context"
	"net"
	"strconv"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/authority"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// dnsPort is where name servers listen.
const dnsPort = "53"

// InSync implements port.Zones. A change that Azure has accepted is carried out; its name servers may not know it yet.
func (d *DNS) InSync(ctx context.Context, zoneID string, sent dns.Sent) (bool, error) {
	made, err := strconv.ParseInt(sent.ID, 10, 64)
	if err != nil {
		return false, &fault.Error{Kind: fault.NotFound, Operation: opPutRecord, Message: "the change is not known", Err: err}
	}
	servers, err := d.nameServers(ctx, zoneID)
	if err != nil {
		return false, err
	}
	if len(servers) == 0 {
		return true, nil // no server shows a private zone
	}
	age := func() time.Duration { return d.config.Clock.Since(time.UnixMilli(made)) }
	return authority.Accepted(ctx, servers, "", sent.Changes, age)
}

// nameServers are those that are asked about a zone.
func (d *DNS) nameServers(ctx context.Context, zoneID string) ([]string, error) {
	if len(d.config.NameServers) > 0 {
		return d.config.NameServers, nil
	}
	d.mu.Lock()
	servers, known := d.servers[zoneID]
	d.mu.Unlock()
	if known {
		return servers, nil
	}
	if _, err := d.GetZone(ctx, zoneID); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.servers[zoneID], nil
}

// remember keeps the name servers of a zone. They change only with the zone itself.
func (d *DNS) remember(zoneID string, servers []string) {
	addresses := make([]string, 0, len(servers))
	for _, s := range servers {
		addresses = append(addresses, net.JoinHostPort(s, dnsPort))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.servers[zoneID] = addresses
}
