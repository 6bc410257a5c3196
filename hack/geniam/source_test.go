package main

import (
	"net/http"
	"strings"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/dynamodb"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantsource"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/canned"
)

// scan is the one call of sources without a stream.
const scan = "dynamodb:Scan"

// noRows is a sink that takes nothing.
type noRows struct{ t *testing.T }

func (s noRows) Columns([]mapping.Column) error { s.t.Error("there are columns"); return nil }

func (s noRows) Row(mapping.Row) error { s.t.Error("there is a row"); return nil }

func TestWhatStopsWithoutTheRightToReadATable(t *testing.T) {
	t.Parallel()
	if !allowed()[scan] {
		t.Error("no policy allows " + scan)
	}
	wire := &canned.Transport{
		Status: http.StatusBadRequest, ContentType: "application/x-amz-json-1.0",
		Body: `{"__type": "com.amazon.coral.service#AccessDeniedException", "Message": "User: arn:aws:iam::111122223333:user/x is not authorized to perform: dynamodb:Scan on resource: arn:aws:dynamodb:eu-central-1:111122223333:table/customers because no identity-based policy allows the dynamodb:Scan action"}`,
	}
	tables := tablesOver(t, wire)
	err := tables.Read(t.Context(), mapping.Query{DynamoDB: mapping.DynamoDBQuery{TableName: "customers", Segments: 1}}, noRows{t})
	if err == nil {
		t.Fatal("a table that may not be read counts as read")
	}
	f := tenantsource.FailureOf(err)
	if f.Reason != tenantsource.SourceError || !strings.Contains(f.Message, scan) {
		t.Errorf("the source says %s: %s", f.Reason, f.Message)
	}
	request, _ := wire.Last()
	if got := request.Header.Get("X-Amz-Target"); !strings.HasSuffix(got, ".Scan") {
		t.Errorf("the operator asked for %s", got)
	}
}

// tablesOver is a reader of tables on that wire.
func tablesOver(t *testing.T, wire http.RoundTripper) *dynamodb.Tables {
	t.Helper()
	metrics, err := aws.NewMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	return dynamodb.New(dynamodb.Config{
		SDK: awssdk.Config{
			Region: "eu-central-1", HTTPClient: &http.Client{Transport: wire},
			Credentials: credentials.NewStaticCredentialsProvider("AKIATEST", "secret", ""),
		},
		Endpoint: "http://dynamodb.invalid", Metrics: metrics,
	})
}

// silent is a sink that takes what it is told.
type silent struct{}

func (silent) Ready()         {}
func (silent) Hint(...string) {}

func TestWhatStopsWithoutTheRightToFollowAStream(t *testing.T) {
	t.Parallel()
	customers := mapping.Query{DynamoDB: mapping.DynamoDBQuery{TableName: "customers", Segments: 1}, Watch: &mapping.Watch{}}
	changed := customers
	changed.Keys = []string{`{"name":{"S":"acme"}}`}
	for _, p := range TableStreams.permissions() {
		t.Run(p.Action, func(t *testing.T) {
			t.Parallel()
			_, operation, _ := strings.Cut(p.Action, ":")
			world := sim.New(sim.Options{})
			createTable(t, world)
			wire := denying{operation: operation, next: world.Transport()}
			tables := tablesOver(t, wire)
			var err error
			if operation == "Query" {
				err = tables.Read(t.Context(), changed, noRows{t})
			} else {
				err = tables.Listen(t.Context(), customers, silent{})
			}
			f := tenantsource.FailureOf(err)
			if !fault.Is(err, fault.Denied) || !strings.Contains(f.Message, p.Action) {
				t.Errorf("the source says %s: %s", f.Reason, f.Message)
			}
		})
	}
}

// Without the right to describe the table the others decide.
func TestWhatStopsWithoutTheRightToWriteAStateTable(t *testing.T) {
	t.Parallel()
	for operation, remove := range map[string]bool{"PutItem": false, "DeleteItem": true} {
		t.Run(operation, func(t *testing.T) {
			t.Parallel()
			wire := denying{operation: "DescribeTable", next: denying{operation: operation}}
			change := statetable.Change{Row: statetable.Row{Source: "c/n/s", Key: "acme"}, Remove: remove}
			refused, err := tablesOver(t, wire).Write(t.Context(), statetable.Target{Table: "edge-state", Source: "c/n/s"}, []statetable.Change{change})
			if !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), "dynamodb:"+operation) || refused != nil {
				t.Errorf("got %v and %v", err, refused)
			}
		})
	}
}

// createTable makes a table with a stream.
func createTable(t *testing.T, world *sim.Sim) {
	t.Helper()
	owner := sdk.New(sdk.Options{
		Region: "eu-central-1", BaseEndpoint: awssdk.String("http://dynamodb.invalid"), HTTPClient: &http.Client{Transport: world.Transport()},
		Credentials: credentials.NewStaticCredentialsProvider("AKIAOWNER", "secret", ""),
	})
	_, err := owner.CreateTable(t.Context(), &sdk.CreateTableInput{
		TableName: awssdk.String("customers"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: awssdk.String("name"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: awssdk.String("name"), KeyType: types.KeyTypeHash}},
		StreamSpecification:  &types.StreamSpecification{StreamEnabled: awssdk.Bool(true), StreamViewType: types.StreamViewTypeKeysOnly},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// denying refuses one operation of DynamoDB, as AWS does without the permission.
type denying struct {
	operation string
	next      http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (d denying) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(r.Header.Get("X-Amz-Target"), "."+d.operation) {
		return d.next.RoundTrip(r)
	}
	refusal := canned.Transport{
		Status: http.StatusBadRequest, ContentType: "application/x-amz-json-1.0",
		Body: `{"__type": "com.amazon.coral.service#AccessDeniedException", "Message": "User: arn:aws:iam::111122223333:user/x is not authorized to perform: dynamodb:` +
			d.operation + ` because no identity-based policy allows it"}`,
	}
	return refusal.RoundTrip(r)
}
