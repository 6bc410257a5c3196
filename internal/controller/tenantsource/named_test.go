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

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/postgres"
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

// watchedWorld is a world with a table of n customers that is watched and was read, and what tells of its changes. It polls once
// a day.
func watchedWorld(t *testing.T, n int, change ...func(*v1alpha1.TenantSource)) (*sourceworld.World, *database.Table, func(keys ...string)) {
	t.Helper()
	table := newTable(t, 0)
	rows := make([]map[string]any, n)
	for i := range rows {
		rows[i] = row(i)
		rows[i]["plan"] = "free"
	}
	must(t, table.Put(t.Context(), rows...))
	hints, stopped := told{make(chan port.HintSink, 1)}, make(chan struct{})
	t.Cleanup(func() { close(stopped) })
	w := sourceworld.New(t, kubeConfig, sourceworld.Options{
		Rows:    map[mapping.Provider]port.Rows{mapping.Postgres: postgres.New(postgres.Config{Timeout: time.Minute})},
		Hints:   map[mapping.Provider]port.Hints{mapping.Postgres: hints},
		Stopped: stopped,
	})
	query := table.Query()
	query.SQL.Query = "SELECT name, string_to_array(domain, ' ') AS domain, enabled, plan FROM " + table.Name()
	w.Source("customers", mapping.Postgres, query, append(change, func(o *v1alpha1.TenantSource) {
		o.Spec.RowKey, o.Spec.Watch = "name", &v1alpha1.SourceWatch{Channel: "customers"}
		o.Spec.PollInterval = &metav1.Duration{Duration: 24 * time.Hour}
		o.Spec.Mapping = append(o.Spec.Mapping, v1alpha1.FieldMapping{Column: "plan", Field: "parameters[plan]"})
	})...)
	w.Advance(time.Second)
	sink := <-hints.sink
	w.Once("customers")
	w.Advance(5 * time.Second)
	return w, table, func(keys ...string) {
		sink.Hint(keys...)
		w.Once("customers")
		w.Advance(100 * time.Millisecond)
	}
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
	w, table, hint := watchedWorld(t, 600)
	polls, before := len(w.Polls), w.Writes()
	must(t, table.Put(t.Context(),
		map[string]any{"name": "new", "domain": "new.example.com", "enabled": true, "plan": "free"},
		map[string]any{"name": name(7), "domain": row(7)["domain"].(string) + " more.example.com", "enabled": true, "plan": "gold"},
		map[string]any{"name": name(8), "domain": row(8)["domain"], "enabled": true, "plan": "gold"}))
	hint("new", name(7), name(9))
	want := []string{"new.example.com free", name(7) + ".example.com more.example.com gold", name(8) + ".example.com free"}
	if diff := cmp.Diff(want, []string{tenant(w, "new"), tenant(w, name(7)), tenant(w, name(8))}); diff != "" {
		t.Errorf("tenants (-want +got):\n%s%s", diff, w.Describe("customers"))
	}
	after := w.Writes()
	if len(w.Polls) != polls || after.SourceStatus != before.SourceStatus || after.Applied-before.Applied != 2 {
		t.Errorf("%d polls, and writes %+v after %+v", len(w.Polls)-polls, after, before)
	}
	if e := w.Events[len(w.Events)-1]; e.Reason != "TenantsChanged" || !strings.Contains(e.Message, "created: 1, changed: 1") {
		t.Errorf("the last event is %+v", e)
	}

	// A poll follows in a while, and finds what no one has named.
	w.Advance(6 * time.Minute)
	if got := tenant(w, name(8)); len(w.Polls) != polls+1 || !strings.HasSuffix(got, "gold") {
		t.Errorf("%d polls, and the row that was not named is %q", len(w.Polls)-polls, got)
	}
	if o, _ := w.Get("customers"); *o.Status.TenantsDiscovered != 601 {
		t.Errorf("status counts %d tenants", *o.Status.TenantsDiscovered)
	}
}

// What other rows have a say in, what takes something away and what has to be told is left to a poll, which comes at once.
func TestWhatANamedRowLeavesToAPoll(t *testing.T) {
	t.Parallel()
	const n = 600
	gone := func(name string) map[string]any { return map[string]any{"name": name} }
	for about, c := range map[string]struct {
		change map[string]any
		keys   []string
		want   map[string]string
		polls  int
	}{
		"a domain that another row has": {
			change: map[string]any{"name": "new", "domain": name(3) + ".example.com", "enabled": true, "plan": "free"}, keys: []string{"new"},
			want: map[string]string{"new": "", name(3): name(3) + ".example.com free"}, polls: 1,
		},
		"a domain that is no domain": {
			change: map[string]any{"name": "new", "domain": "no_domain", "enabled": true, "plan": "free"}, keys: []string{"new"}, want: map[string]string{"new": ""}, polls: 1,
		},
		"a change that the guard allows, once it has counted it": {
			change: map[string]any{"name": name(3), "domain": "other.example.com", "enabled": true, "plan": "free"}, keys: []string{name(3)},
			want: map[string]string{name(3): "other.example.com free"}, polls: 1,
		},
		"a row that is gone, which only regular polls confirm": {
			change: gone(name(3)), keys: []string{name(3)}, want: map[string]string{name(3): name(3) + ".example.com free"},
		},
		"any row": {
			change: map[string]any{"name": name(3), "domain": name(3) + ".example.com", "enabled": true, "plan": "gold"}, want: map[string]string{name(3): name(3) + ".example.com gold"}, polls: 1,
		},
	} {
		t.Run(about, func(t *testing.T) {
			t.Parallel()
			w, table, hint := watchedWorld(t, n)
			polls := len(w.Polls)
			if len(c.change) == 1 {
				must(t, table.Remove(t.Context(), fmt.Sprint(c.change["name"])))
			} else {
				must(t, table.Put(t.Context(), c.change))
			}
			hint(c.keys...)
			w.Once("customers")
			w.Advance(2 * time.Second)
			for name, want := range c.want {
				if got := tenant(w, name); got != want {
					t.Errorf("the tenant %s is %q, want %q\n%s", name, got, want, w.Describe("customers"))
				}
			}
			if got := len(w.Polls) - polls; got != c.polls {
				t.Errorf("%d polls, want %d", got, c.polls)
			}
		})
	}
}

// A database that refuses to read single rows is read as a whole.
func TestADatabaseThatCantReadSingleRows(t *testing.T) {
	t.Parallel()
	w, table, hint := watchedWorld(t, 600, func(o *v1alpha1.TenantSource) {
		// A comment after the end is one statement for the server, and none that can be part of another.
		o.Spec.Postgres.Query += "; -- all of them"
	})
	polls := len(w.Polls)
	for i, plan := range []string{"gold", "platinum"} {
		must(t, table.Put(t.Context(), map[string]any{"name": name(i), "domain": row(i)["domain"], "enabled": true, "plan": plan}))
		hint(name(i))
		w.Once("customers")
		w.Advance(2 * time.Second)
		if got, want := tenant(w, name(i)), name(i)+".example.com "+plan; got != want {
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
