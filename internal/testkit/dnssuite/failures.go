package dnssuite

import (
	"context"
	"fmt"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// remembered is how many failures a row shows when it fails.
const remembered = 20

// listening is an adapter of which the latest failures are remembered: workers don't tell of those that pass.
type listening struct {
	port.DNS
	heard *[]string
}

// As implements port.DNS.
func (l listening) As(access dns.Access) port.Zones { return listener{l.DNS.As(access), l.heard} }

type listener struct {
	port.Zones
	heard *[]string
}

func (l listener) hear(operation string, err error) {
	if err == nil {
		return
	}
	*l.heard = append(*l.heard, fmt.Sprintf("%s: %v", operation, err))
	*l.heard = (*l.heard)[max(0, len(*l.heard)-remembered):]
}

// ListRecords implements port.Zones.
func (l listener) ListRecords(ctx context.Context, zoneID, marker string) ([]dns.RecordSet, string, error) {
	sets, next, err := l.Zones.ListRecords(ctx, zoneID, marker)
	l.hear("listing", err)
	return sets, next, err
}

// ReadName implements port.Zones.
func (l listener) ReadName(ctx context.Context, zoneID, name string) ([]dns.RecordSet, error) {
	sets, err := l.Zones.ReadName(ctx, zoneID, name)
	l.hear("reading "+name, err)
	return sets, err
}

// Change implements port.Zones.
func (l listener) Change(ctx context.Context, zoneID string, changes []dns.Change) (string, error) {
	id, err := l.Zones.Change(ctx, zoneID, changes)
	l.hear(fmt.Sprintf("%d changes", len(changes)), err)
	return id, err
}

// InSync implements port.Zones.
func (l listener) InSync(ctx context.Context, zoneID string, sent dns.Sent) (bool, error) {
	done, err := l.Zones.InSync(ctx, zoneID, sent)
	l.hear("asking whether servers have "+sent.ID, err)
	return done, err
}
