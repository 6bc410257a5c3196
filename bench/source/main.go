// Command source measures what following a table of customers costs: it runs the built operator with the
// TenantSource controller alone on a real control plane, and a real database with many rows, and prints figures of
// time, writes to etcd, CPU and memory for each kind of poll.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/bench/rig"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/install"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

// The objects of the measurement.
const (
	namespace = "customers"
	name      = "customers"
)

// interval is that of the source: longer than any poll here, so that polls happen when they are asked for.
const interval = 24 * time.Hour

// pollTimeout is far above what a poll takes.
const pollTimeout = time.Hour

// config is what the command line says.
type config struct {
	rows     int
	provider string
	// watch measures changes of a watched table, states the state table, and full the whole life of the tenants instead.
	watch, stateTable, full bool
	// away is how long the database of the state table can't be reached.
	away time.Duration
}

func main() { rig.Main("source", parse, run) }

func parse(args []string) (c config, err error) {
	flags := flag.NewFlagSet("source", flag.ContinueOnError)
	flags.IntVar(&c.rows, "rows", 10_000, "number of rows in the table")
	flags.StringVar(&c.provider, "provider", string(mapping.Postgres), "dynamodb, postgres, mysql, mongodb or redis")
	flags.BoolVar(&c.watch, "watch", true, "also measure changes of a watched table")
	flags.BoolVar(&c.stateTable, "state-table", true, "also measure a state table, spec.writeBack")
	flags.DurationVar(&c.away, "away", time.Minute, "how long the database of the state table is away")
	flags.BoolVar(&c.full, "full", false, "run all controllers with a simulated AWS, and measure only how all rows become Ready tenants; with and without --state-table")
	if err := rig.ParseFlags(flags, args); err != nil {
		return c, err
	}
	if c.rows < 1 {
		return c, errors.New("set --rows to a number above 0")
	}
	return c, nil
}

// bench is one measurement.
type bench struct {
	kube     client.WithWatch
	writes   *stack.Writes
	operator *stack.Operator
	table    *database.Table
	states   *states
	// tokens is how many polls were asked for, asks for how many of them that took a write to the metadata of the source.
	tokens, asks int
	out          *tabwriter.Writer

	config
}

func run(ctx context.Context, c config, out io.Writer) (err error) {
	rig.Say("starting a database and putting %d rows into it", c.rows)
	engine, err := database.Start(ctx, mapping.Provider(c.provider), database.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Stop()) }()
	b := &bench{config: c, out: tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)}
	if b.table, err = engine.NewTable(ctx, database.TableOptions{}); err != nil {
		return err
	}
	if c.stateTable {
		if b.states, err = newStates(ctx, engine); err != nil {
			return err
		}
	}
	if err := b.put(ctx, 0, c.rows, "basic"); err != nil {
		return err
	}
	return rig.OnHost(ctx, func(host *stack.Host) error { return b.runOn(ctx, host, engine.Endpoint()) })
}

func (b *bench) runOn(ctx context.Context, host *stack.Host, endpoint string) (err error) {
	if b.kube, err = host.Client(); err != nil {
		return err
	}
	if err := b.prepare(ctx, mapping.Provider(b.provider)); err != nil {
		return err
	}
	if host.Installation, err = host.Install(ctx, install.Options{Values: []string{"rbac.secretNamespaces={" + namespace + "}"}}); err != nil {
		return err
	}
	if b.writes, err = host.CountWrites(ctx); err != nil {
		return err
	}
	defer b.writes.Stop()
	s, err := host.Start(ctx, stack.Options{DeployDelay: deployDelay})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Stop()) }()
	flags := []string{fmt.Sprintf("--tenantsource-max-rows=%d", 2*b.rows)}
	if endpoint != "" {
		// The default grant of the chart allows no DynamoDB tables.
		flags = append(flags, "--dynamodb-endpoint="+endpoint, `--default-grant={"kinds": ["DistributionTenant", "TenantSource"], "distributions": [{"id": "*"}], "domains": [{"suffix": "*"}], "sources": {"tables": ["*"], "writeTables": ["*"]}}`)
	}
	defer b.out.Flush()
	if b.full {
		return b.life(ctx, s, flags)
	}
	return b.measure(ctx, s, append(flags, "--controllers=tenantsource"))
}

// measure runs the polls. The operator is started for the first, so that the figures have its start in them.
func (b *bench) measure(ctx context.Context, s *stack.Stack, flags []string) (err error) {
	fmt.Fprintln(b.out, "poll\tseconds\twrites to the source\twrites to tenants\tCPU s\tpeak MiB\tat rest MiB")
	if b.operator, err = s.StartOperator(ctx, stack.OperatorOptions{Flags: flags}); err != nil {
		return err
	}
	polls := []struct {
		title   string
		prepare func() error
	}{
		{"first poll: every row is new", func() error { return b.apply(ctx) }},
		{"no row has changed", func() error { return b.ask(ctx) }},
		{"again", func() error { return b.ask(ctx) }},
		{"one in a hundred rows has changed", func() error {
			return errors.Join(b.put(ctx, 0, max(b.rows/100, 1), "pro"), b.ask(ctx))
		}},
	}
	for _, p := range polls {
		rig.Say("%s", p.title)
		if err := b.poll(ctx, p.title, p.prepare); err != nil {
			return fmt.Errorf("%s: %w", p.title, err)
		}
	}
	rig.Say("killing and restarting the operator")
	if err := b.poll(ctx, "after SIGKILL and a restart", func() error { return b.restart(ctx) }); err != nil {
		return err
	}
	if b.states != nil {
		if err := b.measureStates(ctx); err != nil {
			return err
		}
	}
	if !b.watch {
		return nil
	}
	return b.hints(ctx)
}

