package kube_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/kube"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/controlplane"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/thirdparty"
)

const eventually = 30 * time.Second

// plane is the control plane of this package, and admin a user who may do everything in it.
var (
	plane *controlplane.ControlPlane
	admin client.Client
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(zap.New(zap.WriteTo(io.Discard)))
	os.Exit(controlplane.RunTests(m, controlplane.Options{}, func(cp *controlplane.ControlPlane) (err error) {
		plane = cp
		if admin, err = client.New(cp.RESTConfig(), client.Options{Scheme: scheme(apiextensionsv1.AddToScheme)}); err != nil {
			return fmt.Errorf("creating a client: %w", err)
		}
		crds := filepath.Join("..", "..", "..", "config", "crd")
		if _, err = controlplane.InstallCRDs(cp.RESTConfig(), envtest.CRDInstallOptions{Paths: []string{crds}, ErrorIfPathMissing: true}); err != nil {
			return fmt.Errorf("installing the CRDs: %w", err)
		}
		return nil
	}))
}

// scheme is the operator's, and more.
func scheme(more ...func(*runtime.Scheme) error) *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range append(more, clientgoscheme.AddToScheme, v1alpha1.AddToScheme) {
		if err := add(s); err != nil {
			panic(err)
		}
	}
	return s
}

// core are the kinds that every cluster with the operator has.
var core = []plan.Kind{
	plan.KindNamespace, plan.KindResourceQuota, plan.KindLimitRange, plan.KindNetworkPolicy, plan.KindRoleBinding, plan.KindDistributionTenant,
}

// rig is the adapter as it runs in the operator.
type rig struct {
	*kube.Children
	*WithT

	wire *wire
	// appeared counts the calls of Appeared.
	appeared atomic.Int32

	mu      sync.Mutex
	changes []plan.Live
}

// start runs the adapter as a user until the test ends.
func start(t *testing.T, config *rest.Config, watched ...plan.Kind) *rig {
	t.Helper()
	return (&wire{}).start(t, config, watched...)
}

func (w *wire) start(t *testing.T, config *rest.Config, watched ...plan.Kind) *rig {
	t.Helper()
	r := &rig{WithT: NewWithT(t), wire: w}
	config = rest.CopyConfig(config)
	config.Wrap(r.wire.wrap)
	transport, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	mapper, err := apiutil.NewDynamicRESTMapper(config, transport)
	if err != nil {
		t.Fatal(err)
	}
	writer, err := client.New(config, client.Options{Scheme: scheme(), Mapper: mapper})
	if err != nil {
		t.Fatal(err)
	}
	r.Children, err = kube.New(kube.Options{
		Config: config, Scheme: scheme(), Mapper: mapper, Client: writer, Live: writer, Watched: watched, Clock: clock.RealClock{},
		Appeared: func() { r.appeared.Add(1) },
		Changed: func(l plan.Live) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.changes = append(r.changes, l)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- r.Start(ctx) }()
	t.Cleanup(func() {
		r.wire.release()
		stop()
		if err := <-done; err != nil {
			t.Errorf("the runnable ended with %v", err)
		}
	})
	return r
}

// ready waits until the kinds can be read.
func (r *rig) ready(t *testing.T, kinds ...plan.Kind) *rig {
	t.Helper()
	for _, k := range kinds {
		r.Eventually(func() error {
			_, err := r.List(t.Context(), k, "")
			return err
		}, eventually).Should(Succeed(), k.Kind)
	}
	return r
}

// told returns the changes that were told of an object.
func (r *rig) told(k plan.Kind, namespace, name string) []plan.Live {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []plan.Live
	for _, l := range r.changes {
		if l.Kind == k && l.Namespace == namespace && l.Name == name {
			out = append(out, l)
		}
	}
	return out
}

// wire counts requests, and can delay the events of watches.
type wire struct {
	mu    sync.Mutex
	paths []string
	// held is open while watches of resources are delayed.
	held     chan struct{}
	resource string
}

func (w *wire) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		w.mu.Lock()
		w.paths = append(w.paths, r.URL.Path)
		w.mu.Unlock()
		answer, err := next.RoundTrip(r)
		if err == nil && r.URL.Query().Get("watch") != "" {
			answer.Body = &gate{ReadCloser: answer.Body, wire: w, path: r.URL.Path}
		}
		return answer, err
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// gate is the body of a watch.
type gate struct {
	io.ReadCloser
	wire *wire
	path string
}

func (g *gate) Read(p []byte) (int, error) {
	n, err := g.ReadCloser.Read(p)
	g.wire.mu.Lock()
	held, resource := g.wire.held, g.wire.resource
	g.wire.mu.Unlock()
	if held != nil && strings.HasSuffix(g.path, resource) {
		<-held
	}
	return n, err
}

// hold keeps from the cache what happens from now on to the objects of a resource.
func (w *wire) hold(resource string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held, w.resource = make(chan struct{}), "/"+resource
}

func (w *wire) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.held != nil {
		close(w.held)
		w.held = nil
	}
}

