package world

import (
	"context"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/noting"
)

// crash is what a dying process panics with.
type crash struct{}

// gate stands between the operator and everything that it can change. It counts, and can
// end the process at the n-th write.
type gate struct {
	mu     sync.Mutex
	writes int
	kubeN  int
	stopAt int
	after  bool
	// then are the crashes that follow the present one.
	then []stop
	// around is played instead of each write to Kubernetes.
	around func(n int, write func() error) error
	// frozen is an object as a cache that is behind still shows it.
	frozen client.Object
}

// stop is the end of the process at the n-th write from the time it is armed.
type stop struct {
	n     int
	after bool
}

// Writes is how many writes the operator has made, to AWS and to Kubernetes.
func (w *World) Writes() int {
	w.gate.mu.Lock()
	defer w.gate.mu.Unlock()
	return w.gate.writes
}

// KubeWrites is how many of them went to the Kubernetes API.
func (w *World) KubeWrites() int {
	w.gate.mu.Lock()
	defer w.gate.mu.Unlock()
	return w.gate.kubeN
}

// CrashAt ends the process at its n-th write from now, before it or after it was carried out. The process is then
// started again, once.
func (w *World) CrashAt(n int, after bool) {
	w.gate.mu.Lock()
	defer w.gate.mu.Unlock()
	w.gate.arm(stop{n, after})
	w.gate.then = nil
}

// CrashAgainAt ends the next process too, at its n-th write.
func (w *World) CrashAgainAt(n int, after bool) {
	w.gate.mu.Lock()
	defer w.gate.mu.Unlock()
	w.gate.then = append(w.gate.then, stop{n, after})
}

func (g *gate) arm(s stop) { g.stopAt, g.after = g.writes+s.n, s.after }

// AroundKubeWrites calls a hook instead of each write to Kubernetes, counted from 1. It may carry the write out, fail,
// or do something before.
func (w *World) AroundKubeWrites(hook func(n int, write func() error) error) {
	w.gate.mu.Lock()
	defer w.gate.mu.Unlock()
	from := w.gate.kubeN
	w.gate.around = func(n int, write func() error) error { return hook(n-from, write) }
}

// FreezeCache makes the operator see the object as it is now, whatever happens to it, until
// ThawCache: so it is in a replica that was stopped for a while, or behind a watch that hangs.
func (w *World) FreezeCache(o client.Object) {
	w.gate.mu.Lock()
	defer w.gate.mu.Unlock()
	w.gate.frozen = o.DeepCopyObject().(client.Object) //nolint:forcetypeassert // a copy has the type of its original
}

// ThawCache ends FreezeCache.
func (w *World) ThawCache() {
	w.gate.mu.Lock()
	defer w.gate.mu.Unlock()
	w.gate.frozen = nil
}

// get answers from the frozen cache where there is one.
func (g *gate) get(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	g.mu.Lock()
	frozen := g.frozen
	g.mu.Unlock()
	if frozen != nil && client.ObjectKeyFromObject(frozen) == key && reflect.TypeOf(frozen) == reflect.TypeOf(o) {
		reflect.ValueOf(o).Elem().Set(reflect.ValueOf(frozen.DeepCopyObject()).Elem())
		return nil
	}
	return c.Get(ctx, key, o, opts...)
}

// Crashed reports whether every crash that was asked for has happened.
func (w *World) Crashed() bool {
	w.gate.mu.Lock()
	defer w.gate.mu.Unlock()
	return w.gate.stopAt == 0
}

// write carries a write out, unless the process ends before.
func (g *gate) write(kube bool, do func() error) error {
	g.mu.Lock()
	g.writes++
	if kube {
		g.kubeN++
	}
	if around, n := g.around, g.kubeN; kube && around != nil {
		plain := do
		do = func() error { return around(n, plain) }
	}
	dies, after := g.stopAt != 0 && g.writes == g.stopAt, g.after
	if dies {
		g.stopAt = 0
		if len(g.then) > 0 {
			g.arm(g.then[0])
			g.then = g.then[1:]
		}
	}
	g.mu.Unlock()
	if dies && !after {
		panic(crash{})
	}
	err := do()
	if dies {
		panic(crash{})
	}
	return err
}

func (g *gate) kube(c client.WithWatch) client.Client {
	return interceptor.NewClient(c, interceptor.Funcs{
		Get: g.get,
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			return g.write(true, func() error { return c.Create(ctx, o, opts...) })
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			return g.write(true, func() error { return c.Update(ctx, o, opts...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			return g.write(true, func() error { return c.Patch(ctx, o, p, opts...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			return g.write(true, func() error { return c.Delete(ctx, o, opts...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			return g.write(true, func() error { return c.SubResource(sub).Patch(ctx, o, p, opts...) })
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
			return g.write(true, func() error { return c.SubResource(sub).Update(ctx, o, opts...) })
		},
	})
}

// creates are the paths whose POST makes or changes something.
var creates = []string{
	"/2020-05-31/distribution-tenant", "/2020-05-31/distribution", "/2020-05-31/connection-group", "/2020-05-31/tagging",
}

// mutating reports whether a request changes something. Lists are POSTs too.
func mutating(r *http.Request) bool {
	switch r.Method {
	case http.MethodPut, http.MethodDelete:
		return true
	case http.MethodPost:
		return slices.Contains(creates, r.URL.Path) || strings.HasSuffix(r.URL.Path, "/invalidation") ||
			strings.HasSuffix(strings.TrimSuffix(r.URL.Path, "/"), "/rrset") ||
			strings.HasSuffix(r.URL.Path, "/dns_records/batch") ||
			r.Header.Get("X-Amz-Target") == "CertificateManager.DeleteCertificate"
	}
	return false
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func (g *gate) transport(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (answer *http.Response, err error) {
		if !mutating(r) {
			return next.RoundTrip(r)
		}
		_ = g.write(false, func() error { answer, err = next.RoundTrip(r); return err }) //nolint:bodyclose // the SDK closes it
		return answer, err
	})
}

// noting makes a client remember of which kinds something was written with it.
func (w *World) noting(c client.WithWatch) client.WithWatch {
	return noting.Client(c, func(o client.Object, _ string) { w.note(o) })
}

// noteAll marks every kind as written to, by any client.
func (w *World) noteAll() {
	w.writtenMu.Lock()
	defer w.writtenMu.Unlock()
	for _, k := range w.process.kinds {
		w.written[k.name] = true
	}
	w.written[kindDomainClaim] = true
}

// note marks the kind of the object as written to. Of other kinds no controller is told.
func (w *World) note(o client.Object) {
	w.writtenMu.Lock()
	defer w.writtenMu.Unlock()
	switch o.(type) {
	case *v1alpha1.DistributionTenant:
		w.written[""] = true
	case *v1alpha1.Distribution:
		w.written[KindDistribution] = true
	case *v1alpha1.ConnectionGroup:
		w.written[KindConnectionGroup] = true
	case *v1alpha1.Invalidation:
		w.written[KindInvalidation] = true
	case *v1alpha1.DomainClaim:
		w.written[kindDomainClaim] = true
	}
}

// takeNoted returns the kinds that were written to since its last call.
func (w *World) takeNoted() map[string]bool {
	w.writtenMu.Lock()
	defer w.writtenMu.Unlock()
	written := w.written
	w.written = map[string]bool{}
	return written
}
