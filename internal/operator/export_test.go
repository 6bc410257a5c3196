package operator

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// What the tests look at from outside.
var (
	Slim      = slim
	EventName = eventName

	OwnerAlive                     = ownerAlive
	RegisterTenants                = registerTenants
	RegisterExpiry                 = registerExpiry
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
