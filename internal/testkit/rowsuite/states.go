package rowsuite

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
)

// manyStates are more rows than one statement writes.
const manyStates = 1000

// fewStates are more rows than FerretDB has connections to its own database, and as many as it writes soon: it looks through
// all documents for each row.
const fewStates = 120

// RunStates runs the tests of what writes state tables.
func RunStates(t *testing.T, rows port.Rows, states port.States, engine *database.Engine) {
	t.Helper()
	s := &suite{rows: rows, states: states, engine: engine}
	s.newTable(t, database.TableOptions{}, customers(1)...) // the owner of the engine connects
	s.run(t, "states", map[string]func(*testing.T){
		"rows arrive with all values":                            s.testStateValues,
		"whatever a row says, it reads back the same":            s.testStateTexts,
		"keys are compared byte by byte":                         s.testStateKeys,
		"the same write again changes nothing":                   s.testStateTwice,
		"a lower version never replaces a higher one":            s.testStateVersions,
		"a removal takes no row of a higher version":             s.testStateRemoval,
		"rows of another source stay as they are, byte for byte": s.testStateForeign,
		"of two writers at once the highest version stays":       s.testStateRace,
		"a thousand rows arrive in one call":                     s.testStateMany,
		"a write that is interrupted and repeated is complete":   s.testStateInterrupted,
		"a user without rights is told which are missing":        s.testStateRights,
	})
	if s.sql() {
		s.run(t, "states in SQL", s.statesInSQL())
	}
}

func (s *suite) newStates(t *testing.T) *database.StateTable {
	t.Helper()
	table, err := s.engine.NewStateTable(t.Context())
	must(t, err)
	t.Cleanup(table.Close)
	return table
}

var stateTime = time.Date(2026, 11, 29, 10, 20, 30, 0, time.UTC)

// state is a row as most are.
func state(to statetable.Target, key string, version int64) statetable.Row {
	return statetable.Row{
		Source: to.Source, Key: key, Namespace: "customers", Name: "tenant-" + strconv.FormatInt(version, 10), State: "Ready", Ready: true,
		Reason: "Ready", Message: "all domains are served", Domains: `[{"domain":"www.example.com","state":"Ready"}]`,
		DNSTarget: "d111.cloudfront.net", TenantID: "dt_1", CertificateExpires: stateTime.AddDate(1, 0, 0), Generation: 7, Revision: "rev-1",
		Since: stateTime.Add(-time.Hour), Version: version, Updated: stateTime,
	}
}

func upserts(rows ...statetable.Row) []statetable.Change {
	changes := make([]statetable.Change, len(rows))
	for i, row := range rows {
		changes[i].Row = row
	}
	return changes
}

func removal(row statetable.Row) statetable.Change { return statetable.Change{Row: row, Remove: true} }

// write writes, and looks at what every write has to leave: no secret in a failure, no connection.
func (s *suite) write(t *testing.T, table *database.StateTable, to statetable.Target, changes ...statetable.Change) ([]statetable.Refusal, error) {
	t.Helper()
	return s.writeUnder(t.Context(), t, table, to, changes)
}

func (s *suite) writeUnder(ctx context.Context, t *testing.T, table *database.StateTable, to statetable.Target, changes []statetable.Change) ([]statetable.Refusal, error) {
	t.Helper()
	refused, err := s.states.Write(ctx, to, changes)
	noSecret(t, err)
	for _, r := range refused {
		noSecret(t, r.Failure)
	}
	noConnection(t, table.Table)
	return refused, err
}

// mustStates writes what nothing is wrong with.
func (s *suite) mustStates(t *testing.T, table *database.StateTable, to statetable.Target, changes ...statetable.Change) {
	t.Helper()
	refused, err := s.write(t, table, to, changes...)
	must(t, err)
	for _, r := range refused {
		t.Fatalf("the row %q was refused: %v", r.Key, r.Failure)
	}
}

