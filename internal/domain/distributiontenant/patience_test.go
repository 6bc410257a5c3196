package distributiontenant_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/retry"
)

// A failure on the same generation delays everything that would cost calls, until it is due.
func TestPatience(t *testing.T) {
	// Failing for a minute, last tried ten seconds ago: due again 1 m 20 s after the start.
	waiting := failing(now.Add(-time.Minute), now.Add(-10*time.Second))
	held := distributiontenant.Rest{After: 20 * time.Second, KeepConditions: true}
	tests := map[string]question{
		"a write waits":                               {in: with(quiet(), drifted, waiting), rule: "InSync", step: held},
		"a create waits":                              {in: with(unborn(), waiting), rule: "TenantPresent", step: held},
		"looking for what may not exist waits":        {in: with(unborn(), marked(time.Hour), waiting), rule: "LookedUp", step: held},
		"looking at a tenant that is there does not":  {in: with(quiet(), listed, movedETag, waiting), rule: "Fresh", step: distributiontenant.Look{At: distributiontenant.LookTenant}},
		"letting go does not":                         {in: with(dying(), absent, waiting), rule: "Gone", step: distributiontenant.LetGo{}},
		"putting the finalizer back does not":         {in: with(quiet(), waiting, func(in *distributiontenant.Input) { in.HasFinalizer = false }), rule: "Finalized", step: distributiontenant.EnsureFinalizer{}},
		"a changed spec is tried at once":             {in: with(quiet(), drifted, waiting, edited), rule: "InSync", step: distributiontenant.Update{ID: tenantID, ETag: "E-1", Tenant: target(quiet())}},
		"a person who asks is not made to wait":       {in: with(unborn(), waiting, func(in *distributiontenant.Input) { in.Nudged = true }), rule: "TenantPresent", step: distributiontenant.Decide(unborn()).Step},
		"what is due is tried":                        {in: with(unborn(), failing(now.Add(-time.Minute), now.Add(-40*time.Second))), rule: "TenantPresent", step: distributiontenant.Decide(unborn()).Step},
		"a fresh process keeps to the old schedule":   {in: with(unborn(), failing(now.Add(-time.Minute), time.Time{})), rule: "TenantPresent", step: held},
		"a failure since the future is tried in time": {in: with(unborn(), failing(now.Add(24*time.Hour), now)), rule: "TenantPresent", step: distributiontenant.Rest{After: retry.FirstRetry, KeepConditions: true}},
	}
	for name, q := range tests {
		t.Run(name, func(t *testing.T) { ask(t, q) })
	}
}

// Corrections are counted for one generation, and forgotten once they have held.
func TestSentCountsCorrections(t *testing.T) {
	var a distributiontenant.Attempts
	at := func(minutes int) time.Time { return now.Add(time.Duration(minutes) * time.Minute) }
	for i, step := range []struct {
		generation int64
		write      resource.Write
		at         time.Time
		want       int
	}{
		{1, resource.WroteConfig, at(0), 0},  // The first writes apply the spec,
		{1, resource.WroteTags, at(0), 0},    // one of each kind.
		{1, resource.RemovedTags, at(0), 0},  //
		{1, resource.WroteConfig, at(1), 1},  // Each further one corrects what did not stay.
		{1, resource.WroteTags, at(2), 2},    //
		{1, resource.WroteConfig, at(30), 1}, // One that had held for a while restarts the count.
		{2, resource.WroteConfig, at(31), 0}, // Another generation is another matter.
		{2, resource.WroteConfig, at(32), 1}, //
		{1, resource.WroteConfig | resource.WroteTags, at(33), 0},
		{1, resource.WroteTags, at(34), 1}, // A create brings its tags along.
	} {
		a.Sent(step.generation, step.write, step.at)
		if a.Corrections != step.want {
			t.Errorf("after write %d: %d corrections, want %d", i, a.Corrections, step.want)
		}
	}
}

// Where names are published first a try takes several passes, and the request of a user is answered after the first.
func TestATryThatAPersonAskedForIsSeenThrough(t *testing.T) {
	refused := func(in *distributiontenant.Input) {
		in.Memory.Failure = &resource.Failure{Reason: resource.ReasonDomainConflict, Generation: in.Generation, Since: now.Add(-time.Minute)}
		in.Attempts.Last = now.Add(-time.Second)
	}
	if got := distributiontenant.Decide(with(unborn(), refused)).Step; !cmp.Equal(got, distributiontenant.Rest{KeepConditions: true}, cmpopts.IgnoreFields(distributiontenant.Rest{}, "After")) {
		t.Fatalf("what was refused is done with %#v, want it to wait", got)
	}
	asked := func(in *distributiontenant.Input) { in.Attempts.Asked = true }
	if got, want := distributiontenant.Decide(with(unborn(), refused, asked)).Step, distributiontenant.Decide(unborn()).Step; !cmp.Equal(got, want) {
		t.Errorf("what a person asked for is done with %#v, want %#v", got, want)
	}
}
