package tenantsource

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
)

// An object finds its source also where the name of that is longer than a label may be.
func TestSourceOf(t *testing.T) {
	for _, name := range []string{"customers", strings.Repeat("long", 20)} {
		source := &v1alpha1.TenantSource{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: "1"}}
		c := New(Options{})
		c.recall(source)
		object := &v1alpha1.DistributionTenant{ObjectMeta: metav1.ObjectMeta{Labels: convert.SourceLabels(source)}}
		if got, want := c.sourceOf(object), client.ObjectKeyFromObject(source); got != want {
			t.Errorf("the source is %s, want %s", got, want)
		}
	}
}

// The tables of one namespace, whose databases hang, leave turns to those of others.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns, entered := newStateTurns(), make(chan string, 100)
		enter := func(namespace string) {
			leave, err := turns.enter(t.Context(), namespace)
			if err != nil {
				return
			}
			entered <- namespace
			<-t.Context().Done()
			leave()
		}
		for range 2 * stateSlots {
			go enter("hangs")
		}
		synctest.Wait()
		go enter("works")
		synctest.Wait()
		if n := len(entered); n != namespacesSlots+1 {
			t.Errorf("%d calls are made at the same time, want %d", n, namespacesSlots+1)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := turns.enter(ctx, "hangs"); err == nil {
			t.Error("a call has its turn after its end")
		}
	})
}
