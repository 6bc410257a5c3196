package rowsuite

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
)

const (
	// mostKeys is how many rows one hint may name, and mostHints how many hints may come in a second.
	mostKeys, mostHints = 100, 20
	// burst is the number of changes that a job of the customer's makes at once.
	burst = 1000
)

// RunHints runs the tests of what listens for changes, on an engine whose tables can be watched.
func RunHints(t *testing.T, rows port.Rows, hints port.Hints, engine *database.Engine) {
	t.Helper()
	s := &suite{rows: rows, hints: hints, engine: engine}
	s.newTable(t, database.TableOptions{}, customers(1)...) // the owner of the engine connects
	s.run(t, "hints", map[string]func(*testing.T){
		"an insertion, a change and a deletion are told":     s.testChanges,
		"nothing is told without a change of the table":      s.testQuiet,
		"keys read the rows that they name, and no others":   s.testKeys,
		"keys of rows that are gone read nothing":            s.testKeysGone,
		"keys are values, and no part of a query":            s.testKeysQuoted,
		"keys read no row that the query leaves out":         s.testKeysHidden,
		"a burst of changes costs few hints":                 s.testBurst,
		"a listener ends with its context":                   s.testListenCancelled,
		"a listener whose context has ended does not listen": s.testListenEnded,
		"a stream that is cut is lost":                       s.testStreamCut,
		"a listener comes back after a server that was down": s.testStreamDown,
		"a listener without rights is denied":                s.testListenRevoked,
		"tables are listened to at the same time":            s.testListenConcurrent,
	})
	refused := map[string]func(*testing.T){}
	for name, text := range s.malformed() {
		refused[name] = func(t *testing.T) { s.testListenRefused(t, text) }
	}
	s.run(t, "connection strings of listeners", refused)
}

// listener is one call of Listen and what it told.
type listener struct {
	cancel context.CancelFunc
	ready  chan struct{}
	// ended is closed after err is set.
	ended chan struct{}
	err   error

	mu    sync.Mutex
	hints [][]string
	// news is closed and replaced at each hint.
	news chan struct{}
}

// Ready implements port.HintSink.
func (l *listener) Ready() { close(l.ready) }

// Hint implements port.HintSink.
func (l *listener) Hint(keys ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hints = append(l.hints, slices.Clone(keys))
	close(l.news)
	l.news = make(chan struct{})
}

// listen starts a listener, which ends with the test.
func (s *suite) listen(t *testing.T, q mapping.Query) *listener {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	l := &listener{cancel: cancel, ready: make(chan struct{}), ended: make(chan struct{}), news: make(chan struct{})}
	go func() {
		defer close(l.ended)
		l.err = s.hints.Listen(ctx, q, l)
	}()
	t.Cleanup(func() {
		cancel()
		<-l.ended
	})
	return l
}

// watched is a table with a listener that is ready.
func (s *suite) watched(t *testing.T, rows ...map[string]any) (*database.Table, mapping.Query, *listener) {
	t.Helper()
	table := s.newTable(t, database.TableOptions{}, rows...)
	q, err := table.Watch(t.Context())
	must(t, err)
	l := s.listen(t, q)
	l.becomesReady(t)
	return table, q, l
}

func (l *listener) becomesReady(t *testing.T) {
	t.Helper()
	select {
	case <-l.ready:
	case <-l.ended:
		t.Fatalf("the listener ended before it was ready: %v", l.err)
	case <-time.After(soon):
		t.Fatal("the listener did not become ready")
	}
}

// ends waits for the end, and looks at what every listener has to leave.
func (l *listener) ends(t *testing.T, table *database.Table, kinds ...fault.Kind) {
	t.Helper()
	select {
	case <-l.ended:
	case <-time.After(soon):
		t.Fatal("the listener did not end")
	}
	noSecret(t, l.err)
	wantFault(t, l.err, kinds...)
	noConnection(t, table)
}

// hears waits until what was told meets a condition, and returns it.
func (l *listener) hears(t *testing.T, what string, met func(hints [][]string) bool) [][]string {
	t.Helper()
	deadline := time.After(soon)
	for {
		l.mu.Lock()
		hints, news := slices.Clone(l.hints), l.news
		l.mu.Unlock()
		if met(hints) {
			return hints
		}
		select {
		case <-news:
		case <-l.ended:
			t.Fatalf("the listener ended before it heard %s: %v", what, l.err)
		case <-deadline:
			t.Fatalf("the listener did not hear %s, but %v", what, hints)
		}
	}
}

// next waits for the hints after the first n, and returns the keys of all of them in order; none if one names any row.
func (l *listener) next(t *testing.T, n int, what string) (keys []string, heard int) {
	t.Helper()
	hints := l.hears(t, what, func(hints [][]string) bool { return len(hints) > n })
	set := map[string]bool{}
	for _, hint := range hints[n:] {
		if len(hint) == 0 {
			return nil, len(hints)
		}
		for _, key := range hint {
			set[key] = true
		}
	}
	return slices.Sorted(maps.Keys(set)), len(hints)
}

