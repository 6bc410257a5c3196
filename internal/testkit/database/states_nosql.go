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

func (m *mongoTable) permit(_ context.Context, name string, rights Rights) error {
	m.stateRights.Store(&statesOf{name, rights})
	return nil
}

// statesOf are the rights on a state table.
type statesOf struct {
	name   string
	rights Rights
}

func (m *mongoTable) states(ctx context.Context, name string) ([]map[string]string, error) {
	cursor, err := m.database.Collection(name).Find(ctx, bson.M{})
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
	for _, rule := range strings.Fields(documented) {
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

func (r *redisTable) states(ctx context.Context, name string) (rows []map[string]string, err error) {
	err = r.do(func(client *redis.Client) error {
		keys := client.Scan(ctx, 0, name+":*", 1000).Iterator()
		for keys.Next(ctx) {
			fields, err := client.HGetAll(ctx, keys.Val()).Result()
			if err != nil {
				return err
			}
			for _, c := range statetable.Columns {
				if c.Kind == statetable.Time && fields[c.Name] == "" {
					delete(fields, c.Name)
				}
			}
			rows = append(rows, fields)
		}
		return keys.Err()
	})
	return rows, err
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

func (d *dynamoTable) permit(_ context.Context, _ string, rights Rights) error {
	d.gatedStates.set(func(g *gated) { g.denied, g.writable = rights == NoRights, rights == WriteRights })
	return nil
}

func (d *dynamoTable) states(ctx context.Context, name string) (rows []map[string]string, err error) {
	var failed error
	err = d.each(ctx, name, func(item map[string]types.AttributeValue) {
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
				failed = fmt.Errorf("the attribute %s is a %T", name, attribute)
			}
		}
		rows = append(rows, row)
	})
	return rows, errors.Join(err, failed)
}