// count returns how many requests were sent to a path with this text.
func (w *wire) count(text string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, path := range w.paths {
		if strings.Contains(path, text) {
			n++
		}
	}
	return n
}

// newNamespace returns the name of a namespace of the test's own.
func newNamespace(t *testing.T) string {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "kube-adapter-"}}
	create(t, ns)
	return ns.Name
}

func create(t *testing.T, o client.Object) {
	t.Helper()
	if err := admin.Create(t.Context(), o); err != nil {
		t.Fatalf("creating %s: %v", o.GetName(), err)
	}
}

// object is one of ours.
func object(k plan.Kind, namespace, name string, spec map[string]any) plan.Object {
	return plan.Object{
		Kind: k, Namespace: namespace, Name: name, Body: map[string]any{"spec": spec},
		Labels:      map[string]string{plan.LabelManagedBy: plan.ManagedBy, plan.LabelTenant: "acme", plan.LabelTenantUID: "uid-1"},
		Annotations: map[string]string{plan.AnnotationApplied: "hash"},
	}
}

func quota(namespace, pods string) plan.Object {
	return object(plan.KindResourceQuota, namespace, "kleff-plan", map[string]any{"hard": map[string]any{"pods": pods}})
}

// configMap represents the objects of all kinds. Only the test changes it.
func configMap(namespace string, data map[string]any) plan.Object {
	o := object(plan.Kind{Version: "v1", Kind: "ConfigMap"}, namespace, "kleff-plan", nil)
	o.Body = map[string]any{"data": data}
	return o
}

// live reads what the API server has.
func live(t *testing.T, k plan.Kind, namespace, name string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(k.APIVersion())
	u.SetKind(k.Kind)
	if err := admin.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, u); err != nil {
		t.Fatalf("reading %s %s: %v", k.Kind, name, err)
	}
	return u
}

// must returns the answer of a write that has to succeed.
func must(t *testing.T) func(plan.Live, error) plan.Live {
	t.Helper()
	return func(l plan.Live, err error) plan.Live {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
}

// refused asserts what kind of failure it is, and what it says.
func refused(t *testing.T, err error, kind fault.Kind, parts ...string) {
	t.Helper()
	if !fault.Is(err, kind) || !fault.Classified(err) {
		t.Fatalf("got %s (%v), want %s", fault.KindOf(err), err, kind)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
}

// define creates the definition of a kind, without waiting until it is served. It is gone when the test ends.
func define(t *testing.T, k plan.Kind, scope apiextensionsv1.ResourceScope, versions ...string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	plural := strings.ToLower(k.Kind) + "s"
	o := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + "." + k.Group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: k.Group, Scope: scope,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: k.Kind, ListKind: k.Kind + "List", Plural: plural, Singular: strings.ToLower(k.Kind)},
		},
	}
	for i, version := range versions {
		o.Spec.Versions = append(o.Spec.Versions, servedVersion(version, i == 0))
	}
	create(t, o)
	t.Cleanup(func() { thirdparty.Uninstall(t, admin, o) })
	return o
}

func servedVersion(name string, stored bool) apiextensionsv1.CustomResourceDefinitionVersion {
	free := true
	return apiextensionsv1.CustomResourceDefinitionVersion{
		Name: name, Served: true, Storage: stored,
		Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
			Type:       "object",
			Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": {Type: "object", XPreserveUnknownFields: &free}},
		}},
	}
}
