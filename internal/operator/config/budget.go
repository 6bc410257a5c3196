package config

import (
	"flag"
	"fmt"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	limits "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/budget"
	domain "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/loss"
)

// Budget is how many deletions a window allows.
type Budget struct {
	Enabled                   bool
	Settle, SettleMax, Window time.Duration
	Ceiling                   int
	Cluster                   Share
	Namespace                 Share
	Tenants                   Share
}

// Share is a limit: the larger of a number and a share of the objects.
type Share struct{ Max, Percent int }

func (s Share) limit() limits.Limit { return limits.Limit{Max: s.Max, Percent: s.Percent} }

func (b *Budget) bind(f *flag.FlagSet) {
	f.BoolVar(&b.Enabled, "deletion-budget", true, "Hold deletions, and changes that take tenants out of service, that are more than the deletion budget allows, until they are approved.")
	f.DurationVar(&b.Settle, "deletion-budget-settle", 10*time.Second, "Time without another deletion after which a burst of deletions is judged.")
	f.DurationVar(&b.SettleMax, "deletion-budget-settle-max", time.Minute, "Maximum time until a burst of deletions is judged.")
	f.DurationVar(&b.Window, "deletion-budget-window", time.Hour, "Time for which a deletion counts.")
	f.IntVar(&b.Cluster.Max, "deletion-budget-max", 10, "Number of objects of a kind that may be deleted in a window, or more if deletion-budget-max-percent allows more.")
	f.IntVar(&b.Cluster.Percent, "deletion-budget-max-percent", 5, "Percentage of the objects of a kind that may be deleted in a window.")
	f.IntVar(&b.Ceiling, "deletion-budget-ceiling-percent", 50, "Percentage of the objects of a kind that no other setting exceeds, if there are more than three.")
	f.IntVar(&b.Namespace.Max, "deletion-budget-namespace-max", 10, "Number of objects of a kind that may be deleted in a namespace in a window, or more if deletion-budget-namespace-max-percent allows more.")
	f.IntVar(&b.Namespace.Percent, "deletion-budget-namespace-max-percent", 50, "Percentage of the objects of a kind in a namespace that may be deleted in a window.")
	f.IntVar(&b.Tenants.Max, "deletion-budget-tenants-max", 3, "Number of Tenants, with their namespaces, that may be deleted in a window, or more if deletion-budget-tenants-max-percent allows more.")
	f.IntVar(&b.Tenants.Percent, "deletion-budget-tenants-max-percent", 2, "Percentage of the Tenants that may be deleted in a window.")
}

func (b *Budget) validate() error {
	for _, f := range []struct {
		name  string
		value int
		most  int
	}{
		{"max", b.Cluster.Max, 1_000_000}, {"max-percent", b.Cluster.Percent, 100}, {"ceiling-percent", b.Ceiling, 100},
		{"namespace-max", b.Namespace.Max, 1_000_000}, {"namespace-max-percent", b.Namespace.Percent, 100},
		{"tenants-max", b.Tenants.Max, 1_000_000}, {"tenants-max-percent", b.Tenants.Percent, 100},
	} {
		if f.value < 0 || f.value > f.most {
			return fmt.Errorf("--deletion-budget-%s=%d: use a number from 0 to %d", f.name, f.value, f.most)
		}
	}
	switch {
	case b.Settle < 0:
		return fmt.Errorf("--deletion-budget-settle=%s: use a time that is not negative", b.Settle)
	case b.SettleMax < b.Settle:
		return fmt.Errorf("--deletion-budget-settle-max=%s: use at least --deletion-budget-settle, which is %s", b.SettleMax, b.Settle)
	case b.Window < time.Minute:
		return fmt.Errorf("--deletion-budget-window=%s: use at least 1m", b.Window)
	}
	return nil
}

// Policy is that of the breaker.
func (b *Budget) Policy() domain.Policy {
	namespace := b.Namespace.limit()
	objects := domain.Budget{Cluster: b.Cluster.limit(), Namespace: &namespace}
	return domain.Policy{
		Settle: b.Settle, SettleMax: b.SettleMax, Window: b.Window, Ceiling: b.Ceiling,
		Budgets: map[domain.Class]domain.Budget{
			convert.ClassDistributionTenant: objects, convert.ClassDistribution: objects, convert.ClassOwnership: objects,
			convert.ClassTenant: {Cluster: b.Tenants.limit()},
			// No customer is lost with a parent without an approval.
			convert.ClassSharedDistribution: {}, convert.ClassConnectionGroup: {},
		},
	}
}
