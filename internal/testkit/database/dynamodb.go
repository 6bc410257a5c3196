package database

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

const region = "us-east-1"

// dynamoServer is a dynalite. It checks no credentials, and tables share its port, so the gateway
// before it fails for a table as AWS and its network do.
type dynamoServer struct {
	gateway *gateway
	owner   *dynamodb.Client
	http    *http.Transport
	// streams has a copy of the tables that are watched, and tells of their changes: the engine has no streams.
	streams *sim.Sim
}

func (s *dynamoServer) start(ctx context.Context, e *Engine) error {
	node, err := find("node", "the packages nodejs and npm")
	if err != nil {
		return err
	}
	cli, err := asset("dynalite", "node_modules", "dynalite", "cli.js")
	if err != nil {
		return err
	}
	ports, err := e.processes.Ports(ctx, 1)
	if err != nil {
		return err
	}
	s.http = &http.Transport{MaxIdleConnsPerHost: 16}
	target := "http://" + ports.Address(0)
	s.owner = dynamodb.New(dynamodb.Options{
		Region: region, BaseEndpoint: &target, HTTPClient: &http.Client{Transport: s.http},
		Credentials: credentials.NewStaticCredentialsProvider("AKIAOWNER", "owner", ""),
	})
	err = e.run(ctx, func(ctx context.Context) error {
		_, err := s.owner.ListTables(ctx, &dynamodb.ListTablesInput{})
		return err
	}, node, cli, "--host", "127.0.0.1", "--port", strconv.Itoa(ports[0]), "--createTableMs", "0", "--deleteTableMs", "0", "--updateTableMs", "0")
	if err != nil {
		return err
	}
	s.streams = sim.New(sim.Options{})
	s.gateway, err = newGateway(ctx, target, s.http, s.streams.Transport())
	return err
}

func (s *dynamoServer) endpoint() string { return s.gateway.endpoint() }

func (s *dynamoServer) close() {
	if s.gateway != nil {
		s.gateway.close()
	}
	if s.http != nil {
		s.http.CloseIdleConnections()
	}
}

func (s *dynamoServer) newTable(ctx context.Context, t *Table) (store, error) {
	t.wire, t.address = newWire(), s.gateway.address
	d := &dynamoTable{t: t, gateway: s.gateway, owner: s.owner, copy: s.copier(), gated: s.gateway.gate(t.name, t.wire, t.options.Writable)}
	return d, d.create(ctx)
}

// copier writes to the copies of tables.
func (s *dynamoServer) copier() *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region: region, BaseEndpoint: aws.String("http://streams.invalid"), HTTPClient: &http.Client{Transport: s.streams.Transport()},
		Credentials: credentials.NewStaticCredentialsProvider("AKIAOWNER", "owner", ""),
	})
}

type dynamoTable struct {
	t           *Table
	gateway     *gateway
	owner, copy *dynamodb.Client
	gated       *gated
	// gatedStates is the state table, if there is one.
	gatedStates *gated
}

func (d *dynamoTable) query() mapping.Query {
	return mapping.Query{DynamoDB: mapping.DynamoDBQuery{TableName: d.t.name, Region: region, ConsistentRead: true, Segments: 1}}
}

func (d *dynamoTable) create(ctx context.Context) error {
	if _, err := d.owner.CreateTable(ctx, d.definition()); err != nil {
		return err
	}
	return dynamodb.NewTableExistsWaiter(d.owner, fast).Wait(ctx, d.describe(), time.Minute)
}

func (d *dynamoTable) definition() *dynamodb.CreateTableInput {
	return &dynamodb.CreateTableInput{
		TableName: &d.t.name, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("name"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("name"), KeyType: types.KeyTypeHash}},
	}
}

// fast is for waiters on an engine that does everything at once.
func fast(o *dynamodb.TableExistsWaiterOptions) { o.MinDelay = 5 * time.Millisecond }

func (d *dynamoTable) describe() *dynamodb.DescribeTableInput {
	return &dynamodb.DescribeTableInput{TableName: &d.t.name}
}

// item is a row as DynamoDB takes it. A nil value is absent.
func item(row map[string]any) (map[string]types.AttributeValue, error) {
	out := map[string]types.AttributeValue{}
	for name, value := range row {
		if value == nil || name == "_key" {
			continue
		}
		attribute, err := attributeOf(value)
		if err != nil {
			return nil, fmt.Errorf("attribute %s: %w", name, err)
		}
		out[name] = attribute
	}
	return out, nil
}