// wantStates reads the rows of a source back.
func (s *suite) wantStates(t *testing.T, table *database.StateTable, to statetable.Target, want ...statetable.Row) {
	t.Helper()
	found := map[string]mapping.Row{}
	for _, row := range s.mustRead(t, table.Table, to.Reading(s.engine.Provider())).rows {
		if source := row.Values[statetable.ColumnSource]; source != to.Source {
			t.Errorf("there is a row of the source %v among those of %s", source, to.Source)
		}
		if _, ok := found[statetable.KeyOf(row)]; ok {
			t.Errorf("the row %q is there twice", statetable.KeyOf(row))
		}
		found[statetable.KeyOf(row)] = row
	}
	if len(found) != len(want) {
		t.Errorf("%d rows, want %d", len(found), len(want))
	}
	for _, row := range want {
		got, ok := found[row.Key]
		switch {
		case !ok:
			t.Errorf("the row %q is not there", row.Key)
		case statetable.DigestOf(got) != row.Digest():
			t.Errorf("the row %q reads back as %v, want %v", row.Key, got.Values, row)
		case statetable.VersionOf(got) != row.Version:
			t.Errorf("the row %q has the version %d, want %d", row.Key, statetable.VersionOf(got), row.Version)
		case statetable.IsGone(got) != (row.State == statetable.Gone):
			t.Errorf("the row %q is gone: %v, want the opposite", row.Key, statetable.IsGone(got))
		}
	}
}

// raw are the rows as the owner sees them, in an order.
func raw(t *testing.T, table *database.StateTable) []map[string]string {
	t.Helper()
	rows, err := table.Rows(t.Context())
	must(t, err)
	slices.SortFunc(rows, func(a, b map[string]string) int {
		return cmp.Or(cmp.Compare(a[statetable.ColumnSource], b[statetable.ColumnSource]), cmp.Compare(a[statetable.ColumnKey], b[statetable.ColumnKey]))
	})
	return rows
}

// same compares all rows of the table with what they were.
func same(t *testing.T, table *database.StateTable, before []map[string]string) {
	t.Helper()
	if diff := gocmp.Diff(before, raw(t, table)); diff != "" {
		t.Errorf("the table changed (-before +after):\n%s", diff)
	}
}

func (s *suite) testStateValues(t *testing.T) {
	table := s.newStates(t)
	to := table.Target("cluster/ns/source")
	full, bare := state(to, "acme", 12), statetable.Row{Source: to.Source, Key: "bare", State: statetable.Gone, Domains: "[]", Version: 1, Updated: stateTime}
	s.mustStates(t, table, to, upserts(full, bare)...)
	s.wantStates(t, table, to, full, bare)
	if found, err := table.RowsOf(t.Context(), to.Source, bare.Key, "unknown"); err != nil || len(found) != 1 || found[0][statetable.ColumnKey] != bare.Key {
		t.Errorf("of the key %s: %v, %v", bare.Key, found, err)
	}
	rows := raw(t, table)
	if len(rows) != 2 {
		t.Fatalf("%d rows, want 2", len(rows))
	}
	for i, row := range []statetable.Row{full, bare} {
		wantRaw(t, rows[i], row)
	}
}

// wantRaw compares texts and numbers with those that the owner sees.
func wantRaw(t *testing.T, got map[string]string, row statetable.Row) {
	t.Helper()
	for i, c := range statetable.Columns {
		value := row.Values()[i]
		found, there := got[c.Name]
		switch v := value.(type) {
		case string:
			if c.Kind != statetable.JSON && found != v {
				t.Errorf("%s of %s is %q, want %q", c.Name, row.Key, found, v)
			}
		case int64:
			if found != strconv.FormatInt(v, 10) {
				t.Errorf("%s of %s is %s, want %d", c.Name, row.Key, found, v)
			}
		case time.Time:
			if there == v.IsZero() {
				t.Errorf("%s of %s is there: %v, want it to be there: %v", c.Name, row.Key, there, !v.IsZero())
			}
		}
	}
}

