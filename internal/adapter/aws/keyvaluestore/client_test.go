package keyvaluestore_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws/keyvaluestore"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/keyvalue"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

const storeARN = "arn:aws:cloudfront::111122223333:key-value-store/aaaa"

// seen shows each request before it is answered.
type seen struct {
	next http.RoundTripper
	see  func(*http.Request)
}

func (s seen) RoundTrip(r *http.Request) (*http.Response, error) {
	s.see(r)
	return s.next.RoundTrip(r)
}

func newClient(t *testing.T, endpoint string, transport http.RoundTripper) *keyvaluestore.Client {
	t.Helper()
	metrics, err := aws.NewMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	config := awssdk.Config{
		Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("AKIATEST", "secret", ""), HTTPClient: &http.Client{Transport: transport},
	}
	if endpoint != "" {
		config.BaseEndpoint = &endpoint
	}
	return keyvaluestore.New(keyvaluestore.Config{
		SDK: config, Metrics: metrics,
		Limiter: aws.NewLimiter(aws.LimiterConfig{API: "keyvaluestore", Rate: 1e6, Burst: 1e6, Clock: clock.RealClock{}, Metrics: metrics}),
	})
}

func newStore(values map[string]string) *sim.Sim {
	seed := sim.DefaultSeed()
	seed.KeyValueStores = []sim.SeedKeyValueStore{{ARN: storeARN, Values: values}}
	return sim.New(sim.Options{Seed: &seed})
}

// all lists a store, page by page.
func all(ctx context.Context, t *testing.T, c *keyvaluestore.Client) (map[string]string, int) {
	t.Helper()
	got, marker, pages := map[string]string{}, "", 0
	for {
		page, next, err := c.ListKeys(ctx, storeARN, marker)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range page {
			got[p.Name] = p.Value
		}
		pages++
		if marker = next; next == "" {
			return got, pages
		}
	}
}

// Requests are signed for all regions, and reach the host of the account, or the endpoint that was configured.
func TestRequests(t *testing.T) {
	for name, tt := range map[string]struct{ endpoint, host string }{
		"AWS":                    {"", "111122223333.cloudfront-kvs.global.api.aws"},
		"an endpoint by address": {"http://127.0.0.1:8080", "127.0.0.1:8080"},
	} {
		t.Run(name, func(t *testing.T) {
			var host, signature, regions string
			transport := seen{newStore(nil).Transport(), func(r *http.Request) {
				host, signature, regions = r.URL.Host, r.Header.Get("Authorization"), r.Header.Get("X-Amz-Region-Set")
			}}
			if _, err := newClient(t, tt.endpoint, transport).DescribeStore(t.Context(), storeARN); err != nil {
				t.Fatal(err)
			}
			if host != tt.host || regions != "*" || !strings.HasPrefix(signature, "AWS4-ECDSA-P256-SHA256 Credential=AKIATEST/") {
				t.Errorf("host %s, region set %s, signature %s", host, regions, signature)
			}
		})
	}
}

func TestReadAndUpdate(t *testing.T) {
	values := map[string]string{}
	for i := range 60 {
		values[fmt.Sprintf("key-%02d/ü", i)] = "v"
	}
	account := newStore(values)
	c := newClient(t, "http://kvs.invalid", account.Transport())
	before, err := c.DescribeStore(t.Context(), storeARN)
	if err != nil || before.Items != 60 || before.ETag == "" || before.Bytes == 0 {
		t.Fatalf("%+v, %v", before, err)
	}
	if got, pages := all(t.Context(), t, c); !cmp.Equal(got, values) || pages != 2 {
		t.Errorf("%d keys on %d pages", len(got), pages)
	}
	after, err := c.UpdateKeys(t.Context(), storeARN, keyvalue.Update{
		IfMatch: before.ETag, Puts: []keyvalue.Pair{{Name: "new", Value: "1"}}, Deletes: []string{"key-00/ü"},
	})
	if err != nil || after.Items != 60 || after.ETag == before.ETag {
		t.Fatalf("%+v, %v", after, err)
	}
	if got := account.KeyValues(storeARN); got["new"] != "1" || got["key-00/ü"] != "" {
		t.Errorf("the store has %v", got)
	}
}

func TestRefusals(t *testing.T) {
	account := newStore(map[string]string{"a": "1"})
	c := newClient(t, "http://kvs.invalid", account.Transport())
	info, err := c.DescribeStore(t.Context(), storeARN)
	if err != nil {
		t.Fatal(err)
	}
	many := make([]keyvalue.Pair, 51)
	for i := range many {
		many[i] = keyvalue.Pair{Name: fmt.Sprint(i), Value: "v"}
	}
	one := func(name, value string) keyvalue.Update {
		return keyvalue.Update{IfMatch: info.ETag, Puts: []keyvalue.Pair{{Name: name, Value: value}}}
	}
	stale := one("a", "2")
	stale.IfMatch = "EOTHER"
	for name, tt := range map[string]struct {
		arn    string
		update keyvalue.Update
		kind   fault.Kind
	}{
		"a version that is out of date":     {storeARN, stale, fault.Conflict},
		"a key that is too long":            {storeARN, one(strings.Repeat("k", 513), "v"), fault.Invalid},
		"a value that is too long":          {storeARN, one("a", strings.Repeat("v", 1025)), fault.Invalid},
		"more keys than a request may have": {storeARN, keyvalue.Update{IfMatch: info.ETag, Puts: many}, fault.Invalid},
		"a store that does not exist":       {storeARN + "b", one("a", "2"), fault.NotFound},
		"a store of another account":        {strings.Replace(storeARN, "111122223333", "444455556666", 1), one("a", "2"), fault.Denied},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := c.UpdateKeys(t.Context(), tt.arn, tt.update); fault.KindOf(err) != tt.kind {
				t.Errorf("%v is %s, want %s", err, fault.KindOf(err), tt.kind)
			}
		})
	}
	if d := cmp.Diff(map[string]string{"a": "1"}, account.KeyValues(storeARN)); d != "" {
		t.Errorf("the store (-want +got):\n%s", d)
	}
}

func TestAFullStoreAndOneThatIsNotReady(t *testing.T) {
	account := newStore(nil)
	for i := range 3500 {
		value := strings.Repeat("v", 1024)
		account.SetKeyValue(storeARN, strings.Repeat("k", 470)+fmt.Sprint(i), &value)
	}
	c := newClient(t, "http://kvs.invalid", account.Transport())
	info, err := c.DescribeStore(t.Context(), storeARN)
	if err != nil {
		t.Fatal(err)
	}
	var puts []keyvalue.Pair
	for i := range 50 {
		puts = append(puts, keyvalue.Pair{Name: strings.Repeat("n", 500) + fmt.Sprint(i), Value: strings.Repeat("v", 1024)})
	}
	if _, err := c.UpdateKeys(t.Context(), storeARN, keyvalue.Update{IfMatch: info.ETag, Puts: puts}); fault.KindOf(err) != fault.Quota {
		t.Errorf("%v for a store of %d bytes", err, info.Bytes)
	}
	if err := account.Load(sim.Seed{KeyValueStores: []sim.SeedKeyValueStore{{ARN: storeARN, Status: "PROVISIONING"}}}); err != nil {
		t.Fatal(err)
	}
	if info, err := c.DescribeStore(t.Context(), storeARN); err != nil || info.Unready != "PROVISIONING" {
		t.Errorf("%+v, %v", info, err)
	}
}
