package aws_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"sync"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws/acm"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws/cloudfront"
)

const certificateARN = "arn:aws:acm:us-east-1:111122223333:certificate/00000000-0000-4000-8000-000000000001"

// readsWithABody are a read of each client that sends a body, and what answers it.
var readsWithABody = []struct {
	name, answer string
	call         func(context.Context, awssdk.Config, *aws.Limiter, *aws.Metrics) error
}{
	{
		"CloudFront", `<ListDistributionTenantsResult><DistributionTenantList/></ListDistributionTenantsResult>`,
		func(ctx context.Context, sdk awssdk.Config, l *aws.Limiter, m *aws.Metrics) error {
			_, _, err := cloudfront.New(cloudfront.Config{SDK: sdk, Limiter: l, Metrics: m}).ListTenants(ctx, "")
			return err
		},
	},
	{
		"ACM", `{"Certificate":{"CertificateArn":"` + certificateARN + `","Status":"ISSUED"}}`,
		func(ctx context.Context, sdk awssdk.Config, l *aws.Limiter, m *aws.Metrics) error {
			_, err := acm.New(acm.Config{SDK: sdk, Limiter: l, Metrics: m}).DescribeCertificate(ctx, certificateARN)
			return err
		},
	},
}

func send(
	ctx context.Context, t *testing.T, endpoint string, transport http.RoundTripper,
	call func(context.Context, awssdk.Config, *aws.Limiter, *aws.Metrics) error,
) error {
	t.Helper()
	metrics, err := aws.NewMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	limiter := aws.NewLimiter(aws.LimiterConfig{API: "test", Rate: 10, Burst: 100, Clock: clock.RealClock{}, Metrics: metrics})
	return call(ctx, awssdk.Config{
		BaseEndpoint: &endpoint,
		Credentials:  credentials.NewStaticCredentialsProvider("AKIATEST", "secret", ""),
		HTTPClient:   &http.Client{Transport: transport},
	}, limiter, metrics)
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// heldConn returns from writing a body only when it is released.
type heldConn struct {
	net.Conn
	release <-chan struct{}
}

func (c heldConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if !bytes.HasSuffix(b, []byte("\r\n\r\n")) {
		<-c.release
	}
	return n, err
}

// readBody calls back before each read.
type readBody struct {
	io.ReadCloser
	before func()
}

func (b readBody) Read(p []byte) (int, error) {
	b.before()
	return b.ReadCloser.Read(p)
}

// The machine is so busy that the one who sends the body comes back from its last write
// only when the answer is being read, and the SDK has closed the body.
func TestAnAnswerThatOvertakesTheRequestIsRead(t *testing.T) {
	for _, tt := range readsWithABody {
		t.Run(tt.name, func(t *testing.T) {
			release, sent := make(chan struct{}), make(chan error, 10)
			var once sync.Once
			letGo := func() { once.Do(func() { close(release) }) }
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if _, err := io.Copy(io.Discard, r.Body); err != nil {
					t.Errorf("reading the request: %v", err)
				}
				_, _ = io.WriteString(w, tt.answer)
			}))
			defer server.Close()
			transport := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
				return heldConn{conn, release}, err
			}}
			defer transport.CloseIdleConnections()
			defer letGo()
			ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
				WroteRequest: func(info httptrace.WroteRequestInfo) { sent <- info.Err },
			})
			err := send(ctx, t, server.URL, roundTripper(func(r *http.Request) (*http.Response, error) {
				response, err := transport.RoundTrip(r)
				if err == nil {
					response.Body = readBody{response.Body, letGo}
				}
				return response, err
			}), tt.call)
			if err != nil {
				t.Errorf("the call: %v", err)
			}
			if err := <-sent; err != nil {
				t.Errorf("sending the request: %v, for which net/http closes the connection", err)
			}
		})
	}
}

func TestASecondTrySendsTheWholeBodyAgain(t *testing.T) {
	for _, tt := range readsWithABody {
		t.Run(tt.name, func(t *testing.T) {
			var bodies []string
			err := send(t.Context(), t, "http://test.invalid", roundTripper(func(r *http.Request) (*http.Response, error) {
				body, err := io.ReadAll(r.Body)
				if err != nil || int64(len(body)) != r.ContentLength {
					t.Errorf("%d bytes of %d, %v", len(body), r.ContentLength, err)
				}
				bodies = append(bodies, string(body))
				status, answer := http.StatusServiceUnavailable, ""
				if len(bodies) > 1 {
					status, answer = http.StatusOK, tt.answer
				}
				return &http.Response{
					StatusCode: status, Header: http.Header{}, Request: r,
					Body: io.NopCloser(strings.NewReader(answer)), ContentLength: int64(len(answer)),
				}, nil
			}), tt.call)
			if err != nil {
				t.Fatal(err)
			}
			if len(bodies) != 2 || bodies[0] == "" || bodies[0] != bodies[1] {
				t.Errorf("sent %q, want the same body twice", bodies)
			}
		})
	}
}
