package contract

import (
	"testing"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
)

// The conclusions of Flux, Helm and kpt: they wait for what is underway, and end at once with the message of what has
// failed.
func TestKstatus(t *testing.T) {
	t.Parallel()
	names := map[verdict]status.Status{
		underway: status.InProgressStatus, failed: status.FailedStatus, done: status.CurrentStatus, terminating: status.TerminatingStatus,
		suspended: status.CurrentStatus,
	}
	for name, s := range specimens(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := status.Compute(s.object)
			if err != nil {
				t.Fatal(err)
			}
			if got.Status != names[s.want] {
				t.Errorf("%s (%s), want %s: %v", got.Status, got.Message, names[s.want], s.object.Object["status"])
			}
		})
	}
}
