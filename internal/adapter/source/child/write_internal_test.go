package child

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/bootclock"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"
)

// However long the rows are, all of them are sent, in requests that a child takes.
func TestPortion(t *testing.T) {
	for name, size := range map[string]int{"short rows": 100, "rows of many domains": 30 << 10, "rows of the longest objects": 1500 << 10} {
		t.Run(name, func(t *testing.T) {
			changes := make([]statetable.Change, 500)
			for i := range changes {
				changes[i].Row = statetable.Row{Source: strings.Repeat("s", 400), Key: strings.Repeat("k", 255), Domains: strings.Repeat("d", size), Message: "m"}
			}
			sent := 0
			for len(changes) > 0 {
				some := portion(changes)
				body, err := encodeRequest(request{Write: &write{Table: "edge_state", Source: "source", Changes: some}})
				if err != nil || len(some) == 0 || len(body) > largestRequest {
					t.Fatalf("a request of %d rows has %d bytes (%v), and a child takes %d", len(some), len(body), err, largestRequest)
				}
				sent, changes = sent+len(some), changes[len(some):]
			}
			if sent != 500 {
				t.Errorf("%d rows were sent, want 500", sent)
			}
		})
	}
}

// endless are states whose database does not answer.
type endless struct{}

func (endless) Write(ctx context.Context, _ statetable.Target, _ []statetable.Change) ([]statetable.Refusal, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// A child that was paused, or has a slow database, sends nothing after the lease of its parent.
func TestAWriteEndsWithTheLease(t *testing.T) {
	for name, until := range map[string]time.Time{
		"the lease ends during the write":         bootclock.Now().Add(20 * time.Millisecond),
		"it has ended before the child continued": bootclock.Now().Add(-time.Minute),
	} {
		t.Run(name, func(t *testing.T) {
			r := request{Write: &write{Table: "edge_state", Until: until.UnixNano()}}
			if err := r.write(t.Context(), &bytes.Buffer{}, endless{}); err == nil {
				t.Error("the write has no end")
			}
		})
	}
}

// Without the lease no child is started.
func TestNoWriteBeginsWithoutTheLease(t *testing.T) {
	rows := New(mapping.Postgres, Options{Until: func() time.Time { return bootclock.Now().Add(-time.Second) }})
	_, err := rows.Write(t.Context(), statetable.Target{}, []statetable.Change{{}})
	if !fault.Is(err, fault.Throttled) || !strings.Contains(err.Error(), "lease") {
		t.Errorf("the answer is %v", err)
	}
}
