package reconcile_test

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

func TestIgnoredAnnotationsAreToldOnceWhenTheyAppear(t *testing.T) {
	t.Parallel()
	annotated := func(keys ...string) *corev1.Pod {
		return pod(func(o *corev1.Pod) {
			for _, k := range keys {
				o.Annotations[k] = "true"
			}
		})
	}
	for name, tt := range map[string]struct {
		happens func(h handler.EventHandler)
		want    []string
	}{
		"on a new object": {
			func(h handler.EventHandler) {
				h.Create(t.Context(), event.CreateEvent{Object: annotated("example.com/pause")}, nil)
			},
			[]string{"example.com/pause"},
		},
		"on one that was there when the operator started": {
			func(h handler.EventHandler) {
				h.Create(t.Context(), event.CreateEvent{Object: annotated("example.com/pause"), IsInInitialList: true}, nil)
			}, nil,
		},
		"when it is added": {
			func(h handler.EventHandler) {
				h.Update(t.Context(), event.UpdateEvent{ObjectOld: annotated("example.com/one"), ObjectNew: annotated("example.com/one", "example.com/two")}, nil)
			},
			[]string{"example.com/two"},
		},
		"when something else changes": {
			func(h handler.EventHandler) {
				h.Update(t.Context(), event.UpdateEvent{ObjectOld: annotated("example.com/one"), ObjectNew: annotated("example.com/one", "other.org/note")}, nil)
			}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var got []string
				d := &reconcile.Driver[*corev1.Pod]{
					Publish: func(_ *corev1.Pod, e reconcile.Event) {
						mu.Lock()
						defer mu.Unlock()
						if !e.Warning || e.Reason != reconcile.EventAnnotationIgnored {
							t.Errorf("the event is %+v", e)
						}
						got = append(got, e.Message)
					},
					Ignored: func(annotations map[string]string, heeded []string) (out []string) {
						for k := range annotations {
							if !slices.Contains(heeded, k) && k != "other.org/note" {
								out = append(out, k)
							}
						}
						return out
					},
				}
				tt.happens(d.IgnoredAnnotations([]string{"example.com/mark"}))
				synctest.Wait()
				if d := cmp.Diff(tt.want, got); d != "" {
					t.Errorf("(-want +got):\n%s", d)
				}
			})
		})
	}
}
