package child

import (
	"strings"
	"testing"

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
				body, err := encodeRequest(request{Write: &write{"edge_state", "source", some}})
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
