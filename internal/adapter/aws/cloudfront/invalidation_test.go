package cloudfront_test

import (
	"net/http"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws/cloudfront"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/invalidation"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

// invalidations is a client for the world, with a limiter of its own for requests.
func (w world) invalidations(t *testing.T, halted func() *chain.Halt) (*cloudfront.Invalidations, *aws.Limiter) {
	t.Helper()
	metrics, err := aws.NewMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	requests := aws.NewLimiter(aws.LimiterConfig{API: "invalidations", Rate: 0.5, Burst: 5, Clock: clock.RealClock{}, Metrics: metrics, Halted: halted})
	return cloudfront.NewInvalidations(w.client, cloudfront.Config{
		SDK: awssdk.Config{
			Region: "eu-west-1", BaseEndpoint: awssdk.String("http://cloudfront.invalid"),
			Credentials: credentials.NewStaticCredentialsProvider("AKIATEST", "secret", ""),
			HTTPClient:  &http.Client{Transport: w.Transport()},
		},
		Limiter: requests, Metrics: metrics,
	}), requests
}

func TestInvalidations(t *testing.T) {
	w := newWorld(t)
	c, _ := w.invalidations(t, nil)
	tenant := w.create(t, "shop")
	first, err := c.CreateInvalidation(t.Context(), tenant.ID, "ref", []string{"/b/*", "/a"})
	if err != nil {
		t.Fatal(err)
	}
	again, err := c.CreateInvalidation(t.Context(), tenant.ID, "ref", []string{"/a", "/b/*"})
	if err != nil || again != first || first.ID == "" || first.Done {
		t.Errorf("got %+v, then %+v, %v", first, again, err)
	}
	all := w.Invalidations("")
	if len(all) != 1 || all[0].Of != tenant.ID || all[0].CallerReference != "ref" || cmp.Diff([]string{"/a", "/b/*"}, all[0].Paths) != "" {
		t.Errorf("AWS has %+v", all)
	}
	if got, err := c.GetInvalidation(t.Context(), tenant.ID, first.ID); err != nil || got != first {
		t.Errorf("got %+v, %v", got, err)
	}
	w.Advance(time.Hour)
	if got, err := c.GetInvalidation(t.Context(), tenant.ID, first.ID); err != nil || got != (invalidation.Answer{ID: first.ID, Done: true}) {
		t.Errorf("got %+v, %v", got, err)
	}
}

// Refusals of AWS are distinguished by their codes.
func TestInvalidationFaults(t *testing.T) {
	w := newWorld(t)
	w.SetQuotas(sim.Quotas{InvalidationPaths: 2})
	c, _ := w.invalidations(t, nil)
	tenant := w.create(t, "shop")
	create := func(id, reference string, paths ...string) error {
		_, err := c.CreateInvalidation(port.WithCall(t.Context(), port.Call{Class: port.Change}), id, reference, paths)
		return err
	}
	if err := create(tenant.ID, "one", "/a", "/b"); err != nil {
		t.Fatal(err)
	}
	_, unknown := c.GetInvalidation(t.Context(), tenant.ID, "INONE")
	_, gone := c.GetInvalidation(t.Context(), "dt_none", "INONE")
	for name, tc := range map[string]struct {
		err  error
		want fault.Kind
	}{
		"too many are in progress":         {create(tenant.ID, "two", "/c"), fault.Quota},
		"the reference has other paths":    {create(tenant.ID, "one", "/c"), fault.Exists},
		"there is no such invalidation":    {unknown, fault.NotFound},
		"nor such a tenant":                {gone, fault.NotFound},
		"the burst of requests is used up": {create(tenant.ID, "three", "/c"), fault.Throttled},
		"and that of other calls is not":   {func() error { _, err := w.client.GetTenant(t.Context(), tenant.ID); return err }(), fault.None},
		"none of it has made an invalidation": {func() error {
			if n := len(w.Invalidations("")); n != 1 {
				t.Errorf("AWS has %d invalidations", n)
			}
			return nil
		}(), fault.None},
	} {
		if got := fault.KindOf(tc.err); got != tc.want {
			t.Errorf("%s: %s, want %s: %v", name, got, tc.want, tc.err)
		}
	}
	w2 := newWorld(t)
	c2, _ := w2.invalidations(t, nil)
	if _, err := c2.CreateInvalidation(t.Context(), "dt_none", "ref", []string{"/a"}); !fault.Is(err, fault.NotFound) {
		t.Errorf("an absent tenant: %v", err)
	}
	shop := w2.create(t, "shop")
	if _, err := c2.CreateInvalidation(t.Context(), shop.ID, "ref", []string{"a"}); !fault.Is(err, fault.Invalid) {
		t.Errorf("a path that AWS refuses: %v", err)
	}
}

// A request is sent once: its answer may be lost after it was carried out.
func TestALostAnswerOfAnInvalidation(t *testing.T) {
	w := newWorld(t)
	c, _ := w.invalidations(t, nil)
	tenant := w.create(t, "shop")
	w.inject(t, sim.Fault{Operation: "CreateInvalidationForDistributionTenant", Kind: sim.AfterCommit, Effect: sim.EffectReset})
	_, err := c.CreateInvalidation(t.Context(), tenant.ID, "ref", []string{"/a"})
	if !fault.Is(err, fault.Transient) || w.calls("CreateInvalidationForDistributionTenant") != 1 || len(w.Invalidations("")) != 1 {
		t.Errorf("%v, %d requests", err, w.calls("CreateInvalidationForDistributionTenant"))
	}
	got, err := c.CreateInvalidation(t.Context(), tenant.ID, "ref", []string{"/a"})
	if all := w.Invalidations(""); err != nil || len(all) != 1 || all[0].ID != got.ID {
		t.Errorf("got %+v, %v; AWS has %+v", got, err, all)
	}
}

// While writes are stopped nothing is requested, and reads continue.
func TestAHaltStopsInvalidations(t *testing.T) {
	w := newWorld(t)
	var halt *chain.Halt
	c, _ := w.invalidations(t, func() *chain.Halt { return halt })
	tenant := w.create(t, "shop")
	first, err := c.CreateInvalidation(t.Context(), tenant.ID, "one", []string{"/a"})
	if err != nil {
		t.Fatal(err)
	}
	halt = &chain.Halt{Reason: "Frozen", Message: "Stopped."}
	if _, err := c.CreateInvalidation(t.Context(), tenant.ID, "two", []string{"/b"}); fault.CodeOf(err) != aws.CodeHalted {
		t.Errorf("got %v", err)
	}
	if _, err := c.GetInvalidation(t.Context(), tenant.ID, first.ID); err != nil {
		t.Error(err)
	}
	if n := len(w.Invalidations("")); n != 1 {
		t.Errorf("AWS has %d invalidations", n)
	}
}
