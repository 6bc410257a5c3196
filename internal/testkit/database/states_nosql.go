package database

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/redis/go-redis/v9"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"
)

func (m *mongoTable) define(ctx context.Context, name string) error {
	return m.database.CreateCollection(ctx, name)
}

func (m *mongoTable) permit(_ context.Context, name string, rights Rights) error { //nolint:unparam // other databases can fail
	m.stateRights.Store(&statesOf{name, rights})
	return nil
}

// statesOf are the rights on a state table.
type statesOf struct {
	name   string
	rights Rights
}

func (m *mongoTable) states(ctx context.Context, name string, which selection) ([]map[string]string, error) {
	filter := bson.M{}
	if len(which.keys) > 0 {
		filter = bson.M{statetable.ColumnSource: which.source, statetable.ColumnKey: bson.M{"$in": which.keys}}
	}
	cursor, err := m.database.Collection(name).Find(ctx, filter)
	if err != nil {
		return nil, err
	}
	var documents []bson.Raw
	if err := cursor.All(ctx, &documents); err != nil {
		return nil, err
	}
	rows := make([]map[string]string, len(documents))
	for i, document := range documents {
		elements, err := document.Elements()
		if err != nil {
			return nil, err
		}
		rows[i] = map[string]string{}
		for _, e := range elements {
			switch value := e.Value(); value.Type {
			case bson.TypeNull:
			case bson.TypeString:
				rows[i][e.Key()] = value.StringValue()
			case bson.TypeInt64:
				rows[i][e.Key()] = strconv.FormatInt(value.Int64(), 10)
			default:
				rows[i][e.Key()] = value.String()
			}
		}
	}
	return rows, nil
}

func (r *redisTable) define(context.Context, string) error { return nil }

// permit gives the rights that the documentation names.
func (r *redisTable) permit(ctx context.Context, name string, rights Rights) error {
	rules := []any{"ACL", "SETUSER", r.t.user, "reset", "on", ">" + r.t.password}
	_, documented, _ := strings.Cut(statetable.Definition(mapping.Redis, name), " >PASSWORD ")
	for rule := range strings.FieldsSeq(documented) {
		switch {
		case strings.HasPrefix(rule, "~") && rights == NoRights:
			continue
		case strings.HasPrefix(rule, "~") && rights == ReadRights:
			rule = "%R" + rule
		}
		rules = append(rules, rule)
	}
	return r.server.admin.Do(ctx, rules...).Err()
}

func (r *redisTable) states(ctx context.Context, name string, which selection) (rows []map[string]string, err error) {
	err = r.do(func(client *redis.Client) error {
		keys, err := stateKeys(ctx, client, name, which)
		if err != nil {
			return err
		}
		return chunks(keys, 1000, func(keys []string) error {
			found, err := client.Pipelined(ctx, func(p redis.Pipeliner) error {
				for _, key := range keys {
					p.HGetAll(ctx, key)
				}
				return nil
			})
			for _, c := range found {
				if fields := hashOf(c); len(fields) > 0 {
					rows = append(rows, fields)
				}
			}
			return err
		})
	})
	return rows, err
}

// stateKeys are the keys of the rows that are selected.
func stateKeys(ctx context.Context, client *redis.Client, name string, which selection) (keys []string, err error) {
	for _, key := range which.keys {
		keys = append(keys, statetable.Target{Table: name, Source: which.source}.RedisKey(key))
	}
	if len(keys) > 0 {
		return keys, nil
	}
	all := client.Scan(ctx, 0, name+":*", 1000).Iterator()
	for all.Next(ctx) {
		keys = append(keys, all.Val())
	}
	return keys, all.Err()
}

// hashOf is a row of Redis, whose empty times are NULL elsewhere.
func hashOf(command redis.Cmder) map[string]string {
	hash, ok := command.(*redis.MapStringStringCmd)
	if !ok {
		return nil
	}
	fields := hash.Val()
	for _, c := range statetable.Columns {
		if c.Kind == statetable.Time && fields[c.Name] == "" {
			delete(fields, c.Name)
		}
	}
	return fields
}

func (d *dynamoTable) define(ctx context.Context, name string) error {
	d.gatedStates = d.gateway.gate(name, d.t.wire, true)
	attribute := func(name string) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: &name, AttributeType: types.ScalarAttributeTypeS}
	}
	_, err := d.owner.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: &name, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{attribute(statetable.ColumnSource), attribute(statetable.ColumnKey)},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String(statetable.ColumnSource), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String(statetable.ColumnKey), KeyType: types.KeyTypeRange},
		},
	})
	if err != nil {
		return err
	}
	return dynamodb.NewTableExistsWaiter(d.owner, fast).Wait(ctx, &dynamodb.DescribeTableInput{TableName: &name}, time.Minute)
}

func (d *dynamoTable) permit(_ context.Context, _ string, rights Rights) error { //nolint:unparam // other databases can fail
	d.gatedStates.set(func(g *gated) { g.denied, g.writable = rights == NoRights, rights == WriteRights })
	return nil
}

func (d *dynamoTable) states(ctx context.Context, name string, which selection) (rows []map[string]string, err error) {
	var failed error
	take := func(item map[string]types.AttributeValue) {
		row, err := attributesOf(item)
		rows, failed = append(rows, row), errors.Join(failed, err)
	}
	if len(which.keys) == 0 {
		err := d.each(ctx, name, take)
		return rows, errors.Join(err, failed)
	}
	for _, key := range which.keys {
		found, err := d.owner.GetItem(ctx, &dynamodb.GetItemInput{TableName: &name, ConsistentRead: aws.Bool(true), Key: map[string]types.AttributeValue{
			statetable.ColumnSource: &types.AttributeValueMemberS{Value: which.source},
			statetable.ColumnKey:    &types.AttributeValueMemberS{Value: key},
		}})
		if err != nil {
			return nil, err
		}
		if len(found.Item) > 0 {
			take(found.Item)
		}
	}
	return rows, failed
}

// attributesOf is a row of DynamoDB.
func attributesOf(item map[string]types.AttributeValue) (map[string]string, error) {
	row := map[string]string{}
	for name, attribute := range item {
		switch a := attribute.(type) {
		case *types.AttributeValueMemberS:
			row[name] = a.Value
		case *types.AttributeValueMemberN:
			row[name] = a.Value
		case *types.AttributeValueMemberBOOL:
			row[name] = strconv.FormatBool(a.Value)
		default:
			return nil, fmt.Errorf("the attribute %s is a %T", name, attribute)
		}
	}
	return row, nil
}
