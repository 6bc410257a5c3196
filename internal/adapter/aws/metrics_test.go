package aws

import (
	"slices"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// An operation is denied until it is answered, also with an error of another kind. A throttle says nothing of permissions.
func TestDenied(t *testing.T) {
	t.Parallel()
	m, err := NewMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		operation, code string
		want            []string
	}{
		{"GetDistribution", "AccessDenied", []string{"GetDistribution"}},
		{"DescribeCertificate", "AccessDeniedException", []string{"DescribeCertificate", "GetDistribution"}},
		{"GetDistribution", "ThrottlingException", []string{"DescribeCertificate", "GetDistribution"}},
		{"GetDistribution", "OK", []string{"DescribeCertificate"}},
		{"DescribeCertificate", "ResourceNotFoundException", nil},
	} {
		m.attempt(step.operation, step.code, 0)
		if got := m.Denied(); !slices.Equal(got, step.want) {
			t.Errorf("after %s %s, these are denied: %v", step.operation, step.code, got)
		}
	}
}