func attributeOf(value any) (types.AttributeValue, error) {
	switch v := value.(type) {
	case types.AttributeValue:
		return v, nil
	case string:
		return &types.AttributeValueMemberS{Value: v}, nil
	case bool:
		return &types.AttributeValueMemberBOOL{Value: v}, nil
	case int, int64, float64:
		return &types.AttributeValueMemberN{Value: fmt.Sprint(v)}, nil
	case []string:
		list := &types.AttributeValueMemberL{}
		for _, text := range v {
			list.Value = append(list.Value, &types.AttributeValueMemberS{Value: text})
		}
		return list, nil
	default:
		return nil, fmt.Errorf("a %T is none that this can store", value)
	}
}

func (d *dynamoTable) put(ctx context.Context, rows []map[string]any) error {
	requests := make([]types.WriteRequest, len(rows))
	for i, row := range rows {
		item, err := item(row)
		if err != nil {
			return err
		}
		requests[i].PutRequest = &types.PutRequest{Item: item}
	}
	return d.write(ctx, requests)
}

func (d *dynamoTable) remove(ctx context.Context, names []string) error {
	requests := make([]types.WriteRequest, len(names))
	for i, name := range names {
		requests[i].DeleteRequest = &types.DeleteRequest{Key: map[string]types.AttributeValue{"name": &types.AttributeValueMemberS{Value: name}}}
	}
	return d.write(ctx, requests)
}

// write sends as many requests at once as the engine takes.
func (d *dynamoTable) write(ctx context.Context, requests []types.WriteRequest) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(8)
	err := chunks(requests, 25, func(chunk []types.WriteRequest) error {
		group.Go(func() error {
			in := &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{d.t.name: chunk}}
			out, err := d.owner.BatchWriteItem(ctx, in)
			if err == nil && len(out.UnprocessedItems) > 0 {
				return errors.New("some items were not written")
			}
			if err == nil && d.gated.isWatched() {
				_, err = d.copy.BatchWriteItem(ctx, in)
			}
			return err
		})
		return nil
	})
	return errors.Join(err, group.Wait())
}

func (d *dynamoTable) truncate(ctx context.Context) error {
	if err := d.drop(ctx); err != nil {
		return err
	}
	return d.create(ctx)
}

func (d *dynamoTable) drop(ctx context.Context) error {
	if _, err := d.owner.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: &d.t.name}); err != nil {
		return err
	}
	return dynamodb.NewTableNotExistsWaiter(d.owner, func(o *dynamodb.TableNotExistsWaiterOptions) { o.MinDelay = 5 * time.Millisecond }).
		Wait(ctx, d.describe(), time.Minute)
}

func (d *dynamoTable) rename(ctx context.Context, from, to string) error {
	var requests []types.WriteRequest
	err := d.each(ctx, d.t.name, func(item map[string]types.AttributeValue) {
		if value, ok := item[from]; ok {
			item = maps.Clone(item)
			delete(item, from)
			item[to] = value
			requests = append(requests, types.WriteRequest{PutRequest: &types.PutRequest{Item: item}})
		}
	})
	return errors.Join(err, d.write(ctx, slices.Clip(requests)))
}

// each calls a function with all items of a table.
func (d *dynamoTable) each(ctx context.Context, table string, do func(map[string]types.AttributeValue)) error {
	pages := dynamodb.NewScanPaginator(d.owner, &dynamodb.ScanInput{TableName: &table})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, item := range page.Items {
			do(item)
		}
	}
	return nil
}

func (d *dynamoTable) allow(_ context.Context, allowed bool) error {
	d.gated.set(func(g *gated) { g.denied = !allowed })
	return nil
}

func (d *dynamoTable) show(_ context.Context, visible bool) error {
	d.gated.set(func(g *gated) { g.hidden = !visible })
	return nil
}

func (d *dynamoTable) throttle(n int) { d.gated.set(func(g *gated) { g.throttles = n }) }

func (d *dynamoTable) loseLastKey(damaged bool) {
	d.gated.set(func(g *gated) { g.losesKey, g.damages = true, damaged })
}

func (d *dynamoTable) exec(context.Context, string) error { return errNoSQL }

// watch makes a copy of the table with a stream, which gets every write from now on.
func (d *dynamoTable) watch(ctx context.Context) (mapping.Query, error) {
	q := d.query()
	q.Watch = &mapping.Watch{}
	definition := d.definition()
	definition.StreamSpecification = &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeKeysOnly}
	if _, err := d.copy.CreateTable(ctx, definition); err != nil {
		return q, err
	}
	var failed error
	err := d.each(ctx, d.t.name, func(item map[string]types.AttributeValue) {
		_, err := d.copy.PutItem(ctx, &dynamodb.PutItemInput{TableName: &d.t.name, Item: item})
		failed = errors.Join(failed, err)
	})
	d.gated.set(func(g *gated) { g.watched = true })
	return q, errors.Join(err, failed)
}
