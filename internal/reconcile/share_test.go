package reconcile

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// The slow passes of one namespace leave room for those of another, and one that had to wait is woken.
func TestPassesShareSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release, began := make(chan struct{}), make(chan string, 10)
		s := share(reconcile.Func(func(_ context.Context, req ctrl.Request) (ctrl.Result, error) {
			began <- req.String()
			if req.Namespace == "slow" && req.Name != "short" {
				<-release
			}
			return ctrl.Result{}, nil
		}), 3, func(key types.NamespacedName) bool { return key.Name == "short" })
		pass := func(namespace, name string) ctrl.Result {
			result, err := s.Reconcile(t.Context(), ctrl.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}})
			if err != nil {
				t.Error(err)
			}
			return result
		}
		for _, name := range []string{"a", "b", "c"} {
			go pass("slow", name)
			synctest.Wait()
		}
		if got := pass("slow", "d"); got.RequeueAfter != lookForTurn {
			t.Errorf("a fourth pass of the namespace: %+v, want to look again in %v", got, lookForTurn)
		}
		if got := pass("slow", "short"); !got.IsZero() {
			t.Errorf("a pass of the namespace that needs no slot: %+v, want it to be over", got)
		}
		if got := pass("shop", "x"); !got.IsZero() {
			t.Errorf("a pass of another namespace: %+v, want it to be over", got)
		}
		release <- struct{}{}
		synctest.Wait()
		select {
		case e := <-s.waker.Queue():
			if got := e.Object.GetName(); got != "c" {
				t.Errorf("%s was woken, want c, which waits longest", got)
			}
		default:
			t.Fatal("no object was woken although there is a slot for it")
		}
		go pass("slow", "c")
		synctest.Wait()
		close(release)
		synctest.Wait()
		close(began)
		var order []string
		for key := range began {
			order = append(order, key)
		}
		if diff := cmp.Diff([]string{"slow/a", "slow/b", "slow/short", "shop/x", "slow/c"}, order); diff != "" {
			t.Errorf("passes (-want +got):\n%s", diff)
		}
	})
}

// A pass that panics gives its slot back.
func TestASlotSurvivesAPanic(t *testing.T) {
	s := share(reconcile.Func(func(context.Context, ctrl.Request) (ctrl.Result, error) { panic("test") }), 2, nil)
	key := ctrl.Request{NamespacedName: types.NamespacedName{Namespace: "shop", Name: "x"}}
	for range 5 {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the pass was refused")
				}
			}()
			_, _ = s.Reconcile(t.Context(), key)
		}()
	}
}
