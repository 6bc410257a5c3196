package database

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

// Source is the spec of a source that reads what the query reads, with the connection string in that Secret.
func Source(provider mapping.Provider, q mapping.Query, secret string) v1alpha1.TenantSourceSpec {
	s := v1alpha1.TenantSourceSpec{Provider: v1alpha1.SourceProvider(provider), DeletionGuard: &v1alpha1.DeletionGuard{Grace: &metav1.Duration{}}}
	ref := &v1alpha1.SecretReference{Name: secret}
	switch provider {
	case mapping.Postgres:
		s.Postgres = &v1alpha1.SQLSource{ConnectionSecretRef: ref, Query: q.SQL.Query}
	case mapping.MySQL:
		s.MySQL = &v1alpha1.SQLSource{ConnectionSecretRef: ref, Query: q.SQL.Query}
	case mapping.MongoDB:
		s.MongoDB = &v1alpha1.MongoDBSource{ConnectionSecretRef: ref, Database: q.MongoDB.Database, Collection: q.MongoDB.Collection, Filter: q.MongoDB.Filter}
	case mapping.Redis:
		s.Redis = &v1alpha1.RedisSource{ConnectionSecretRef: ref, KeyPattern: q.Redis.KeyPattern}
	case mapping.DynamoDB:
		s.DynamoDB = &v1alpha1.DynamoDBSource{
			TableName: q.DynamoDB.TableName, Region: q.DynamoDB.Region, FilterExpression: q.DynamoDB.Filter, EnabledAttribute: "enabled",
		}
	}
	return s
}
