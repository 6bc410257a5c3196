package aws_test

import (
	"context"
	"net/http"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	cloudfrontsdk "github.com/aws/aws-sdk-go-v2/service/cloudfront"
	cloudfronttypes "github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	route53sdk "github.com/aws/aws-sdk-go-v2/service/route53"
	route53types "github.com/aws/aws-sdk-go-v2/service/route53/types"
	stssdk "github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws/acm"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// haltedCalls are calls of every service, and whether they change something.
var haltedCalls = map[string]struct {
	changes bool
	call    func(context.Context, awssdk.Config, *aws.Limiter, *aws.Metrics) error
}{
	"a certificate is deleted": {changes: true, call: func(ctx context.Context, sdk awssdk.Config, l *aws.Limiter, m *aws.Metrics) error {
		return acm.New(acm.Config{SDK: sdk, Limiter: l, Metrics: m}).DeleteCertificate(ctx, certificateARN)
	}},
	"a certificate is read": {call: func(ctx context.Context, sdk awssdk.Config, l *aws.Limiter, m *aws.Metrics) error {
		_, err := acm.New(acm.Config{SDK: sdk, Limiter: l, Metrics: m}).DescribeCertificate(ctx, certificateARN)
		return err
	}},
	"a cache is invalidated, which the operator never does": {changes: true, call: func(ctx context.Context, sdk awssdk.Config, l *aws.Limiter, m *aws.Metrics) error {
		_, err := cloudfrontsdk.NewFromConfig(sdk, func(o *cloudfrontsdk.Options) { o.APIOptions = aws.Instrument(l, m) }).
			CreateInvalidationForDistributionTenant(ctx, &cloudfrontsdk.CreateInvalidationForDistributionTenantInput{
				Id: awssdk.String("dt_1"), InvalidationBatch: &cloudfronttypes.InvalidationBatch{
					CallerReference: awssdk.String("one"), Paths: &cloudfronttypes.Paths{Quantity: awssdk.Int32(0)},
				},
			})
		return err
	}},
	"records are changed": {changes: true, call: func(ctx context.Context, sdk awssdk.Config, l *aws.Limiter, m *aws.Metrics) error {
		_, err := route53sdk.NewFromConfig(sdk, func(o *route53sdk.Options) { o.APIOptions = aws.Instrument(l, m) }).
			ChangeResourceRecordSets(ctx, &route53sdk.ChangeResourceRecordSetsInput{
				HostedZoneId: awssdk.String("Z1"), ChangeBatch: &route53types.ChangeBatch{Changes: []route53types.Change{}},
			})
		return err
	}},
	"records are listed": {call: func(ctx context.Context, sdk awssdk.Config, l *aws.Limiter, m *aws.Metrics) error {
		_, err := route53sdk.NewFromConfig(sdk, func(o *route53sdk.Options) { o.APIOptions = aws.Instrument(l, m) }).
			ListResourceRecordSets(ctx, &route53sdk.ListResourceRecordSetsInput{HostedZoneId: awssdk.String("Z1")})
		return err
	}},
	"a role is assumed, to read": {call: func(ctx context.Context, sdk awssdk.Config, l *aws.Limiter, m *aws.Metrics) error {
		_, err := stssdk.NewFromConfig(sdk, func(o *stssdk.Options) { o.APIOptions = aws.Instrument(l, m) }).
			AssumeRole(ctx, &stssdk.AssumeRoleInput{RoleArn: awssdk.String("arn:aws:iam::111122223333:role/dns"), RoleSessionName: awssdk.String("dns")})
		return err
	}},
}

// A change that no rule has stopped ends before anything is sent, and reads continue.
func TestWhileHaltedNoChangeIsSent(t *testing.T) {
	t.Parallel()
	for name, c := range haltedCalls {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			metrics, err := aws.NewMetrics(prometheus.NewRegistry())
			if err != nil {
				t.Fatal(err)
			}
			limiter := aws.NewLimiter(aws.LimiterConfig{
				API: "test", Rate: 10, Burst: 100, Clock: clock.RealClock{}, Metrics: metrics,
				Halted: func() *chain.Halt { return &chain.Halt{Reason: "ClusterMoved", Message: "Another cluster."} },
			})
			sent := 0
			err = c.call(t.Context(), awssdk.Config{
				BaseEndpoint: awssdk.String("https://aws.test"), Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("AKIATEST", "secret", ""),
				HTTPClient: &http.Client{Transport: roundTripper(func(*http.Request) (*http.Response, error) {
					sent++
					return nil, http.ErrServerClosed
				})},
			}, limiter, metrics)
			switch refused := fault.CodeOf(err) == aws.CodeHalted; {
			case c.changes && (sent > 0 || !refused || !fault.Is(err, fault.Throttled) || fault.RetryAfter(err) == 0):
				t.Errorf("%d requests were sent; the answer is %v", sent, err)
			case !c.changes && (sent == 0 || refused):
				t.Errorf("%d requests were sent; the answer is %v", sent, err)
			}
		})
	}
}

// What was prepared before the process was paused is not sent after it: the halt is noticed right before a request is sent.
func TestAHaltWhileARequestIsPrepared(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	metrics, err := aws.NewMetrics(registry)
	if err != nil {
		t.Fatal(err)
	}
	var halted *chain.Halt
	limiter := aws.NewLimiter(aws.LimiterConfig{
		API: "test", Rate: 10, Burst: 100, Clock: clock.RealClock{}, Metrics: metrics, Halted: func() *chain.Halt { return halted },
	})
	slow := awssdk.CredentialsProviderFunc(func(context.Context) (awssdk.Credentials, error) {
		halted = &chain.Halt{Message: "another replica may lead"}
		return awssdk.Credentials{AccessKeyID: "AKIATEST", SecretAccessKey: "secret"}, nil
	})
	sent := false
	sdk := awssdk.Config{
		BaseEndpoint: awssdk.String("https://aws.test"), Region: "us-east-1", Credentials: slow,
		HTTPClient: &http.Client{Transport: roundTripper(func(*http.Request) (*http.Response, error) {
			sent = true
			return nil, http.ErrServerClosed
		})},
	}
	err = acm.New(acm.Config{SDK: sdk, Limiter: limiter, Metrics: metrics}).DeleteCertificate(t.Context(), certificateARN)
	if sent || fault.CodeOf(err) != aws.CodeHalted {
		t.Errorf("sent: %t; the answer is %v", sent, err)
	}
	if n, err := testutil.GatherAndCount(registry, "cloudfront_tenant_operator_aws_api_calls_total"); n != 0 || err != nil {
		t.Errorf("%d calls were counted that were not sent, error %v", n, err)
	}
}
