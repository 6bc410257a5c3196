package writer_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/tenantsource/writer"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"
)

const source = "cluster/default/customers"

// world is held by the test while it changes something, and by a writer while it looks at something. One test runs at a time.
var world sync.Mutex

// inBubble runs a test that holds the world, except while it sleeps.
func inBubble(t *testing.T, test func(ctx context.Context)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		world.Lock()
		defer world.Unlock()
		test(t.Context())
	})
}

// sleep lets time pass, in which the writers have the world.
func sleep(d time.Duration) {
	world.Unlock()
	time.Sleep(d) //nolint:forbidigo // the time of the bubble
	synctest.Wait()
	world.Lock()
}

// cluster has the objects of a source, and a version that grows with each change.
type cluster struct {
	version int64
	objects map[string]statetable.Row
	// released are objects that are not the source's any more.
	released map[string]bool
}

func newCluster() *cluster {
	return &cluster{objects: map[string]statetable.Row{}, released: map[string]bool{}}
}

// set changes an object.
func (c *cluster) set(name, state string) {
	c.version++
	c.objects[name] = statetable.Row{
		Source: source, Key: "key of " + name, Namespace: "default", Name: name, State: state, Domains: "[]", Version: c.version,
		Since: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
	}
}

func (c *cluster) remove(name string) {
	c.version++
	delete(c.objects, name)
}

// view is the cluster as a cache shows it: of now, or of a time before.
type view struct {
	of     *cluster
	cached *cluster
}

func (c *cluster) copied() *cluster {
	return &cluster{version: c.version, objects: maps.Clone(c.objects), released: maps.Clone(c.released)}
}

func (v view) look(name string) writer.Object {
	row, found := v.cached.objects[name]
	return writer.Object{Found: found, Ours: !v.cached.released[name], Known: row.State != "", Created: time.Unix(row.Generation, 0), Row: row}
}

func (v view) All(context.Context) ([]writer.Object, error) {
	world.Lock()
	defer world.Unlock()
	var all []writer.Object
	for name := range v.cached.objects {
		if o := v.look(name); o.Ours {
			all = append(all, o)
		}
	}
	return all, nil
}

func (v view) One(_ context.Context, key, name string) (best writer.Object, err error) {
	world.Lock()
	defer world.Unlock()
	for other, row := range v.cached.objects {
		if o := v.look(other); row.Key == key && o.Ours && (!best.Found || o.Before(best)) {
			best = o
		}
	}
	if !best.Found {
		best = v.look(name)
	}
	return best, nil
}

func (v view) Missed(_ context.Context, name string) (int64, bool, error) {
	world.Lock()
	defer world.Unlock()
	_, there := v.of.objects[name]
	return v.of.version, !there, nil
}

// table is a state table in memory, with the conditions of the real ones.
type table struct {
	rows map[string]statetable.Row
	// away says why every call fails; refuses has keys that are not taken.
	away    string
	refuses map[string]bool
	calls   []int
	// cut ends a call after so many changes, once.
	cut int
	// each is how long a change takes, and a call has 40 seconds.
	each time.Duration
}

func newTable() *table { return &table{rows: map[string]statetable.Row{}, refuses: map[string]bool{}} }

func (t *table) Read(_ context.Context, sink mapping.Sink) error {
	world.Lock()
	defer world.Unlock()
	if t.away != "" {
		return errors.New(t.away)
	}
	for _, row := range t.rows {
		values := map[string]any{}
		for i, value := range row.Values() {
			values[statetable.Columns[i].Name] = value
		}
		if err := sink.Row(mapping.Row{Values: values}); err != nil {
			return err
		}
	}
	return nil
}

