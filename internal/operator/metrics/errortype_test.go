package metrics_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/metrics"
)

// The values of error_type are written into other people's dashboards and alerts.
func TestErrorTypes(t *testing.T) {
	t.Parallel()
	for kind, want := range map[fault.Kind][2]string{
		fault.DomainTaken: {"domain_conflict", "dns_error"}, fault.Denied: {"access_denied", "dns_access_denied"},
		fault.Invalid: {"invalid_spec", "dns_invalid_input"}, fault.DomainUnverified: {"domain_validation_pending", "dns_error"},
		fault.Throttled: {"throttling", "dns_throttling"}, fault.Transient: {"retryable", "dns_retryable"},
		fault.NotFound: {"not_found", "dns_zone_not_found"}, fault.Quota: {"quota_exceeded", "dns_error"},
		fault.Conflict: {"conflict", "dns_retryable"}, fault.Exists: {"already_exists", "dns_error"},
		fault.NotDisabled: {"not_disabled", "dns_error"}, fault.InUse: {"in_use", "dns_error"}, fault.None: {"unknown", "dns_error"},
	} {
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			registry := prometheus.NewRegistry()
			m, err := metrics.NewReconciles(registry)
			if err != nil {
				t.Fatal(err)
			}
			m.Failed(kind)
			m.DNSFailed(kind)
			families, err := registry.Gather()
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range families {
				for _, m := range f.GetMetric() {
					if f.GetName() == "cloudfront_tenant_operator_reconcile_errors_total" && m.GetCounter().GetValue() == 1 {
						got = append(got, m.GetLabel()[0].GetValue())
					}
					if !strings.Contains(f.GetHelp(), want[0]) && strings.HasSuffix(f.GetName(), "errors_total") {
						t.Errorf("the help of %s does not list %s", f.GetName(), want[0])
					}
				}
			}
			expected := want[:]
			slices.Sort(expected)
			if !slices.Equal(slices.Sorted(slices.Values(got)), expected) {
				t.Errorf("counted %q, want %q", got, expected)
			}
		})
	}
}