// restart kills the operator, starts it again, and asks for a poll.
func (b *bench) restart(ctx context.Context) error {
	if err := b.operator.Kill(ctx); err != nil {
		return err
	}
	return errors.Join(b.operator.Start(ctx), b.ask(ctx))
}

// poll prints a line for one poll.
func (b *bench) poll(ctx context.Context, title string, begin func() error) error {
	end, err := b.meter(ctx)
	if err != nil {
		return err
	}
	if err := begin(); err != nil {
		return err
	}
	if err := b.await(ctx); err != nil {
		return err
	}
	f, err := end(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "%s\t%.1f\t%d\t%d\t%.1f\t%.0f\t%.0f\n", title, f.seconds, f.source, f.tenants, f.used.CPU, f.used.Peak/rig.Mebibyte, f.used.Resident/rig.Mebibyte)
	return nil
}

func (b *bench) tallies(ctx context.Context) (sources, tenants stack.Tally, err error) {
	kind := func(resource string) schema.GroupResource {
		return schema.GroupResource{Group: v1alpha1.GroupName, Resource: resource}
	}
	if sources, err = b.writes.Kind(ctx, kind("tenantsources")); err != nil {
		return sources, tenants, err
	}
	tenants, err = b.writes.Kind(ctx, kind("distributiontenants"))
	return sources, tenants, err
}

func rowName(i int) string { return fmt.Sprintf("customer-%06d", i) }

// put writes rows with a plan.
func (b *bench) put(ctx context.Context, from, to int, plan string) error {
	const chunk = 1000
	for at := from; at < to; at += chunk {
		var batch []map[string]any
		for i := at; i < min(at+chunk, to); i++ {
			id := rowName(i)
			batch = append(batch, map[string]any{"name": id, "domain": id + ".example.com", "enabled": true, "plan": plan})
		}
		if err := b.table.Put(ctx, batch...); err != nil {
			return err
		}
	}
	return nil
}

// prepare makes what the source needs.
func (b *bench) prepare(ctx context.Context, provider mapping.Provider) error {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	if err := b.kube.Create(ctx, ns); client.IgnoreAlreadyExists(err) != nil {
		return fmt.Errorf("creating the namespace: %w", err)
	}
	q := b.table.Query()
	o := &v1alpha1.TenantSource{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: database.Source(provider, q, name)}
	o.Spec.DistributionID, o.Spec.PollInterval = stack.DistributionID, &metav1.Duration{Duration: interval}
	o.Spec.Suspend, o.Spec.RowKey, o.Spec.Mapping = true, "name", []v1alpha1.FieldMapping{{Column: "plan", Field: "parameters[tier]"}}
	if dynamo := o.Spec.DynamoDB; dynamo != nil {
		dynamo.Segments = 4
	}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{v1alpha1.LabelTenantSource: name}},
		StringData: map[string]string{"connectionString": q.Connection.Reveal()},
	}
	if err := b.kube.Create(ctx, secret); err != nil {
		return fmt.Errorf("creating the Secret: %w", err)
	}
	if b.states == nil {
		return b.kube.Create(ctx, o)
	}
	o.Spec.WriteBack = b.states.writeBack(o.Spec.Provider)
	return errors.Join(b.kube.Create(ctx, b.states.secret()), b.kube.Create(ctx, o))
}

// apply lets the first poll begin.
func (b *bench) apply(ctx context.Context) error {
	b.tokens = 1
	return b.edit(ctx, func(o *v1alpha1.TenantSource) { o.Spec.Suspend = false })
}

// ask asks for a poll.
func (b *bench) ask(ctx context.Context) error {
	b.tokens++
	b.asks++
	return b.edit(ctx, func(o *v1alpha1.TenantSource) {
		metav1.SetMetaDataAnnotation(&o.ObjectMeta, v1alpha1.AnnotationSyncNow, fmt.Sprint(b.tokens))
	})
}

func (b *bench) edit(ctx context.Context, change func(*v1alpha1.TenantSource)) error {
	o, err := b.get(ctx)
	if err != nil {
		return err
	}
	base := o.DeepCopy()
	change(o)
	return b.kube.Patch(ctx, o, client.MergeFrom(base))
}

func (b *bench) get(ctx context.Context) (*v1alpha1.TenantSource, error) {
	o := &v1alpha1.TenantSource{}
	return o, b.kube.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, o)
}

// await waits until the poll that was asked for is over, and fails if it did not find every row.
func (b *bench) await(ctx context.Context) error {
	err := b.until(ctx, "the poll", func(o *v1alpha1.TenantSource) bool {
		first := b.tokens == 1 && o.Status.ObservedGeneration == o.Generation
		return first || b.tokens > 1 && o.Status.SyncToken == fmt.Sprint(b.tokens)
	})
	if err != nil {
		return err
	}
	o, err := b.get(ctx)
	if err != nil {
		return err
	}
	if d := o.Status.TenantsDiscovered; d == nil || int(*d) != b.rows {
		return fmt.Errorf("the source did not find all rows: %+v", o.Status.Conditions)
	}
	return nil
}

// until waits until the source meets a condition.
func (b *bench) until(ctx context.Context, what string, met func(*v1alpha1.TenantSource) bool) error {
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, pollTimeout, true, func(ctx context.Context) (bool, error) {
		o, err := b.get(ctx)
		return err == nil && met(o), err
	})
	if err != nil {
		return fmt.Errorf("waiting for %s: %w", what, err)
	}
	return nil
}