func (t *table) Write(_ context.Context, changes []statetable.Change) (refused []statetable.Refusal, err error) {
	world.Lock()
	defer world.Unlock()
	if t.away != "" {
		return nil, errors.New(t.away)
	}
	took := time.Duration(len(changes)) * t.each
	world.Unlock()
	time.Sleep(min(took, 40*time.Second)) //nolint:forbidigo // the time of the bubble
	if world.Lock(); took > 40*time.Second {
		return nil, errors.New("the time is over")
	}
	if len(changes) > 0 {
		t.calls = append(t.calls, len(changes))
	}
	for i, c := range changes {
		if t.cut > 0 && i == t.cut {
			t.cut = 0
			return nil, errors.New("the connection was lost")
		}
		old, there := t.rows[c.Row.Key]
		switch {
		case t.refuses[c.Row.Key]:
			refused = append(refused, statetable.Refusal{Key: c.Row.Key, Failure: &fault.Error{Kind: fault.Invalid, Message: "a trigger says no"}})
		case there && old.Version > c.Row.Version:
		case c.Remove:
			delete(t.rows, c.Row.Key)
		default:
			t.rows[c.Row.Key] = c.Row
		}
	}
	return refused, nil
}

// says is what the table says, in short.
func (t *table) says() []string {
	var all []string
	for _, row := range t.rows {
		all = append(all, row.Name+" "+row.State)
	}
	slices.Sort(all)
	return all
}

// running is a writer that runs.
type running struct {
	*writer.Writer

	stop  func()
	told  []string
	wrote int
}

func run(ctx context.Context, v view, t *table, removes bool) *running {
	r := &running{}
	ctx, r.stop = context.WithCancel(ctx)
	r.Writer = writer.New(writer.Options{
		Source: source, Namespace: "default", Removes: removes, Fleet: v, Table: t, Now: time.Now, MaxRows: 2000,
		Enter: func(context.Context) (func(), error) { return func() {}, nil },
		Wrote: func(rows int) {
			world.Lock()
			defer world.Unlock()
			r.wrote += rows
		},
		Tell: func(v statetable.Verdict, news bool) {
			world.Lock()
			defer world.Unlock()
			if news {
				r.told = append(r.told, strings.Trim(fmt.Sprintf("compared=%t %s %s %s", v.Compared, v.Failure, v.Refused, map[bool]string{true: "behind"}[v.Behind]), " "))
			}
		},
	})
	go r.Run(ctx)
	return r
}

// change changes an object, and tells the writer as an event does.
func (r *running) change(c *cluster, name, state string) {
	if c.set(name, state); state == "" {
		c.remove(name)
	}
	r.Differ("key of "+name, name)
}

