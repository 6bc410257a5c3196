package aws_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

func tableConfig(sim *aws.Sim) sdk.Config {
	return sdk.Config{
		Region: "us-east-1", BaseEndpoint: sdk.String("http://aws.test"), Retryer: func() sdk.Retryer { return sdk.NopRetryer{} },
		Credentials: credentials.NewStaticCredentialsProvider("AKIAHOME", "secret", ""), HTTPClient: &http.Client{Transport: sim.Transport()},
	}
}

// customersTable is a table with a stream, and what reads and writes it.
type customersTable struct {
	t       *testing.T
	sim     *aws.Sim
	tables  *dynamodb.Client
	streams *dynamodbstreams.Client
	arn     *string
}

func newCustomers(t *testing.T, view types.StreamViewType) *customersTable {
	t.Helper()
	sim := newSim(t)
	c := &customersTable{
		t: t, sim: sim, tables: dynamodb.NewFromConfig(tableConfig(sim)), streams: dynamodbstreams.NewFromConfig(tableConfig(sim)),
	}
	in := &dynamodb.CreateTableInput{
		TableName: sdk.String("customers"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: sdk.String("name"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: sdk.String("name"), KeyType: types.KeyTypeHash}},
	}
	if view != "" {
		in.StreamSpecification = &types.StreamSpecification{StreamEnabled: sdk.Bool(true), StreamViewType: view}
	}
	out := must[*dynamodb.CreateTableOutput](t)(c.tables.CreateTable(t.Context(), in))
	c.arn = out.TableDescription.LatestStreamArn
	return c
}

func text(value string) types.AttributeValue { return &types.AttributeValueMemberS{Value: value} }

func (c *customersTable) put(name, plan string) {
	c.t.Helper()
	must[*dynamodb.PutItemOutput](c.t)(c.tables.PutItem(c.t.Context(), &dynamodb.PutItemInput{
		TableName: sdk.String("customers"), Item: map[string]types.AttributeValue{"name": text(name), "plan": text(plan)},
	}))
}

func (c *customersTable) remove(name string) {
	c.t.Helper()
	must[*dynamodb.DeleteItemOutput](c.t)(c.tables.DeleteItem(c.t.Context(), &dynamodb.DeleteItemInput{
		TableName: sdk.String("customers"), Key: map[string]types.AttributeValue{"name": text(name)},
	}))
}

func (c *customersTable) shards() []streamtypes.Shard {
	c.t.Helper()
	out := must[*dynamodbstreams.DescribeStreamOutput](c.t)(c.streams.DescribeStream(c.t.Context(), &dynamodbstreams.DescribeStreamInput{StreamArn: c.arn}))
	return out.StreamDescription.Shards
}

func (c *customersTable) iterator(s streamtypes.Shard, kind streamtypes.ShardIteratorType) *string {
	c.t.Helper()
	out := must[*dynamodbstreams.GetShardIteratorOutput](c.t)(c.streams.GetShardIterator(c.t.Context(), &dynamodbstreams.GetShardIteratorInput{
		StreamArn: c.arn, ShardId: s.ShardId, ShardIteratorType: kind,
	}))
	return out.ShardIterator
}

// records reads from a place, and returns what happened and the place after it.
func (c *customersTable) records(from *string) (events []string, next *string) {
	c.t.Helper()
	out := must[*dynamodbstreams.GetRecordsOutput](c.t)(c.streams.GetRecords(c.t.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: from}))
	for _, r := range out.Records {
		key, _ := r.Dynamodb.Keys["name"].(*streamtypes.AttributeValueMemberS)
		event := fmt.Sprintf("%s %s", r.EventName, key.Value)
		for _, image := range []map[string]streamtypes.AttributeValue{r.Dynamodb.OldImage, r.Dynamodb.NewImage} {
			if plan, ok := image["plan"].(*streamtypes.AttributeValueMemberS); ok {
				event += " " + plan.Value
			}
		}
		events = append(events, event)
	}
	return events, out.NextShardIterator
}

