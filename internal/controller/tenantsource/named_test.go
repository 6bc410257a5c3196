package tenantsource_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/postgres"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantsource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/sourceworld"
)

// told is a stream whose hints a test gives.
type told struct{ sink chan port.HintSink }

// Listen implements port.Hints.
func (h told) Listen(ctx context.Context, _ mapping.Query, sink port.HintSink) error {
	sink.Ready()
	h.sink <- sink
	<-ctx.Done()
	return ctx.Err()
}

// watched is a world with a table that is watched. Its source polls once a day.
type watched struct {
	*sourceworld.World
	*database.Table
	rows  *interrupted
	hints told
	sink  port.HintSink
	// meanwhile happens before the next object is written.
	meanwhile func()
}

// interrupted reads a table, and lets something happen after it was read.
type interrupted struct {
	port.Rows
	then func()
}

// Read implements port.Rows.
func (i *interrupted) Read(ctx context.Context, q mapping.Query, sink mapping.Sink) error {
	err := i.Rows.Read(ctx, q, sink)
	if then := i.then; then != nil {
		i.then = nil
		then()
	}
	return err
}

// listens lets the process listen, and read the table after that.
func (w *watched) listens() {
	w.Advance(time.Second)
	w.sink = <-w.hints.sink
	w.Advance(5 * time.Second)
}

// hint tells of changes.
func (w *watched) hint(keys ...string) {
	w.sink.Hint(keys...)
	w.Advance(100 * time.Millisecond)
}

// watchedRows is how many customers a watched table has. Single rows of it are read alone.
const watchedRows = 40

// watchedWorld is a world with a table that was read.
func watchedWorld(t *testing.T, change ...func(*v1alpha1.TenantSource)) *watched {
	t.Helper()
	table := newTable(t, 0)
	rows := make([]map[string]any, watchedRows)
	for i := range rows {
		rows[i] = row(i)
		rows[i]["plan"] = "free"
	}
	must(t, table.Put(t.Context(), rows...))
	read := &interrupted{Rows: postgres.New(store.Config{Timeout: time.Minute})}
	hints, stopped := told{make(chan port.HintSink, 1)}, make(chan struct{})
	t.Cleanup(func() { close(stopped) })
	world := &watched{Table: table, rows: read, hints: hints}
	world.World = sourceworld.New(t, kubeConfig, sourceworld.Options{
		Rows:    map[mapping.Provider]port.Rows{mapping.Postgres: read},
		Hints:   map[mapping.Provider]port.Hints{mapping.Postgres: hints},
		Stopped: stopped, FollowWakes: true, LargeTable: watchedRows / 2,
		Funcs: interceptor.Funcs{Apply: func(ctx context.Context, c client.WithWatch, o runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			if meanwhile := world.meanwhile; meanwhile != nil {
				world.meanwhile = nil
				meanwhile()
			}
			return c.Apply(ctx, o, options...)
		}},
	})
	query := table.Query()
	query.SQL.Query = "SELECT name, string_to_array(domain, ' ') AS domain, enabled, plan FROM " + table.Name()
	world.Source("customers", mapping.Postgres, query, append(change, func(o *v1alpha1.TenantSource) {
		o.Spec.RowKey, o.Spec.Watch = "name", &v1alpha1.SourceWatch{Channel: "customers"}
		o.Spec.PollInterval = &metav1.Duration{Duration: 24 * time.Hour}
		o.Spec.Mapping = append(o.Spec.Mapping, v1alpha1.FieldMapping{Column: "plan", Field: "parameters[plan]"})
	})...)
	world.listens()
	return world
}

// tenant is the domains and the plan of a tenant; empty where there is none.
func tenant(w *sourceworld.World, name string) string {
	for _, o := range w.AllTenants() {
		if o.Name != name {
			continue
		}
		var parts []string
		for _, d := range o.Spec.Domains {
			parts = append(parts, d.Domain)
		}
		for _, p := range o.Spec.Parameters {
			parts = append(parts, p.Value)
		}
		return strings.Join(parts, " ")
	}
	return ""
}

