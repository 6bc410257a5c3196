package cloudfront_test

import (
	"context"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/canned"
)

// tightWorld has a burst of one call for all but following.
func tightWorld(t *testing.T) world {
	t.Helper()
	s := newSim()
	client, limiter, registry := newClient(t, s.Transport(), 2)
	return world{Sim: s, client: client, limiter: limiter, registry: registry}
}

func TestALocalDenialMakesNoRequest(t *testing.T) {
	for _, op := range append(append([]operation{}, reads...), writes...) {
		t.Run(op.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := tightWorld(t)
				ctx := port.WithCall(t.Context(), port.Call{Key: "a", Class: port.Change})
				if _, delay := w.limiter.Admit(ctx); delay != 0 {
					t.Fatal("no room at the start")
				}
				absent := distributiontenant.Observed{ID: "dt_1", ARN: arnPrefix + "dt_1", ETag: "E1"}
				err := op.call(ctx, w.client, absent)
				want := &fault.Error{
					Kind: fault.Throttled, Operation: op.name, Code: aws.CodeLocalRateLimit,
					Message: "waiting for the operator's own rate limit", RetryAfter: 100 * time.Millisecond,
				}
				got, _ := errors.AsType[*fault.Error](err)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("fault (-want +got):\n%s", diff)
				}
				if n := len(w.Journal()); n != 0 {
					t.Errorf("%d requests reached CloudFront", n)
				}
				<-time.After(got.RetryAfter)
				if err := op.call(ctx, w.client, absent); fault.KindOf(err) == fault.Throttled {
					t.Errorf("coming back in time: %v", err)
				}
			})
		})
	}
}

func TestAnAdmittedContextIsGoodForOneCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := tightWorld(t)
		admitted, delay := w.limiter.Admit(port.WithCall(t.Context(), port.Call{Key: "a"}))
		if delay != 0 {
			t.Fatal("no room at the start")
		}
		if _, _, err := w.client.ListTenants(admitted, ""); err != nil {
			t.Errorf("the admitted call: %v", err)
		}
		if _, _, err := w.client.ListTenants(admitted, ""); !fault.Is(err, fault.Throttled) {
			t.Errorf("the second call: %v, want Throttled", err)
		}
		if n := len(w.Journal()); n != 1 {
			t.Errorf("%d requests, want one", n)
		}
	})
}

func TestARetryNeedsRoomInTheRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := tightWorld(t)
		w.inject(t, sim.Fault{Operation: "ListDistributionTenants", Times: -1})
		_, _, err := w.client.ListTenants(port.WithCall(t.Context(), port.Call{Class: port.Change}), "")
		if got, _ := errors.AsType[*fault.Error](err); got == nil || got.Code != "ServiceUnavailable" {
			t.Errorf("error %v, want the answer of CloudFront, not of the limiter", err)
		}
		if n := len(w.Journal()); n != 1 {
			t.Errorf("%d requests with room for one", n)
		}
	})
}

func TestAThrottleLowersTheRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		<-time.After(time.Second)
		w.inject(t, sim.Fault{Error: &sim.FaultError{Status: 400, Code: "Throttling"}})
		if _, _, err := w.client.ListTenants(t.Context(), ""); !fault.Is(err, fault.Throttled) {
			t.Fatalf("error %v, want Throttled", err)
		}
		if got := metric(t, w.registry, "aws_rate", "cloudfront"); got != 9 {
			t.Errorf("rate %v, want 9", got)
		}
		if _, _, err := w.client.ListTenants(t.Context(), ""); !fault.Is(err, fault.Throttled) {
			t.Errorf("the saved burst is still there: %v", err)
		}
		if n := len(w.Journal()); n != 1 {
			t.Errorf("%d requests, want one", n)
		}
	})
}

func TestEveryAttemptIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.inject(t, sim.Fault{Operation: "GetDistributionTenant", Times: 1, Effect: sim.EffectReset})
		_, _ = w.client.GetTenant(t.Context(), "absent")
		_, _, _ = w.client.ListTenants(t.Context(), "")
		for _, tt := range []struct {
			operation, code string
			want            float64
		}{
			{"GetDistributionTenant", "NoAnswer", 1}, {"GetDistributionTenant", "EntityNotFound", 1},
			{"ListDistributionTenants", "OK", 1},
		} {
			if got := metric(t, w.registry, "aws_api_calls_total", tt.code, tt.operation); got != tt.want {
				t.Errorf("%s with %s: %v, want %v", tt.operation, tt.code, got, tt.want)
			}
		}
		if got := metric(t, w.registry, "aws_api_call_duration_seconds", "GetDistributionTenant"); got != 2 {
			t.Errorf("%v attempts were timed, want 2", got)
		}
	})
}

