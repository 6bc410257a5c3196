package cloudflare

import (
	"context"
	"strings"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/authority"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

const (
	dnsPort = "53"
	// silence is how long after a change name servers that don't respond are asked. Where port 53 is closed the word of the
	// API has to do: Cloudflare's servers usually have a change within seconds.
	silence = time.Minute
)

// InSync implements port.Zones. The zone's own name servers are asked.
func (z *Zones) InSync(ctx context.Context, id string, sent dns.Sent) (bool, error) {
	zone, err := z.errand().info(ctx, id, knownFor)
	if err != nil {
		return false, err
	}
	servers := z.config.NameServers
	if len(servers) == 0 {
		servers = zone.servers
	}
	// Where nothing responds one question finds it out, rather than one for each change.
	shown, err := authority.Show(ctx, servers, zone.name, sent.Changes[:min(1, len(sent.Changes))])
	if err == nil && len(sent.Changes) > 1 {
		shown, err = authority.Show(ctx, servers, zone.name, sent.Changes)
	}
	if fault.Is(err, fault.Transient) && z.config.Clock.Since(madeAt(sent.ID)) >= silence {
		return true, nil
	}
	return shown, err
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