func TestWriter(t *testing.T) {
	for name, tt := range map[string]struct {
		removes bool
		// before is what the table has before the writer starts.
		before []statetable.Row
		play   func(c *cluster, t *table, r *running)
		want   []string
		// wrote is how many rows were written, told what was told.
		wrote int
		told  []string
	}{
		"a table without rows gets all of them": {want: []string{"a Live", "b Live"}, wrote: 2, told: []string{"compared=true"}},
		"a row that says what it should is not written again": {
			before: []statetable.Row{{Source: source, Key: "key of a", Namespace: "default", Name: "a", State: "Live", Domains: "[]", Since: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Version: 1}},
			want:   []string{"a Live", "b Live"}, wrote: 1, told: []string{"compared=true"},
		},
		"a change is written, and nothing else": {
			play: func(c *cluster, _ *table, r *running) { r.change(c, "a", "Lost") },
			want: []string{"a Lost", "b Live"}, wrote: 3, told: []string{"compared=true"},
		},
		"changes that come together are one call": {
			play: func(c *cluster, table *table, r *running) {
				table.calls = nil
				for i := range 100 {
					r.change(c, fmt.Sprintf("c%d", i%50), "Live")
				}
				sleep(time.Minute)
				if diff := cmp.Diff([]int{50}, table.calls); diff != "" {
					table.rows[diff] = statetable.Row{Name: diff}
				}
				for i := range 50 {
					delete(table.rows, fmt.Sprintf("key of c%d", i))
				}
			},
			want: []string{"a Live", "b Live"}, wrote: 52, told: []string{"compared=true"},
		},
		"the row of an object that is gone stays, and says so": {
			play: func(c *cluster, _ *table, r *running) { r.change(c, "a", "") },
			want: []string{"a Gone", "b Live"}, wrote: 3, told: []string{"compared=true"},
		},
		"with Remove it does not stay": {
			removes: true, play: func(c *cluster, _ *table, r *running) { r.change(c, "a", "") },
			want: []string{"b Live"}, wrote: 3, told: []string{"compared=true"},
		},
		"a customer that comes back is there again": {
			play: func(c *cluster, _ *table, r *running) {
				r.change(c, "a", "")
				sleep(time.Minute)
				r.change(c, "a", "Deploying")
			},
			want: []string{"a Deploying", "b Live"}, wrote: 4, told: []string{"compared=true"},
		},
		"a row whose object went while the operator did not run says so": {
			before: []statetable.Row{{Source: source, Key: "key of z", Name: "z", State: "Live", Version: 1}},
			want:   []string{"a Live", "b Live", "z Gone"}, wrote: 3, told: []string{"compared=true"},
		},
		"an object that is no longer the source's is gone for it": {
			play: func(c *cluster, _ *table, r *running) {
				c.released["a"] = true
				r.change(c, "a", "Live")
			},
			want: []string{"a Gone", "b Live"}, wrote: 3, told: []string{"compared=true"},
		},
		"a database that is away delays the rows, and loses none": {
			play: func(c *cluster, table *table, r *running) {
				table.away = "no route"
				for i := range 1000 {
					r.change(c, fmt.Sprintf("c%d", i), "Live")
				}
				sleep(10 * time.Minute)
				for i := range 1000 {
					r.change(c, fmt.Sprintf("c%d", i), "")
				}
				table.away = ""
				sleep(time.Minute)
				for i := range 1000 {
					if table.rows[fmt.Sprintf("key of c%d", i)].State == statetable.Gone {
						delete(table.rows, fmt.Sprintf("key of c%d", i))
					}
				}
			},
			want: []string{"a Live", "b Live"}, wrote: 1002, told: []string{"compared=true", "compared=true no route", "compared=true"},
		},
		"a call that is cut is repeated": {
			play: func(c *cluster, table *table, r *running) {
				table.cut = 1
				r.change(c, "a", "Lost")
				r.change(c, "b", "Lost")
			},
			want: []string{"a Lost", "b Lost"}, wrote: 4, told: []string{"compared=true", "compared=true the connection was lost", "compared=true"},
		},
		"a row that the database refuses stops no other, and is written once it may be": {
			play: func(c *cluster, table *table, r *running) {
				table.refuses["key of a"] = true
				r.change(c, "a", "Lost")
				r.change(c, "b", "Lost")
				sleep(time.Second)
				table.rows["b is "+table.rows["key of b"].State] = statetable.Row{Name: "meanwhile"}
				sleep(time.Hour)
				delete(table.refuses, "key of a")
				sleep(5 * time.Minute)
			},
			want: []string{"a Lost", "b Lost", "meanwhile "}, wrote: 4, told: []string{"compared=true", "compared=true  a: a trigger says no", "compared=true"},
		},
		"a row that others have changed is right again within a day": {
			play: func(_ *cluster, table *table, _ *running) {
				row := table.rows["key of a"]
				row.State = "Vandalized"
				table.rows["key of a"] = row
				sleep(25 * time.Hour)
			},
			want: []string{"a Live", "b Live"}, wrote: 3, told: []string{"compared=true"},
		},
		"the row of an object stays while its key is not known": {
			play: func(c *cluster, _ *table, r *running) {
				r.change(c, "c", "Live")
				sleep(time.Minute)
				c.objects["c"] = statetable.Row{Name: "c", Version: c.version}
				r.Differ("key of c", "c")
				sleep(25 * time.Hour)
			},
			want: []string{"a Live", "b Live", "c Live"}, wrote: 3, told: []string{"compared=true"},
		},
		"a database that is too slow for many rows at once gets fewer": {
			play: func(c *cluster, table *table, r *running) {
				table.each = 300 * time.Millisecond
				for i := range 1000 {
					r.change(c, fmt.Sprintf("c%d", i), "Live")
				}
				sleep(time.Hour)
				for i := range 1000 {
					delete(table.rows, fmt.Sprintf("key of c%d", i))
				}
			},
			want: []string{"a Live", "b Live"}, wrote: 1002, told: []string{"compared=true", "compared=true the time is over", "compared=true", "compared=true   behind", "compared=true"},
		},
		"rows from before the cluster was restored are replaced": {
			before: []statetable.Row{{Source: source, Key: "key of a", Name: "a", State: "Lost", Version: 1000}, {Source: source, Key: "key of z", Name: "z", State: "Live", Version: 1001}},
			want:   []string{"a Live", "b Live", "z Gone"}, wrote: 3, told: []string{"compared=true"},
		},
		"a customer that is renamed is served, whatever its previous object does": {
			play: func(c *cluster, _ *table, r *running) {
				r.change(c, "a2", "Live")
				renamed := c.objects["a2"]
				renamed.Key, renamed.Generation = "key of a", 1
				c.objects["a2"] = renamed
				r.Differ("key of a", "a2")
				sleep(time.Minute)
				r.change(c, "a", "Leaving")
				sleep(time.Minute)
				r.change(c, "a", "")
			},
			want: []string{"a2 Gone", "a2 Live", "b Live"}, wrote: 6, told: []string{"compared=true"},
		},
		"a table that can be written, but not be read, is written": {
			play: func(c *cluster, table *table, r *running) {
				for i := range 2001 {
					key := fmt.Sprintf("others %d", i)
					table.rows[key] = statetable.Row{Source: source, Key: key, Name: key, State: statetable.Gone}
				}
				sleep(24 * time.Hour)
				r.change(c, "a", "Lost")
				sleep(time.Minute)
				maps.DeleteFunc(table.rows, func(key string, _ statetable.Row) bool { return strings.HasPrefix(key, "others ") })
				sleep(2 * time.Hour)
			},
			want: []string{"a Lost", "b Live"}, wrote: 3,
			told: []string{"compared=true", "compared=true the state table has more than 2000 rows of this source: delete those with the state Gone", "compared=true"},
		},
		"a database that takes rows too slowly is told": {
			play: func(c *cluster, table *table, r *running) {
				table.each = 50 * time.Millisecond
				for i := range 4000 {
					r.change(c, fmt.Sprintf("c%d", i), "Live")
				}
				sleep(time.Hour)
				maps.DeleteFunc(table.rows, func(key string, _ statetable.Row) bool { return strings.HasPrefix(key, "key of c") })
			},
			want: []string{"a Live", "b Live"}, wrote: 4002, told: []string{"compared=true", "compared=true   behind", "compared=true"},
		},
		"a key that is too long is told, and stops no other": {
			play: func(c *cluster, _ *table, r *running) {
				c.objects["long"] = statetable.Row{Name: "long", Key: strings.Repeat("k", 256), State: "Live", Version: c.version}
				r.Differ(strings.Repeat("k", 256), "long")
				r.change(c, "b", "Lost")
			},
			want: []string{"a Live", "b Lost"}, wrote: 3,
			told: []string{"compared=true", "compared=true  long: its key has more than 255 characters: use another column as spec.rowKey"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(ctx context.Context) {
				c, table := newCluster(), newTable()
				c.set("a", "Live")
				c.set("b", "Live")
				for _, row := range tt.before {
					table.rows[row.Key] = row
				}
				r := run(ctx, view{c, c}, table, tt.removes)
				sleep(time.Minute)
				if tt.play != nil {
					tt.play(c, table, r)
				}
				sleep(time.Minute)
				r.stop()
				sleep(0)
				if diff := cmp.Diff(tt.want, table.says()); diff != "" {
					t.Errorf("the table (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(tt.told, r.told); diff != "" || r.wrote != tt.wrote {
					t.Errorf("%d rows were written, want %d; told (-want +got):\n%s", r.wrote, tt.wrote, diff)
				}
			})
		})
	}
}

