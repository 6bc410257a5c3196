package main

import (
	"net/http"
	"strings"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/dynamodb"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantsource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/canned"
)

// scan is the one call of sources.
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
	metrics, err := aws.NewMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	tables := dynamodb.New(dynamodb.Config{
		SDK: awssdk.Config{
			Region: "eu-central-1", HTTPClient: &http.Client{Transport: wire},
			Credentials: credentials.NewStaticCredentialsProvider("AKIATEST", "secret", ""),
		},
		Endpoint: "http://dynamodb.invalid", Metrics: metrics,
	})
	err = tables.Read(t.Context(), mapping.Query{DynamoDB: mapping.DynamoDBQuery{TableName: "customers", Segments: 1}}, noRows{t})
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
