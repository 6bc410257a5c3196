package dynamodb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

// longestExpression is the most that DynamoDB takes as an expression, in bytes.
const longestExpression = 4096

// item is what DynamoDB stores.
type item = map[string]types.AttributeValue

// request is the scan that a query asks for.
func request(q mapping.Query) (*sdk.ScanInput, error) {
	in := &sdk.ScanInput{
		TableName: &q.DynamoDB.TableName, ConsistentRead: &q.DynamoDB.ConsistentRead,
		ExpressionAttributeNames: maps.Clone(q.DynamoDB.Names),
	}
	if q.DynamoDB.Filter != "" {
		in.FilterExpression = &q.DynamoDB.Filter
	}
	for name, value := range q.DynamoDB.Values {
		attribute, ok := attributeOf(value)
		if !ok {
			return nil, &fault.Error{Kind: fault.Invalid, Operation: opScan, Message: fmt.Sprintf(
				"the value %s of the filter expression is a %T: use a string, a number or a boolean", name, value)}
		}
		if in.ExpressionAttributeValues == nil {
			in.ExpressionAttributeValues = item{}
		}
		in.ExpressionAttributeValues[name] = attribute
	}
	project(in, q.Columns)
	return in, nil
}

// project asks for the columns only. Their names may be reserved words or have dots in them, so
// the expression has placeholders, which must not be those of the filter.
func project(in *sdk.ScanInput, columns []string) {
	names := cloned(in.ExpressionAttributeNames)
	placeholders := make([]string, 0, len(columns))
	for i, column := range columns {
		placeholder := free(names, "#column", i)
		names[placeholder] = column
		placeholders = append(placeholders, placeholder)
	}
	expression := strings.Join(placeholders, ",")
	// Without an expression all attributes come, and those that are not needed are left out here.
	if expression == "" || len(expression) > longestExpression {
		return
	}
	in.ProjectionExpression, in.ExpressionAttributeNames = &expression, names
}

// scan is one read of a table.
type scan struct {
	api      *sdk.Client
	input    *sdk.ScanInput
	segments int
}

// read gives all items of all segments to the sink. It holds one page of each segment at most.
func (s scan) read(ctx context.Context, sink mapping.Sink) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pages := make(chan []item)
	group, groupCtx := errgroup.WithContext(ctx)
	for segment := range s.segments {
		group.Go(func() error { return s.segment(groupCtx, segment, pages) })
	}
	// The channel is closed when all segments have ended, completely or not.
	var scanned error
	go func() {
		scanned = group.Wait()
		close(pages)
	}()
	var refused error
	for page := range pages {
		for _, attributes := range page {
			if refused != nil {
				break
			}
			if refused = sink.Row(row(attributes)); refused != nil {
				cancel()
			}
		}
	}
	if refused != nil {
		return refused
	}
	return scanned
}

// segment reads one part of the table to its end.
func (s scan) segment(ctx context.Context, number int, pages chan<- []item) error {
	in := *s.input
	if s.segments > 1 {
		in.Segment, in.TotalSegments = awssdk.Int32(int32(number)), awssdk.Int32(int32(s.segments))
	}
	seen := map[string]bool{}
	for {
		out, err := s.api.Scan(ctx, &in)
		if err != nil {
			return errorTable.Classify(opScan, err)
		}
		// An answer that is no page at all would be the end of the table.
		if out.Items == nil || int(out.Count) != len(out.Items) {
			return aws.Unreadable(opScan, "the items that it counts")
		}
		select {
		case pages <- out.Items:
		case <-ctx.Done():
			return errorTable.Classify(opScan, ctx.Err())
		}
		if out.LastEvaluatedKey == nil {
			return nil
		}
		key, err := json.Marshal(out.LastEvaluatedKey)
		if err != nil || len(out.LastEvaluatedKey) == 0 || seen[string(key)] {
			return errors.Join(aws.Unreadable(opScan, "a new key to go on from"), err)
		}
		seen[string(key)] = true
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}
