package cli_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

// answers plays the operator: it gives the next invalidation of the namespace a status.
func answers(t *testing.T, ns string, ends ...metav1.Condition) (done chan struct{}) {
	t.Helper()
	watcher, err := client.NewWithWatch(plane.RESTConfig(), client.Options{Scheme: admin.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	w, err := watcher.Watch(t.Context(), &v1alpha1.InvalidationList{}, client.InNamespace(ns))
	if err != nil {
		t.Fatal(err)
	}
	done = make(chan struct{})
	go func() {
		defer close(done)
		defer w.Stop()
		for e := range w.ResultChan() {
			o, ok := e.Object.(*v1alpha1.Invalidation)
			if !ok || e.Type != watch.Added {
				continue
			}
			for n, end := range ends {
				o.Status.Conditions = []metav1.Condition{end}
				if n == len(ends)-1 {
					o.Status.CompletionTime = new(metav1.Now())
				}
				if err := admin.Status().Update(t.Context(), o); err != nil {
					t.Error(err)
				}
			}
			return
		}
	}()
	return done
}

func TestInvalidateWaitsUntilItHasFinished(t *testing.T) {
	underway := condition("Ready", metav1.ConditionFalse, "InProgress", "AWS removes 2 paths.", time.Minute)
	for name, tt := range map[string]struct {
		end     metav1.Condition
		want    string
		failure string
	}{
		"completed": {condition("Ready", metav1.ConditionTrue, "Completed", "2 paths are removed.", 0), "Completed: 2 paths are removed.", ""},
		"failed":    {condition("Ready", metav1.ConditionFalse, "InvalidationFailed", "There is no tenant acme.", 0), "InvalidationFailed", "There is no tenant acme."},
	} {
		t.Run(name, func(t *testing.T) {
			ns := namespace(t)
			done := answers(t, ns, underway, tt.end)
			r := command(t, "", "invalidate", "acme", "/img/*", "/index.html", "-n", ns, "--wait")
			<-done
			if (r.failure == nil) != (tt.failure == "") || r.failure != nil && !strings.Contains(r.failure.Error(), tt.failure) {
				t.Errorf("ends with %v, want %q", r.failure, tt.failure)
			}
			shows(t, r.out, "Invalidation "+ns+"/acme-", tt.want)
		})
	}
}

func TestInvalidateCreatesWhatItIsAskedFor(t *testing.T) {
	ns := namespace(t)
	prints(t, "invalidate", "--selector", "tier=gold", "/*", "-n", ns)
	var list v1alpha1.InvalidationList
	if err := admin.List(t.Context(), &list, client.InNamespace(ns)); err != nil || len(list.Items) != 1 {
		t.Fatal(len(list.Items), err)
	}
	want := v1alpha1.InvalidationSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "gold"}}, Paths: []string{"/*"}}
	got := list.Items[0].Spec
	got.TTLAfterFinished = nil
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("spec (-want +got):\n%s", d)
	}
	tagged := namespace(t)
	prints(t, "invalidate", "acme", "--tag", "product:7", "-n", tagged)
	if err := admin.List(t.Context(), &list, client.InNamespace(tagged)); err != nil || len(list.Items) != 1 {
		t.Fatal(len(list.Items), err)
	}
	want = v1alpha1.InvalidationSpec{TenantRef: &v1alpha1.InvalidationTenantReference{Name: "acme"}, Tags: []string{"product:7"}}
	got = list.Items[0].Spec
	got.TTLAfterFinished = nil
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("spec (-want +got):\n%s", d)
	}
	for name, args := range map[string][]string{
		"nothing":                 {},
		"a selector alone":        {"--selector", "tier=gold"},
		"a tag with its sign":     {"acme", "--tag", "#product:7"},
		"a path without a slash":  {"acme", "img"},
		"no path":                 {"acme"},
		"a selector that is none": {"--selector", "tier in", "/*"},
	} {
		if r := command(t, "", append([]string{"invalidate", "-n", ns}, args...)...); r.failure == nil {
			t.Errorf("%s: %s", name, r.out)
		}
	}
}
