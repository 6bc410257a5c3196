package inventory

import (
	"context"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/paging"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/retry"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// The pace at which limits are read: they change when someone has asked AWS for more. A read that failed is tried again
// sooner; one that was denied is not, since it stays so until someone acts.
const (
	capacityInterval = 24 * time.Hour
	capacityRetry    = 10 * time.Minute
)

// Quota is something that an account may have only so much of.
type Quota string

// The quotas that a fleet grows into.
const (
	QuotaTenants          Quota = "distribution_tenants"
	QuotaDistributions    Quota = "multi_tenant_distributions"
	QuotaConnectionGroups Quota = "connection_groups"
	QuotaCertificates     Quota = "certificates"
	// QuotaDomains is used by the tenant that has the most: CloudFront has no quota of the domains of an account.
	QuotaDomains Quota = "domains_per_tenant"
	// QuotaWebACLs is used by the tenants that override their web ACL by the one that is used most.
	QuotaWebACLs Quota = "associations_per_web_acl"
	// QuotaInvalidationPaths and QuotaInvalidationWildcards are of what is in progress. Paths with a star don't count as paths.
	QuotaInvalidationPaths     Quota = "invalidation_paths"
	QuotaInvalidationWildcards Quota = "invalidation_wildcards"
)

// knownQuotas are all of them: how Service Quotas names them, and the default that AWS's quotas pages document. Codes
// would be firmer than names, but those of multi-tenant distributions are not documented.
var knownQuotas = []struct {
	quota      Quota
	service    string
	name       string
	documented float64
	// fixed quotas can't be raised, or only by a request to AWS Support, so that no value of the account is looked for.
	fixed bool
}{
	{QuotaTenants, "cloudfront", "distribution tenants per aws account", 10_000, false},
	{QuotaDistributions, "cloudfront", "multi-tenant distributions per aws account", 20, false},
	{QuotaConnectionGroups, "cloudfront", "connection groups per aws account", 100, false},
	{QuotaCertificates, "acm", "acm certificates", 2_500, false},
	{QuotaDomains, "cloudfront", "aliases per distribution tenant", 100, false},
	{QuotaWebACLs, "cloudfront", "associations per web acl", 100, true},
	{QuotaInvalidationPaths, "cloudfront", "file invalidation: maximum number of files allowed in active invalidation requests, excluding wildcard invalidations", 3_000, true},
	{QuotaInvalidationWildcards, "cloudfront", "file invalidation: maximum number of active wildcard invalidations allowed", 15, true},
}

// LimitSource says where a limit comes from.
type LimitSource string

// The sources, the best first.
const (
	// LimitApplied is what Service Quotas shows for the account.
	LimitApplied LimitSource = "account"
	// LimitDefault is AWS's present default as Service Quotas shows it, where it has no value of the account.
	LimitDefault LimitSource = "default"
	// LimitDocumented is the default of AWS's documentation, where Service Quotas can't be read or lacks the quota.
	LimitDocumented LimitSource = "documented"
)

// Limit is how much an account may have.
type Limit struct {
	Value  float64
	Source LimitSource
}

// CapacityOptions are what the watch is made from.
type CapacityOptions struct {
	Inventory *Inventory
	Quotas    port.Quotas
	Counts    port.Counts
	Clock     clock.WithTicker
	// OnDenied is called with the reason why the limits can't be read, once until they can. It must not block.
	OnDenied func(err error)
	// Random is in [0, 1) and spreads what would otherwise happen at one time.
	Random func() float64
}

// Capacity knows how much an account may have, and counts what no other watch counts, with a handful of calls a day.
type Capacity struct {
	opts   CapacityOptions
	report atomic.Pointer[CapacityReport]
	round  *capacityRound
	next   time.Time
	denied bool
	// failures counts rounds in a row that were disturbed.
	failures int
}

// CapacityReport is what the last round has shown. It does not change.
type CapacityReport struct {
	Limits map[Quota]Limit
	// Used has what was counted; what could not be is missing.
	Used map[Quota]int
}

// capacityRound is one that is under way.
type capacityRound struct {
	tasks []func(ctx context.Context) (done bool, err error)
	// retries are those of the present task.
	retries   int
	found     CapacityReport
	disturbed bool
	refused   error
}

// NewCapacity makes a watch that knows nothing yet.
func NewCapacity(o CapacityOptions) *Capacity {
	if o.Random == nil {
		o.Random = rand.Float64
	}
	if o.OnDenied == nil {
		o.OnDenied = func(error) {}
	}
	return &Capacity{opts: o}
}

// NeedLeaderElection says that only the active replica watches.
func (c *Capacity) NeedLeaderElection() bool { return true }

// Report returns what the last round has shown. Before the first one, as on a replica that does not lead, it is nil.
func (c *Capacity) Report() *CapacityReport { return c.report.Load() }

// Start watches until the context ends. It implements the manager's Runnable.
func (c *Capacity) Start(ctx context.Context) error {
	return run(ctx, c.opts.Clock, c.Step, nil)
}

// Step makes one task's calls to AWS, and says how long the next step can wait. It never waits itself. Steps must not be
// made at once.
func (c *Capacity) Step(ctx context.Context) time.Duration {
	if c.round == nil {
		if wait := c.next.Sub(c.opts.Clock.Now()); wait > 0 {
			return wait
		}
		// The objects come first.
		if c.opts.Inventory.Stats().LastSweep.IsZero() {
			return expiryGlance
		}
		c.begin()
	}
	r := c.round
	if len(r.tasks) == 0 {
		return c.finish()
	}
	done, err := r.tasks[0](port.WithCall(ctx, port.Call{Key: "capacity", Class: port.Sweep}))
	switch wait := fault.RetryAfter(err); {
	case wait > 0:
		return wait
	case fault.Is(err, fault.Throttled, fault.Transient) && r.retries < paging.Retries:
		r.retries++
		return retry.Jitter(paging.Pause.Delay(r.retries), c.opts.Random())
	case fault.Is(err, fault.Denied):
		r.refused = err
	case err != nil:
		r.disturbed = true
	case !done:
		r.retries = 0
		return 0
	}
	r.tasks, r.retries = r.tasks[1:], 0
	return 0
}

// begin starts a round with the limits that are documented.
func (c *Capacity) begin() {
	r := &capacityRound{found: CapacityReport{Limits: map[Quota]Limit{}, Used: map[Quota]int{}}}
	for _, known := range knownQuotas {
		r.found.Limits[known.quota] = Limit{Value: known.documented, Source: LimitDocumented}
	}
	for _, service := range []string{"cloudfront", "acm"} {
		r.tasks = append(r.tasks, c.listing(r, service, LimitApplied), c.listing(r, service, LimitDefault))
	}
	r.tasks = append(r.tasks, r.counting(QuotaConnectionGroups, c.opts.Counts.CountConnectionGroups),
		r.counting(QuotaDistributions, c.opts.Counts.CountMultiTenantDistributions))
	c.round = r
}

// counting counts what the account has of a quota.
func (r *capacityRound) counting(quota Quota, count func(context.Context) (int, error)) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		n, err := count(ctx)
		if err == nil {
			r.found.Used[quota] = n
		}
		return true, err
	}
}

