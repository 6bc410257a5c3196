package operator

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/account"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/inventory"
)

// watch is what runs for one AWS account in the active replica.
type watch struct {
	account   string
	inventory *inventory.Inventory
	orphans   *inventory.Orphans
	expiry    *inventory.Expiry
	capacity  *inventory.Capacity
}

// watches are those of all accounts.
type watches struct {
	mu  sync.Mutex
	all map[string]watch
}

func (w *watches) add(one watch) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all[one.account] = one
}

func (w *watches) remove(account string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.all, account)
}

// list has the operator's own account first.
func (w *watches) list() []watch {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.SortedFunc(maps.Values(w.all), func(a, b watch) int { return strings.Compare(a.account, b.account) })
}

// accountLabel is the label of what is measured in each AWS account, empty for the operator's own.
const accountLabel = "account"

// addAccounts adds what runs for each AWS account: for the operator's own from the start, and for another one from the
// first object on that an EdgeGrant puts there.
func addAccounts(ctx context.Context, mgr ctrl.Manager, c Config, env *environment, claimed func(account, tenant string) bool) error {
	all := &watches{all: map[string]watch{}}
	watching := func(a *account.Account) watch {
		w := watch{
			account: a.ID, inventory: a.Inventory, orphans: newOrphans(mgr.GetAPIReader(), a, func(tenant string) bool { return claimed(a.ID, tenant) }, c.ClusterID),
			expiry: newExpiry(a, clock.RealClock{}), capacity: newCapacity(a, clock.RealClock{}),
		}
		all.add(w)
		return w
	}
	own := watching(env.Accounts.Own())
	if err := mgr.Add(own.inventory); err != nil {
		return fmt.Errorf("adding the inventory: %w", err)
	}
	if err := mgr.Add(own.orphans); err != nil {
		return fmt.Errorf("adding the search for orphaned tenants: %w", err)
	}
	if err := mgr.Add(own.expiry); err != nil {
		return fmt.Errorf("adding the certificate watch: %w", err)
	}
	if err := mgr.Add(own.capacity); err != nil {
		return fmt.Errorf("adding the watch over quotas: %w", err)
	}
	env.OnOpen(func(a *account.Account) {
		w := watching(a)
		// Only the active replica reconciles objects, and so opens accounts.
		running, stop := context.WithCancel(ctx)
		a.Close = func() { stop(); all.remove(a.ID) }
		for _, start := range []func(context.Context) error{w.inventory.Start, w.orphans.Start, w.expiry.Start, w.capacity.Start} {
			go func() {
				if err := start(running); err != nil {
					ctrl.Log.WithName("accounts").Error(err, "Watching an AWS account ended", "account", a.ID)
				}
			}()
		}
	})
	return registerWatches(ctrlmetrics.Registry, all.list, env.pathsInProgress, clock.RealClock{})
}

// registerWatches adds the metrics of what runs for each account.
func registerWatches(r prometheus.Registerer, list func() []watch, inProgress func() map[string]pathCount, clk clock.PassiveClock) error {
	if err := registerAll(r, newInventories(list, clk)); err != nil {
		return err
	}
	if err := registerOrphans(r, list); err != nil {
		return err
	}
	if err := registerCapacity(r, list, inProgress); err != nil {
		return err
	}
	return registerExpiry(r, list, clk)
}

// inventories tells what the inventories know.
type inventories struct {
	list                   func() []watch
	clock                  clock.PassiveClock
	tenants, inFlight, age *prometheus.Desc
}

func newInventories(list func() []watch, clk clock.PassiveClock) *inventories {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc(metricPrefix+name, help, []string{accountLabel}, nil)
	}
	return &inventories{
		list: list, clock: clk,
		tenants:  desc("inventory_tenants", "Tenants in the AWS account that the operator knows of, including those it does not own. The label account is empty for the operator's own account."),
		inFlight: desc("inventory_in_flight", "Tenants with a deployment in progress that the operator follows, by AWS account."),
		age:      desc("inventory_age_seconds", "Time since all tenants of the AWS account were last listed, or -1 if this replica has not listed them yet."),
	}
}

// Describe implements prometheus.Collector.
func (i *inventories) Describe(d chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{i.tenants, i.inFlight, i.age} {
		d <- desc
	}
}

// Collect implements prometheus.Collector.
func (i *inventories) Collect(out chan<- prometheus.Metric) {
	for _, w := range i.list() {
		gauge := func(desc *prometheus.Desc, value float64) {
			out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, w.account)
		}
		s := w.inventory.Stats()
		gauge(i.tenants, float64(s.Tenants))
		gauge(i.inFlight, float64(s.InFlight))
		age := -1.0
		if !s.LastSweep.IsZero() {
			age = i.clock.Since(s.LastSweep).Seconds()
		}
		gauge(i.age, age)
	}
}