// metric reads one value by the end of its name and its label values in order.
func metric(t *testing.T, registry *prometheus.Registry, name string, labels ...string) float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() != "cloudfront_tenant_operator_"+name {
			continue
		}
		for _, m := range family.GetMetric() {
			var values []string
			for _, l := range m.GetLabel() {
				values = append(values, l.GetValue())
			}
			if cmp.Equal(values, labels) {
				return m.GetGauge().GetValue() + m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
			}
		}
	}
	return 0
}

// Credentials are another service's business: what it does not find is no tenant.
func TestFailingCredentialsProveNothing(t *testing.T) {
	tests := []struct {
		name string
		err  error
		want fault.Kind
	}{
		{"no credentials at all", errors.New("no providers"), fault.Transient},
		{"an identity that is not found", &smithy.GenericAPIError{Code: "ResourceNotFoundException"}, fault.Transient},
		{"a service for credentials that is too busy", &smithy.GenericAPIError{Code: "Throttling"}, fault.Throttled},
		{"a role that may not be assumed", &smithy.GenericAPIError{Code: "AccessDenied", Message: "no"}, fault.Denied},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			network := &canned.Transport{Status: http.StatusOK}
			client, _, registry := clientFor(t, awssdk.Config{
				BaseEndpoint: awssdk.String("http://cloudfront.invalid"),
				HTTPClient:   &http.Client{Transport: network},
				Credentials: awssdk.CredentialsProviderFunc(func(context.Context) (awssdk.Credentials, error) {
					return awssdk.Credentials{}, tt.err
				}),
			}, 100)
			if _, err := client.GetTenant(t.Context(), "shop"); fault.KindOf(err) != tt.want {
				t.Errorf("error %v, want %v", err, tt.want)
			}
			if got := metric(t, registry, "aws_rate", "cloudfront"); got != 10 {
				t.Errorf("rate %v, want 10: CloudFront throttled nothing", got)
			}
			if network.Requests() != 0 {
				t.Errorf("%d requests without credentials", network.Requests())
			}
		})
	}
}

// The environment that every tool for AWS understands works for the operator too.
func TestTheEnvironmentNamesEndpointAndCertificates(t *testing.T) {
	var seen http.Header
	simulated := newSim()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = r.Header.Clone()
		simulated.ServeHTTP(w, r)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // the refused handshake at the end
	server.StartTLS()
	defer server.Close()
	bundle := filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(bundle, block, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": server.URL, "AWS_CA_BUNDLE": bundle, "AWS_REGION": "", "AWS_DEFAULT_REGION": "",
		"AWS_ACCESS_KEY_ID": "AKIATEST", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_MAX_ATTEMPTS": "7",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
	} {
		t.Setenv(name, value)
	}
	list := func(region string) error {
		config, err := aws.LoadConfig(t.Context(), aws.SDKConfig{Region: region, Version: "v1.2.3"})
		if err != nil {
			t.Fatal(err)
		}
		client, _, _ := clientFor(t, config, 100)
		_, _, err = client.ListTenants(t.Context(), "")
		return err
	}
	for _, region := range []string{"", "eu-central-1"} {
		if err := list(region); err != nil {
			t.Fatalf("region %q: %v", region, err)
		}
		if !strings.Contains(seen.Get("Authorization"), "/us-east-1/cloudfront/") {
			t.Errorf("region %q: signed as %s, want us-east-1", region, seen.Get("Authorization"))
		}
		if !strings.Contains(seen.Get("User-Agent"), "cloudfront-tenant-operator/v1.2.3") {
			t.Errorf("user agent %q does not name the operator", seen.Get("User-Agent"))
		}
	}
	t.Setenv("AWS_CA_BUNDLE", "")
	err := list("")
	if !fault.Is(err, fault.Transient) || !strings.HasSuffix(err.Error(), "the certificate of the endpoint is not trusted") {
		t.Errorf("without the bundle: %v, want an untrusted certificate", err)
	}
}
