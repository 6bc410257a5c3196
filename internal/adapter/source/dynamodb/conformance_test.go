package dynamodb_test

import (
	"net/http"
	"os"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/dynamodb"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/rowsuite"
)

func TestMain(m *testing.M) { os.Exit(database.RunTests(m)) }

// conforming is a reader of that engine. The HTTP client keeps connections between reads, as in the operator; these
// don't, so that the suite can count them.
func conforming(t *testing.T, engine *database.Engine) *dynamodb.Tables {
	t.Helper()
	metrics, err := aws.NewMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	return dynamodb.New(dynamodb.Config{
		Endpoint: engine.Endpoint(), Metrics: metrics,
		SDK: awssdk.Config{
			Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("AKIATEST", "secret", ""),
			HTTPClient: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
			// An endless read is given up sooner than in the operator.
			RetryMaxAttempts: 3,
		},
	})
}

func TestConformance(t *testing.T) {
	engine := database.Shared(t, mapping.DynamoDB)
	rowsuite.Run(t, conforming(t, engine), engine)
}

func TestHintsConformance(t *testing.T) {
	engine := database.Shared(t, mapping.DynamoDB)
	tables := conforming(t, engine)
	rowsuite.RunHints(t, tables, tables, engine)
}

func TestStatesConformance(t *testing.T) {
	engine := database.Shared(t, mapping.DynamoDB)
	tables := conforming(t, engine)
	rowsuite.RunStates(t, tables, tables, engine)
}