// oddTexts are those that statements, encodings and patterns like to break.
var oddTexts = map[string]string{
	"nothing": "", "quotes": `'"` + "`" + `''""`, "backslashes": `\ \\ \' \n \0 \x00 \u0041`, "lines": "a\nb\r\nc\td",
	"placeholders": "$1 $2 ? :name %s %d @x {} ${x}", "comments": "-- x /* y */ # z; DROP TABLE customers", "letters": "zürich ǅ İ ß 東京",
	"emoji": "😀 👩‍👩‍👧‍👦 🇪🇺", "combining": "e\u0301 \u00e9", "right to left": "\u202eabc\u202c", "patterns": "* ? [a-z] _ %", "markup": "<b>&amp;</b>",
	"a number": "007", "a word": "null", "true": "true", "zero": "0", "a document": `{"a": [1, 2]}`, "a time": "2026-11-29T10:20:30Z",
	"long": strings.Repeat("a long message, ", 2000),
}

var oddDomains = map[string]string{
	"none": "[]", "an order of names": `[{"z":1,"a":{"y":[true,null,1.5,"x"],"b":-7}}]`, "spaces": "[ {\n \"domain\" : \"a.example\" } ]",
	"escapes": `[{"message":"a \"b\" \\ \n <&> \u00e9 \ud83d\ude00 /"}]`, "long": "[" + strings.Repeat(`{"domain":"a.example","state":"Ready"},`, 2000) + "{}]",
}

func (s *suite) testStateTexts(t *testing.T) {
	table := s.newStates(t)
	to := table.Target(`cluster/ns/o'dd "source" \ % 😀`)
	var rows []statetable.Row
	for name, text := range oddTexts {
		row := state(to, "text: "+name, 1)
		row.Namespace, row.Name, row.State, row.Reason, row.Message, row.DNSTarget, row.TenantID, row.Revision = text, text, text, text, text, text, text, text
		rows = append(rows, row)
		if text != "" && len(text) < statetable.LongestID {
			rows = append(rows, state(to, text, 1))
		}
	}
	for name, domains := range oddDomains {
		row := state(to, "domains: "+name, 1)
		row.Domains = domains
		rows = append(rows, row)
	}
	elsewhere := state(to, "a time of another zone, with a fraction", 1)
	elsewhere.Since = elsewhere.Since.Add(999 * time.Millisecond).In(time.FixedZone("", 5*3600))
	far := state(to, "far numbers", math.MaxInt64)
	far.Generation, far.Ready, far.CertificateExpires, far.Since = math.MaxInt64, false, time.Time{}, time.Time{}
	rows = append(rows, elsewhere, far, state(to, strings.Repeat("k", statetable.LongestID), 1), state(to, strings.Repeat("😀", statetable.LongestID), 1))
	s.mustStates(t, table, to, upserts(rows...)...)
	s.wantStates(t, table, to, rows...)
	byKey := map[string]statetable.Row{}
	for _, row := range rows {
		byKey[row.Key] = row
	}
	for _, got := range raw(t, table) {
		wantRaw(t, got, byKey[got[statetable.ColumnKey]])
	}
}

func (s *suite) testStateKeys(t *testing.T) {
	table := s.newStates(t)
	to := table.Target("source")
	var rows []statetable.Row
	for _, key := range []string{"acme", "Acme", "ACME", "acmé", "acme\u0301", "acme-1", "acme_1", "a%", "7", "07"} {
		rows = append(rows, state(to, key, 1))
	}
	s.mustStates(t, table, to, upserts(rows...)...)
	s.wantStates(t, table, to, rows...)
	s.mustStates(t, table, to, removal(rows[1]), removal(rows[8]))
	s.wantStates(t, table, to, slices.Concat(rows[:1], rows[2:8], rows[9:])...)
}

