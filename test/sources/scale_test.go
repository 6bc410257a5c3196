package sources_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestAThousandRows become as many tenants, which then cost one write of status for each poll.
func TestAThousandRows(t *testing.T) {
	const many = 1_000
	t.Parallel()
	rows := make([]map[string]any, many)
	for i := range rows {
		rows[i] = with(row(i), "plan", "pro")
	}
	c := engines["postgres"].cell(t, setup{rows: rows})
	start := time.Now()
	c.settle()
	c.expect("Ready=True/PollSucceeded", "Synced=True/InSync")
	t.Logf("%d rows became tenants in %s", many, time.Since(start).Round(time.Millisecond))
	if status := c.status(); *status.TenantsDiscovered != many || *status.TenantsCreated != many {
		t.Errorf("status: %s", dump(t, status))
	}
	before := c.w.Writes()
	if before.Applied != many {
		t.Errorf("%d objects were applied, want each once", before.Applied)
	}
	start = time.Now()
	c.poll()
	t.Logf("a poll that changes nothing took %s", time.Since(start).Round(time.Millisecond))
	before.SourceStatus++
	if diff := cmp.Diff(before, c.w.Writes()); diff != "" {
		t.Errorf("writes of a poll that changes nothing (-want +got):\n%s", diff)
	}
	if n := len(c.w.Living()); n != many {
		t.Errorf("%d tenants, want %d", n, many)
	}
}
