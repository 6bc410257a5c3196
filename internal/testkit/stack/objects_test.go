package stack

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

const readyLabel = "ready"

// labelled are ConfigMaps, which are ready if a label says so.
func labelled(size int) Kind {
	return Kind{Size: size, List: &corev1.ConfigMapList{}, Ready: func(o client.Object) (int64, bool) {
		return o.GetGeneration(), o.GetLabels()[readyLabel] != ""
	}}
}

func configMap(name string, generation int64, ready bool) *corev1.ConfigMap {
	o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", Generation: generation}}
	if ready {
		o.Labels = map[string]string{readyLabel: "yes"}
	}
	return o
}

// An operator that does not say which generation it has looked at shows a changed object as ready, until it looks.
func TestReadyAtAGeneration(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		once bool
		// meanwhile is how many are ready when it is not.
		meanwhile int
		took      time.Duration
	}{
		"the last time counts":  {false, 0, 4 * time.Second},
		"the first time counts": {true, 1, 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := &Objects{kind: labelled(1), seen: map[string]seen{}, begun: map[string]time.Time{"a": time.Now()}, wanted: map[string]int64{"a": 2}}
				f.kind.Once = tt.once
				var counts []int
				for _, o := range []*corev1.ConfigMap{configMap("a", 1, true), configMap("a", 2, true), configMap("a", 2, false), configMap("a", 2, true), configMap("a", 2, true)} {
					time.Sleep(time.Second) // of the bubble's time
					f.see(o, false)
					_, ready, _ := f.Counts()
					counts = append(counts, ready)
				}
				if d := cmp.Diff([]int{0, 1, tt.meanwhile, 1, 1}, counts); d != "" {
					t.Errorf("ready (-want +got):\n%s", d)
				}
				if d := cmp.Diff([]time.Duration{tt.took}, f.Took()); d != "" {
					t.Errorf("took (-want +got):\n%s", d)
				}
			})
		})
	}
}

// A watch that ends is made again, also where the API server does not answer for a while; where it never does, those who
// wait are told.
func TestAWatchEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var events *watch.FakeWatcher
		var downUntil time.Time
		kube := interceptor.NewClient(fake.NewClientBuilder().WithObjects(configMap("a", 1, true), configMap("b", 1, false), configMap("gone", 1, true)).Build(), interceptor.Funcs{
			List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
				if time.Now().Before(downUntil) {
					return errors.New("it is down")
				}
				return c.List(ctx, list, options...)
			},
			Watch: func(ctx context.Context, _ client.WithWatch, _ client.ObjectList, _ ...client.ListOption) (watch.Interface, error) {
				events = watch.NewFake()
				context.AfterFunc(ctx, events.Stop)
				return events, nil
			},
		})
		f, err := Watch(t.Context(), kube, labelled(2))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for _, name := range []string{"a", "b"} {
			if err := f.Write(t.Context(), configMap(name, 1, true), func(context.Context, client.Object) error { return nil }); err != nil {
				t.Fatal(err)
			}
		}

		downUntil = time.Now().Add(time.Minute)
		if err := errors.Join(kube.Update(t.Context(), configMap("b", 1, true)), kube.Delete(t.Context(), configMap("gone", 1, true))); err != nil {
			t.Fatal(err)
		}
		events.Stop()
		if err := f.WaitReady(t.Context()); err != nil {
			t.Fatal(err)
		}
		if there, ready, err := f.Counts(); there != 2 || ready != 2 || err != nil {
			t.Errorf("%d are there and %d ready (%v), want 2", there, ready, err)
		}
		if took := f.Took(); slices.Min(took) != 0 || slices.Max(took) != time.Minute {
			t.Errorf("they took %v: what was ready before keeps its time", took)
		}

		synctest.Wait()
		downUntil = time.Now().Add(time.Hour)
		events.Stop()
		if err := f.WaitGone(t.Context()); err == nil || !strings.Contains(err.Error(), "it is down") {
			t.Errorf("waiting ended with %v", err)
		}
		if _, _, err := f.Counts(); err == nil {
			t.Error("the counts have no error")
		}
	})
}
