package aws

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/logging"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
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

// What the SDK logs is in the operator's log, whose lines can be parsed.
func TestTheSDKLogsWithTheOperator(t *testing.T) {
	var lines []string
	log := funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{})
	config, err := LoadConfig(t.Context(), SDKConfig{Region: GlobalRegion, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	config.Logger.Logf(logging.Warn, "failed to discard %s\n", "the body")
	want := []string{`"level"=0 "msg"="The AWS SDK has logged a line" "line"="failed to discard the body" "class"="WARN"`}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The SDK makes its client of STS while it loads the configuration, so a region that is set later comes too late. A
// process of its own is asked, as the standard library reads the address of a proxy only once.
func TestWebIdentityNeedsNoRegion(t *testing.T) {
	const asked = "TEST_WEB_IDENTITY"
	if os.Getenv(asked) != "" {
		config, err := LoadConfig(t.Context(), SDKConfig{})
		if err == nil {
			_, err = config.Credentials.Retrieve(t.Context())
		}
		t.Fatal(err)
	}
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("token"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, done := context.WithCancel(t.Context())
	defer done()
	var reached atomic.Value
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached.Store(r.Method + " " + r.Host)
		http.Error(w, "this proxy leads nowhere", http.StatusForbidden)
		done()
	}))
	defer proxy.Close()
	child := exec.CommandContext(ctx, os.Args[0], "-test.run=^"+t.Name()+"$")
	child.Env = []string{
		asked + "=yes", "HTTPS_PROXY=" + proxy.URL, "AWS_CONFIG_FILE=" + os.DevNull, "AWS_SHARED_CREDENTIALS_FILE=" + os.DevNull,
		"AWS_WEB_IDENTITY_TOKEN_FILE=" + token, "AWS_ROLE_ARN=arn:aws:iam::111122223333:role/pod",
	}
	out, _ := child.CombinedOutput()
	if got := reached.Load(); got != "CONNECT sts.us-east-1.amazonaws.com:443" {
		t.Errorf("STS is looked for at %v:\n%s", got, out)
	}
}

func TestLoadConfigRefusesABundleThatIsNotThere(t *testing.T) {
	t.Setenv("AWS_CA_BUNDLE", t.TempDir()+"/absent.pem")
	if _, err := LoadConfig(t.Context(), SDKConfig{}); err == nil {
		t.Error("no error: the operator would trust other certificates than it was told to")
	}
}

// The retryer on its own, as the limiter refuses most retries of throttles too.
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
		{"no response", &smithyhttp.RequestSendError{Err: errors.New("reset")}, true},
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
