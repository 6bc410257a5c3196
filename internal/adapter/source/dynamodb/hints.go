package dynamodb

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"golang.org/x/sync/errgroup"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

const (
	opDescribeTable  = "DescribeTable"
	opDescribeStream = "DescribeStream"
	opIterator       = "GetShardIterator"
	opRecords        = "GetRecords"
)

const (
	// readEvery is how often a shard is read: AWS allows five reads a second and bills each, so one is a compromise
	// between a second of delay and the cost. While there are changes it is read twice a second.
	readEvery, readSoon = time.Second, 500 * time.Millisecond
	// shardsAtOnce is how many shards are read at the same time.
	shardsAtOnce = 8
)

// Listen implements port.Hints with the table's stream. It reads the whole of each shard that replaces another, so that
// no change is lost between them.
func (t *Tables) Listen(ctx context.Context, q mapping.Query, sink port.HintSink) error {
	table, err := t.describe(ctx, q)
	if err != nil {
		return err
	}
	hinter := store.NewHinter(sink)
	defer hinter.Close()
	l := &listener{
		api: t.streams(q), arn: table.LatestStreamArn, hinter: hinter, waiting: map[string]bool{}, next: map[string]*string{},
		named: !filtersKeys(q.DynamoDB, keyNames(table.KeySchema)),
	}
	if err := l.discover(ctx, streams.ShardIteratorTypeLatest); err != nil {
		return err
	}
	sink.Ready()
	return l.follow(ctx)
}

// streams makes a client for one listener.
func (t *Tables) streams(q mapping.Query) *dynamodbstreams.Client {
	return dynamodbstreams.NewFromConfig(t.configOf(q), func(o *dynamodbstreams.Options) {
		if t.config.Endpoint != "" {
			o.BaseEndpoint = &t.config.Endpoint
		}
	})
}

// describe returns a table that has a stream.
func (t *Tables) describe(ctx context.Context, q mapping.Query) (*types.TableDescription, error) {
	out, err := t.client(q).DescribeTable(ctx, &sdk.DescribeTableInput{TableName: &q.DynamoDB.TableName})
	if err != nil {
		return nil, errorTable.Classify(opDescribeTable, err)
	}
	if out.Table == nil {
		return nil, aws.Unreadable(opDescribeTable, "a table")
	}
	if spec := out.Table.StreamSpecification; spec == nil || !awssdk.ToBool(spec.StreamEnabled) || out.Table.LatestStreamArn == nil {
		return nil, &fault.Error{Kind: fault.Invalid, Operation: opDescribeTable, Message: fmt.Sprintf(
			"the table %s has no stream: turn it on (StreamSpecification with StreamEnabled true and the StreamViewType KEYS_ONLY), "+
				"or remove spec.watch", q.DynamoDB.TableName)}
	}
	return out.Table, nil
}

func keyNames(schema []types.KeySchemaElement) []string {
	names := make([]string, len(schema))
	for i, element := range schema {
		names[i] = awssdk.ToString(element.AttributeName)
	}
	return names
}

// listener follows the shards of a stream.
type listener struct {
	api    *dynamodbstreams.Client
	arn    *string
	hinter *store.Hinter
	// named is whether hints name their items.
	named bool
	// known are the shards of the last description.
	known map[string]bool
	// next is where each shard is to be read.
	next map[string]*string
	// waiting are shards that have ended, as long as none is known that continues them.
	waiting map[string]bool
}

// follow reads all shards from time to time until the stream ends.
func (l *listener) follow(ctx context.Context) error {
	due := time.NewTimer(readEvery)
	defer due.Stop()
	for {
		select {
		case <-ctx.Done():
			return errorTable.Classify(opRecords, ctx.Err())
		case <-due.C:
		}
		found, err := l.read(ctx)
		if err != nil {
			return err
		}
		if len(l.waiting) > 0 {
			if err := l.discover(ctx, streams.ShardIteratorTypeTrimHorizon); err != nil {
				return err
			}
		}
		pause := readEvery
		if found {
			pause = readSoon
		}
		due.Reset(pause)
	}
}

