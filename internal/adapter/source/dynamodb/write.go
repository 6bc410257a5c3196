package dynamodb

import (
	"context"
	"errors"
	"strconv"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"
)

const (
	opPut    = "PutItem"
	opDelete = "DeleteItem"
)

// writesAtOnce is how many items are written at the same time.
const writesAtOnce = 8

// attemptsToWrite is how often one item is sent: up to 15 seconds of throttles, so that the failure is told before the time is up.
const attemptsToWrite = 5

// notLater is the condition that no later row is there.
const notLater = "attribute_not_exists(#source) OR #version <= :version"

// Write implements port.States. Each item is a call of its own, as batches have no conditions.
func (t *Tables) Write(ctx context.Context, to statetable.Target, changes []statetable.Change) ([]statetable.Refusal, error) {
	ctx, cancel := context.WithTimeout(ctx, store.WriteTimeout)
	defer cancel()
	w := writing{api: t.client(to.Reading(mapping.DynamoDB)), table: to.Table}
	if err := w.check(ctx); err != nil {
		return nil, err
	}
	failures := make([]*fault.Error, len(changes))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(writesAtOnce)
	for i := range changes {
		group.Go(func() (err error) {
			failures[i], err = ofRow(w.change(groupCtx, &changes[i]))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var refused []statetable.Refusal
	for i, failure := range failures {
		if failure != nil {
			refused = append(refused, statetable.Refusal{Key: changes[i].Row.Key, Failure: failure})
		}
	}
	return store.Refused(refused, len(changes))
}

// ofRow tells a failure that is about one item from one that is about all.
func ofRow(err error) (*fault.Error, error) {
	if failure, ok := errors.AsType[*fault.Error](err); ok && failure.Code != "" && fault.Is(err, fault.Invalid, fault.Conflict) {
		return failure, nil
	}
	return nil, err
}

// writing is one call of Write.
type writing struct {
	api   *sdk.Client
	table string
}

// check compares the key of the table with that of rows. A caller that may not ask is believed: the calls that write tell
// what else it may not do.
func (w writing) check(ctx context.Context) error {
	out, err := w.api.DescribeTable(ctx, &sdk.DescribeTableInput{TableName: &w.table})
	switch err = w.failed(opDescribeTable, err); {
	case fault.Is(err, fault.Denied) && fault.CodeOf(err) != mapping.CodeRoleNotAllowed:
		return nil
	case err != nil:
		return err
	case out.Table != nil && !isKeyed(out.Table):
		return fault.New(fault.Invalid, opDescribeTable, "the table %s does not have the partition key %s and the sort key %s, both strings: "+
			"it has to be a table of its own, as \"kubectl cfdt source ddl\" prints it", w.table, statetable.ColumnSource, statetable.ColumnKey)
	}
	return nil
}

// isKeyed reports whether a table has the key of rows.
func isKeyed(table *types.TableDescription) bool {
	kinds := map[types.KeyType]string{types.KeyTypeHash: statetable.ColumnSource, types.KeyTypeRange: statetable.ColumnKey}
	for _, element := range table.KeySchema {
		if kinds[element.KeyType] != awssdk.ToString(element.AttributeName) {
			return false
		}
	}
	for _, attribute := range table.AttributeDefinitions {
		name := awssdk.ToString(attribute.AttributeName)
		if (name == statetable.ColumnSource || name == statetable.ColumnKey) && attribute.AttributeType != types.ScalarAttributeTypeS {
			return false
		}
	}
	return len(table.KeySchema) == len(kinds)
}

// change makes one, unless a later row is there.
func (w writing) change(ctx context.Context, c *statetable.Change) error {
	condition, operation := notLater, opPut
	names := map[string]string{"#source": statetable.ColumnSource, "#version": statetable.ColumnVersion}
	all := attributes(&c.Row)
	values := item{":version": all[statetable.ColumnVersion]}
	var err error
	if c.Remove {
		operation = opDelete
		_, err = w.api.DeleteItem(ctx, &sdk.DeleteItemInput{
			TableName: &w.table, Key: item{statetable.ColumnSource: all[statetable.ColumnSource], statetable.ColumnKey: all[statetable.ColumnKey]},
			ConditionExpression: &condition, ExpressionAttributeNames: names, ExpressionAttributeValues: values,
		}, patience)
	} else {
		_, err = w.api.PutItem(ctx, &sdk.PutItemInput{
			TableName: &w.table, Item: all, ConditionExpression: &condition, ExpressionAttributeNames: names, ExpressionAttributeValues: values,
		}, patience)
	}
	if _, later := errors.AsType[*types.ConditionalCheckFailedException](err); later {
		return nil
	}
	return w.failed(operation, err)
}

func patience(o *sdk.Options) { o.RetryMaxAttempts = attemptsToWrite }

func (w writing) failed(operation string, err error) error {
	err = errorTable.Classify(operation, err)
	if failure, ok := errors.AsType[*fault.Error](err); ok && failure.Kind == fault.NotFound {
		failure.Message = "there is no table " + w.table + " in the region: create it with the command that \"kubectl cfdt source ddl\" prints"
	}
	return err
}

// attributes are a row as an item.
func attributes(row *statetable.Row) item {
	all := make(item, len(statetable.Columns))
	for i, value := range row.Values() {
		switch v := value.(type) {
		case string:
			all[statetable.Columns[i].Name] = &types.AttributeValueMemberS{Value: v}
		case bool:
			all[statetable.Columns[i].Name] = &types.AttributeValueMemberBOOL{Value: v}
		case int64:
			all[statetable.Columns[i].Name] = &types.AttributeValueMemberN{Value: strconv.FormatInt(v, 10)}
		case time.Time:
			if !v.IsZero() {
				all[statetable.Columns[i].Name] = &types.AttributeValueMemberS{Value: v.UTC().Format(time.RFC3339)}
			}
		}
	}
	return all
}
