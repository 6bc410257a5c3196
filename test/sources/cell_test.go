package sources_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/adapters"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/sourceworld"
)

const (
	// interval is the poll interval of a source, unless its setup says another one.
	interval = 5 * time.Minute
	// size is how many customers a table has. A source may delete half of its tenants in a day, and most is more than that.
	size, most = 12, 7
	// customers is the name of the source.
	customers = "customers"
)

// engine is a kind of table.
type engine struct {
	provider mapping.Provider
	// json makes the values of Redis documents.
	json bool
}

// engines are all of them, by name.
var engines = map[string]engine{
	"postgres":   {provider: mapping.Postgres},
	"mysql":      {provider: mapping.MySQL},
	"mongodb":    {provider: mapping.MongoDB},
	"redis":      {provider: mapping.Redis},
	"redis-json": {provider: mapping.Redis, json: true},
	"dynamodb":   {provider: mapping.DynamoDB},
}

func (e engine) is(providers ...mapping.Provider) bool { return slices.Contains(providers, e.provider) }

// rows is the adapter that reads the engine's tables.
func (e engine) rows(t *testing.T) port.Rows {
	t.Helper()
	rows, err := adapters.Of(database.Shared(t, e.provider))
	must(t, err)
	return rows
}

// cell is one case on one engine: a table with customers, and a source that follows it.
type cell struct {
	engine

	t     *testing.T
	w     *sourceworld.World
	table *database.Table
	// interval is how often the source polls.
	interval time.Duration
}

// setup says how a cell differs from the usual one.
type setup struct {
	world sourceworld.Options
	// rows are the rows of the table; size usual ones if nil.
	rows []map[string]any
	// interval is how often the source polls, if it is not the usual.
	interval time.Duration
	// source changes the source before it is created.
	source func(*database.Table, *v1alpha1.TenantSource)
}

// play plays a case in a cell whose rows have become tenants, and looks for secrets at its end.
func (e engine) play(t *testing.T, s setup, test func(*cell)) {
	t.Helper()
	c := e.cell(t, s)
	defer func() { c.noSecret(c.told()) }()
	c.settle()
	c.expect("Ready=True/PollSucceeded", "Synced=True/InSync")
	c.living(names(0, len(s.rowsOr(usual(0, size)))))
	if !t.Failed() {
		test(c)
	}
}

func (s setup) rowsOr(rows []map[string]any) []map[string]any {
	if s.rows != nil {
		return s.rows
	}
	return rows
}

// cell makes a cell whose source has not polled yet.
func (e engine) cell(t *testing.T, s setup) *cell {
	t.Helper()
	c := &cell{engine: e, t: t, interval: interval}
	if s.interval > 0 {
		c.interval = s.interval
	}
	c.table = c.newTable(s.rowsOr(usual(0, size))...)
	s.world.Rows = map[mapping.Provider]port.Rows{e.provider: e.rows(t)}
	c.w = sourceworld.New(t, kubeConfig, s.world)
	c.w.Source(customers, e.provider, c.table.Query(), func(o *v1alpha1.TenantSource) {
		o.Spec.PollInterval = &metav1.Duration{Duration: c.interval}
		if s.source != nil {
			s.source(c.table, o)
		}
	})
	return c
}

func (c *cell) newTable(rows ...map[string]any) *database.Table {
	c.t.Helper()
	table, err := database.Shared(c.t, c.provider).NewTable(c.t.Context(), database.TableOptions{JSON: c.json})
	must(c.t, err)
	must(c.t, table.Put(c.t.Context(), rows...))
	return table
}

// follow points the source at another table, as a user would.
func (c *cell) follow(table *database.Table) {
	c.t.Helper()
	q := table.Query()
	if c.provider != mapping.DynamoDB {
		c.w.Secret(customers, q.Connection.Reveal())
	}
	c.w.Edit(customers, func(o *v1alpha1.TenantSource) {
		switch c.provider {
		case mapping.Postgres:
			o.Spec.Postgres.Query = q.SQL.Query
		case mapping.MySQL:
			o.Spec.MySQL.Query = q.SQL.Query
		case mapping.MongoDB:
			o.Spec.MongoDB.Database, o.Spec.MongoDB.Collection = q.MongoDB.Database, q.MongoDB.Collection
		case mapping.Redis:
			o.Spec.Redis.KeyPattern = q.Redis.KeyPattern
		default:
			o.Spec.DynamoDB.TableName = q.DynamoDB.TableName
		}
	})
}

func (c *cell) put(rows ...map[string]any) {
	c.t.Helper()
	must(c.t, c.table.Put(c.t.Context(), rows...))
}

func (c *cell) remove(names ...string) {
	c.t.Helper()
	must(c.t, c.table.Remove(c.t.Context(), names...))
}

func (c *cell) exec(format string) {
	c.t.Helper()
	must(c.t, c.table.Exec(c.t.Context(), fmt.Sprintf(format, c.table.Name())))
}

// settle lets a poll come that a change of the source asks for, and all of its passes.
func (c *cell) settle() {
	c.t.Helper()
	c.w.Advance(time.Second)
}