// read takes a page of each shard, and reports whether there was a record.
func (l *listener) read(ctx context.Context) (found bool, err error) {
	shards := slices.Sorted(maps.Keys(l.next))
	pages := make([]*dynamodbstreams.GetRecordsOutput, len(shards))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(shardsAtOnce)
	for i, shard := range shards {
		group.Go(func() (err error) {
			pages[i], err = l.page(groupCtx, shard)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return false, err
	}
	for i, page := range pages {
		for _, r := range page.Records {
			l.hinter.Add(l.keysOf(r)...)
			found = true
		}
		if l.next[shards[i]] = page.NextShardIterator; page.NextShardIterator == nil {
			delete(l.next, shards[i])
			l.waiting[shards[i]] = true
		}
	}
	return found, nil
}

// page reads a shard from where it is. If that place is lost, the shard is read from its end, and any row may have
// changed.
func (l *listener) page(ctx context.Context, shard string) (*dynamodbstreams.GetRecordsOutput, error) {
	out, err := l.api.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: l.next[shard]})
	if !lost(err) {
		return out, errorTable.Classify(opRecords, err)
	}
	latest, err := l.iterator(ctx, shard, streams.ShardIteratorTypeLatest)
	if err != nil {
		return nil, err
	}
	l.hinter.Add()
	return &dynamodbstreams.GetRecordsOutput{NextShardIterator: latest}, nil
}

// lost reports whether an iterator is of no use any more.
func lost(err error) bool {
	_, expired := errors.AsType[*streams.ExpiredIteratorException](err)
	_, trimmed := errors.AsType[*streams.TrimmedDataAccessException](err)
	return expired || trimmed
}

// keysOf is the key of a record, or none.
func (l *listener) keysOf(r streams.Record) []string {
	if !l.named || r.Dynamodb == nil {
		return nil
	}
	key, ok := keyText(r.Dynamodb.Keys)
	if !ok {
		return nil
	}
	return []string{key}
}

func (l *listener) iterator(ctx context.Context, shard string, from streams.ShardIteratorType) (*string, error) {
	out, err := l.api.GetShardIterator(ctx, &dynamodbstreams.GetShardIteratorInput{StreamArn: l.arn, ShardId: &shard, ShardIteratorType: from})
	if err != nil {
		return nil, errorTable.Classify(opIterator, err)
	}
	if out.ShardIterator == nil {
		return nil, aws.Unreadable(opIterator, "an iterator")
	}
	return out.ShardIterator, nil
}

// discover finds the shards that it does not know yet, and begins to read them: from their latest record at the start,
// and later from their first, as they continue where others ended.
func (l *listener) discover(ctx context.Context, from streams.ShardIteratorType) error {
	shards, err := l.shards(ctx)
	if err != nil {
		return err
	}
	known := make(map[string]bool, len(shards))
	parents := map[string]bool{}
	for _, shard := range shards {
		id := awssdk.ToString(shard.ShardId)
		known[id], parents[awssdk.ToString(shard.ParentShardId)] = true, true
		switch {
		case l.known[id]:
		case from == streams.ShardIteratorTypeLatest && ended(shard):
			l.waiting[id] = true
		default:
			if l.next[id], err = l.iterator(ctx, id, from); err != nil {
				return err
			}
		}
	}
	l.known = known
	maps.DeleteFunc(l.waiting, func(id string, _ bool) bool { return parents[id] })
	return nil
}

func ended(s streams.Shard) bool {
	return s.SequenceNumberRange != nil && s.SequenceNumberRange.EndingSequenceNumber != nil
}

// shards lists those of the stream. A stream that was turned off has none that continue.
func (l *listener) shards(ctx context.Context) ([]streams.Shard, error) {
	var shards []streams.Shard
	in := &dynamodbstreams.DescribeStreamInput{StreamArn: l.arn}
	for {
		out, err := l.api.DescribeStream(ctx, in)
		if err != nil {
			return nil, errorTable.Classify(opDescribeStream, err)
		}
		description := out.StreamDescription
		if description == nil {
			return nil, aws.Unreadable(opDescribeStream, "a stream")
		}
		if s := description.StreamStatus; s == streams.StreamStatusDisabled || s == streams.StreamStatusDisabling {
			return nil, &fault.Error{
				Kind: fault.Transient, Operation: opDescribeStream, Code: "StreamDisabled", Message: "the stream of the table was turned off",
			}
		}
		shards = append(shards, description.Shards...)
		if in.ExclusiveStartShardId = description.LastEvaluatedShardId; in.ExclusiveStartShardId == nil {
			return shards, nil
		}
	}
}
