package store_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"
)

// world is a store that takes all rows of a call or none.
type world struct {
	refuses map[string]*fault.Error
	// takes is how long a call that is refused takes.
	takes time.Duration

	rows  []string
	calls int
}

func (w *world) put(changes []statetable.Change) error {
	w.calls++
	for _, c := range changes {
		if failure := w.refuses[c.Row.Key]; failure != nil {
			time.Sleep(w.takes)
			return fmt.Errorf("putting: %w", failure)
		}
	}
	for _, c := range changes {
		w.rows = append(w.rows, c.Row.Key)
	}
	return nil
}

func keyed(n int) []statetable.Change {
	changes := make([]statetable.Change, n)
	for i := range changes {
		changes[i].Row.Key = fmt.Sprintf("%04d", i)
	}
	return changes
}

// refuses has the same answer for some rows.
func refuses(failure *fault.Error, keys ...int) map[string]*fault.Error {
	all := map[string]*fault.Error{}
	for _, key := range keys {
		all[fmt.Sprintf("%04d", key)] = failure
	}
	return all
}

func numbers(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

func TestWrite(t *testing.T) {
	invalid, locked := &fault.Error{Kind: fault.Invalid, Code: "22001"}, &fault.Error{Kind: fault.Transient, Code: "55P03"}
	for name, tt := range map[string]struct {
		changes int
		refuses map[string]*fault.Error
		// refused are how many rows are, and written how many are in the store then.
		refused, written int
		fails            bool
		mostCalls        int
	}{
		"nothing to write":                           {0, nil, 0, 0, false, 1},
		"all at once":                                {1000, nil, 0, 1000, false, 1},
		"one bad row":                                {1000, refuses(invalid, 700), 1, 999, false, 25},
		"a bad row alone":                            {1, refuses(invalid, 0), 1, 0, false, 1},
		"the first and the last":                     {1000, refuses(invalid, 0, 999), 2, 998, false, 45},
		"a row that is locked":                       {100, refuses(locked, 50), 1, 99, false, 20},
		"a conflict":                                 {10, refuses(&fault.Error{Kind: fault.Conflict, Code: "x"}, 5), 1, 9, false, 10},
		"many bad rows among good ones":              {100, refuses(invalid, numbers(100)[50:]...), 50, 50, false, 200},
		"only bad rows are a failure of the table":   {1000, refuses(invalid, numbers(1000)...), 21, 0, true, 60},
		"a few bad rows, and no good ones":           {20, refuses(invalid, numbers(20)...), 20, 0, false, 40},
		"rights that are missing end it":             {1000, refuses(&fault.Error{Kind: fault.Denied, Code: "42501"}, 999), 0, 0, true, 1},
		"a full disk ends it":                        {1000, refuses(&fault.Error{Kind: fault.Quota, Code: "53100"}, 999), 0, 0, true, 1},
		"a connection that is lost ends it":          {1000, refuses(&fault.Error{Kind: fault.Transient}, 999), 0, 0, true, 1},
		"a connection that is lost after a bad row":  {4, map[string]*fault.Error{"0000": invalid, "0002": {Kind: fault.Transient}}, 1, 1, true, 5},
		"a throttle ends it":                         {10, refuses(&fault.Error{Kind: fault.Throttled, Code: "x"}, 5), 0, 0, true, 1},
		"a table that disappears in the midst is it": {10, refuses(&fault.Error{Kind: fault.NotFound, Code: "42P01"}, 9), 0, 0, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{refuses: tt.refuses}
			refused, err := store.Write(keyed(tt.changes), w.put)
			if (err != nil) != tt.fails || len(refused) != tt.refused || len(w.rows) != tt.written {
				t.Errorf("%d refusals, %d rows, and %v; want %d, %d and a failure: %v", len(refused), len(w.rows), err, tt.refused, tt.written, tt.fails)
			}
			if w.calls > tt.mostCalls {
				t.Errorf("%d calls, want at most %d", w.calls, tt.mostCalls)
			}
			for _, r := range refused {
				if want := tt.refuses[r.Key]; !errors.Is(r.Failure, want) {
					t.Errorf("%s was refused with %v, want %v", r.Key, r.Failure, want)
				}
			}
		})
	}
}

func TestAnErrorWithoutAKindEndsAWrite(t *testing.T) {
	bad := errors.New("a fault of our own")
	if _, err := store.Write(keyed(2), func([]statetable.Change) error { return bad }); !errors.Is(err, bad) {
		t.Errorf("got %v", err)
	}
}

// Each change is in the store or refused, and no other than the refused ones were bad.
func TestEachChangeIsWrittenOrRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 200).Draw(t, "changes")
		bad := rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 0, min(n, 20), rapid.ID).Draw(t, "bad")
		w := &world{refuses: refuses(&fault.Error{Kind: fault.Invalid, Code: "23514"}, bad...)}
		refused, err := store.Write(keyed(n), w.put)
		if err != nil {
			t.Fatal(err)
		}
		all := slices.Clone(w.rows)
		for _, r := range refused {
			all = append(all, r.Key)
			if w.refuses[r.Key] == nil {
				t.Errorf("%s was refused", r.Key)
			}
		}
		var want []string
		for _, c := range keyed(n) {
			want = append(want, c.Row.Key)
		}
		if diff := cmp.Diff(want, slices.Sorted(slices.Values(all))); diff != "" {
			t.Errorf("written or refused (-want +got):\n%s", diff)
		}
	})
}

// A row that is locked costs a wait in each half that has it. When the time to search is over, its neighbours count as refused, too.
func TestASearchEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{refuses: refuses(&fault.Error{Kind: fault.Transient, Code: "55P03"}, 100, 500, 900), takes: store.RowLockTimeout}
		start := time.Now()
		refused, err := store.Write(keyed(1000), w.put)
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took > store.WriteTimeout/2 {
			t.Errorf("it took %s", took)
		}
		if len(refused)+len(w.rows) != 1000 || len(w.rows) < 300 {
			t.Errorf("%d rows were written, and %d refused", len(w.rows), len(refused))
		}
	})
}
