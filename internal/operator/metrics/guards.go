package metrics

import (
	"context"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/claim"
)

// guardRails tells which guard rails are on.
func (g *Gauges) guardRails(_ context.Context, emit emitter) error {
	for name, on := range g.GuardRails {
		emit("guard_rails", one(on), name)
	}
	return nil
}

// halted tells why nothing is changed in AWS.
func (g *Gauges) halted(_ context.Context, emit emitter) error {
	for _, cause := range g.Halt.Causes() {
		emit("writes_halted", 1, string(cause))
	}
	return nil
}

// losses are what the deletion budget holds.
func (g *Gauges) losses(_ context.Context, emit emitter) error {
	if g.Breaker == nil {
		return nil
	}
	for _, plan := range g.Breaker.Holds() {
		emit("deletions_held", float64(plan.Count), string(plan.Class), plan.Namespace)
	}
	return nil
}

// rollouts tells how far changes have come.
func (g *Gauges) rollouts(_ context.Context, emit emitter) error {
	if g.Rollouts == nil {
		return nil
	}
	waiting, flying, failed := 0, 0, 0
	for _, group := range g.Rollouts.Groups() {
		waiting, flying, failed = waiting+group.Waiting-group.InFlight, flying+group.InFlight, failed+group.Failed
	}
	emit("rollout_tenants", float64(waiting), "waiting")
	emit("rollout_tenants", float64(flying), "in_flight")
	emit("rollout_tenants", float64(failed), "failed")
	return nil
}

// stoppedGroups is how many changes reach no more tenants because too many failed, of those that no object reports.
func (g *Gauges) stoppedGroups() (n int) {
	if g.Rollouts == nil {
		return 0
	}
	for _, group := range g.Rollouts.Groups() {
		if group.Stopped && group.Source == "" {
			n++
		}
	}
	return n
}

// domains are the claims, and how many objects are refused a domain.
func (g *Gauges) domains(_ context.Context, emit emitter) error {
	if g.Claims == nil {
		return nil
	}
	phases := map[string]int{}
	for _, stored := range g.Claims.Claims() {
		phases[stored.Phase()]++
	}
	for _, phase := range []string{claim.Reserved, claim.HandOver, claim.Held} {
		emit("domain_claims", float64(phases[phase]), phase)
	}
	emit("domain_claims_refused", float64(g.Claims.Refused()))
	return nil
}

// grants tells what grants do not allow.
func (g *Gauges) grants(ctx context.Context, emit emitter) error {
	if g.Grants == nil {
		return nil
	}
	emit("default_grant_open", one(g.Grants.Open(ctx)))
	for name, n := range g.Grants.Violations() {
		emit("grant_violations", float64(n), name)
	}
	return nil
}
