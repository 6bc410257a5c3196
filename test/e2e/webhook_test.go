package e2e_test

import (
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/install"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

// heard are the warnings that a client got.
type heard struct {
	mu   sync.Mutex
	said string
}

func (h *heard) HandleWarningHeader(_ int, _, text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.said += text + "\n"
}

func (h *heard) has(text string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Contains(h.said, text)
}

// With the chart's objects and rights the operator makes its certificate, the API server trusts it, and a user is
// warned.
func TestWebhook(t *testing.T) {
	t.Parallel()
	s := newScene(t, stack.Options{})
	home := s.namespace + "-home"
	release, err := install.Install(t.Context(), install.Options{
		ControlPlane: host.ControlPlane, Root: host.Path(), Dir: t.TempDir(), Release: "hook", Namespace: home,
		Values: []string{"webhook.enabled=true", "watchNamespaces={" + s.namespace + "}", "crds.install=false", "deletionProtection.enabled=false", "fullnameOverride=" + s.namespace},
	})
	if err != nil {
		t.Fatal(err)
	}
	port := freePort(t)
	reroute(s, home, port)
	op := s.operator(stack.OperatorOptions{Installation: release, Flags: []string{
		fmt.Sprintf("--webhook-bind-address=127.0.0.1:%d", port), "--leader-election-namespace=" + home,
	}})
	config := rest.CopyConfig(host.ControlPlane.RESTConfig())
	warnings := &heard{}
	config.WarningHandler = warnings
	person, err := client.New(config, client.Options{Scheme: kube.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	s.eventually(func(g gomega.Gomega) {
		o := s.tenant("shop", func(o *v1alpha1.DistributionTenant) {
			o.Spec.DistributionID, o.Spec.DistributionRef = "", &v1alpha1.ObjectReference{Name: "main"}
		})
		g.Expect(person.Create(t.Context(), o, client.DryRunAll)).To(gomega.Succeed())
		g.Expect(warnings.has("spec.distributionRef main: there is no such Distribution object in this namespace.")).To(gomega.BeTrue())
	})
	if n := s.metrics(op).Sum("cloudfront_tenant_operator_webhook_warnings_total", `check="unknown-distribution"`); n == 0 {
		t.Error("no metric counts the warning")
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

// reroute leads the webhook's Service to this host: there are no pods.
func reroute(s *scene, home string, port int) {
	s.t.Helper()
	key := client.ObjectKey{Namespace: home, Name: s.namespace + "-webhook"}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	if err := kube.Delete(s.t.Context(), service); err != nil {
		s.t.Fatal(err)
	}
	service.Spec = corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"}
	if err := kube.Create(s.t.Context(), service); err != nil {
		s.t.Fatal(err)
	}
	var hook admissionregistrationv1.ValidatingWebhookConfiguration
	if err := kube.Get(s.t.Context(), client.ObjectKey{Name: s.namespace}, &hook); err != nil {
		s.t.Fatal(err)
	}
	hook.Webhooks[0].ClientConfig.Service.Port = new(int32(port))
	if err := kube.Update(s.t.Context(), &hook); err != nil {
		s.t.Fatal(err)
	}
}
