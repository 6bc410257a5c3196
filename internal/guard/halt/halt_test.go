package halt_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/halt"
)

// Writes continue when the last cause is cleared, and every object is woken once for each change.
func TestCausesAreSetAndCleared(t *testing.T) {
	t.Parallel()
	s, ctx := halt.New(), t.Context()
	var seen []*chain.Halt
	s.OnChange(func(context.Context) { seen = append(seen, s.Now()) })
	s.Clear(ctx, "Frozen")
	s.Set(ctx, "Frozen", "Frozen by a person.")
	s.Set(ctx, "Frozen", "Frozen by a person.")
	s.Set(ctx, "ClusterMoved", "Another cluster.")
	if d := cmp.Diff([]halt.Cause{"ClusterMoved", "Frozen"}, s.Causes()); d != "" {
		t.Errorf("causes (-want +got):\n%s", d)
	}
	s.Clear(ctx, "Frozen")
	s.Set(ctx, "ClusterMoved", "A third cluster.")
	s.Clear(ctx, "ClusterMoved")
	want := []*chain.Halt{
		{Reason: "Frozen", Message: "Frozen by a person."},
		{Reason: "ClusterMoved", Message: "Another cluster. Frozen by a person."},
		{Reason: "ClusterMoved", Message: "Another cluster."},
		{Reason: "ClusterMoved", Message: "A third cluster."},
		nil,
	}
	if d := cmp.Diff(want, seen); d != "" {
		t.Errorf("what those who are woken find (-want +got):\n%s", d)
	}
}

func TestABatchIsConfirmedOnlyWhileNothingHalts(t *testing.T) {
	t.Parallel()
	s, other := halt.New(), errors.New("another replica leads")
	confirm := s.Confirm(func(context.Context) error { return other })
	if err := confirm(t.Context()); !errors.Is(err, other) {
		t.Errorf("without a cause the answer is %v", err)
	}
	if err := s.Confirm(nil)(t.Context()); err != nil {
		t.Errorf("without a cause, and with no other question: %v", err)
	}
	s.Set(t.Context(), "Frozen", "Frozen by a person.")
	if err := confirm(t.Context()); err == nil || err.Error() != "Frozen by a person." {
		t.Errorf("while halted the answer is %v", err)
	}
}

// Where no switch was made, nothing halts.
func TestNoSwitchNeverHalts(t *testing.T) {
	t.Parallel()
	var s *halt.Switch
	s.OnChange(func(context.Context) {})
	if s.Now() != nil || s.Causes() != nil || s.Confirm(nil)(t.Context()) != nil {
		t.Error("no switch halts")
	}
}
