// Package adapters makes the adapters of all kinds of databases in a test's own process, without the child in which the
// operator runs them.
package adapters

import (
	"fmt"
	"net/http"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/dynamodb"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/mongodb"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/mysql"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/postgres"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/redis"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
)

// Adapter reads tables, listens for their changes, and writes those of states.
type Adapter interface {
	port.Rows
	port.Hints
	port.States
}

// Of makes the adapter for an engine.
func Of(engine *database.Engine) (Adapter, error) {
	c := store.Config{Timeout: time.Minute}
	switch engine.Provider() {
	case mapping.Postgres:
		return postgres.New(c), nil
	case mapping.MySQL:
		return mysql.New(c), nil
	case mapping.MongoDB:
		return mongodb.New(c), nil
	case mapping.Redis:
		return redis.New(c), nil
	case mapping.DynamoDB:
	}
	metrics, err := aws.NewMetrics(prometheus.NewRegistry())
	if err != nil {
		return nil, fmt.Errorf("making the metrics of an adapter: %w", err)
	}
	return dynamodb.New(dynamodb.Config{Endpoint: engine.Endpoint(), Metrics: metrics, SDK: awssdk.Config{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("AKIAREADER", "reader", ""),
		HTTPClient: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
	}}), nil
}