func TestStreamTellsOfChanges(t *testing.T) {
	for name, tt := range map[string]struct {
		view types.StreamViewType
		want []string
	}{
		"keys only":  {types.StreamViewTypeKeysOnly, []string{"INSERT a", "INSERT b", "MODIFY a", "REMOVE a"}},
		"new images": {types.StreamViewTypeNewImage, []string{"INSERT a free", "INSERT b free", "MODIFY a pro", "REMOVE a"}},
		"old images": {types.StreamViewTypeOldImage, []string{"INSERT a", "INSERT b", "MODIFY a free", "REMOVE a pro"}},
		"both":       {types.StreamViewTypeNewAndOldImages, []string{"INSERT a free", "INSERT b free", "MODIFY a free pro", "REMOVE a pro"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCustomers(t, tt.view)
			horizon := c.iterator(c.shards()[0], streamtypes.ShardIteratorTypeTrimHorizon)
			c.put("a", "free")
			c.put("b", "free")
			c.put("a", "pro")
			c.put("a", "pro") // changes nothing
			latest := c.iterator(c.shards()[0], streamtypes.ShardIteratorTypeLatest)
			c.remove("a")
			c.remove("a") // is gone already
			got, next := c.records(horizon)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("records (-want +got):\n%s", diff)
			}
			if got, _ := c.records(next); len(got) != 0 {
				t.Errorf("the end has %v", got)
			}
			if got, _ := c.records(latest); !slices.Equal(got, tt.want[3:]) {
				t.Errorf("after the latest record there are %v, want %v", got, tt.want[3:])
			}
		})
	}
}

func TestBatchesAreRecorded(t *testing.T) {
	c := newCustomers(t, types.StreamViewTypeKeysOnly)
	from := c.iterator(c.shards()[0], streamtypes.ShardIteratorTypeLatest)
	for i := range 50 {
		var writes []types.WriteRequest
		for j := range 25 {
			item := map[string]types.AttributeValue{"name": text(fmt.Sprintf("c%04d", 25*i+j))}
			writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: item}})
		}
		must[*dynamodb.BatchWriteItemOutput](t)(c.tables.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{
			RequestItems: map[string][]types.WriteRequest{"customers": writes},
		}))
	}
	first, next := c.records(from)
	second, _ := c.records(next)
	if len(first) != 1000 || len(second) != 250 {
		t.Errorf("pages of %d and %d records, want 1000 and 250", len(first), len(second))
	}
}

// A shard ends after some hours, or when the table grows; its children continue.
func TestShardsEnd(t *testing.T) {
	for name, tt := range map[string]struct {
		end      func(*customersTable)
		children int
	}{
		"when they are old":     {func(c *customersTable) { c.sim.Advance(5 * time.Hour) }, 1},
		"when the table grows":  {func(c *customersTable) { mustDo(c.t, c.sim.SplitStream("", "customers")) }, 2},
		"both":                  {func(c *customersTable) { mustDo(c.t, c.sim.SplitStream("", "customers")); c.sim.Advance(4 * time.Hour) }, 4},
		"when there is no more": {func(c *customersTable) { c.disable() }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCustomers(t, types.StreamViewTypeKeysOnly)
			parent := c.shards()[0]
			c.put("before", "free")
			tt.end(c)
			iterator := c.iterator(parent, streamtypes.ShardIteratorTypeTrimHorizon)
			got, next := c.records(iterator)
			if !slices.Equal(got, []string{"INSERT before"}) || next != nil {
				t.Errorf("the shard that ended has %v, and an iterator: %t", got, next != nil)
			}
			shards := c.shards()
			if len(shards) != 1+tt.children || shards[0].SequenceNumberRange.EndingSequenceNumber == nil {
				t.Fatalf("%d shards, want the one that ended and %d children", len(shards), tt.children)
			}
			for i := range 20 {
				c.put(fmt.Sprint(i), "free")
			}
			found := 0
			for _, s := range shards[1:] {
				events, _ := c.records(c.iterator(s, streamtypes.ShardIteratorTypeTrimHorizon))
				found += len(events)
			}
			if want := min(20, 20*tt.children); found != want {
				t.Errorf("the children have %d records, want %d", found, want)
			}
		})
	}
}

