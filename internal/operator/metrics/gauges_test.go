package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/accounts"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/grant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/claims"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/grants"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/halt"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/inventory"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/config"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/metrics"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/publicdns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/zone"
)

// Everything that runs is measured, each gauge by its own name.
func TestGaugesOfWhatRuns(t *testing.T) {
	t.Parallel()
	elected := make(chan struct{})
	close(elected)
	stopped := halt.New()
	stopped.Set(t.Context(), "Frozen", "by hand")
	tenant := &v1alpha1.DistributionTenant{ObjectMeta: named(1)}
	ready := &v1alpha1.DistributionTenant{ObjectMeta: named(2)}
	ready.Status.Domains = []v1alpha1.DomainStatus{{Domain: "a.example.com", State: v1alpha1.DomainLive}, {Domain: "b.example.com", State: v1alpha1.DomainLost}}
	ready.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "True", Reason: "Deployed"}}
	clock := clocktesting.NewFakeClock(time.Unix(100_000, 0))
	inv := inventory.New(inventory.Options{Clock: clock})
	gauges := metrics.Gauges{
		Reader: readerOf(t, tenant, ready), Elected: elected, Clock: clock, Controllers: []string{config.DistributionTenant},
		GuardRails: map[string]bool{"rollout": true, "grants": false}, Halt: stopped, Claims: claims.New(claims.Options{}),
		Grants: grants.New(grants.Options{
			Mode:    grants.Enforce,
			Default: &grant.Grant{}, Grants: func(context.Context) ([]grant.Grant, error) { return []grant.Grant{{Name: "shop"}}, nil },
		}),
		Watcher:  publicdns.New(publicdns.Options{Clock: clock}),
		DNSZones: zone.New(zone.Options{Clock: clock}),
		DNSAccounts: func() map[dns.Provider]accounts.Entry {
			return map[dns.Provider]accounts.Entry{{Service: dns.Azure, Account: "main"}: {}, {Service: dns.Azure, Account: "old"}: {Err: errors.New("no Secret")}}
		},
		Accounts: func() []metrics.Account {
			return []metrics.Account{{
				ID: "111122223333", Inventory: inv, Orphans: inventory.NewOrphans(inventory.OrphansOptions{Inventory: inv, Clock: clock}),
				Expiry: inventory.NewExpiry(inventory.ExpiryOptions{Inventory: inv, Clock: clock}), Capacity: inventory.NewCapacity(inventory.CapacityOptions{Inventory: inv, Clock: clock}),
			}}
		},
	}
	registry := prometheus.NewRegistry()
	if err := gauges.Register(registry); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"default_grant_open/ 1",
		"dns_account_valid/main/azure/ 1", "dns_account_valid/old/azure/ 0", "dns_batches_propagating/ 0", "dns_names_waiting/ 0", "dns_zone_records/ 0", "dns_zones/ 0",
		"domain_claims/HandOver/ 0", "domain_claims/Held/ 0", "domain_claims/Reserved/ 0", "domain_claims_refused/ 0",
		"domains/shop/Live/ 1", "domains/shop/Lost/ 1",
		"guard_rails/grants/ 0", "guard_rails/rollout/ 1",
		"inventory_age_seconds/111122223333/ -1", "inventory_in_flight/111122223333/ 0", "inventory_tenants/111122223333/ 0", "orphans/111122223333/ 0",
		"tenants_total/shop/Deployed/ 1", "tenants_total/shop/Unknown/ 1", "watched_domains/Circle/ 0", "watched_domains/Edge/ 0", "watched_domains/Elsewhere/ 0", "watched_domains/Failing/ 0", "watched_domains/Here/ 0", "watched_domains/Nowhere/ 0",
		"watched_domains/Partly/ 0", "watched_domains/Silent/ 0", "watched_domains/Unseen/ 0", "writes_halted/Frozen/ 1",
	}
	if d := cmp.Diff(want, byName(t, registry)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// Controllers that do not run have no series, and a cache that can't be read fails the scrape.
func TestGaugesOfNothing(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	gauges := metrics.Gauges{Controllers: []string{config.Invalidation}}
	if err := gauges.Register(registry); err != nil {
		t.Fatal(err)
	}
	if got := byName(t, registry); got != nil {
		t.Errorf("series of nothing: %q", got)
	}
	elected := make(chan struct{})
	close(elected)
	gauges.Reader, gauges.Elected, gauges.Controllers = unreadable{}, elected, []string{config.DistributionTenant}
	_, err := registry.Gather()
	if err == nil || !strings.Contains(err.Error(), "not synced") || !strings.Contains(err.Error(), "tenants_total") {
		t.Errorf("error %v, want that of the cache for the gauge", err)
	}
}

// unreadable is a cache that is not filled.
type unreadable struct{ client.Reader }

func (unreadable) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errors.New("not synced")
}

// byName are the series of a registry with the names of their metrics.
func byName(t *testing.T, r prometheus.Gatherer) (out []string) {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			text := strings.TrimPrefix(f.GetName(), "cloudfront_tenant_operator_") + "/"
			for _, l := range m.GetLabel() {
				text += l.GetValue() + "/"
			}
			out = append(out, fmt.Sprintf("%s %v", text, m.GetGauge().GetValue()))
		}
	}
	return out
}
