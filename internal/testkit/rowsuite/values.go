package rowsuite

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/source"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
)

// sink keeps all that a read gives.
type sink struct {
	columns []source.Column
	rows    []source.Row
}

func (s *sink) Columns(columns []source.Column) error {
	s.columns = columns
	return nil
}

func (s *sink) Row(row source.Row) error {
	s.rows = append(s.rows, row)
	return nil
}

func testSmall(t *testing.T, rows port.Rows, engine *database.Engine) {
	table, err := engine.NewTable(t.Context(), database.TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := table.Put(t.Context(), map[string]any{"name": "acme", "domain": "acme.example.net"}); err != nil {
		t.Fatal(err)
	}
	var got sink
	if err := rows.Read(t.Context(), table.Query(), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.rows) != 1 {
		t.Fatalf("rows: %d, want 1", len(got.rows))
	}
	if diff := cmp.Diff("acme", got.rows[0].Values["name"]); diff != "" {
		t.Errorf("name (-want +got):\n%s", diff)
	}
}
