package operator

import (
	"context"
	"flag"
	"net/http"
	"net/http/httptest"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/config"
)

// A process that Kubernetes asks to end while it starts has not failed, whatever call was cut.
func TestAskedToEndBeforeTheStart(t *testing.T) {
	for name, asked := range map[string]bool{"asked to end": true, "an API server that fails": false} {
		t.Run(name, func(t *testing.T) {
			ctx, end := context.WithCancel(t.Context())
			defer end()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if asked {
					end()
				}
				http.Error(w, "not now", http.StatusInternalServerError)
			}))
			defer server.Close()
			err := Run(ctx, configOf(t, "--metrics-bind-address=0", "--health-probe-bind-address=0"), &rest.Config{Host: server.URL})
			if failed := err != nil; failed == asked {
				t.Errorf("the operator ended with %v", err)
			}
		})
	}
}

// configOf has no guard rail on but those of the flags: each needs rights of its own.
func configOf(t *testing.T, flags ...string) config.Config {
	t.Helper()
	var c config.Config
	f := flag.NewFlagSet("test", flag.ContinueOnError)
	c.Bind(f)
	if err := f.Parse(append([]string{"--deletion-budget=false", "--cluster-check=false", "--domain-claims=false"}, flags...)); err != nil {
		t.Fatal(err)
	}
	return c
}
