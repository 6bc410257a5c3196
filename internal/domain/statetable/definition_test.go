package statetable_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"
)

func TestDefinition(t *testing.T) {
	for name, tt := range map[string]struct {
		provider    mapping.Provider
		table, want string
	}{
		"a table of DynamoDB": {mapping.DynamoDB, "edge_state", `aws dynamodb create-table --table-name edge_state --billing-mode PAY_PER_REQUEST \
  --attribute-definitions AttributeName=source,AttributeType=S AttributeName=row_key,AttributeType=S \
  --key-schema AttributeName=source,KeyType=HASH AttributeName=row_key,KeyType=RANGE`},
		"a collection": {mapping.MongoDB, "edge_state", `db.createCollection("edge_state");
db.createRole({
  role: "edge_state_writer", roles: [],
  privileges: [{resource: {db: db.getName(), collection: "edge_state"}, actions: ["find", "insert", "update", "remove"]}]
});
db.createUser({user: "edge_state_writer", pwd: passwordPrompt(), roles: ["edge_state_writer"]});`},
		"a user of Redis": {
			mapping.Redis, "edge_state",
			`ACL SETUSER edge_state_writer on >PASSWORD ~edge_state:* +eval +hget +hset +del +scan +type +hgetall +info +select +client|setname`,
		},
		"a provider that is none": {"paper", "edge_state", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, statetable.Definition(tt.provider, tt.table)); diff != "" {
				t.Errorf("the definition (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDefinitionsQuoteNames(t *testing.T) {
	for provider, want := range map[mapping.Provider]string{
		mapping.Postgres: `CREATE TABLE "it's"`, mapping.MySQL: "CREATE TABLE `it's`", mapping.DynamoDB: `--table-name 'it'\''s' `,
		mapping.MongoDB: `createCollection("it's")`, mapping.Redis: "~it's:*",
	} {
		if got := statetable.Definition(provider, "it's"); !strings.Contains(got, want) {
			t.Errorf("%s: %s does not have %s", provider, got, want)
		}
	}
}

// Keys of different rows are different, whatever is in the names of their sources.
func TestKeysOfRedis(t *testing.T) {
	taken := map[string]string{}
	for _, source := range []string{"a", "a:b", "a%3Ab", "a:", "a%"} {
		for _, key := range []string{"", "b", ":b", "b:c", "c"} {
			found := statetable.Target{Table: "t", Source: source}.RedisKey(key)
			if other := taken[found]; other != "" {
				t.Errorf("%q of %q has the key of %s", key, source, other)
			}
			taken[found] = source + " " + key
		}
	}
}
