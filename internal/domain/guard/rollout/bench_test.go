package rollout_test

import (
	"fmt"
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/rollout"
)

// BenchmarkAdvance is one look at a large fleet in which a change has begun.
func BenchmarkAdvance(b *testing.B) {
	const tenants, applied = 50_000, 100
	members := make([]rollout.Member, tenants)
	for i := range members {
		name := fmt.Sprintf("customer-%05d", i)
		members[i] = rollout.Member{Name: name, UID: "uid-of-" + name, State: rollout.Waiting}
		if i < applied {
			members[i].State = rollout.Applied
		}
	}
	for b.Loop() {
		if r := rollout.Advance(epoch, "revision", members, rollout.Limits{MaxConcurrent: 10, MaxFailedPercent: 10}, rollout.Progress{}); len(r.Release) != 10 {
			b.Fatalf("%d are released", len(r.Release))
		}
	}
}
