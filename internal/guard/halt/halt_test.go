package halt_test

import (
	"context"
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

// Where no switch was made, nothing halts.
func TestNoSwitchNeverHalts(t *testing.T) {
	t.Parallel()
	var s *halt.Switch
	s.OnChange(func(context.Context) {})
	if s.Now() != nil || s.Causes() != nil {
		t.Error("no switch halts")
	}
}
