package crash_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/controlplane"
	realdns "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/externaldns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/module"
)

// rig is what all cases share: the API server, and one view of all objects in it.
type rig struct {
	dir       string
	root      string
	kube      client.Client
	config    *rest.Config
	kubeProxy http.Handler
	views     *views
}

func newRig(ctx context.Context, cp *controlplane.ControlPlane, dir string) (*rig, error) {
	root, err := module.Root(ctx)
	if err != nil {
		return nil, err
	}
	r := &rig{dir: dir, root: root}
	crds := envtest.CRDInstallOptions{Paths: []string{filepath.Join(r.root, "config", "crd")}, ErrorIfPathMissing: true}
	if _, err := controlplane.InstallCRDs(cp.RESTConfig(), crds); err != nil {
		return nil, fmt.Errorf("installing the CRDs: %w", err)
	}
	scheme, err := operator.Scheme()
	if err != nil {
		return nil, err
	}
	config := cp.RESTConfig()
	if err := realdns.InstallCRD(config); err != nil {
		return nil, err
	}
	r.config = config
	if r.kube, err = client.New(config, client.Options{Scheme: scheme}); err != nil {
		return nil, fmt.Errorf("creating a client: %w", err)
	}
	if r.kubeProxy, err = newKubeProxy(config.Host, config.BearerToken, config.CAData); err != nil {
		return nil, err
	}
	all, err := cache.New(config, cache.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("making a cache: %w", err)
	}
	r.views, err = newViews(ctx, all)
	return r, err
}

// newKubeProxy passes requests on to the API server, as the administrator: the operators
// speak plain HTTP to the gate, so that it can cut single requests off.
func newKubeProxy(host, token string, ca []byte) (http.Handler, error) {
	target, err := url.Parse(host)
	if err != nil {
		return nil, fmt.Errorf("reading the API server's address: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return nil, fmt.Errorf("the control plane's CA certificate can't be read")
	}
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Header.Set("Authorization", "Bearer "+token)
		},
		Transport: &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 32,
		},
		FlushInterval: -1, // watches
		ErrorLog:      silent,
	}, nil
}

// build builds the operator with an overlay, which replaces files of the module.
func (r *rig) build(ctx context.Context, binary, overlay string) error {
	if err := module.Build(ctx, r.root, nil, "-o", binary, "-overlay", overlay, "./cmd/operator"); err != nil {
		return fmt.Errorf("building the operator: %w", err)
	}
	return nil
}

// views follows all objects with one watch and tells each stage of its own.
type views struct {
	mu     sync.Mutex
	stages map[string]*stage
	// latest are the objects by namespace, and then by kind and name.
	latest map[string]map[string]client.Object
	// replaced are earlier versions of tenants' objects, the latest last.
	replaced map[string][]replacedVersion
}

// replacedVersion is a version of an object, and until when it was seen.
type replacedVersion struct {
	object *v1alpha1.DistributionTenant
	until  time.Time
}

// replacedKept is how many of them are kept: those of the last moments.
const replacedKept = 50

func newViews(ctx context.Context, all cache.Cache) (*views, error) {
	v := &views{stages: map[string]*stage{}, latest: map[string]map[string]client.Object{}, replaced: map[string][]replacedVersion{}}
	for _, kind := range []client.Object{&v1alpha1.DistributionTenant{}, &v1alpha1.Distribution{}, &v1alpha1.ConnectionGroup{}, &v1alpha1.Invalidation{}} {
		informer, err := all.GetInformer(ctx, kind, cache.BlockUntilSynced(false))
		if err != nil {
			return nil, fmt.Errorf("watching the objects: %w", err)
		}
		if _, err := informer.AddEventHandler(v.handler()); err != nil {
			return nil, fmt.Errorf("watching the objects: %w", err)
		}
	}
	go func() { _ = all.Start(ctx) }()
	if !all.WaitForCacheSync(ctx) {
		return nil, fmt.Errorf("watching the objects: %w", context.Cause(ctx))
	}
	return v, nil
}

func (v *views) handler() toolscache.ResourceEventHandlerFuncs {
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { v.changed(o, false) },
		UpdateFunc: func(_, o any) { v.changed(o, false) },
		DeleteFunc: func(o any) {
			if last, ok := o.(toolscache.DeletedFinalStateUnknown); ok {
				o = last.Obj
			}
			v.changed(o, true)
		},
	}
}

func (v *views) attach(s *stage) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.stages[s.namespace], v.latest[s.namespace] = s, map[string]client.Object{}
}

func (v *views) detach(s *stage) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.stages, s.namespace)
	delete(v.replaced, s.namespace)
}

func (v *views) changed(object any, gone bool) {
	o, ok := object.(client.Object)
	if !ok {
		return
	}
	v.mu.Lock()
	s, objects := v.stages[o.GetNamespace()], v.latest[o.GetNamespace()]
	switch {
	case s == nil:
	case gone:
		v.replace(objects[viewKey(o, o.GetName())])
		delete(objects, viewKey(o, o.GetName()))
	default:
		v.replace(objects[viewKey(o, o.GetName())])
		objects[viewKey(o, o.GetName())] = o
	}
	v.mu.Unlock()
	if s == nil || gone {
		return
	}
	switch o := o.(type) {
	case *v1alpha1.DistributionTenant:
		s.know(o)
		s.checkHonest(o)
		s.checkConcurrency()
		s.checkRefused(o)
	case *v1alpha1.Invalidation:
		s.checkInvalidationHonest(o)
	default:
		s.checkParentHonest(parentOf(o))
	}
}

// replace keeps a version that is not the latest any more. It needs the lock.
func (v *views) replace(o client.Object) {
	tenant, is := o.(*v1alpha1.DistributionTenant)
	if !is {
		return
	}
	list := append(v.replaced[tenant.Namespace], replacedVersion{tenant, time.Now()})
	v.replaced[tenant.Namespace] = list[max(0, len(list)-replacedKept):]
}

func viewKey(kind client.Object, name string) string { return fmt.Sprintf("%T %s", kind, name) }

// since lists the versions of tenants' objects that were there at that time or since, as far as was seen.
func (v *views) since(namespace string, at time.Time) []*v1alpha1.DistributionTenant {
	out := v.of(namespace)
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, r := range v.replaced[namespace] {
		if r.until.After(at) {
			out = append(out, r.object)
		}
	}
	return out
}

// of lists the tenants' objects of a namespace as they were last seen.
func (v *views) of(namespace string) []*v1alpha1.DistributionTenant {
	v.mu.Lock()
	defer v.mu.Unlock()
	var out []*v1alpha1.DistributionTenant
	for _, o := range v.latest[namespace] {
		if tenant, is := o.(*v1alpha1.DistributionTenant); is {
			out = append(out, tenant)
		}
	}
	slices.SortFunc(out, func(a, b *v1alpha1.DistributionTenant) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func (v *views) object(namespace, name string) (*v1alpha1.DistributionTenant, bool) {
	o, found := v.seen(namespace, &v1alpha1.DistributionTenant{}, name)
	if !found {
		return nil, false
	}
	return o.(*v1alpha1.DistributionTenant), true
}

// seen is an object of that kind as it was last seen.
func (v *views) seen(namespace string, kind client.Object, name string) (client.Object, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	o, found := v.latest[namespace][viewKey(kind, name)]
	return o, found
}