func mustDo(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (c *customersTable) specify(on bool) error {
	spec := &types.StreamSpecification{StreamEnabled: &on}
	if on {
		spec.StreamViewType = types.StreamViewTypeKeysOnly
	}
	_, err := c.tables.UpdateTable(c.t.Context(), &dynamodb.UpdateTableInput{TableName: sdk.String("customers"), StreamSpecification: spec})
	return err
}

func (c *customersTable) disable() { mustDo(c.t, c.specify(false)) }

func (c *customersTable) describe() *types.TableDescription {
	c.t.Helper()
	return must[*dynamodb.DescribeTableOutput](c.t)(c.tables.DescribeTable(c.t.Context(), &dynamodb.DescribeTableInput{TableName: sdk.String("customers")})).Table
}

func TestATableWithoutAStream(t *testing.T) {
	c := newCustomers(t, "")
	if table := c.describe(); table.StreamSpecification != nil || table.LatestStreamArn != nil {
		t.Errorf("there is a stream: %v", table.LatestStreamArn)
	}
	wantError(t, c.specify(false), "ValidationException")
	mustDo(t, c.specify(true))
	wantError(t, c.specify(true), "ValidationException")
	first := c.describe().LatestStreamArn
	c.disable()
	if table := c.describe(); table.StreamSpecification != nil || *table.LatestStreamArn != *first {
		t.Errorf("a stream that was turned off is described as %v, %v", table.StreamSpecification, *table.LatestStreamArn)
	}
	c.sim.Advance(time.Second)
	mustDo(t, c.specify(true))
	if next := c.describe().LatestStreamArn; *next == *first {
		t.Error("the next stream has the ARN of the first")
	}
	listed := must[*dynamodbstreams.ListStreamsOutput](t)(c.streams.ListStreams(t.Context(), &dynamodbstreams.ListStreamsInput{TableName: sdk.String("customers")}))
	if len(listed.Streams) != 2 {
		t.Errorf("%d streams are listed, want both", len(listed.Streams))
	}
}

func TestStreamsRefuse(t *testing.T) {
	iterate := func(c *customersTable, shard *string, number string, kind streamtypes.ShardIteratorType) error {
		_, err := c.streams.GetShardIterator(c.t.Context(), &dynamodbstreams.GetShardIteratorInput{
			StreamArn: c.arn, ShardId: shard, ShardIteratorType: kind, SequenceNumber: &number,
		})
		return err
	}
	get := func(c *customersTable, iterator *string, limit int32) error {
		in := &dynamodbstreams.GetRecordsInput{ShardIterator: iterator}
		if limit != 0 {
			in.Limit = &limit
		}
		_, err := c.streams.GetRecords(c.t.Context(), in)
		return err
	}
	for name, tt := range map[string]struct {
		do   func(*customersTable) error
		want string
	}{
		"an iterator that is older than 15 minutes": {func(c *customersTable) error {
			iterator := c.iterator(c.shards()[0], streamtypes.ShardIteratorTypeLatest)
			c.sim.Advance(15*time.Minute + time.Second)
			return get(c, iterator, 0)
		}, "ExpiredIteratorException"},
		"a record that is older than a day": {func(c *customersTable) error {
			shard := c.shards()[0]
			c.put("a", "free")
			c.sim.Advance(time.Hour)
			c.put("b", "free")
			out, _ := c.streams.GetRecords(c.t.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: c.iterator(shard, streamtypes.ShardIteratorTypeTrimHorizon)})
			first := *out.Records[0].Dynamodb.SequenceNumber
			c.sim.Advance(23*time.Hour + time.Minute)
			return iterate(c, shard.ShardId, first, streamtypes.ShardIteratorTypeAtSequenceNumber)
		}, "TrimmedDataAccessException"},
		"a record that becomes older than a day while its iterator is used": {func(c *customersTable) error {
			shard := c.shards()[0]
			c.put("a", "free")
			c.sim.Advance(24*time.Hour - time.Minute)
			iterator := c.iterator(shard, streamtypes.ShardIteratorTypeTrimHorizon)
			c.sim.Advance(2 * time.Minute)
			return get(c, iterator, 0)
		}, "TrimmedDataAccessException"},
		"a shard that ended more than a day ago": {func(c *customersTable) error {
			shard := c.shards()[0]
			c.sim.Advance(4 * time.Hour)
			c.shards()
			c.sim.Advance(24*time.Hour + time.Minute)
			return iterate(c, shard.ShardId, "", streamtypes.ShardIteratorTypeTrimHorizon)
		}, "ResourceNotFoundException"},
		"a stream that was turned off more than a day ago": {func(c *customersTable) error {
			shard := c.shards()[0]
			c.disable()
			c.sim.Advance(24*time.Hour + time.Minute)
			return iterate(c, shard.ShardId, "", streamtypes.ShardIteratorTypeTrimHorizon)
		}, "ResourceNotFoundException"},
		"more than five reads of a shard in a second": {func(c *customersTable) error {
			iterator := c.iterator(c.shards()[0], streamtypes.ShardIteratorTypeLatest)
			for range 5 {
				mustDo(c.t, get(c, iterator, 0))
			}
			err := get(c, iterator, 0)
			c.sim.Advance(time.Second)
			mustDo(c.t, get(c, iterator, 0))
			return err
		}, "LimitExceededException"},
		"too large a page": {func(c *customersTable) error {
			return get(c, c.iterator(c.shards()[0], streamtypes.ShardIteratorTypeLatest), 1001)
		}, "ValidationException"},
		"an iterator of its own":               {func(c *customersTable) error { return get(c, sdk.String("arn|1|iterator"), 0) }, "ValidationException"},
		"a kind of iterator that there is not": {func(c *customersTable) error { return iterate(c, c.shards()[0].ShardId, "", "NEWEST") }, "ValidationException"},
		"a sequence number of another shard": {func(c *customersTable) error {
			return iterate(c, c.shards()[0].ShardId, "7", streamtypes.ShardIteratorTypeAtSequenceNumber)
		}, "ValidationException"},
		"a shard that there is not": {func(c *customersTable) error {
			return iterate(c, sdk.String("shardId-00000000000000000000-none"), "", streamtypes.ShardIteratorTypeLatest)
		}, "ResourceNotFoundException"},
		"an item without its key": {func(c *customersTable) error {
			_, err := c.tables.PutItem(c.t.Context(), &dynamodb.PutItemInput{TableName: sdk.String("customers"), Item: map[string]types.AttributeValue{"plan": text("x")}})
			return err
		}, "ValidationException"},
		"a table that there is not": {func(c *customersTable) error {
			_, err := c.tables.DescribeTable(c.t.Context(), &dynamodb.DescribeTableInput{TableName: sdk.String("others")})
			return err
		}, "ResourceNotFoundException"},
		"an operation that is not simulated": {func(c *customersTable) error {
			_, err := c.tables.Scan(c.t.Context(), &dynamodb.ScanInput{TableName: sdk.String("customers")})
			return err
		}, "UnknownOperationException"},
		"a request above the rate that was set": {func(c *customersTable) error {
			mustDo(c.t, c.sim.SetLimits(aws.Limit{Operation: "DescribeStream", Rate: 1, Burst: 1}))
			c.shards()
			_, err := c.streams.DescribeStream(c.t.Context(), &dynamodbstreams.DescribeStreamInput{StreamArn: c.arn})
			return err
		}, "ThrottlingException"},
	} {
		t.Run(name, func(t *testing.T) { wantError(t, tt.do(newCustomers(t, types.StreamViewTypeKeysOnly)), tt.want) })
	}
}

