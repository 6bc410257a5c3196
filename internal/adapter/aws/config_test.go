package aws

import (
	"errors"
	"net/http"
	"os"
	"testing"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

func TestLoadConfig(t *testing.T) {
	t.Setenv("AWS_CONFIG_FILE", os.DevNull)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", os.DevNull)
	t.Setenv("AWS_DEFAULT_REGION", "")
	tests := []struct {
		name, flag, environment, want string
	}{
		{"the flag goes before the environment", "eu-west-1", "eu-north-1", "eu-west-1"},
		{"without a flag the environment decides", "", "eu-north-1", "eu-north-1"},
		{"without either there is a region all the same, or nothing can be signed", "", "", GlobalRegion},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("AWS_REGION", tt.environment)
			config, err := LoadConfig(t.Context(), SDKConfig{Region: tt.flag})
			if err != nil {
				t.Fatal(err)
			}
			if config.Region != tt.want {
				t.Errorf("region %q, want %q", config.Region, tt.want)
			}
			client, ok := config.HTTPClient.(*awshttp.BuildableClient)
			if !ok {
				t.Fatalf("client %T", config.HTTPClient)
			}
			got := []time.Duration{
				client.GetTimeout(), client.GetDialer().Timeout,
				client.GetTransport().TLSHandshakeTimeout, client.GetTransport().ResponseHeaderTimeout,
			}
			for i, timeout := range got {
				if timeout <= 0 || timeout > attemptTimeout {
					t.Errorf("timeout %d is %v: a dead connection would hold a worker", i, timeout)
				}
			}
		})
	}
}

func TestLoadConfigRefusesABundleThatIsNotThere(t *testing.T) {
	t.Setenv("AWS_CA_BUNDLE", t.TempDir()+"/absent.pem")
	if _, err := LoadConfig(t.Context(), SDKConfig{}); err == nil {
		t.Error("no error: the operator would trust other certificates than it was told to")
	}
}

// The retryer by itself, as the limiter refuses most retries of throttles too.
func TestWhatAReadRetries(t *testing.T) {
	response := func(status int, code string) error {
		return &answer{&smithyhttp.ResponseError{
			Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status}},
			Err:      &smithy.GenericAPIError{Code: code},
		}}
	}
	tests := []struct {
		name string
		err  error
		want bool
	}{
		{"a server that fails", response(503, "ServiceUnavailable"), true},
		{"a server that asks to slow down", response(503, "SlowDown"), false},
		{"a throttle", response(400, "Throttling"), false},
		{"a refusal", response(403, "AccessDenied"), false},
		{"no answer", &smithyhttp.RequestSendError{Err: errors.New("reset")}, true},
		{"an answer that breaks off", &smithy.DeserializationError{Err: errors.New("EOF")}, true},
		{"a request that was never sent", errors.New("no credentials"), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := RetryRead(nil).IsErrorRetryable(tt.err); got != tt.want {
				t.Errorf("retried: %v, want %v", got, tt.want)
			}
		})
	}
}