// A row names since when it differs while the database is away, and how many do.
func TestVerdict(t *testing.T) {
	inBubble(t, func(ctx context.Context) {
		c, table := newCluster(), newTable()
		c.set("a", "Live")
		r := run(ctx, view{c, c}, table, false)
		defer r.stop()
		sleep(time.Minute)
		table.away = "no route"
		since := time.Now()
		r.change(c, "a", "Lost")
		sleep(time.Hour)
		r.change(c, "b", "Live")
		r.change(c, "a", "Live")
		sleep(time.Hour)
		if diff := cmp.Diff(&statetable.Verdict{Compared: true, Failure: "no route", Since: since, Waiting: 2}, r.Verdict()); diff != "" {
			t.Error(diff)
		}
	})
}

// The writer of a source that is gone writes what it still has to, and ends.
func TestFinish(t *testing.T) {
	inBubble(t, func(ctx context.Context) {
		c, table := newCluster(), newTable()
		c.set("a", "Live")
		w := run(ctx, view{c, c}, table, false)
		sleep(time.Minute)
		table.away = "no route"
		w.change(c, "a", "")
		w.Finish()
		sleep(30 * time.Second)
		table.away = ""
		sleep(time.Minute)
		if diff := cmp.Diff([]string{"a Gone"}, table.says()); diff != "" {
			t.Error(diff)
		}
		calls := len(table.calls)
		w.change(c, "a", "Live")
		sleep(time.Hour)
		if len(table.calls) != calls {
			t.Error("it wrote after its end")
		}
	})
}