func (s *suite) testChanges(t *testing.T) {
	table, _, l := s.watched(t, customers(3)...)
	changed := maps.Clone(customers(1)[0])
	changed["plan"] = "free"
	heard := 0
	for _, change := range []struct {
		name string
		do   func() error
	}{
		{"an insertion", func() error { return table.Put(t.Context(), customers(4)[3]) }},
		{"a change", func() error { return table.Put(t.Context(), changed) }},
		{"a deletion", func() error { return table.Remove(t.Context(), "customer-00001") }},
	} {
		must(t, change.do())
		keys, now := l.next(t, heard, change.name)
		if len(keys) > 1 {
			t.Errorf("%s of one row told of %q", change.name, keys)
		}
		heard = now
	}
	l.cancel()
	l.ends(t, table, fault.Transient)
}

// testQuiet reads, and changes another table, before it makes the only change that is to be told. The listener of the other
// table hears each of its changes, one after the other: what is asked every second was asked meanwhile.
func (s *suite) testQuiet(t *testing.T) {
	table, q, l := s.watched(t, customers(3)...)
	other, _, witness := s.watched(t, customers(1)...)
	heard := 0
	for n := range 3 {
		s.mustReadWhile(t, q)
		must(t, other.Put(t.Context(), customers(n + 2)[n+1]))
		_, heard = witness.next(t, heard, "the change of its own table")
	}
	if hints := l.hears(t, "anything", func([][]string) bool { return true }); len(hints) > 0 {
		t.Errorf("without a change of its table the listener heard %q", hints)
	}
	must(t, table.Put(t.Context(), customers(4)[3]))
	keys, heard := l.next(t, 0, "the change")
	if len(keys) > 1 || heard > 1 {
		t.Errorf("%d hints of %q for one change of one row", heard, keys)
	}
}

// mustReadWhile reads while there are other connections to the same table.
func (s *suite) mustReadWhile(t *testing.T, q mapping.Query) *sink {
	t.Helper()
	into := &sink{}
	must(t, s.rows.Read(t.Context(), q, into))
	return into
}

// names are those of the rows.
func (s *sink) names() []string {
	names := make([]string, 0, len(s.rows))
	for _, row := range s.rows {
		names = append(names, fmt.Sprint(row.Values["name"]))
	}
	slices.Sort(names)
	return names
}

// keysOf changes rows of a table whose listener is ready, and returns the keys that it told.
func (s *suite) keysOf(t *testing.T, l *listener, table *database.Table, rows ...map[string]any) []string {
	t.Helper()
	for i := range rows {
		rows[i]["plan"] = "changed"
	}
	must(t, table.Put(t.Context(), rows...))
	var keys []string
	l.hears(t, "of all rows", func(hints [][]string) bool {
		set := map[string]bool{}
		for _, hint := range hints {
			if len(hint) == 0 {
				t.Skip("the changes of this store have no keys")
			}
			for _, key := range hint {
				set[key] = true
			}
		}
		keys = slices.Sorted(maps.Keys(set))
		return len(keys) >= len(rows)
	})
	return keys
}

func (s *suite) testKeys(t *testing.T) {
	table, q, l := s.watched(t, customers(200)...)
	changed := customers(150)[50:]
	q.Keys = s.keysOf(t, l, table, changed...)
	got := s.mustReadWhile(t, q)
	exactlyOnce(t, got, changed)
	if len(got.rows) != len(changed) {
		t.Errorf("%d rows, want %d", len(got.rows), len(changed))
	}
	if diff := cmp.Diff("changed", got.values("plan")["customer-00077"]); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	q.Keys = q.Keys[:1]
	q.Columns = []string{"name"}
	if got := s.mustReadWhile(t, q); len(got.rows) != 1 || got.rows[0].Values["name"] != "customer-00050" {
		t.Errorf("one key read %v, want customer-00050", got.names())
	}
}

