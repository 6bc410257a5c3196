package dynamodb

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"golang.org/x/sync/errgroup"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

const opQuery = "Query"

// lookupsAtOnce is how many items are asked for at the same time.
const lookupsAtOnce = 8

// scalar is an attribute of a key, as the API writes it.
type scalar struct {
	S *string `json:",omitempty"`
	N *string `json:",omitempty"`
	B []byte  `json:",omitempty"`
}

// keyText is a key of Query.Keys: the attributes in order, in the form of the API.
func keyText(attributes map[string]streams.AttributeValue) (string, bool) {
	key := make(map[string]scalar, len(attributes))
	for name, attribute := range attributes {
		switch a := attribute.(type) {
		case *streams.AttributeValueMemberS:
			key[name] = scalar{S: &a.Value}
		case *streams.AttributeValueMemberN:
			key[name] = scalar{N: &a.Value}
		case *streams.AttributeValueMemberB:
			key[name] = scalar{B: a.Value}
		default:
			return "", false
		}
	}
	text, err := json.Marshal(key)
	return string(text), err == nil && len(key) > 0
}

func parseKey(text string) (item, error) {
	var key map[string]scalar
	if err := json.Unmarshal([]byte(text), &key); err != nil || len(key) == 0 {
		return nil, badKey()
	}
	attributes := make(item, len(key))
	for name, value := range key {
		switch {
		case value.S != nil:
			attributes[name] = &types.AttributeValueMemberS{Value: *value.S}
		case value.N != nil:
			attributes[name] = &types.AttributeValueMemberN{Value: *value.N}
		case value.B != nil:
			attributes[name] = &types.AttributeValueMemberB{Value: value.B}
		default:
			return nil, badKey()
		}
	}
	return attributes, nil
}

func badKey() error {
	return &fault.Error{Kind: fault.Invalid, Operation: opQuery, Message: "a key to read is not the primary key of an item"}
}

var words = regexp.MustCompile(`[#:]?\w+`)

// filtersKeys reports whether the filter looks at an attribute of the primary key. A scan may do so, and a query for one
// item may not.
func filtersKeys(q mapping.DynamoDBQuery, keys []string) bool {
	return slices.ContainsFunc(words.FindAllString(q.Filter, -1), func(word string) bool {
		if name, ok := q.Names[word]; ok {
			word = name
		}
		return slices.Contains(keys, word)
	})
}

// lookup reads the items that keys name, with the filter and the attributes of a scan.
type lookup struct {
	api  *sdk.Client
	scan *sdk.ScanInput
}

// read gives the items to the sink, in the order of their keys. One that is gone, or that the filter leaves out, has no
// row.
func (l lookup) read(ctx context.Context, keys []string, sink mapping.Sink) error {
	found := make([][]item, len(keys))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(lookupsAtOnce)
	for i, key := range keys {
		group.Go(func() (err error) {
			found[i], err = l.item(groupCtx, key)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, attributes := range slices.Concat(found...) {
		if err := sink.Row(row(attributes)); err != nil {
			return err
		}
	}
	return nil
}

// item asks for one item. That there is a filter is why it is not a GetItem.
func (l lookup) item(ctx context.Context, text string) ([]item, error) {
	key, err := parseKey(text)
	if err != nil {
		return nil, err
	}
	in := &sdk.QueryInput{
		TableName: l.scan.TableName, ConsistentRead: l.scan.ConsistentRead,
		FilterExpression: l.scan.FilterExpression, ProjectionExpression: l.scan.ProjectionExpression,
		ExpressionAttributeNames: cloned(l.scan.ExpressionAttributeNames), ExpressionAttributeValues: cloned(l.scan.ExpressionAttributeValues),
	}
	var conditions []string
	for i, name := range slices.Sorted(maps.Keys(key)) {
		attribute, value := free(in.ExpressionAttributeNames, "#key", i), free(in.ExpressionAttributeValues, ":key", i)
		in.ExpressionAttributeNames[attribute], in.ExpressionAttributeValues[value] = name, key[name]
		conditions = append(conditions, attribute+" = "+value)
	}
	condition := strings.Join(conditions, " AND ")
	in.KeyConditionExpression = &condition
	out, err := l.api.Query(ctx, in)
	if err != nil {
		return nil, errorTable.Classify(opQuery, err)
	}
	if int(out.Count) != len(out.Items) || len(out.Items) > 1 {
		return nil, aws.Unreadable(opQuery, "the one item that has the key")
	}
	return out.Items, nil
}

// cloned is a copy that can be added to.
func cloned[V any](from map[string]V) map[string]V {
	if from == nil {
		return map[string]V{}
	}
	return maps.Clone(from)
}

// free is a placeholder that is not taken yet.
func free[V any](taken map[string]V, prefix string, number int) string {
	for {
		placeholder := fmt.Sprintf("%s%d", prefix, number)
		if _, used := taken[placeholder]; !used {
			return placeholder
		}
		number++
	}
}
