package metrics

import (
	"cmp"
	"context"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/onboarding"
)

func (g *Gauges) accounts() []Account {
	if g.Accounts == nil {
		return nil
	}
	return g.Accounts()
}

// inventories tells what the inventories know.
func (g *Gauges) inventories(_ context.Context, emit emitter) error {
	for _, a := range g.accounts() {
		s := a.Inventory.Stats()
		emit("inventory_tenants", float64(s.Tenants), a.ID)
		emit("inventory_in_flight", float64(s.InFlight), a.ID)
		age := -1.0
		if !s.LastSweep.IsZero() {
			age = g.Clock.Since(s.LastSweep).Seconds()
		}
		emit("inventory_age_seconds", age, a.ID)
	}
	return nil
}

// orphans counts what the searches have found.
func (g *Gauges) orphans(_ context.Context, emit emitter) error {
	for _, a := range g.accounts() {
		emit("orphans", float64(len(a.Orphans.List())), a.ID)
	}
	return nil
}

// zones are those in which objects have records.
func (g *Gauges) zones(_ context.Context, emit emitter) error {
	if g.DNSZones == nil {
		return nil
	}
	s := g.DNSZones.Stats()
	emit("dns_zones", float64(s.Zones))
	emit("dns_zone_records", float64(s.Records))
	emit("dns_names_waiting", float64(s.Waiting))
	emit("dns_batches_propagating", float64(s.Propagating))
	return nil
}

// dnsAccounts tells which accounts at DNS services can be used.
func (g *Gauges) dnsAccounts(_ context.Context, emit emitter) error {
	if g.DNSAccounts == nil {
		return nil
	}
	for name, entry := range g.DNSAccounts() {
		emit("dns_account_valid", one(entry.Err == nil), name.Service.String(), name.Account)
	}
	return nil
}

// watchedDomains tells where the domains of customers lead.
func (g *Gauges) watchedDomains(_ context.Context, emit emitter) error {
	if g.Watcher == nil || !g.elected() {
		return nil
	}
	count := g.Watcher.Stats()
	for _, way := range onboarding.Ways {
		emit("watched_domains", float64(count[way]), cmp.Or(string(way), "Unseen"))
	}
	return nil
}
