package e2e_test

import (
	"crypto/tls"
	"encoding/base64"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

// Metrics name namespaces and how many customers they have: only clients that the API server lets read /metrics may see
// them.
func TestSecureMetrics(t *testing.T) {
	t.Parallel()
	s := newScene(t, stack.Options{})
	op := s.operator(stack.OperatorOptions{Flags: []string{"--metrics-secure=true"}})
	c := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, // it signs its own certificate
	}}
	url := "https://" + op.MetricsURL()
	stranger, scraper := serviceAccountToken(s, "stranger"), serviceAccountToken(s, "scraper")
	allowMetrics(s, "scraper")

	// Readiness speaks of the cache, not of the metrics endpoint: that may come a moment later.
	s.eventually(func(g gomega.Gomega) {
		connection, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimSuffix(op.MetricsURL(), "/metrics"))
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(connection.Close()).To(gomega.Succeed())
	})
	for who, tt := range map[string]struct {
		token string
		want  int
	}{
		"no token":                     {"", http.StatusUnauthorized},
		"an unknown user":              {"made-up", http.StatusUnauthorized},
		"an expired token":             {expiredToken(t), http.StatusUnauthorized},
		"a user who may not read them": {stranger, http.StatusForbidden},
	} {
		if got := get(t, c, url, tt.token); got != tt.want {
			t.Errorf("%s gets status %d, want %d", who, got, tt.want)
		}
	}
	// The API server needs a moment to know of a new role.
	s.eventually(func(g gomega.Gomega) { g.Expect(get(t, c, url, scraper)).To(gomega.Equal(http.StatusOK)) })
}

// expiredToken has the form of one of the API server's, was good for a year, and is of the past.
func expiredToken(t *testing.T) string {
	t.Helper()
	encode := base64.RawURLEncoding.EncodeToString
	return encode([]byte(`{"alg":"RS256"}`)) + "." + encode([]byte(`{"sub":"system:serviceaccount:default:scraper","exp":1}`)) + "." + encode([]byte("signature"))
}

func serviceAccountToken(s *scene, name string) string {
	s.t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}}
	if err := kube.Create(s.t.Context(), account); err != nil {
		s.t.Fatal(err)
	}
	request := &authenticationv1.TokenRequest{}
	if err := kube.SubResource("token").Create(s.t.Context(), account, request); err != nil {
		s.t.Fatalf("asking for a token: %v", err)
	}
	return request.Status.Token
}

func allowMetrics(s *scene, account string) {
	s.t.Helper()
	name := s.namespace + "-metrics"
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Rules:      []rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}},
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: s.namespace, Name: account}},
	}
	if err := kube.Create(s.t.Context(), role); err != nil {
		s.t.Fatal(err)
	}
	if err := kube.Create(s.t.Context(), binding); err != nil {
		s.t.Fatal(err)
	}
}
