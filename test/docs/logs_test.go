package docs

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
)

// logged are lines as CloudFront writes them, in JSON.
const logged = `
{"distribution-tenant-id":"dt_acme","x-host-header":"acme.example.com","sc-status":"200","sc-bytes":"1000","x-edge-result-type":"Miss"}
{"distribution-tenant-id":"dt_acme","x-host-header":"acme.example.com","sc-status":"200","sc-bytes":"1000","x-edge-result-type":"Hit"}
{"distribution-tenant-id":"dt_acme","x-host-header":"acme.example.com","sc-status":"304","sc-bytes":"100","x-edge-result-type":"RefreshHit"}
{"distribution-tenant-id":"dt_acme","x-host-header":"acme.example.com","sc-status":"503","sc-bytes":"10","x-edge-result-type":"Error"}
{"distribution-tenant-id":"dt_acme","x-host-header":"www.acme.example.com","sc-status":"200","sc-bytes":"7","x-edge-result-type":"Miss"}
{"distribution-tenant-id":"dt_big","x-host-header":"big.example.com","sc-status":"200","sc-bytes":"5000000000","x-edge-result-type":"Hit"}`

// column are the columns of the page's table by the names of the fields.
var column = map[string]string{"distribution-tenant-id": "tenant", "x-host-header": "host", "sc-status": "status", "sc-bytes": "bytes", "x-edge-result-type": "result"}

type traffic struct {
	Tenant, Host                           string
	Requests, Bytes, Errors, HitPercentage int64
}

// The query of the page gives the traffic of each customer.
func TestTheQueryOfTheLogsPage(t *testing.T) {
	t.Parallel()
	table, query := "", ""
	for _, p := range pages(t) {
		for _, b := range p.blocks {
			switch {
			case b.tried == "logs/by-tenant":
				query = b.text
			case p.name == "docs/logs.md" && strings.Contains(b.text, "CREATE EXTERNAL TABLE"):
				table = b.text
			}
		}
	}
	engine, err := database.Start(t.Context(), mapping.Postgres, database.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := engine.Stop(); err != nil {
			t.Error(err)
		}
	}()
	db, err := pgx.Connect(t.Context(), engine.Owner())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(t.Context())
	if _, err := db.Exec(t.Context(), "CREATE TEMPORARY TABLE tenant_logs (tenant text, host text, status text, bytes text, result text, day text)"); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(strings.TrimSpace(logged)) {
		var fields map[string]string
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatal(err)
		}
		row := map[string]any{}
		for field, name := range column {
			if !strings.Contains(table, "'mapping."+name+"' = '"+field+"'") {
				t.Errorf("the table of the page does not map %s to %s", field, name)
			}
			row[name] = fields[field]
		}
		for _, day := range []string{"2026/03/01", "2026/03/02"} {
			row["day"] = day
			if _, err := db.Exec(t.Context(), "INSERT INTO tenant_logs VALUES (@tenant, @host, @status, @bytes, @result, @day)", pgx.NamedArgs(row)); err != nil {
				t.Fatal(err)
			}
		}
	}
	rows, err := db.Query(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	got, err := pgx.CollectRows(rows, pgx.RowToStructByPos[traffic])
	if err != nil {
		t.Fatal(err)
	}
	want := []traffic{{"dt_big", "big.example.com", 1, 5_000_000_000, 0, 100}, {"dt_acme", "acme.example.com", 4, 2110, 1, 50}, {"dt_acme", "www.acme.example.com", 1, 7, 0, 0}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
