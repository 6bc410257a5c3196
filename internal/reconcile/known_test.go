package reconcile_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

func named(namespace, name string, uid types.UID) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: uid}}
}

func TestWhatIsRememberedOfAnObject(t *testing.T) {
	t.Parallel()
	k := reconcile.NewKnown[int](nil)
	from := func(n int) func(*int) int {
		return func(former *int) int {
			if former != nil {
				n += *former
			}
			return n
		}
	}
	first, second, at := named("shop", "web", "u1"), named("shop", "web", "u2"), types.NamespacedName{Namespace: "shop", Name: "web"}
	if uid, m := k.Of(at); uid != "" || m != nil {
		t.Errorf("before its first pass it is known as %q", uid)
	}
	*k.Recall(first, from(10))++
	if got := *k.Recall(first, from(20)); got != 11 {
		t.Errorf("in its second pass %d is remembered, want 11", got)
	}
	if got := *k.Recall(second, from(100)); got != 111 {
		t.Errorf("a new object of the name starts with %d, want what is made of the former one's", got)
	}
	k.Remember(second, 7)
	if uid, m := k.Of(at); uid != "u2" || *m != 7 {
		t.Errorf("remembered is %d of %q", *m, uid)
	}
	if got := *k.Recall(first, nil); got != 0 {
		t.Errorf("without anything to start with it has %d", got)
	}
	if uid, m := k.Drop(at); uid != "u1" || m == nil {
		t.Errorf("%q was dropped, want u1", uid)
	}
	k.Forget(at) // twice
	if uid, m := k.Of(at); uid != "" || m != nil {
		t.Errorf("after that it is known as %q", uid)
	}
}

func TestKnownObjectsAreWoken(t *testing.T) {
	t.Parallel()
	k := reconcile.NewKnown[int](nil)
	for _, o := range []*corev1.Pod{named("shop", "web", "u1"), named("shop", "db", "u2"), named("blog", "web", "u3"), named("blog", "gone", "u4")} {
		k.Recall(o, nil)
	}
	k.Forget(types.NamespacedName{Namespace: "blog", Name: "gone"})
	var all []string
	k.Each(func(key types.NamespacedName, _ *int) { all = append(all, key.String()) })
	woken := func() (keys []string) {
		for range len(k.Queue()) {
			o := (<-k.Queue()).Object
			keys = append(keys, o.GetNamespace()+"/"+o.GetName())
		}
		return keys
	}
	k.WakeAll(t.Context())
	everything := woken()
	k.WakeNamespaces(t.Context(), func(namespace string) bool { return namespace == "shop" })
	some := woken()
	k.WakeNames(t.Context(), "cluster-wide")
	for what, got := range map[string]struct{ is, want []string }{
		"known":                {all, []string{"blog/web", "shop/db", "shop/web"}},
		"woken with all":       {everything, []string{"blog/web", "shop/db", "shop/web"}},
		"woken in a namespace": {some, []string{"shop/db", "shop/web"}},
		"woken by its name":    {woken(), []string{"/cluster-wide"}},
		"woken a second time":  {woken(), nil},
	} {
		if slices.Sort(got.is); !slices.Equal(got.is, got.want) {
			t.Errorf("%s: %v, want %v", what, got.is, got.want)
		}
	}
}