func TestDescriptionsOfStreamsHavePages(t *testing.T) {
	c := newCustomers(t, types.StreamViewTypeKeysOnly)
	for range 3 {
		mustDo(t, c.sim.SplitStream("", "customers"))
	}
	var ids []string
	in := &dynamodbstreams.DescribeStreamInput{StreamArn: c.arn, Limit: sdk.Int32(4)}
	for {
		out := must[*dynamodbstreams.DescribeStreamOutput](t)(c.streams.DescribeStream(t.Context(), in)).StreamDescription
		for _, s := range out.Shards {
			ids = append(ids, *s.ShardId)
		}
		if in.ExclusiveStartShardId = out.LastEvaluatedShardId; in.ExclusiveStartShardId == nil {
			break
		}
	}
	if len(ids) != 15 || len(slices.Compact(slices.Sorted(slices.Values(ids)))) != 15 {
		t.Errorf("%d shards, want 15 that differ", len(ids))
	}
	if err := c.sim.SplitStream("", "others"); err == nil {
		t.Error("the stream of a table that there is not was split")
	}
}

// A table that is gone has no stream that continues, but what it told can still be read.
func TestADeletedTable(t *testing.T) {
	c := newCustomers(t, types.StreamViewTypeKeysOnly)
	c.put("a", "free")
	must[*dynamodb.DeleteTableOutput](t)(c.tables.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: sdk.String("customers")}))
	got, next := c.records(c.iterator(c.shards()[0], streamtypes.ShardIteratorTypeTrimHorizon))
	if !slices.Equal(got, []string{"INSERT a"}) || next != nil {
		t.Errorf("the stream has %v, and goes on: %t", got, next != nil)
	}
	_, err := c.tables.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: sdk.String("customers")})
	wantError(t, err, "ResourceNotFoundException")
}
