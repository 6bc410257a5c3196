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
	for page, provider := range map[string]mapping.Provider{
		"state-table.md":             mapping.Postgres,
		"tenantsource/postgresql.md": mapping.Postgres,
		"tenantsource/mysql.md":      mapping.MySQL,
		"tenantsource/mongodb.md":    mapping.MongoDB,
		"tenantsource/dynamodb.md":   mapping.DynamoDB,
		"tenantsource/redis.md":      mapping.Redis,
	} {
		text, err := os.ReadFile(filepath.Join(moduleRoot, "docs", page))
		if err != nil {
			t.Fatal(err)
		}
		if want := plain.Replace(statetable.Definition(provider, "edge_state")); !strings.Contains(plain.Replace(string(text)), want) {
			t.Errorf("docs/%s does not have the definition of a state table:\n%s", page, want)
		}
	}
}
