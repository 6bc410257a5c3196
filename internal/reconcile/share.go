package reconcile

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/slots"
)

// lookForTurn is when an object that waits for its turn is looked at, if nothing has woken it. It buys a wake that was lost.
const lookForTurn = time.Minute

// shared limits the passes that run at the same time, fairly between namespaces. Work queues are first in, first
// out: in one of them the long passes of one namespace would keep all others waiting.
type shared struct {
	next  reconcile.Reconciler
	waker *Waker
	// short reports whether a pass needs no slot. It may be nil.
	short func(key types.NamespacedName) bool

	mu    sync.Mutex
	slots *slots.Slots[types.NamespacedName]
}

func share(next reconcile.Reconciler, size int, short func(types.NamespacedName) bool) *shared {
	return &shared{next: next, waker: NewWaker(nil), short: short, slots: slots.New[types.NamespacedName](size)}
}

// Reconcile implements reconcile.Reconciler. An object that has to wait is woken when it has its slot.
func (s *shared) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	if s.short != nil && s.short(req.NamespacedName) {
		return s.next.Reconcile(ctx, req)
	}
	if !s.take(req.NamespacedName) {
		return ctrl.Result{RequeueAfter: lookForTurn}, nil
	}
	defer s.done(ctx, req.NamespacedName)
	return s.next.Reconcile(ctx, req)
}

func (s *shared) take(key types.NamespacedName) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.slots.Take(key.Namespace, key)
}

func (s *shared) done(ctx context.Context, key types.NamespacedName) {
	s.mu.Lock()
	next := s.slots.Done(key.Namespace)
	s.mu.Unlock()
	s.waker.Wake(ctx, next...)
}