// In a large table, a row that the database names reaches its object without a poll: nothing else is read, and nothing is
// written in status.
func TestANamedRowReachesItsObjectWithoutAPoll(t *testing.T) {
	t.Parallel()
	w := watchedWorld(t)
	polls, before := len(w.Polls), w.Writes()
	must(t, w.Put(t.Context(),
		map[string]any{"name": "new", "domain": "new.example.com", "enabled": true, "plan": "free"},
		map[string]any{"name": name(7), "domain": row(7)["domain"].(string) + " more.example.com", "enabled": true, "plan": "gold"},
		map[string]any{"name": name(8), "domain": row(8)["domain"], "enabled": true, "plan": "gold"}))
	w.hint("new", name(7), name(9))
	want := []string{"new.example.com free", name(7) + ".example.com more.example.com gold", name(8) + ".example.com free"}
	if diff := cmp.Diff(want, []string{tenant(w.World, "new"), tenant(w.World, name(7)), tenant(w.World, name(8))}); diff != "" {
		t.Errorf("tenants (-want +got):\n%s%s", diff, w.Describe("customers"))
	}
	after := w.Writes()
	if len(w.Polls) != polls || after.SourceStatus != before.SourceStatus || after.Applied-before.Applied != 2 {
		t.Errorf("%d polls, and writes %+v after %+v", len(w.Polls)-polls, after, before)
	}
	// A poll follows in a while, and finds what no one has named.
	w.Advance(6 * time.Minute)
	if got := tenant(w.World, name(8)); len(w.Polls) != polls+1 || !strings.HasSuffix(got, "gold") {
		t.Errorf("%d polls, and the row that was not named is %q", len(w.Polls)-polls, got)
	}
	if e := w.Events[len(w.Events)-1]; e.Reason != "TenantsChanged" || !strings.Contains(e.Message, "created: 1, changed: 2") {
		t.Errorf("the last event is %+v", e)
	}
	if o, _ := w.Get("customers"); *o.Status.TenantsDiscovered != watchedRows+1 {
		t.Errorf("status counts %d tenants", *o.Status.TenantsDiscovered)
	}
}

// Changes that depend on other rows, take something away or have to be reported are left to a poll, which comes at
// once.
func TestWhatANamedRowLeavesToAPoll(t *testing.T) {
	t.Parallel()
	w := watchedWorld(t)
	customer := func(name, domain, plan string) map[string]any {
		return map[string]any{"name": name, "domain": domain, "enabled": true, "plan": plan}
	}
	domain := func(i int) string { return name(i) + ".example.com" }
	for _, c := range []struct {
		about  string
		change map[string]any
		gone   string
		keys   []string
		// tenant is the one to look at, want what it is then.
		tenant, want string
		polls        int
	}{
		{about: "a domain that another row has", change: customer("new", domain(3), "free"), keys: []string{"new"}, tenant: "new", want: "", polls: 1},
		{about: "a domain that is no domain", change: customer("new", "no_domain", "free"), keys: []string{"new"}, tenant: "new", want: "", polls: 1},
		{
			about:  "a change that the guard allows, once it has counted it",
			change: customer(name(4), "other.example.com", "free"), keys: []string{name(4)}, tenant: name(4), want: "other.example.com free", polls: 1,
		},
		{about: "any row", change: customer(name(5), domain(5), "gold"), tenant: name(5), want: domain(5) + " gold", polls: 1},
		{about: "a row that is gone, which only regular polls confirm", gone: name(6), keys: []string{name(6)}, tenant: name(6), want: domain(6) + " free"},
	} {
		polls := len(w.Polls)
		if c.gone != "" {
			must(t, w.Remove(t.Context(), c.gone))
		} else {
			must(t, w.Put(t.Context(), c.change))
		}
		w.hint(c.keys...)
		w.Advance(2 * time.Second)
		if got := tenant(w.World, c.tenant); got != c.want {
			t.Errorf("%s: the tenant %s is %q, want %q\n%s", c.about, c.tenant, got, c.want, w.Describe("customers"))
		}
		if got := len(w.Polls) - polls; got != c.polls {
			t.Errorf("%s: %d polls, want %d", c.about, got, c.polls)
		}
	}
	if got := tenant(w.World, name(3)); got != domain(3)+" free" {
		t.Errorf("the tenant whose domain another row has is %q", got)
	}
}

