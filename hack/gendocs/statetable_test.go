package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"
)

// Guides show the definitions without the quotes of names, which an ordinary name does not need.
func TestGuidesHaveTheDefinitionsOfStateTables(t *testing.T) {
	t.Parallel()
	plain := strings.NewReplacer(`"`, "", "`", "")
	const table = "edge_state"
	for page, definition := range map[string]string{
		"state-table.md":             statetable.Postgres.Definition(table),
		"tenantsource/postgresql.md": statetable.Postgres.Definition(table),
		"tenantsource/mysql.md":      statetable.MySQL.Definition(table),
		"tenantsource/mongodb.md":    statetable.Definition(mapping.MongoDB, table),
		"tenantsource/dynamodb.md":   statetable.Definition(mapping.DynamoDB, table),
		"tenantsource/redis.md":      statetable.Definition(mapping.Redis, table),
	} {
		text, err := os.ReadFile(filepath.Join(moduleRoot, "docs", page))
		if err != nil {
			t.Fatal(err)
		}
		if want := plain.Replace(definition); !strings.Contains(plain.Replace(string(text)), want) {
			t.Errorf("docs/%s does not have the definition of a state table:\n%s", page, want)
		}
	}
}
