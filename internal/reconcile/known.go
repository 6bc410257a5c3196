package reconcile

import (
	"context"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Known are the objects of a kind that have had a pass, with what the process remembers of each, an M. They can be
// woken. An object that had no pass yet has one before it, and needs no waking.
type Known[M any] struct {
	*Waker

	mu sync.Mutex
	of map[types.NamespacedName]*known[M]
}

type known[M any] struct {
	uid    types.UID
	memory M
}

// NewKnown knows of none. active is that of NewWaker.
func NewKnown[M any](active <-chan struct{}) *Known[M] {
	return &Known[M]{Waker: NewWaker(active), of: map[types.NamespacedName]*known[M]{}}
}

// Recall returns what is remembered of the object. For a new one that is what fresh makes, or nothing where that is nil:
// former is what is remembered of a former object of the name, nil if there was none. From now on the object is woken
// with all others.
func (k *Known[M]) Recall(o client.Object, fresh func(former *M) M) *M {
	key := client.ObjectKeyFromObject(o)
	k.mu.Lock()
	defer k.mu.Unlock()
	var former *M
	if was := k.of[key]; was != nil {
		if former = &was.memory; was.uid == o.GetUID() {
			return former
		}
	}
	is := &known[M]{uid: o.GetUID()}
	if fresh != nil {
		is.memory = fresh(former)
	}
	k.of[key] = is
	return &is.memory
}

// Remember replaces what is remembered of the object.
func (k *Known[M]) Remember(o client.Object, m M) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.of[client.ObjectKeyFromObject(o)] = &known[M]{uid: o.GetUID(), memory: m}
}

// Of returns the UID and the memory of the object of that name, nil if it had no pass.
func (k *Known[M]) Of(key client.ObjectKey) (types.UID, *M) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if is := k.of[key]; is != nil {
		return is.uid, &is.memory
	}
	return "", nil
}

// Each calls do with what is remembered of each object, while no pass can change it with Remember.
func (k *Known[M]) Each(do func(key client.ObjectKey, m *M)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for key, is := range k.of {
		do(key, &is.memory)
	}
}

// Drop forgets an object, and returns what Of does.
func (k *Known[M]) Drop(key client.ObjectKey) (types.UID, *M) {
	uid, m := k.Of(key)
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.of, key)
	return uid, m
}

// Forget implements Kind where nothing but the memory is to be forgotten.
func (k *Known[M]) Forget(key client.ObjectKey) { k.Drop(key) }

// WakeAll queues all objects. It is what a halt calls.
func (k *Known[M]) WakeAll(ctx context.Context) {
	k.WakeNamespaces(ctx, func(string) bool { return true })
}

// WakeNamespaces queues the objects of some namespaces. It is what a change of grants calls.
func (k *Known[M]) WakeNamespaces(ctx context.Context, which func(namespace string) bool) {
	k.mu.Lock()
	keys := slices.Collect(maps.Keys(k.of))
	k.mu.Unlock()
	k.Wake(ctx, slices.DeleteFunc(keys, func(key client.ObjectKey) bool { return !which(key.Namespace) })...)
}
