package e2e_test

import (
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

// A company's proxy signs with a certificate of its own; AWS_CA_BUNDLE names it.
func TestCABundle(t *testing.T) {
	t.Parallel()
	s := newScene(t, stack.Options{})
	target, err := url.Parse(s.AWS.URL())
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewTLSServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host // it is signed
	}})
	t.Cleanup(proxy.Close)
	bundle := filepath.Join(t.TempDir(), "bundle.pem")
	if err := os.WriteFile(bundle, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: proxy.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	s.operator(stack.OperatorOptions{Env: map[string]string{"AWS_ENDPOINT_URL": proxy.URL, "AWS_CA_BUNDLE": bundle}})
	s.apply(s.tenant("acme"))
	s.ready("acme")
}

// An endpoint that does not answer is said in the conditions, and is no reason to end.
func TestUnreachableEndpoint(t *testing.T) {
	t.Parallel()
	s := newScene(t, stack.Options{WithoutAWS: true})
	op := s.operator(stack.OperatorOptions{})
	s.apply(s.tenant("acme"))
	s.reaches("acme", v1alpha1.ConditionReady, "False/AWSUnavailable")
	if message := s.message("acme"); !strings.Contains(message, "CreateDistributionTenant") && !strings.Contains(message, "GetDistribution") {
		t.Errorf("Ready says %q, and not which call failed", message)
	}
	if !op.Running() {
		t.Fatal("the operator has ended")
	}
	if err := s.StartAWS(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.ready("acme")
}

// Credentials may come late: a pod identity's agent starts at the same time as the operator.
func TestLateCredentials(t *testing.T) {
	t.Parallel()
	s := newScene(t, stack.Options{})
	var here atomic.Bool
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !here.Load() {
			http.Error(w, "not yet", http.StatusServiceUnavailable)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]string{
			"AccessKeyId": "test", "SecretAccessKey": "test", "Token": "test", "Expiration": time.Now().Add(time.Hour).UTC().Format(time.RFC3339),
		})
	}))
	t.Cleanup(agent.Close)
	op := s.operator(stack.OperatorOptions{Env: map[string]string{
		"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_CONTAINER_CREDENTIALS_FULL_URI": agent.URL,
	}})
	s.apply(s.tenant("acme"))
	s.eventually(func(g gomega.Gomega) {
		g.Expect(s.condition("acme", v1alpha1.ConditionReady)).To(gomega.Or(gomega.Equal("False/AWSUnavailable"), gomega.Equal("False/AccessDenied")))
	})
	const why = "credentials from the EKS Pod Identity agent: a response with status 503"
	if message := s.message("acme"); !strings.Contains(message, why) {
		t.Errorf("Ready says %q, and not that credentials are missing", message)
	}
	s.eventually(func(g gomega.Gomega) {
		g.Expect(op.Log()).To(gomega.ContainSubstring(why))
		g.Expect(s.kubectl("get", "events")).To(gomega.ContainSubstring(why))
	})
	if !op.Running() {
		t.Fatal("the operator has ended")
	}
	here.Store(true)
	s.ready("acme")
}

func (s *scene) message(name string) string {
	s.t.Helper()
	c := meta.FindStatusCondition(s.get(name).Status.Conditions, v1alpha1.ConditionReady)
	if c == nil {
		return ""
	}
	return c.Message
}