// Whatever happens to objects, database and operator, the table says in the end what the cluster has, also where a process that
// was frozen continues with what it saw long ago.
func TestTheTableSaysWhatTheClusterHas(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		removes := rapid.Bool().Draw(rt, "removes")
		steps := rapid.SliceOfN(rapid.SampledFrom([]string{
			"set a", "set b", "set c", "remove a", "remove b", "remove c", "away", "back", "cut", "refuse a", "take a", "restart", "freeze", "thaw", "minute", "second",
		}), 1, 40).Draw(rt, "steps")
		inBubble(t, func(ctx context.Context) {
			c, table := newCluster(), newTable()
			p := play{ctx: ctx, cluster: c, table: table, removes: removes}
			p.start()
			for i, step := range steps {
				p.step(i, step)
			}
			p.end()
			if diff := cmp.Diff(p.want(), p.has()); diff != "" {
				rt.Errorf("the table (-want +got):\n%s", diff)
			}
		})
	})
}

// play is a story with one process that leads, and perhaps a frozen one.
//
//nolint:containedctx // that of the bubble
type play struct {
	*cluster

	ctx     context.Context
	table   *table
	removes bool
	leads   *running
	// frozen has what a process saw when it froze, thawed are those that continue.
	frozen *cluster
	thawed []*running
}

func (p *play) start() {
	p.leads = run(p.ctx, view{p.cluster, p.cluster}, p.table, p.removes)
}

func (p *play) step(n int, step string) {
	verb, name, _ := strings.Cut(step, " ")
	switch verb {
	case "set":
		p.leads.change(p.cluster, name, fmt.Sprintf("State%d", n))
	case "remove":
		if _, there := p.objects[name]; there {
			p.remove(name)
			p.leads.Differ("key of "+name, name)
		}
	case "away":
		p.table.away = "no route"
	case "back":
		p.table.away = ""
	case "cut":
		p.table.cut = 1
	case "refuse":
		p.table.refuses["key of "+name] = true
	case "take":
		clear(p.table.refuses)
	case "restart":
		p.leads.stop()
		p.start()
	case "freeze":
		p.frozen = p.copied()
	case "thaw":
		if p.frozen != nil && !p.removes { // a row that was removed has no version any more
			p.thawed = append(p.thawed, run(p.ctx, view{p.cluster, p.frozen}, p.table, p.removes))
		}
	case "minute":
		sleep(time.Minute)
	case "second":
		sleep(time.Second)
	}
}

// end lets everything be well for a day, and stops all processes. A process that was frozen may have written the row of an object
// that went before it had one: only the next comparison sees that.
func (p *play) end() {
	p.table.away, p.table.cut = "", 0
	clear(p.table.refuses)
	sleep(25 * time.Hour)
	for _, r := range append(p.thawed, p.leads) {
		r.stop()
	}
	sleep(0)
}

func (p *play) want() map[string]string {
	want := map[string]string{}
	for name, row := range p.objects {
		want[name] = row.State
	}
	return want
}

// has is what the table says of objects that are there, or should be.
func (p *play) has() map[string]string {
	has := map[string]string{}
	for _, row := range p.table.rows {
		if row.State != statetable.Gone || p.removes {
			has[row.Name] = row.State
		}
	}
	return has
}