// listing reads the quotas of a service from one source, a page with each call. The defaults are only read where the
// account's own values leave something open.
func (c *Capacity) listing(r *capacityRound, service string, source LimitSource) func(context.Context) (bool, error) {
	marker, pages := "", paging.Guard{}
	return func(ctx context.Context) (bool, error) {
		if source == LimitDefault && r.knows(service) {
			return true, nil
		}
		page, next, err := c.opts.Quotas.ListQuotas(ctx, service, source == LimitDefault, marker)
		if err != nil {
			return false, err
		}
		r.take(service, source, page)
		if err := pages.Pass("ListServiceQuotas", next); err != nil {
			return false, err
		}
		marker = next
		return next == "", nil
	}
}

// knows reports whether every quota of the service that can be raised has a value of the account.
func (r *capacityRound) knows(service string) bool {
	for _, known := range knownQuotas {
		if known.service == service && !known.fixed && r.found.Limits[known.quota].Source != LimitApplied {
			return false
		}
	}
	return true
}

// take keeps the limits of a page, except for those that are known from a better source.
func (r *capacityRound) take(service string, source LimitSource, page []port.Quota) {
	for _, q := range page {
		name := strings.TrimPrefix(strings.ToLower(q.Name), "maximum number of ")
		for _, known := range knownQuotas {
			if known.service == service && known.name == name && r.found.Limits[known.quota].Source != LimitApplied {
				r.found.Limits[known.quota] = Limit{Value: q.Value, Source: source}
			}
		}
	}
}

// finish ends a round. Limits that could not be read keep their previous values.
func (c *Capacity) finish() time.Duration {
	r := c.round
	c.round = nil
	if before := c.Report(); r.disturbed && before != nil {
		for quota, limit := range before.Limits {
			// Limits that were not read may still be the account's own.
			if source := r.found.Limits[quota].Source; source == LimitDocumented || source == LimitDefault && limit.Source == LimitApplied {
				r.found.Limits[quota] = limit
			}
		}
		for quota, n := range before.Used {
			if _, counted := r.found.Used[quota]; !counted {
				r.found.Used[quota] = n
			}
		}
	}
	c.report.Store(&r.found)
	if r.refused != nil && !c.denied {
		c.opts.OnDenied(r.refused)
	}
	c.denied = r.refused != nil
	pause := capacityInterval
	if c.failures++; r.disturbed {
		pause = retry.Backoff{First: capacityRetry, Last: capacityInterval}.Delay(c.failures)
	} else {
		c.failures = 0
	}
	pause = retry.Jitter(pause, c.opts.Random())
	c.next = c.opts.Clock.Now().Add(pause)
	return pause
}
