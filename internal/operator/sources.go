package operator

import (
	"context"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/kube"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/child"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/dynamodb"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/mongodb"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/mysql"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/postgres"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/redis"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/tenantsource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/metrics"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

// sourceSlots is how many tables are read at the same time, of one namespace at most all but one. A read takes as long
// as its database does, and holds what it has read in memory.
const sourceSlots = 4

// addSources adds the controller for TenantSource.
func addSources(ctx context.Context, mgr ctrl.Manager, c Config, env *environment) error {
	observer, err := metrics.NewSources(ctrlmetrics.Registry)
	if err != nil {
		return err
	}
	tables := c.tables(env, mgr.GetConfig().Host)
	reportConfinement()
	controller := tenantsource.New(tenantsource.Options{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), AnswerOf: kube.AnswerOf, Clock: clock.RealClock{},
		Rows: rowsOf(tables), Hints: hintsOf(tables), MaxWatches: c.SourceMaxWatches,
		Grant: c.grant, Grants: env.grants, MaxRows: c.SourceMaxRows, ReadTimeout: c.SourceReadTimeout, FirstRowTimeout: c.SourceFirstRow,
		Observer: observer, Breaker: env.breaker, Progress: env.rollouts.Progress, Stopped: ctx.Done(),
	})
	env.rolled = controller.Wake
	env.grants.OnChange(controller.WakeNamespaces)
	driver := drive(mgr, env, controller)
	driver.Timeout = c.SourceReadTimeout + tenantsource.WriteTimeout
	return reconcile.Setup(mgr, driver, controller.Watch(sourceSlots))
}

// table reads tables of one kind, and listens for their changes.
type table interface {
	port.Rows
	port.Hints
}

func rowsOf(tables map[mapping.Provider]table) map[mapping.Provider]port.Rows {
	rows := map[mapping.Provider]port.Rows{}
	for provider, t := range tables {
		rows[provider] = t
	}
	return rows
}

func hintsOf(tables map[mapping.Provider]table) map[mapping.Provider]port.Hints {
	hints := map[mapping.Provider]port.Hints{}
	for provider, t := range tables {
		hints[provider] = t
	}
	return hints
}

// tables are the readers of all kinds of tables. What answers at an address that a customer wrote down is read by a child
// process; DynamoDB is at AWS's address or at the administrator's, and its pages are small.
func (c Config) tables(env *environment, apiServer string) map[mapping.Provider]table {
	o := child.Options{Timeout: c.SourceReadTimeout, Memory: int64(c.SourceReadMemory), AllowDial: c.allowDial(), APIServer: apiServerHosts(apiServer)}
	tables := map[mapping.Provider]table{
		mapping.DynamoDB: dynamodb.New(dynamodb.Config{SDK: env.sdk, Endpoint: c.DynamoDBEndpoint, Metrics: env.calls, Roles: env.Roles()}),
	}
	for provider := range databases {
		tables[provider] = child.New(provider, o)
	}
	return tables
}

// databases makes the readers that run in a child process.
var databases = map[mapping.Provider]func(time.Duration, *store.Guard) port.Rows{
	mapping.Postgres: func(t time.Duration, g *store.Guard) port.Rows {
		return postgres.New(postgres.Config{Timeout: t, Guard: g})
	},
	mapping.MySQL: func(t time.Duration, g *store.Guard) port.Rows { return mysql.New(mysql.Config{Timeout: t, Guard: g}) },
	mapping.MongoDB: func(t time.Duration, g *store.Guard) port.Rows {
		return mongodb.New(mongodb.Config{Timeout: t, Guard: g})
	},
	mapping.Redis: func(t time.Duration, g *store.Guard) port.Rows { return redis.New(redis.Config{Timeout: t, Guard: g}) },
}

// ReadTable makes this process the reader of one table if the operator started it as that, and does not return then. The
// operator itself it hides from its readers.
func ReadTable() {
	child.Serve(func(o child.Options) map[mapping.Provider]port.Rows {
		rows, guard := map[mapping.Provider]port.Rows{}, store.NewGuard(context.Background(), o.AllowDial, o.APIServer).Only(o.Hosts)
		for provider, reader := range databases {
			rows[provider] = reader(o.Timeout, guard)
		}
		return rows
	})
	child.Hide()
}

