package cloudflare

import (
	"context"
	"strings"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/authority"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
)

const dnsPort = "53"

// InSync implements port.Zones. The zone's own name servers are asked.
func (d *DNS) InSync(ctx context.Context, id string, sent dns.Sent) (bool, error) {
	zone, err := d.info(ctx, id, knownFor)
	if err != nil {
		return false, err
	}
	servers := d.config.NameServers
	if len(servers) == 0 {
		servers = zone.servers
	}
	age := func() time.Duration { return d.config.Clock.Since(madeAt(sent.ID)) }
	return authority.Accepted(ctx, servers, zone.name, sent.Changes, age)
}

// madeAt is when a change was made.
func madeAt(id string) time.Time {
	_, text, _ := strings.Cut(id, "@")
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return at
}
