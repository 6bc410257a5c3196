package store_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
)

// told keeps hints.
type told struct{ hints [][]string }

func (t *told) Ready()              {}
func (t *told) Hint(keys ...string) { t.hints = append(t.hints, keys) }

func TestHinter(t *testing.T) {
	for name, tt := range map[string]struct {
		// add runs for a second at most.
		add  func(*store.Hinter)
		want [][]string
	}{
		"nothing is told without a change": {func(*store.Hinter) {}, nil},
		"changes that come together are one hint, in order": {
			func(h *store.Hinter) { h.Add("b"); h.Add("a"); h.Add("b") }, [][]string{{"a", "b"}},
		},
		"changes that come later are another": {
			func(h *store.Hinter) { h.Add("a"); time.Sleep(200 * time.Millisecond); h.Add("a", "b") }, [][]string{{"a"}, {"a", "b"}},
		},
		"a change without a key makes the hint one of any row": {
			func(h *store.Hinter) { h.Add("a"); h.Add(); h.Add("b"); time.Sleep(200 * time.Millisecond); h.Add("c") }, [][]string{nil, {"c"}},
		},
		"too many keys to name are any row": {
			func(h *store.Hinter) {
				for i := range store.MostKeys + 1 {
					h.Add(fmt.Sprint(i))
				}
				h.Add("one more")
			}, [][]string{nil},
		},
		"nothing is told after the end": {func(h *store.Hinter) { h.Add("a"); h.Close(); h.Add("b") }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sink := &told{}
				h := store.NewHinter(sink)
				tt.add(h)
				time.Sleep(time.Second)
				h.Close()
				if diff := cmp.Diff(tt.want, sink.hints); diff != "" {
					t.Errorf("hints (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestABusyTableCostsTenHintsASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &told{}
		h := store.NewHinter(sink)
		defer h.Close()
		for i := range 10_000 {
			h.Add(fmt.Sprint(i % 10))
			time.Sleep(time.Millisecond)
		}
		if len(sink.hints) < 90 || len(sink.hints) > 100 {
			t.Errorf("%d hints in 10 seconds, want 10 a second", len(sink.hints))
		}
	})
}
