package operator

import (
	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/inventory"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/zone"
)

// What the tests look at from outside.
var (
	Slim      = newSlimmer().slim
	EventName = eventName

	OwnerAlive                     = ownerAlive
	RegisterTenants                = registerTenants
	RegisterStalled                = registerStalled
	RegisterRollouts               = registerRollouts
	RegisterInvalidations          = registerInvalidations
	RegisterDistributionsAndGroups = registerDistributionsAndGroups
	APIServerHosts                 = apiServerHosts
	NewSourceMetrics               = newSourceMetrics
)

// CountErrors counts one failure of a reconcile and one of a batch of DNS changes.
func CountErrors(r prometheus.Registerer, kind fault.Kind) error {
	m, err := newMetrics(r)
	if err != nil {
		return err
	}
	m.failed(kind)
	m.dnsFailed(kind)
	return nil
}

// RegisterExpiry adds the metrics of a watch over the certificates of an account.
func RegisterExpiry(r prometheus.Registerer, account string, e *inventory.Expiry, clk clock.PassiveClock) error {
	return registerExpiry(r, func() []watch { return []watch{{account: account, expiry: e}} }, clk)
}

// RegisterCapacity adds the metrics of what an account has and may have.
func RegisterCapacity(r prometheus.Registerer, account string, i *inventory.Inventory, e *inventory.Expiry, c *inventory.Capacity, invalidations client.Reader) error {
	env := &environment{invalidations: invalidations}
	return registerCapacity(r, func() []watch { return []watch{{account: account, inventory: i, expiry: e, capacity: c}} }, env.pathsInProgress)
}

// NewZoneObserver returns an observer of zones that has no metrics.
func NewZoneObserver(log logr.Logger, publish func(o client.Object, e reconcile.Event)) zone.Observer {
	return zoneObserver{log: log, publish: publish}
}
