package webhook_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	ctrlwebhook "sigs.k8s.io/controller-runtime/pkg/webhook"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/resolver"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/advice"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/dnsserver"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/webhook"
)

// hanging ends what would wait forever.
const hanging = time.Minute

// counted counts what the webhook does.
type counted struct {
	mu    sync.Mutex
	count map[string]int
}

func (c *counted) add(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count[what]++
}

func (c *counted) Answered(r webhook.Result) { c.add(string(r)) }
func (c *counted) Warned(w advice.Check)     { c.add(string(w)) }
func (c *counted) Looked(l webhook.Look)     { c.add(string(l)) }

func (c *counted) of(what string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.count[what]
}

// rig is a namespace whose DistributionTenants the API server asks a webhook about.
type rig struct {
	t         *testing.T
	namespace string
	// kube acts as a user, and hears the warnings.
	kube     client.Client
	warnings *heard
	counted  *counted
	// kill ends the webhook.
	kill func()
}

// heard are the warnings that a client got.
type heard struct {
	mu   sync.Mutex
	said []string
}

func (h *heard) HandleWarningHeader(_ int, _, text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.said = append(h.said, text)
}

// take returns what was heard since it was last taken.
func (h *heard) take() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := strings.Join(h.said, "\n")
	h.said = nil
	return out
}

func scheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(s), v1alpha1.AddToScheme(s)); err != nil {
		t.Fatal(err)
	}
	return s
}

// start serves the webhook until the test ends, and waits until the API server trusts it.
func start(t *testing.T, options webhook.Options) *rig {
	t.Helper()
	s := scheme(t)
	r := &rig{t: t, warnings: &heard{}, counted: &counted{count: map[string]int{}}}
	config := rest.CopyConfig(kubeConfig)
	config.WarningHandler = r.warnings
	var err error
	if r.kube, err = client.New(config, client.Options{Scheme: s}); err != nil {
		t.Fatal(err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "webhook-"}}
	r.create(namespace)
	r.namespace = namespace.Name
	r.create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: "certificates"}})
	options.Scheme, options.Observer = s, r.counted
	r.serve(options)
	return r
}

func (r *rig) serve(options webhook.Options) {
	t := r.t
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	mgr, err := ctrl.NewManager(kubeConfig, ctrl.Options{
		Scheme: options.Scheme, Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
		Cache: cache.Options{DefaultNamespaces: map[string]cache.Config{cache.AllNamespaces: {}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := webhook.Follow(t.Context(), mgr.GetCache()); err != nil {
		t.Fatal(err)
	}
	options.Cache = mgr.GetCache()
	if options.Distribution == nil {
		options.Distribution = func(context.Context, string, string) (d distributiontenant.Distribution, known bool) { return d, false }
	}
	if options.Endpoint == nil {
		options.Endpoint = func(context.Context, string, string) string { return "d111111abcdef8.cloudfront.net" }
	}
	keeper := webhook.NewKeeper(webhook.KeeperOptions{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Clock: clock.RealClock{}, Elected: mgr.Elected(), Host: "localhost",
		Secret: client.ObjectKey{Namespace: r.namespace, Name: "certificates"}, Configuration: r.namespace,
	})
	server := ctrlwebhook.NewServer(ctrlwebhook.Options{
		Host: "127.0.0.1", Port: port, TLSOpts: []func(*tls.Config){func(c *tls.Config) { c.GetCertificate = keeper.GetCertificate }},
	})
	server.Register(webhook.Path, webhook.Serve(webhook.New(options)))
	if err := errors.Join(mgr.Add(keeper), mgr.Add(server)); err != nil {
		t.Fatal(err)
	}
	r.configure(port)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	r.kill = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the webhook: %v", err)
		}
	})
	t.Cleanup(r.kill)
	r.eventually("the webhook is asked", func() bool {
		_ = r.kube.Create(t.Context(), r.tenant("probe"), client.DryRunAll)
		return r.counted.of(string(webhook.Silent))+r.counted.of(string(webhook.Warned))+r.counted.of(string(webhook.Refused)) > 0
	})
	r.warnings.take()
}

// configure has the API server ask about the objects of this namespace, in all else as the chart has it.
func (r *rig) configure(port int) {
	r.t.Helper()
	hook := *charted.DeepCopy()
	hook.ClientConfig = admissionregistrationv1.WebhookClientConfig{URL: new(fmt.Sprintf("https://localhost:%d%s", port, *charted.ClientConfig.Service.Path))}
	hook.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: r.namespace}}
	r.create(&admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: r.namespace}, Webhooks: []admissionregistrationv1.ValidatingWebhook{hook},
	})
	r.t.Cleanup(func() {
		c := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: r.namespace}}
		if err := r.kube.Delete(context.Background(), c); err != nil {
			r.t.Error(err)
		}
	})
}

func (r *rig) create(o client.Object) {
	r.t.Helper()
	if err := r.kube.Create(r.t.Context(), o); err != nil && !apierrors.IsAlreadyExists(err) {
		r.t.Fatal(err)
	}
}

func (r *rig) eventually(what string, is func() bool) {
	r.t.Helper()
	err := wait.PollUntilContextTimeout(r.t.Context(), 20*time.Millisecond, hanging, true, func(context.Context) (bool, error) { return is(), nil })
	if err != nil {
		r.t.Fatalf("%s: %v", what, err)
	}
}

// tenant is an object that no check has anything to say about.
func (r *rig) tenant(name string, domains ...string) *v1alpha1.DistributionTenant {
	o := &v1alpha1.DistributionTenant{ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: name}}
	o.Spec.DistributionID = "E1"
	if len(domains) == 0 {
		domains = []string{name + ".quiet.example.com"}
	}
	for _, d := range domains {
		o.Spec.Domains = append(o.Spec.Domains, v1alpha1.TenantDomain{Domain: d})
	}
	return o
}

// resolve asks a DNS server that knows these records.
func resolve(t *testing.T, records ...string) *resolver.Resolver {
	t.Helper()
	var known []dns.RR
	for _, record := range records {
		rr, err := dns.NewRR(record)
		if err != nil {
			t.Fatal(err)
		}
		known = append(known, rr)
	}
	return ask(t, func(w dns.ResponseWriter, q *dns.Msg) {
		m := new(dns.Msg).SetReply(q)
		m.Rcode = dns.RcodeNameError
		for _, rr := range known {
			if rr.Header().Name == q.Question[0].Name {
				m.Rcode = dns.RcodeSuccess
				if rr.Header().Rrtype == q.Question[0].Qtype || rr.Header().Rrtype == dns.TypeCNAME {
					m.Answer = append(m.Answer, rr)
				}
			}
		}
		_ = w.WriteMsg(m)
	})
}

func ask(t *testing.T, handle dns.HandlerFunc) *resolver.Resolver {
	t.Helper()
	server, err := dnsserver.Start(t.Context(), "127.0.0.1:0", handle)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	r, err := resolver.New([]string{server.Address})
	if err != nil {
		t.Fatal(err)
	}
	return r
}