// A database that refuses to read single rows is read as a whole.
func TestADatabaseThatCantReadSingleRows(t *testing.T) {
	t.Parallel()
	w := watchedWorld(t, func(o *v1alpha1.TenantSource) {
		// A comment after the end is one statement for the server, and none that can be part of another.
		o.Spec.Postgres.Query += "; -- all of them"
	})
	polls := len(w.Polls)
	for i, plan := range []string{"gold", "platinum"} {
		must(t, w.Put(t.Context(), map[string]any{"name": name(i), "domain": row(i)["domain"], "enabled": true, "plan": plan}))
		w.hint(name(i))
		w.Advance(2 * time.Second)
		if got, want := tenant(w.World, name(i)), name(i)+".example.com "+plan; got != want {
			t.Errorf("the tenant is %q, want %q\n%s", got, want, w.Describe("customers"))
		}
	}
	if got := len(w.Polls) - polls; got != 2 {
		t.Errorf("%d polls, want one for each row", got)
	}
	if slices.ContainsFunc(w.Polls[polls:], func(r tenantsource.Report) bool { return r.Result == nil }) {
		t.Error("a poll has failed")
	}
}

// A process that dies among the rows that were named leaves nothing undone: the next one listens, and reads the table.
func TestStopAmongNamedRows(t *testing.T) {
	t.Parallel()
	w := watchedWorld(t)
	for i, crash := range []struct {
		write int
		after bool
	}{{1, true}, {2, true}, {1, false}, {2, false}} {
		w.CrashAt(crash.write, crash.after)
		added, changed := fmt.Sprintf("new-%d", i), name(i)
		must(t, w.Put(t.Context(), map[string]any{"name": added, "domain": added + ".example.com", "enabled": true, "plan": "free"},
			map[string]any{"name": changed, "domain": row(i)["domain"], "enabled": true, "plan": "gold"}))
		w.hint(added, changed)
		if left := w.WritesToCrash(); left > 0 {
			t.Errorf("%+v: the crash did not come, but for %d writes", crash, left)
		}
		w.listens()
		want := []string{added + ".example.com free", changed + ".example.com gold"}
		if diff := cmp.Diff(want, []string{tenant(w.World, added), tenant(w.World, changed)}); diff != "" {
			t.Errorf("%+v: tenants (-want +got):\n%s%s", crash, diff, w.Describe("customers"))
		}
	}
}

// A change that is told while a round is on its way is not forgotten with it, however many passes it takes.
func TestARowThatIsNamedDuringARound(t *testing.T) {
	t.Parallel()
	w := watchedWorld(t)
	put := func(i int, domain, plan string) {
		must(t, w.Put(t.Context(), map[string]any{"name": name(i), "domain": domain, "enabled": true, "plan": plan}))
	}
	put(1, "other.example.com", "free") // it is counted before it is made, which takes another pass
	w.rows.then = func() {
		put(2, name(2)+".example.com", "gold")
		w.sink.Hint(name(2))
	}
	w.hint()
	w.Advance(3 * time.Second)
	want := []string{"other.example.com free", name(2) + ".example.com gold"}
	if diff := cmp.Diff(want, []string{tenant(w.World, name(1)), tenant(w.World, name(2))}); diff != "" {
		t.Errorf("tenants (-want +got):\n%s%s", diff, w.Describe("customers"))
	}
}

// An object that has changed since its row was read alone is left to a poll: what did not harm it then may do so now.
func TestANamedRowWhoseObjectChangesMeanwhile(t *testing.T) {
	t.Parallel()
	w := watchedWorld(t)
	must(t, w.Put(t.Context(), map[string]any{"name": name(1), "domain": name(1) + ".example.com more.example.com", "enabled": true, "plan": "free"}))
	polls := len(w.Polls)
	w.meanwhile = func() {
		for _, o := range w.AllTenants() {
			if o.Name == name(1) {
				o.Spec.Domains = append(o.Spec.Domains, v1alpha1.TenantDomain{Domain: "by-hand.example.com"})
				must(t, w.Kube.Update(t.Context(), &o))
			}
		}
	}
	w.hint(name(1))
	if got := len(w.Polls) - polls; got != 1 {
		t.Errorf("%d polls, want one\n%s", got, w.Describe("customers"))
	}
}