func (s *suite) testKeysGone(t *testing.T) {
	table, q, l := s.watched(t, customers(3)...)
	q.Keys = s.keysOf(t, l, table, customers(2)...)
	must(t, table.Remove(t.Context(), "customer-00000"))
	if diff := cmp.Diff([]string{"customer-00001"}, s.mustReadWhile(t, q).names()); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

// testKeysQuoted reads a key that would end any text that is not quoted as it should be.
func (s *suite) testKeysQuoted(t *testing.T) {
	if !s.sql() {
		t.Skip("the keys of this store are no part of a text")
	}
	strange := `o'hara "the \ great", {1}, ünï`
	table := s.newTable(t, database.TableOptions{}, append(customers(3), map[string]any{"name": strange, "domain": "strange.example.net"})...)
	q := table.Query()
	q.SQL.Query += ";\n"
	q.Keys = []string{strange, `customer-00001`, `' OR ''='`, `") OR (1=1`}
	if diff := cmp.Diff([]string{"customer-00001", strange}, s.mustReadWhile(t, q).names()); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

// testKeysHidden narrows the query to what is not there.
func (s *suite) testKeysHidden(t *testing.T) {
	table, q, l := s.watched(t, customers(3)...)
	q.Keys = s.keysOf(t, l, table, customers(2)...)
	switch {
	case s.sql():
		q.SQL.Query += " WHERE name <> 'customer-00000'"
	case s.is(mapping.MongoDB):
		q.MongoDB.Filter = `{"name": {"$ne": "customer-00000"}}`
	case s.is(mapping.DynamoDB):
		q.DynamoDB.Filter = "slug <> :slug"
		q.DynamoDB.Values = map[string]any{":slug": "customer-00000"}
	default:
		t.Skip("the query of Redis is a pattern of keys, and so is its stream")
	}
	if diff := cmp.Diff([]string{"customer-00001"}, s.mustReadWhile(t, q).names()); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

func (s *suite) testBurst(t *testing.T) {
	table, _, l := s.watched(t)
	start := time.Now()
	must(t, table.Put(t.Context(), customers(burst)...))
	// A hint that names no rows tells of those before it: the last row comes after all others.
	must(t, table.Put(t.Context(), map[string]any{"name": "last", "domain": "last.example.net"}))
	told := map[string]bool{}
	hints := l.hears(t, "of all rows, or of any", func(hints [][]string) bool {
		clear(told)
		for _, hint := range hints {
			if len(hint) == 0 {
				return true
			}
			for _, key := range hint {
				told[key] = true
			}
		}
		return len(told) > burst
	})
	if most := int(time.Since(start).Seconds()*mostHints) + mostHints; len(hints) > most {
		t.Errorf("%d hints, want %d at most", len(hints), most)
	}
	for _, hint := range hints {
		if len(hint) > mostKeys {
			t.Errorf("a hint names %d rows, want %d at most", len(hint), mostKeys)
		}
	}
}

func (s *suite) testListenCancelled(t *testing.T) {
	table, _, l := s.watched(t, customers(3)...)
	l.cancel()
	l.ends(t, table, fault.Transient)
	if !errors.Is(l.err, context.Canceled) {
		t.Errorf("got %v, want that the context was cancelled", l.err)
	}
	must(t, table.Put(t.Context(), customers(4)...))
	if len(l.hints) > 0 {
		t.Errorf("the listener told of %v after its end", l.hints)
	}
}

func (s *suite) testListenEnded(t *testing.T) {
	_, q, _ := s.watched(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := s.hints.Listen(ctx, q, &listener{ready: make(chan struct{})})
	noSecret(t, err)
	wantFault(t, err, fault.Transient)
}

func (s *suite) testStreamCut(t *testing.T) {
	table, _, l := s.watched(t, customers(3)...)
	table.Wire().CutAfter(0)
	l.ends(t, table, fault.Transient)
	must(t, table.Wire().Heal())
}

func (s *suite) testStreamDown(t *testing.T) {
	table, q, l := s.watched(t, customers(3)...)
	table.Wire().Refuse()
	l.ends(t, table, fault.Transient)
	l = s.listen(t, q)
	l.ends(t, table, fault.Transient)
	must(t, table.Wire().Heal())
	l = s.listen(t, q)
	l.becomesReady(t)
	must(t, table.Put(t.Context(), customers(4)[3]))
	l.next(t, 0, "the change after the server was down")
}

func (s *suite) testListenRevoked(t *testing.T) {
	table := s.newTable(t, database.TableOptions{}, customers(3)...)
	q, err := table.Watch(t.Context())
	must(t, err)
	must(t, table.Revoke(t.Context()))
	l := s.listen(t, q)
	select {
	case <-l.ended:
		noSecret(t, l.err)
		wantFault(t, l.err, fault.Denied)
	case <-l.ready:
		if !s.is(mapping.Postgres) { // where every user may LISTEN, and only the reads are denied
			t.Error("the listener became ready")
		}
	case <-time.After(soon):
		t.Fatal("the listener did not end")
	}
}

func (s *suite) testListenConcurrent(t *testing.T) {
	for range 3 {
		table, _, l := s.watched(t)
		for range 2 {
			must(t, table.Put(t.Context(), customers(1)...))
			l.next(t, 0, "the change")
		}
	}
}

func (s *suite) testListenRefused(t *testing.T, connection string) {
	q := s.anyQuery(connection)
	q.Watch = &mapping.Watch{Channel: "customers", Query: "SELECT 1 AS name"}
	err := s.hints.Listen(t.Context(), q, &listener{ready: make(chan struct{})})
	noSecret(t, err)
	wantFault(t, err, fault.Invalid)
	if code := fault.CodeOf(err); !strings.EqualFold(code, mapping.CodeConnectionString) {
		t.Errorf("the code is %q, want %s: %v", code, mapping.CodeConnectionString, err)
	}
}