// poll lets the next poll that is due come, and no other. It ends between two polls, as settle has seen to.
func (c *cell) poll() {
	c.t.Helper()
	c.w.Advance(c.interval)
}

// secret is the one with the connection string.
func (c *cell) secret() *corev1.Secret {
	c.t.Helper()
	secret := &corev1.Secret{}
	must(c.t, c.w.Kube.Get(c.t.Context(), client.ObjectKey{Namespace: c.w.Namespace, Name: customers}, secret))
	secret.Data = nil
	return secret
}

// status is that of the source.
func (c *cell) status() v1alpha1.TenantSourceStatus {
	c.t.Helper()
	o, found := c.w.Get(customers)
	if !found {
		c.t.Fatal("the source is gone")
	}
	return o.Status
}

// expect compares conditions, each as Type=Status/Reason.
func (c *cell) expect(conditions ...string) {
	c.t.Helper()
	o, _ := c.w.Get(customers)
	for _, want := range conditions {
		kind, _, _ := strings.Cut(want, "=")
		if got := sourceworld.Condition(o, kind); got != want {
			c.t.Errorf("the source says %s, want %s\n%s", got, want, c.w.Describe(customers))
		}
	}
}

// says looks for words in the message of Ready.
func (c *cell) says(words ...string) {
	c.t.Helper()
	message := c.w.Message(customers, v1alpha1.ConditionReady)
	for _, word := range words {
		if !strings.Contains(message, word) {
			c.t.Errorf("Ready does not say %q:\n%s", word, message)
		}
	}
}

func (c *cell) living(want []string) {
	c.t.Helper()
	if diff := cmp.Diff(want, c.w.Living()); diff != "" {
		c.t.Errorf("tenants (-want +got):\n%s%s", diff, c.w.Describe(customers))
	}
}

// objects are the whole living objects, by name.
func (c *cell) objects() map[string]string {
	c.t.Helper()
	out := map[string]string{}
	for _, o := range c.w.AllTenants() {
		if o.DeletionTimestamp.IsZero() {
			out[o.Name] = dump(c.t, o)
		}
	}
	return out
}

// untouched compares the objects with how they were: that nothing at all was written to any of them.
func (c *cell) untouched(before map[string]string, but ...string) {
	c.t.Helper()
	now := c.objects()
	for _, name := range but {
		delete(now, name)
		delete(before, name)
	}
	if diff := cmp.Diff(before, now); diff != "" {
		c.t.Errorf("the tenants (-before +now):\n%s%s", diff, c.w.Describe(customers))
	}
}

// nothingDeleted is what every cell is about.
func (c *cell) nothingDeleted() {
	c.t.Helper()
	if n := c.w.Writes().Deleted; n > 0 {
		c.t.Errorf("the operator deleted %d objects", n)
	}
	if n := c.status().DeletionsInWindow; n > 0 {
		c.t.Errorf("%d deletions are counted", n)
	}
}

// approve approves the plan that is held.
func (c *cell) approve() {
	c.t.Helper()
	held := c.status().HeldDeletions
	if held == nil {
		c.t.Fatalf("no plan is held\n%s", c.w.Describe(customers))
	}
	c.w.Annotate(customers, v1alpha1.AnnotationApproveDeletions, held.PlanHash)
}

// told is all output of the operator: all of the source but its spec, the events and the tenants.
func (c *cell) told() string {
	c.t.Helper()
	o, _ := c.w.Get(customers)
	o.Spec, o.ManagedFields = v1alpha1.TenantSourceSpec{}, nil
	text := dump(c.t, o) + dump(c.t, c.w.Events) + dump(c.t, c.w.Polls)
	for _, tenant := range c.w.AllTenants() {
		text += dump(c.t, tenant)
	}
	return text
}

func (c *cell) noSecret(text string) {
	c.t.Helper()
	if strings.Contains(strings.ToLower(text), database.Canary) {
		c.t.Errorf("a piece of the connection string was told: %s", around(text, database.Canary))
	}
}

func dump(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	must(t, err)
	return string(text)
}

func name(i int) string { return fmt.Sprintf("customer-%03d", i) }

// names are those from one number up to another.
func names(from, to int) []string {
	out := []string{}
	for i := from; i < to; i++ {
		out = append(out, name(i))
	}
	return out
}

// row is the usual row: with a value in every column, and long enough that a read takes several packets.
func row(i int) map[string]any {
	return map[string]any{
		"name": name(i), "domain": name(i) + ".example.com", "enabled": true, "connection_group_id": "cg_1", "slug": name(i),
		"plan": strings.Repeat("x", 250),
	}
}

// with is a row with other values.
func with(row map[string]any, changes ...any) map[string]any {
	for i := 0; i < len(changes); i += 2 {
		row[changes[i].(string)] = changes[i+1]
	}
	return row
}

// usual are the rows from one number up to another.
func usual(from, to int) []map[string]any {
	var out []map[string]any
	for i := from; i < to; i++ {
		out = append(out, row(i))
	}
	return out
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
