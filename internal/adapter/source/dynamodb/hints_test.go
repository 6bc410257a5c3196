package dynamodb_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/dynamodb"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

// told keeps what a stream tells.
type told struct {
	mu    sync.Mutex
	ready bool
	hints [][]string
}

func (t *told) Ready() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ready = true
}

func (t *told) Hint(keys ...string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.hints = append(t.hints, keys)
}

// take returns the names that were told since the last time, in order; "*" is any row.
func (t *told) take() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	names := map[string]bool{}
	for _, hint := range t.hints {
		if len(hint) == 0 {
			names["*"] = true
		}
		for _, key := range hint {
			names[strings.TrimSuffix(strings.TrimPrefix(key, `{"name":{"S":"`), `"}}`)] = true
		}
	}
	t.hints = nil
	return slices.Sorted(maps.Keys(names))
}

// streamed is a simulated table with a stream that an adapter listens to.
type streamed struct {
	t      *testing.T
	aws    *sim.Sim
	owner  *sdk.Client
	tables *dynamodb.Tables
	query  mapping.Query
	told   told
	ended  chan error
	cancel context.CancelFunc
}

const customers = "customers"

func newStreamed(t *testing.T) *streamed {
	t.Helper()
	world := sim.New(sim.Options{})
	s := &streamed{
		t: t, aws: world, tables: newTables(t, world.Transport()), ended: make(chan error, 1),
		query: mapping.Query{DynamoDB: mapping.DynamoDBQuery{TableName: customers, Segments: 1}, Watch: &mapping.Watch{}},
		owner: sdk.New(sdk.Options{
			Region: "eu-west-1", BaseEndpoint: awssdk.String("http://dynamodb.invalid"), HTTPClient: &http.Client{Transport: world.Transport()},
			Credentials: credentials.NewStaticCredentialsProvider("AKIAOWNER", "secret", ""),
		}),
	}
	_, err := s.owner.CreateTable(t.Context(), &sdk.CreateTableInput{
		TableName: awssdk.String(customers), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: awssdk.String("name"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: awssdk.String("name"), KeyType: types.KeyTypeHash}},
		StreamSpecification:  &types.StreamSpecification{StreamEnabled: awssdk.Bool(true), StreamViewType: types.StreamViewTypeKeysOnly},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// listen starts the listener and waits until it is ready, or has ended.
func (s *streamed) listen() {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	s.cancel = cancel
	go func() { s.ended <- s.tables.Listen(ctx, s.query, &s.told) }()
	synctest.Wait()
}

func (s *streamed) put(names ...string) {
	s.t.Helper()
	for _, name := range names {
		item := map[string]types.AttributeValue{"name": &types.AttributeValueMemberS{Value: name}, "at": &types.AttributeValueMemberS{Value: time.Now().String()}}
		if _, err := s.owner.PutItem(s.t.Context(), &sdk.PutItemInput{TableName: awssdk.String(customers), Item: item}); err != nil {
			s.t.Fatal(err)
		}
	}
}

// hears checks what is told within two seconds.
func (s *streamed) hears(names ...string) {
	s.t.Helper()
	time.Sleep(2 * time.Second)
	synctest.Wait()
	if diff := cmp.Diff(names, s.told.take()); diff != "" {
		s.t.Errorf("told (-want +got):\n%s", diff)
	}
}

// ends checks the failure with which the listener ends within a minute and a half, which is how long it puts up with
// throttles.
func (s *streamed) ends(kind fault.Kind, says string) {
	s.t.Helper()
	time.Sleep(90 * time.Second)
	synctest.Wait()
	select {
	case err := <-s.ended:
		if !fault.Is(err, kind) || !strings.Contains(err.Error(), says) {
			s.t.Errorf("the listener ended with %v, want %v that says %q", err, kind, says)
		}
	default:
		s.t.Error("the listener did not end")
	}
}

func (s *streamed) stop() {
	s.t.Helper()
	s.cancel()
	synctest.Wait()
}

func (s *streamed) turnOff() {
	s.t.Helper()
	_, err := s.owner.UpdateTable(s.t.Context(), &sdk.UpdateTableInput{
		TableName: awssdk.String(customers), StreamSpecification: &types.StreamSpecification{StreamEnabled: awssdk.Bool(false)},
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *streamed) split() {
	s.t.Helper()
	if err := s.aws.SplitStream("", customers); err != nil {
		s.t.Fatal(err)
	}
}

func (s *streamed) fails(f sim.Fault) {
	s.t.Helper()
	if _, err := s.aws.AddFault(f); err != nil {
		s.t.Fatal(err)
	}
}

func (s *streamed) gets() int { return s.aws.Calls()["GetRecords"].Total }

func TestStreams(t *testing.T) {
	for name, test := range map[string]func(*streamed){
		"what was written before is not told, and what is written then is": func(s *streamed) {
			s.put("before")
			s.listen()
			s.hears()
			s.put("a", "b")
			s.hears("a", "b")
		},
		"no change is lost when shards are split": func(s *streamed) {
			s.listen()
			s.put("before-1", "before-2")
			s.split()
			s.put("after-1", "after-2")
			s.split()
			s.put("last-1", "last-2", "last-3")
			time.Sleep(3 * time.Second)
			s.hears("after-1", "after-2", "before-1", "before-2", "last-1", "last-2", "last-3")
		},
		"shards that ended before are not waited for": func(s *streamed) {
			s.split()
			s.listen()
			s.put("a", "b", "c")
			s.hears("a", "b", "c")
			if calls := s.aws.Calls()["DescribeStream"].Total; calls != 1 {
				s.t.Errorf("%d descriptions of a stream whose shards all go on, want 1", calls)
			}
		},
		"a shard lives on in another one after four hours": func(s *streamed) {
			s.listen()
			time.Sleep(4*time.Hour + time.Minute)
			s.told.take()
			s.put("late")
			s.hears("late")
		},
		"after a lost place any row may have changed": func(s *streamed) {
			s.listen()
			s.aws.Advance(20 * time.Minute)
			s.put("unseen")
			s.hears("*")
			s.put("seen")
			s.hears("seen")
		},
		"a throttle is waited for": func(s *streamed) {
			s.listen()
			s.fails(sim.Fault{Operation: "GetRecords", Nth: 1, Times: 2, Error: &sim.FaultError{Status: 400, Code: "LimitExceededException"}})
			s.put("a")
			time.Sleep(time.Minute)
			s.hears("a")
		},
		"a throttle without an end is one": func(s *streamed) {
			s.listen()
			s.fails(sim.Fault{Operation: "GetRecords", Nth: 1, Times: -1, Error: &sim.FaultError{Status: 400, Code: "LimitExceededException"}})
			time.Sleep(3 * time.Minute)
			s.ends(fault.Throttled, "GetRecords")
		},
		"a right that was taken away is missing": func(s *streamed) {
			s.listen()
			s.fails(sim.Fault{Operation: "GetRecords", Nth: 1, Times: -1, Error: &sim.FaultError{Status: 400, Code: "AccessDeniedException"}})
			s.ends(fault.Denied, "GetRecords")
		},
		"a stream that was turned off is lost, and then there is none": func(s *streamed) {
			s.listen()
			s.turnOff()
			s.ends(fault.Transient, "turned off")
			s.listen()
			s.ends(fault.Invalid, "StreamViewType KEYS_ONLY")
		},
		"a table that is gone is lost, and then not found": func(s *streamed) {
			s.listen()
			if _, err := s.owner.DeleteTable(s.t.Context(), &sdk.DeleteTableInput{TableName: awssdk.String(customers)}); err != nil {
				s.t.Fatal(err)
			}
			s.ends(fault.Transient, "turned off")
			s.listen()
			s.ends(fault.NotFound, "DescribeTable")
		},
		"with a filter on the key no row can be read alone": func(s *streamed) {
			s.query.DynamoDB.Filter, s.query.DynamoDB.Names = "begins_with(#n, :prefix)", map[string]string{"#n": "name"}
			s.query.DynamoDB.Values = map[string]any{":prefix": "a"}
			s.listen()
			s.put("a")
			s.hears("*")
		},
		"with a filter on another attribute it can": func(s *streamed) {
			s.query.DynamoDB.Filter, s.query.DynamoDB.Values = "attribute_exists(at) AND surname <> :name", map[string]any{":name": "x"}
			s.listen()
			s.put("a")
			s.hears("a")
		},
		"a quiet table costs a read a second, and a busy one two": func(s *streamed) {
			s.listen()
			before := s.gets()
			time.Sleep(time.Minute)
			if quiet := s.gets() - before; quiet < 55 || quiet > 61 {
				s.t.Errorf("%d reads in a minute without changes, want one a second", quiet)
			}
			before = s.gets()
			for i := range 600 {
				s.put(fmt.Sprint(i % 10))
				time.Sleep(100 * time.Millisecond)
			}
			if busy := s.gets() - before; busy > 121 {
				s.t.Errorf("%d reads in a minute with changes, want two a second", busy)
			}
			s.told.take()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStreamed(t)
				defer s.stop()
				test(s)
			})
		})
	}
}
