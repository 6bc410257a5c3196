package operator_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator"
)

// No source may connect to the API server, in whatever form its address is configured.
func TestTheAPIServerIsKnownByItsHosts(t *testing.T) {
	for address, want := range map[string][]string{
		"https://10.43.0.1:443":          {"10.0.0.1", "10.43.0.1"},
		"https://[fd00::1]:6443":         {"10.0.0.1", "fd00::1"},
		"https://k8s.example.com/path":   {"10.0.0.1", "k8s.example.com"},
		"k8s.example.com:6443":           {"10.0.0.1", "k8s.example.com"},
		"http://localhost:8080":          {"10.0.0.1", "localhost"},
		"":                               {"10.0.0.1"},
		"https://%zz is no host's name/": {"10.0.0.1"},
	} {
		t.Setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
		if diff := cmp.Diff(want, operator.APIServerHosts(address)); diff != "" {
			t.Errorf("%q: -want +got:\n%s", address, diff)
		}
	}
}
