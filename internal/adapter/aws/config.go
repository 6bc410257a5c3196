package aws

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go/logging"
	"github.com/go-logr/logr"
)

// GlobalRegion is where CloudFront, and ACM for CloudFront, are signed for and live.
const GlobalRegion = "us-east-1"

const userAgent = "cloudfront-tenant-operator"

// The timeouts of one attempt. The SDK sets none for the whole of it, and a reconcile that waits on a dead connection
// blocks a worker for minutes.
const (
	dialTimeout     = 5 * time.Second
	tlsTimeout      = 5 * time.Second
	headerTimeout   = 15 * time.Second
	attemptTimeout  = 20 * time.Second
	idleTimeout     = 90 * time.Second
	idleConnections = 32
)

// SDKConfig says what differs from the SDK's defaults.
type SDKConfig struct {
	// Region is for the services that have one, STS for example. Empty means what the
	// environment says, and GlobalRegion when that is silent too.
	Region string
	// Version goes into the user agent.
	Version string
	// Log is where the SDK logs; nowhere if it is not set.
	Log logr.Logger
}

// LoadConfig builds the SDK's configuration. Credentials, endpoints (AWS_ENDPOINT_URL)
// and the trusted certificates (AWS_CA_BUNDLE) come from the environment, as in every
// other tool for AWS.
func LoadConfig(ctx context.Context, c SDKConfig) (awssdk.Config, error) {
	options := []func(*config.LoadOptions) error{
		// It must be the SDK's own client type: AWS_CA_BUNDLE is refused with any other.
		config.WithHTTPClient(httpClient()),
		// Credentials that the SDK gets from STS need a region as well, so that it can't be set afterwards.
		config.WithDefaultRegion(GlobalRegion),
		config.WithAPIOptions(apiOptions{awsmiddleware.AddUserAgentKeyValue(userAgent, c.Version)}),
		config.WithLogger(logTo(c.Log)),
	}
	var client webIdentities
	options = append(options, config.WithWebIdentityRoleCredentialOptions(func(o *stscreds.WebIdentityRoleOptions) { o.Client = &client }))
	if c.Region != "" {
		options = append(options, config.WithRegion(c.Region))
	}
	loaded, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return awssdk.Config{}, fmt.Errorf("loading the AWS configuration: %w", err)
	}
	client.Client = sts.NewFromConfig(loaded)
	loaded.Credentials = ownCredentials{loaded.Credentials}
	return loaded, nil
}

// webIdentities is the client of STS for web identities. The SDK's own is made before it looks at AWS_ENDPOINT_URL.
type webIdentities struct{ *sts.Client }

func logTo(log logr.Logger) logging.LoggerFunc {
	return func(class logging.Classification, format string, v ...any) {
		log.Info("The AWS SDK has logged a line", "line", strings.TrimSpace(fmt.Sprintf(format, v...)), "class", class)
	}
}

func httpClient() *awshttp.BuildableClient {
	return awshttp.NewBuildableClient().
		WithTimeout(attemptTimeout).
		WithDialerOptions(func(d *net.Dialer) { d.Timeout = dialTimeout }).
		WithTransportOptions(func(t *http.Transport) {
			t.TLSHandshakeTimeout = tlsTimeout
			t.ResponseHeaderTimeout = headerTimeout
			t.IdleConnTimeout = idleTimeout
			t.MaxIdleConnsPerHost = idleConnections
		})
}
