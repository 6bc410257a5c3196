package distributiontenant

import "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"

// KnowsPlaces reports whether it is known where the records belong and lead, as far as that
// matters now. Until then Wants names less than what is wanted, and nobody should give up a place
// for that.
func (in Input) KnowsPlaces() bool { return in.judged().knowsPlaces() }

func (in Input) knowsPlaces() bool {
	if !in.publishes() || in.Unresolved() || in.ledgerSuffices() {
		return true
	}
	w := in.World
	if w.Knowledge == resource.Nothing && in.Memory.ID != "" {
		// What the tenant serves, and with that what is due, is about to be read.
		return false
	}
	return w.ZonesKnown && (w.RoutingKnown || w.RoutingEndpoint != "") && (w.IPv6Known || !in.wantsAlias())
}
