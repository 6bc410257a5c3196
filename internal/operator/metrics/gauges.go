package metrics

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/accounts"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/claims"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/grants"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/halt"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/loss"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/rollout"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/inventory"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/keyvalues"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/publicdns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/zone"
)

// Gauges are computed when they are scraped, from what is set here. Sources that are nil, or do not run, have no
// series.
type Gauges struct {
	// Reader is the cache, and Elected closed in the active replica, the only one that shows objects.
	Reader  client.Reader
	Elected <-chan struct{}
	Clock   clock.PassiveClock
	// Controllers are those that run.
	Controllers []string
	// GuardRails tells by its name whether a guard rail is on.
	GuardRails map[string]bool

	Breaker  *loss.Breaker
	Claims   *claims.Registry
	Grants   *grants.Registry
	Halt     *halt.Switch
	Rollouts *rollout.Rollouts

	Watcher     *publicdns.Watcher
	DNSZones    *zone.Zones
	KeyValues   *keyvalues.Stores
	DNSAccounts func() map[dns.Provider]accounts.Entry
	// Accounts are the AWS accounts, the operator's own first.
	Accounts func() []Account
}

// Account is what watches over one AWS account.
type Account struct {
	// ID is empty for the operator's own account.
	ID        string
	Inventory *inventory.Inventory
	Orphans   *inventory.Orphans
	Expiry    *inventory.Expiry
	Capacity  *inventory.Capacity
}

func (g *Gauges) elected() bool {
	select {
	case <-g.Elected:
		return true
	default:
		return false
	}
}

// list reads objects from the cache without copying them. There are none in a replica that waits, and none of a kind
// whose controller does not run: the operator may not have the right to read it.
func (g *Gauges) list(ctx context.Context, controller string, list client.ObjectList) error {
	if !g.elected() || !slices.Contains(g.Controllers, controller) {
		return nil
	}
	if err := g.Reader.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("listing %T: %w", list, err)
	}
	return nil
}

// one is 1 for what is true, and 0 for what is not.
func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