func (s *suite) testStateTwice(t *testing.T) {
	table := s.newStates(t)
	to := table.Target("source")
	changes := append(upserts(state(to, "a", 1), state(to, "b", 2)), removal(state(to, "c", 3)))
	s.mustStates(t, table, to, changes...)
	before := raw(t, table)
	s.mustStates(t, table, to, changes...)
	same(t, table, before)
	s.mustStates(t, table, to)
	same(t, table, before)
}

func (s *suite) testStateVersions(t *testing.T) {
	const exact = 1<<53 + 1 // the first that a float does not hold
	for name, versions := range map[string][3]int64{
		"small": {9, 10, 11}, "neighbours that a float takes for one": {exact - 1, exact, exact + 1}, "the highest": {math.MaxInt64 - 2, math.MaxInt64 - 1, math.MaxInt64},
	} {
		t.Run(name, func(t *testing.T) {
			table := s.newStates(t)
			to := table.Target("source")
			there := state(to, "key", versions[1])
			s.mustStates(t, table, to, upserts(there)...)
			before := raw(t, table)
			late := state(to, "key", versions[0])
			late.State, late.Updated = "Stale", stateTime.Add(time.Hour)
			s.mustStates(t, table, to, upserts(late, state(to, "other", 1))...)
			same(t, table, append(before, raw(t, table)[1:]...))
			again := there
			again.State = statetable.Gone
			s.mustStates(t, table, to, upserts(again)...)
			s.wantStates(t, table, to, again, state(to, "other", 1))
			next := state(to, "key", versions[2])
			s.mustStates(t, table, to, upserts(next)...)
			s.wantStates(t, table, to, next, state(to, "other", 1))
		})
	}
}

func (s *suite) testStateRemoval(t *testing.T) {
	table := s.newStates(t)
	to := table.Target("source")
	s.mustStates(t, table, to, upserts(state(to, "lower", 10), state(to, "equal", 10), state(to, "higher", 10), state(to, "kept", 10))...)
	s.mustStates(t, table, to, removal(state(to, "lower", 9)), removal(state(to, "equal", 10)), removal(state(to, "higher", 11)), removal(state(to, "never there", 1)))
	s.wantStates(t, table, to, state(to, "lower", 10), state(to, "kept", 10))
}

// testStateForeign has sources whose names have each other in them, or would be patterns.
func (s *suite) testStateForeign(t *testing.T) {
	table := s.newStates(t)
	to := table.Target("cluster/ns/source*")
	for _, other := range []string{"cluster/ns/source", "cluster/ns/source*2", "cluster/ns/Source*", "cluster/ns/source%", "cluster/ns/source*:a", "other"} {
		foreign := table.Target(other)
		s.mustStates(t, table, foreign, upserts(state(foreign, "a", 1), state(foreign, "b", 1), state(foreign, "a:b", 1))...)
	}
	before := raw(t, table)
	s.mustStates(t, table, to, upserts(state(to, "a", 5), state(to, "b", 5), state(to, "c", 5))...)
	s.wantStates(t, table, to, state(to, "a", 5), state(to, "b", 5), state(to, "c", 5))
	s.mustStates(t, table, to, removal(state(to, "a", 6)), removal(state(to, "b", 6)), removal(state(to, "c", 6)), removal(state(to, "a:b", 6)))
	s.wantStates(t, table, to)
	same(t, table, before)
}

// testStateRace has a former leader that continues to write.
func (s *suite) testStateRace(t *testing.T) {
	const keys, last = 20, 20
	table := s.newStates(t)
	to := table.Target("source")
	rows := func(version int64) (all []statetable.Row) {
		for key := range keys {
			all = append(all, state(to, fmt.Sprintf("key-%02d", key), version))
		}
		return all
	}
	var writers sync.WaitGroup
	for first := range int64(2) {
		writers.Go(func() {
			for version := first + 1; version <= last; version += 2 {
				changes := upserts(rows(version)...)
				if first == 0 {
					slices.Reverse(changes)
				}
				s.untilTaken(t, to, changes)
			}
		})
	}
	writers.Wait()
	s.wantStates(t, table, to, rows(last)...)
}

