package edge

// KnowsPlaces reports whether it is known where the records belong and lead, as far as that
// matters now. Until then Wants names less than what is wanted, and nobody should give up a place
// for that.
func (in Input) KnowsPlaces() bool {
	if !in.publishes() || in.ledgerSuffices() {
		return true
	}
	w := in.World
	return w.ZonesKnown && (w.RoutingKnown || w.RoutingEndpoint != "") && (w.IPv6Known || !in.wantsAlias())
}