// reportConfinement logs once what keeps a reader from the operator's files.
func reportConfinement() {
	log := ctrl.Log.WithName("tenantsource")
	if version := child.LandlockVersion(); version > 0 {
		log.Info("A process that reads a database cannot open the operator's files", "landlock", version)
		return
	}
	log.Info("A process that reads a database could open the operator's files if it ran foreign code, because the kernel does not support Landlock, or has it switched off")
}

// apiServerHosts are the hosts of the API server: that to which the operator connects, and that which a pod is told.
func apiServerHosts(address string) []string {
	hosts := []string{os.Getenv("KUBERNETES_SERVICE_HOST")}
	if !strings.Contains(address, "://") {
		address = "https://" + address
	}
	if parsed, err := url.Parse(address); err == nil {
		hosts = append(hosts, parsed.Hostname())
	}
	return slices.DeleteFunc(hosts, func(host string) bool { return host == "" })
}

// allowDial are the networks of the flag, which was checked.
func (c Config) allowDial() []netip.Prefix {
	prefixes := make([]netip.Prefix, 0, len(c.SourceAllowDial))
	for _, text := range c.SourceAllowDial {
		if prefix, err := parsePrefix(text); err == nil {
			prefixes = append(prefixes, prefix)
		}
	}
	return prefixes
}

// parsePrefix takes a network or a single address.
func parsePrefix(text string) (netip.Prefix, error) {
	if address, err := netip.ParseAddr(text); err == nil {
		return address.Prefix(address.BitLen())
	}
	return netip.ParsePrefix(text)
}

// grant says why the sources of one namespace may not have tenants in another.
func (c Config) grant(from, to string) error {
	if len(c.WatchNamespaces) > 0 && !slices.Contains(c.WatchNamespaces, to) {
		return fmt.Errorf("the operator does not watch the namespace %q: ask the administrator to add it to --watch-namespaces", to)
	}
	if from == to || slices.Contains(c.SourceTargets, to) || slices.Contains(c.SourceTargets, from+"/"+to) {
		return nil
	}
	return fmt.Errorf("sources in the namespace %q are not allowed to have tenants in %q: ask the administrator to add %s/%s to --tenantsource-target-namespaces", from, to, from, to)
}

// validateSources checks the flags of sources.
func (c *Config) validateSources() error {
	for _, target := range c.SourceTargets {
		for part := range strings.SplitSeq(target, "/") {
			if problems := validation.IsDNS1123Label(part); len(problems) > 0 || strings.Count(target, "/") > 1 {
				return fmt.Errorf("--tenantsource-target-namespaces: %q is neither a namespace name nor a from/to pair of namespace names", target)
			}
		}
	}
	for _, text := range c.SourceAllowDial {
		if _, err := parsePrefix(text); err != nil {
			return fmt.Errorf("--tenantsource-allow-dial: %q is neither a network such as 127.0.0.0/8 nor an address", text)
		}
	}
	switch {
	case c.SourceReadTimeout < minReadTimeout:
		return fmt.Errorf("--tenantsource-read-timeout=%s: use at least %s", c.SourceReadTimeout, minReadTimeout)
	case c.SourceFirstRow < minReadTimeout:
		return fmt.Errorf("--tenantsource-first-row-timeout=%s: use at least %s", c.SourceFirstRow, minReadTimeout)
	case c.SourceMaxRows < 1:
		return fmt.Errorf("--tenantsource-max-rows=%d: use at least 1", c.SourceMaxRows)
	case c.SourceMaxWatches < 0:
		return fmt.Errorf("--tenantsource-max-watches=%d: use 0 or more", c.SourceMaxWatches)
	case c.SourceReadMemory < minReadMemory:
		return fmt.Errorf("--tenantsource-read-memory=%s: use at least 32Mi", c.SourceReadMemory.String())
	}
	return nil
}