// untilTaken repeats a write as long as locks of others are in its way.
func (s *suite) untilTaken(t *testing.T, to statetable.Target, changes []statetable.Change) {
	t.Helper()
	const tries = 10
	for range tries {
		refused, err := s.states.Write(t.Context(), to, changes)
		if err != nil {
			t.Errorf("writing: %v", err)
			return
		}
		if len(refused) == 0 {
			return
		}
		for _, r := range refused {
			if r.Failure.Kind != fault.Transient {
				t.Errorf("the row %q was refused: %v", r.Key, r.Failure)
				return
			}
		}
	}
	t.Errorf("rows were refused %d times", tries)
}

func manyRows(to statetable.Target, version int64) []statetable.Row {
	rows := make([]statetable.Row, manyStates)
	if to.MongoDB.Database != "" {
		rows = rows[:fewStates]
	}
	for i := range rows {
		rows[i] = state(to, fmt.Sprintf("customer-%05d", i), version)
	}
	return rows
}

func (s *suite) testStateMany(t *testing.T) {
	table := s.newStates(t)
	to := table.Target("source")
	s.mustStates(t, table, to, upserts(manyRows(to, 1)...)...)
	s.wantStates(t, table, to, manyRows(to, 1)...)
	s.mustStates(t, table, to, upserts(manyRows(to, 2)...)...)
	s.wantStates(t, table, to, manyRows(to, 2)...)
}

func (s *suite) testStateInterrupted(t *testing.T) {
	table := s.newStates(t)
	to := table.Target("source")
	s.mustStates(t, table, to, upserts(manyRows(to, 1)...)...)
	before, version := table.Wire().Sent(), int64(2)
	s.mustStates(t, table, to, upserts(manyRows(to, version)...)...)
	total := table.Wire().Sent() - before
	for name, interrupt := range map[string]func(int64){"cut": table.Wire().CutAfter, "cancelled": table.Wire().HangAfter} {
		for _, percent := range []int64{0, 30, 70, 85} {
			t.Run(fmt.Sprintf("%s after %d percent of the answers", name, percent), func(t *testing.T) {
				version++
				changes := upserts(manyRows(to, version)...)
				interrupt(total * percent / 100)
				ctx, cancel := context.WithTimeout(t.Context(), 700*time.Millisecond)
				defer cancel()
				_, err := s.writeUnder(ctx, t, table, to, changes)
				// How often the driver of MongoDB asks for the state of the server differs, so all answers may have come.
				if err != nil || s.engine.Provider() != mapping.MongoDB {
					wantFault(t, err, fault.Transient)
				}
				must(t, table.Wire().Heal())
				s.untilTaken(t, to, changes)
				s.wantStates(t, table, to, manyRows(to, version)...)
			})
		}
	}
}

func (s *suite) testStateRights(t *testing.T) {
	table := s.newStates(t)
	to := table.Target("source")
	there := state(to, "key", 1)
	s.mustStates(t, table, to, upserts(there)...)
	before := raw(t, table)
	for name, rights := range map[string]database.Rights{"no rights": database.NoRights, "only to read": database.ReadRights} {
		t.Run(name, func(t *testing.T) {
			must(t, table.Permit(t.Context(), rights))
			for what, change := range map[string]statetable.Change{"writing": upserts(state(to, "key", 2))[0], "removing": removal(there)} {
				refused, err := s.write(t, table, to, change)
				if len(refused) > 0 {
					t.Errorf("%s: rows were refused, and not the table: %v", what, refused)
				}
				wantFault(t, err, fault.Denied, fault.NotFound)
				if s.sql() && !strings.Contains(strings.ToUpper(err.Error()), "GRANT") {
					t.Errorf("%s: the message does not say what to grant: %v", what, err)
				}
			}
			same(t, table, before)
		})
	}
	must(t, table.Permit(t.Context(), database.WriteRights))
	s.mustStates(t, table, to, removal(there))
	s.wantStates(t, table, to)
}
