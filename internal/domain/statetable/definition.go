package statetable

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

// Definition is what makes a state table, in the words of the database's own client: SQL, commands of the AWS CLI, of mongosh
// and of redis-cli. Where rights are given with it, they are the least that the operator needs.
func Definition(provider mapping.Provider, table string) string {
	switch provider {
	case mapping.Postgres:
		return Postgres.Definition(table) + fmt.Sprintf(sqlRights, Postgres.Table(table))
	case mapping.MySQL:
		return MySQL.Definition(table) + fmt.Sprintf(sqlRights, MySQL.Table(table))
	case mapping.DynamoDB:
		return fmt.Sprintf(dynamoDefinition, shell(table), ColumnSource, ColumnKey)
	case mapping.MongoDB:
		name, _ := json.Marshal(table) // texts always marshal
		role, _ := json.Marshal(table + "_writer")
		return fmt.Sprintf(mongoDefinition, name, role)
	case mapping.Redis:
		return fmt.Sprintf(redisDefinition, table, globbed.Replace(table))
	}
	return ""
}

const sqlRights = `
-- The user of spec.writeBack needs rights on this table alone:
-- GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO edge_state_writer;`

const dynamoDefinition = `aws dynamodb create-table --table-name %[1]s --billing-mode PAY_PER_REQUEST \
  --attribute-definitions AttributeName=%[2]s,AttributeType=S AttributeName=%[3]s,AttributeType=S \
  --key-schema AttributeName=%[2]s,KeyType=HASH AttributeName=%[3]s,KeyType=RANGE`

const mongoDefinition = `db.createCollection(%[1]s);
db.createRole({
  role: %[2]s, roles: [],
  privileges: [{resource: {db: db.getName(), collection: %[1]s}, actions: ["find", "insert", "update", "remove"]}]
});
db.createUser({user: %[2]s, pwd: passwordPrompt(), roles: [%[2]s]});`

const redisDefinition = `ACL SETUSER %[1]s_writer on >PASSWORD ~%[2]s:* +eval +hget +hset +del +scan +type +hgetall +info +select +client|setname`

// shell quotes a word for a shell, if it needs that.
func shell(word string) string {
	if word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
