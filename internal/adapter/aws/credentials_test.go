package aws

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// A failed credential is told as that, whatever the call was that needed it. The environment is that of a Pod.
func TestCredentialsThatFailAreNamed(t *testing.T) {
	here := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/agent":
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"code":"AccessDeniedException","message":"the association is gone"}`)
		case r.URL.Path == "/text":
			http.Error(w, "[c0ffee]: (AccessDenied)", http.StatusBadRequest)
		case strings.HasPrefix(r.URL.Path, "/latest/"):
			http.NotFound(w, r)
		default:
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, "<ErrorResponse><Error><Code>AccessDenied</Code><Message>Not authorized to perform sts:AssumeRoleWithWebIdentity</Message></Error></ErrorResponse>")
		}
	}))
	defer here.Close()
	closed := httptest.NewServer(nil)
	closed.Close()
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("token"), 0o600); err != nil {
		t.Fatal(err)
	}
	web := func(more map[string]string) map[string]string {
		env := map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": token, "AWS_ROLE_ARN": "arn:aws:iam::111122223333:role/pod"}
		maps.Copy(env, more)
		return env
	}
	for name, tt := range map[string]struct {
		env  map[string]string
		want string
		kind fault.Kind
	}{
		"STS can't be reached": {
			web(map[string]string{"AWS_ENDPOINT_URL_STS": closed.URL}),
			"getting credentials from STS (127.0.0.1): the endpoint refused the connection", fault.Transient,
		},
		"STS refuses, at the endpoint of all services": {
			web(map[string]string{"AWS_ENDPOINT_URL": here.URL}),
			"getting credentials from STS: AccessDenied: Not authorized to perform sts:AssumeRoleWithWebIdentity", fault.Denied,
		},
		"an endpoint of STS wins over that of all services": {
			web(map[string]string{"AWS_ENDPOINT_URL": closed.URL, "AWS_ENDPOINT_URL_STS": here.URL}),
			"getting credentials from STS: AccessDenied: Not authorized to perform sts:AssumeRoleWithWebIdentity", fault.Denied,
		},
		"the token of the Pod is not there": {
			web(map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": token + ".absent"}),
			"getting credentials: there are no usable credentials", fault.Transient,
		},
		"the Pod Identity agent refuses": {
			map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": here.URL + "/agent"},
			"getting credentials from the EKS Pod Identity agent: AccessDeniedException: the association is gone", fault.Denied,
		},
		"the Pod Identity agent answers with a text": {
			map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": here.URL + "/text"},
			"getting credentials from the EKS Pod Identity agent: a response with status 400 and no error code", fault.Transient,
		},
		"there is no identity but that of the node, and the node has none": {
			map[string]string{"AWS_EC2_METADATA_SERVICE_ENDPOINT": here.URL},
			"getting credentials from EC2 instance metadata: a response with status 404 and no error code", fault.Transient,
		},
	} {
		t.Run(name, func(t *testing.T) {
			for name, value := range map[string]string{
				"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_MAX_ATTEMPTS": "1", "AWS_ACCESS_KEY_ID": "",
			} {
				t.Setenv(name, value)
			}
			for name, value := range tt.env {
				t.Setenv(name, value)
			}
			config, err := LoadConfig(t.Context(), SDKConfig{})
			if err != nil {
				t.Fatal(err)
			}
			_, err = cloudfront.NewFromConfig(config).GetDistribution(t.Context(), &cloudfront.GetDistributionInput{Id: new("E1")})
			err = Table{}.Classify("GetDistribution", err)
			if err == nil || err.Error() != tt.want || fault.KindOf(err) != tt.kind {
				t.Errorf("the call fails with %v %q\nwant %v %q", fault.KindOf(err), err, tt.kind, tt.want)
			}
		})
	}
}

// A private cluster often has no way to STS, and a node may have no agent or keep Pods from its metadata.
func TestTheHostThatGivesNoCredentialsIsNamed(t *testing.T) {
	send := func(address string, err error) error {
		return &smithyhttp.RequestSendError{Err: &url.Error{Op: "Get", URL: address, Err: err}}
	}
	for want, cause := range map[string]error{
		"getting credentials from STS (sts.us-east-1.amazonaws.com): could not resolve the host name of the endpoint": &smithy.OperationError{
			ServiceID: "STS", Err: send("https://sts.us-east-1.amazonaws.com/", &net.DNSError{Err: "no such host"}),
		},
		"getting credentials from EC2 instance metadata (169.254.169.254): no response within the time limit": &smithy.OperationError{
			ServiceID: "ec2imds", Err: send("http://169.254.169.254/latest/meta-data/", context.DeadlineExceeded),
		},
		"getting credentials from the EKS Pod Identity agent (fd00:ec2::23): the endpoint refused the connection": send("http://[fd00:ec2::23]/v1/credentials", syscall.ECONNREFUSED),
	} {
		own := ownCredentials{awssdk.CredentialsProviderFunc(func(context.Context) (awssdk.Credentials, error) {
			return awssdk.Credentials{}, fmt.Errorf("failed to retrieve credentials, %w", cause)
		})}
		_, err := own.Retrieve(t.Context())
		for _, operation := range []string{"GetDistribution", opAssumeRole} {
			call := &smithy.OperationError{ServiceID: "CloudFront", OperationName: operation, Err: fmt.Errorf("get identity: %w", err)}
			if got := (Table{}).Classify(operation, call); got == nil || got.Error() != want {
				t.Errorf("%s fails with %q, want %q", operation, got, want)
			}
		}
	}
}
