package aws_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

// The first signature is that of BuildAuthToken in github.com/aws/aws-sdk-go-v2/feature/rds/auth v1.7.12, which reads the clock
// itself. The form of the second is on https://docs.aws.amazon.com/AmazonElastiCache/latest/dg/auth-iam.html.
func TestTokens(t *testing.T) {
	tokens := aws.Tokens{
		SDK: awssdk.Config{Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider(
			"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "session/token+==")},
		Clock: clocktesting.NewFakePassiveClock(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)),
	}
	for name, tt := range map[string]struct {
		login mapping.Login
		want  string
	}{
		"RDS": {
			mapping.Login{Host: "shop.abc.eu-west-1.rds.amazonaws.com:5432", User: "tenant_source", Database: "customers", Region: "eu-west-1"},
			"shop.abc.eu-west-1.rds.amazonaws.com:5432/?Action=connect&DBUser=tenant_source&X-Amz-Algorithm=AWS4-HMAC-SHA256" +
				"&X-Amz-Credential=AKIDEXAMPLE%2F20000101%2Feu-west-1%2Frds-db%2Faws4_request&X-Amz-Date=20000101T000000Z&X-Amz-Expires=900" +
				"&X-Amz-Security-Token=session%2Ftoken%2B%3D%3D&X-Amz-SignedHeaders=host" +
				"&X-Amz-Signature=4a694eb1541b90d7e2c9257abfbffef5a09c4637ff694cced28812553527d928",
		},
		"ElastiCache, in the region of the operator": {
			mapping.Login{Host: "master.shop.abc.use1.cache.amazonaws.com:6379", User: "tenant-source", Cache: "shop"},
			"shop/?Action=connect&User=tenant-source&X-Amz-Algorithm=AWS4-HMAC-SHA256" +
				"&X-Amz-Credential=AKIDEXAMPLE%2F20000101%2Fus-east-1%2Felasticache%2Faws4_request&X-Amz-Date=20000101T000000Z&X-Amz-Expires=900" +
				"&X-Amz-Security-Token=session%2Ftoken%2B%3D%3D&X-Amz-SignedHeaders=host&X-Amz-Signature=",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := tokens.Token(t.Context(), tt.login, "shop")
			if err != nil {
				t.Fatal(err)
			}
			if at := strings.LastIndex(got, "="); strings.HasSuffix(tt.want, "=") {
				got = got[:at+1]
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("the token (-want +got):\n%s", diff)
			}
		})
	}
}

// With a role, the token is signed on behalf of the namespace, whose name is in the external ID.
func TestTokensOfARole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newRoleWorld(t)
		tokens := aws.Tokens{SDK: awssdk.Config{Region: "eu-west-1", Credentials: w.own}, Roles: w.roles, Clock: clock.RealClock{}}
		login := mapping.Login{Host: "db:5432", User: "u", Database: "d", AssumeRoleARN: roleARN}
		token, err := tokens.Token(t.Context(), login, "shop")
		own, ownErr := w.own.Retrieve(t.Context())
		if err != nil || ownErr != nil {
			t.Fatal(err, ownErr)
		}
		if strings.Contains(token, own.AccessKeyID) || !strings.Contains(token, "X-Amz-Security-Token=") {
			t.Errorf("the token is not signed by the role: %s", token)
		}
		if _, err := tokens.Token(t.Context(), login, "other"); !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), "external ID") {
			t.Errorf("another namespace has the role: %v", err)
		}
		login.AssumeRoleARN = "arn:aws:iam::111122223333:role/admin"
		if _, err := tokens.Token(t.Context(), login, "shop"); fault.CodeOf(err) != mapping.CodeRoleNotAllowed {
			t.Errorf("a role that is not allowed: %v", err)
		}
	})
}
