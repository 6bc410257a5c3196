package operator

import (
	"context"
	"errors"
	"net/url"
	"os"
	"slices"
	"strings"

	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
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
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/config"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/metrics"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

// sourceSlots is how many tables are read at the same time, of one namespace at most all but one. A read takes as long
// as its database does, and holds what it has read in memory.
const sourceSlots = 4

// addSources adds the controller for TenantSource.
func addSources(ctx context.Context, mgr ctrl.Manager, c config.Config, env *environment) error {
	observer, err := metrics.NewSources(ctrlmetrics.Registry)
	if err != nil {
		return err
	}
	tables := tablesOf(c, env, mgr.GetConfig().Host)
	reportConfinement()
	controller := tenantsource.New(tenantsource.Options{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), AnswerOf: kube.AnswerOf, Clock: clock.RealClock{},
		Rows: rowsOf(tables), Hints: hintsOf(tables), States: statesOf(tables), ClusterID: c.ClusterID, MaxWatches: c.Sources.MaxWatches,
		Grant: c.RefuseTenants, Grants: env.grants, MaxRows: c.Sources.MaxRows, ReadTimeout: c.Sources.ReadTimeout, FirstRowTimeout: c.Sources.FirstRow,
		Observer: observer, Breaker: env.breaker, Progress: env.rollouts.Progress, Stopped: ctx.Done(),
	})
	env.rolled = controller.Wake
	env.grants.OnChange(controller.WakeNamespaces)
	driver := drive(mgr, env, controller)
	driver.Timeout = c.Sources.ReadTimeout + tenantsource.WriteTimeout
	return errors.Join(controller.FollowStates(ctx, mgr.GetCache()), reconcile.Setup(mgr, driver, controller.Watch(sourceSlots)))
}

// table reads tables of one kind, listens for their changes, and writes those of states.
type table interface {
	port.Rows
	port.Hints
	port.States
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

func statesOf(tables map[mapping.Provider]table) map[mapping.Provider]port.States {
	states := map[mapping.Provider]port.States{}
	for provider, t := range tables {
		states[provider] = t
	}
	return states
}

// tables are the readers of all kinds of tables. A child process reads what answers at an address that a customer wrote
// down; DynamoDB is at AWS's address or at the administrator's, and its pages are small.
func tablesOf(c config.Config, env *environment, apiServer string) map[mapping.Provider]table {
	o := child.Options{
		Timeout: c.Sources.ReadTimeout, Memory: int64(c.Sources.ReadMemory), AllowDial: c.Sources.DialAllowed(), APIServer: apiServerHosts(apiServer),
		Tokens: aws.Tokens{SDK: env.sdk, Roles: env.Roles(), Clock: clock.RealClock{}},
		Until:  env.lease.writesUntil,
	}
	tables := map[mapping.Provider]table{
		mapping.DynamoDB: dynamodb.New(dynamodb.Config{SDK: env.sdk, Endpoint: c.Sources.DynamoDBEndpoint, Metrics: env.calls, Roles: env.Roles(), Halted: env.lease.halted}),
	}
	for provider := range databases {
		tables[provider] = child.New(provider, o)
	}
	return tables
}

// databases makes the readers that run in a child process.
var databases = map[mapping.Provider]func(store.Config) port.Rows{
	mapping.Postgres: func(c store.Config) port.Rows { return postgres.New(c) },
	mapping.MySQL:    func(c store.Config) port.Rows { return mysql.New(c) },
	mapping.MongoDB:  func(c store.Config) port.Rows { return mongodb.New(c) },
	mapping.Redis:    func(c store.Config) port.Rows { return redis.New(c) },
}

// ReadTable makes this process the reader of one table if the operator started it as that, and does not return then. The
// operator itself it hides from its readers.
func ReadTable() {
	child.Serve(func(o child.Options) map[mapping.Provider]port.Rows {
		rows, guard := map[mapping.Provider]port.Rows{}, store.NewGuard(context.Background(), o.AllowDial, o.APIServer).Only(o.Hosts)
		for provider, reader := range databases {
			rows[provider] = reader(store.Config{Timeout: o.Timeout, Guard: guard})
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
