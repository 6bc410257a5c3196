package tenantsource_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantsource"
)

func TestWhatASourceSaysOfItsStream(t *testing.T) {
	for name, c := range map[string]struct {
		watch     *tenantsource.Watch
		want      *chain.Condition
		unwatched bool
	}{
		"a table that is not watched has no condition": {unwatched: true},
		"the first try has not ended":                  {watch: &tenantsource.Watch{}},
		"changes are told": {
			watch: &tenantsource.Watch{Listening: true},
			want:  &chain.Condition{Type: "Watching", Status: true, Reason: "Listening", Message: "The database reports changes, and they are read at once."},
		},
		"the stream was lost": {
			watch: &tenantsource.Watch{Lost: "Listen: 127.0.0.1: no answer"},
			want:  &chain.Condition{Type: "Watching", Reason: "NotListening", Message: "Listen: 127.0.0.1: no answer. Until this is fixed, the table is only read every spec.pollInterval."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := input(func(in *tenantsource.Input) { in.Watch = c.watch })
			report := tenantsource.Conclude(in, tenantsource.Decide(in))
			if diff := cmp.Diff(c.want, report.Watching); diff != "" || report.Unwatched != c.unwatched {
				t.Errorf("unwatched %t, want %t (-want +got):\n%s", report.Unwatched, c.unwatched, diff)
			}
		})
	}
}

// Only polls by the interval confirm that a row is gone, however often the database reports changes.
func TestAReadAfterAHintConfirmsNothing(t *testing.T) {
	in := input(func(in *tenantsource.Input) { in.Watch = &tenantsource.Watch{Listening: true, Hinted: in.Now} })
	if apply(&in, tenantsource.Began{}); in.State.Round.Regular {
		t.Error("a read that a hint has asked for counts as a regular poll")
	}
	in.Now = in.Now.Add(time.Hour)
	if apply(&in, tenantsource.Began{}); !in.State.Round.Regular {
		t.Error("a poll that is due by the interval is none where there is a hint")
	}
}
