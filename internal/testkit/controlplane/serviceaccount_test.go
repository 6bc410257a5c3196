package controlplane_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/controlplane"
)

// A token is replaced before it expires, and a client that reads the kubeconfig is its account.
func TestServiceAccountTokenIsRefreshed(t *testing.T) {
	t.Parallel()
	g, clients := NewWithT(t), client(t, shared)
	namespace, path := newNamespace(t, clients), filepath.Join(t.TempDir(), "token")
	g.Eventually(func() error { // "default" is made by the service account controller
		_, err := clients.CoreV1().ServiceAccounts(namespace).Get(t.Context(), "default", metav1.GetOptions{})
		return err
	}, eventually).Should(Succeed())
	clk := clocktesting.NewFakeClock(time.Now())
	if err := shared.ServiceAccountToken(t.Context(), namespace, "default", path, clk); err != nil {
		t.Fatal(err)
	}

	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := controlplane.WriteKubeconfig(kubeconfig, shared.TokenFileConfig(path)); err != nil {
		t.Fatal(err)
	}
	first := read(t, path)
	want := "system:serviceaccount:" + namespace + ":default"
	for range 3 {
		config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
		if err != nil {
			t.Fatal(err)
		}
		if got := whoAmI(t, config).Username; got != want {
			t.Errorf("the kubeconfig is of %q, want %q", got, want)
		}
		clk.Step(7 * time.Minute)
		if got := read(t, path); got != first {
			t.Error("the token was replaced after 7 of its 10 minutes")
		}
		clk.Step(2 * time.Minute)
		g.Eventually(func() string { return read(t, path) }, eventually).ShouldNot(Equal(first))
		g.Eventually(clk.HasWaiters, eventually).Should(BeTrue(), "the next refresh is planned")
		first = read(t, path)
	}
}

func TestTokenOfNobody(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "token")
	err := shared.ServiceAccountToken(t.Context(), "default", "nobody", path, clocktesting.NewFakeClock(time.Now()))
	if !apierrors.IsNotFound(err) {
		t.Errorf("a token for an account that is not there: got %v, want not found", err)
	}
}

// Every request of a user is in the audit log when it is answered: also a refused one, and a watch that has not ended.
func TestAudit(t *testing.T) {
	cp := start(t, controlplane.Options{WithoutControllerManager: true, Audit: true})
	config, err := cp.AddUser("jane")
	if err != nil {
		t.Fatal(err)
	}
	jane, admin := kubernetes.NewForConfigOrDie(config), kubernetes.NewForConfigOrDie(cp.RESTConfig())
	if _, err := jane.CoreV1().ConfigMaps("default").Get(t.Context(), "some", metav1.GetOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("reading without rights: got %v, want forbidden", err)
	}
	whoAmI(t, config)
	watch, err := admin.CoreV1().Namespaces().Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()

	requests, err := cp.Audit("jane")
	if err != nil {
		t.Fatal(err)
	}
	if len(requests) != 2 {
		t.Fatalf("the log has %d requests of hers, want 2: %+v", len(requests), requests)
	}
	get, review := requests[0], requests[1]
	if get.Verb != "get" || get.Resource != "configmaps" || get.Namespace != "default" || get.Object != "some" || get.Code != http.StatusForbidden || !get.Forbidden {
		t.Errorf("the first is %+v, want the refused read", get)
	}
	if review.Verb != "create" || review.APIGroup != "authentication.k8s.io" || review.Resource != "selfsubjectreviews" || review.Code != http.StatusCreated || review.Reason == "" {
		t.Errorf("the second is %+v, want the review and why it was allowed", review)
	}
	all, err := cp.Audit("admin")
	if err != nil {
		t.Fatal(err)
	}
	watches := 0
	for _, r := range all {
		if r.Verb == "watch" && r.Resource == "namespaces" {
			watches++
		}
	}
	if watches != 1 {
		t.Errorf("the log has %d watches, want the open one, once", watches)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
