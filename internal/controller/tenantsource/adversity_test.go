package tenantsource_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/postgres"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/sourceworld"
)

// worldWith is newWorld with something between the operator and the API server.
func worldWith(t *testing.T, n int, o sourceworld.Options, change ...func(*v1alpha1.TenantSource)) (*sourceworld.World, *database.Table) {
	t.Helper()
	table := newTable(t, n)
	o.Rows = map[mapping.Provider]port.Rows{mapping.Postgres: postgres.New(store.Config{Timeout: time.Minute})}
	w := sourceworld.New(t, kubeConfig, o)
	w.Source("customers", mapping.Postgres, table.Query(), change...)
	return w, table
}

// deniedByWebhook is what the API server answers when an admission webhook says no.
func deniedByWebhook(code int32, reason metav1.StatusReason) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: code, Reason: reason, Message: `admission webhook "policy.example.com" denied the request: not this one`,
	}}
}

// forbiddenToUs is the answer when the operator does not have the permission.
func forbiddenToUs(name string) error {
	return apierrors.NewForbidden(schema.GroupResource{Group: "cloudfront-tenant-operator.io", Resource: "distributiontenants"}, name, nil)
}

// applying lets a function answer in place of the API server; nil lets the apply through.
func applying(answer func(name string) error) interceptor.Funcs {
	return interceptor.Funcs{Apply: func(ctx context.Context, c client.WithWatch, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
		if err := answer(o.(interface{ GetName() string }).GetName()); err != nil {
			return err
		}
		return c.Apply(ctx, o, opts...)
	}}
}

func TestATargetNamespaceThatComesLater(t *testing.T) {
	const target = "comes-later"
	w, _ := worldWith(t, 3, sourceworld.Options{Grant: func(string, string) error { return nil }}, func(o *v1alpha1.TenantSource) {
		o.Spec.TargetNamespace = target
	})
	w.Advance(time.Minute)
	expect(t, w, "Ready=False/PollFailed", "Synced=False/PollFailed")
	if m := w.Message("customers", v1alpha1.ConditionReady); !strings.Contains(m, target) {
		t.Errorf("the message does not name the namespace: %s", m)
	}

	must(t, w.Kube.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: target}}))
	w.Advance(interval)
	expect(t, w, "Ready=True/PollSucceeded", "Synced=True/InSync")
}

// The CRD of the tenants was deleted, and is installed again. Neither the namespace nor a row is to blame.
func TestACRDThatComesBack(t *testing.T) {
	var installed atomic.Bool
	gone := schema.GroupResource{Group: "cloudfront-tenant-operator.io", Resource: "distributiontenants"}
	w, _ := worldWith(t, 3, sourceworld.Options{Funcs: applying(func(name string) error {
		if installed.Load() {
			return nil
		}
		return apierrors.NewGenericServerResponse(http.StatusNotFound, "patch", gone, name, "404 page not found", 0, true)
	})})
	w.Advance(time.Minute)
	expect(t, w, "Ready=False/PollFailed", "Synced=False/PollFailed")
	m := w.Message("customers", v1alpha1.ConditionReady)
	if !strings.Contains(m, "has no DistributionTenant CRD: install it") || strings.Contains(m, "namespace") {
		t.Errorf("the message names not the CRD alone: %s", m)
	}

	installed.Store(true)
	w.Advance(interval)
	expect(t, w, "Ready=True/PollSucceeded", "Synced=True/InSync")
}

func TestAPolicyThatRefusesOneRowStopsNoOther(t *testing.T) {
	for name, answer := range map[string]error{
		"forbidden":   deniedByWebhook(http.StatusForbidden, metav1.StatusReasonForbidden),
		"bad request": deniedByWebhook(http.StatusBadRequest, ""),
		"invalid":     deniedByWebhook(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid),
		"conflict":    deniedByWebhook(http.StatusConflict, metav1.StatusReasonConflict),
	} {
		t.Run(name, func(t *testing.T) {
			var on atomic.Bool
			w, table := worldWith(t, 5, sourceworld.Options{Funcs: applying(func(object string) error {
				if on.Load() && object == "customer-002" {
					return answer
				}
				return nil
			})})
			w.Advance(time.Second)
			on.Store(true)
			must(t, table.Put(t.Context(), map[string]any{"name": "customer-002", "domain": "new.example.com", "enabled": true}))
			must(t, table.Remove(t.Context(), "customer-004"))
			w.Advance(2 * interval)
			living(t, w, names(4))
			o, _ := w.Get("customers")
			if len(o.Status.RejectedRows) != 1 || o.Status.RejectedRows[0].Row != "customer-002" {
				t.Errorf("rejected: %+v\n%s", o.Status.RejectedRows, w.Describe("customers"))
			}
		})
	}
}

func TestWithoutTheRightNothingIsFollowed(t *testing.T) {
	w, _ := worldWith(t, 5, sourceworld.Options{Funcs: applying(forbiddenToUs)})
	w.Advance(time.Second)
	expect(t, w, "Ready=False/PollFailed", "Synced=False/PollFailed")
}

func TestAWebhookThatIsDownIsTold(t *testing.T) {
	var up atomic.Bool
	w, _ := worldWith(t, 5, sourceworld.Options{Funcs: applying(func(string) error {
		if up.Load() {
			return nil
		}
		return apierrors.NewInternalError(errors.New(`failed calling webhook "policy.example.com"`))
	})})
	w.Advance(time.Second)
	expect(t, w, "Ready=False/PollFailed", "Synced=False/PollFailed")
	if m := w.Message("customers", v1alpha1.ConditionReady); !strings.Contains(m, `failed calling webhook "policy.example.com"`) {
		t.Errorf("the message does not name the webhook: %s", m)
	}
	up.Store(true)
	w.Advance(interval)
	living(t, w, names(5))
	expect(t, w, "Ready=True/PollSucceeded", "Synced=True/InSync")
}

// A policy keeps one tenant, as many clusters protect what is precious.
func TestATenantThatMayNotGoStopsNoOther(t *testing.T) {
	for reason, answer := range map[string]error{
		"forbidden": deniedByWebhook(http.StatusForbidden, metav1.StatusReasonForbidden),
		"invalid":   deniedByWebhook(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid),
	} {
		t.Run(reason, func(t *testing.T) {
			var off atomic.Bool
			w, table := worldWith(t, 5, sourceworld.Options{Funcs: interceptor.Funcs{
				Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
					if !off.Load() && o.GetName() == "customer-001" {
						return answer
					}
					return c.Delete(ctx, o, opts...)
				},
			}})
			w.Advance(time.Second)
			must(t, table.Remove(t.Context(), "customer-001", "customer-002"))
			w.Advance(2 * interval)
			living(t, w, []string{"customer-000", "customer-001", "customer-003", "customer-004"})
			expect(t, w, "Ready=True/PollSucceeded", "Synced=False/DeletionPending")
			o, _ := w.Get("customers")
			if p := o.Status.PendingChanges; len(p) != 1 || p[0].TenantName != "customer-001" || !strings.Contains(p[0].Description, "not this one") {
				t.Errorf("pending: %+v", p)
			}
			must(t, table.Put(t.Context(), row(5)))
			w.Advance(interval)
			living(t, w, []string{"customer-000", "customer-001", "customer-003", "customer-004", "customer-005"})
			if o, _ := w.Get("customers"); o.Status.DeletionsInWindow != 2 {
				t.Errorf("%d deletions are counted, want each once", o.Status.DeletionsInWindow)
			}

			// Nor does it let a deleted source go without it.
			w.Delete("customers")
			w.Advance(interval)
			approve(t, w)
			w.Advance(time.Hour)
			living(t, w, []string{"customer-001"})
			expect(t, w, "Ready=False/Deleting")
			if m := w.Message("customers", v1alpha1.ConditionReady); !strings.Contains(m, "not this one") || !strings.Contains(m, "customer-001") {
				t.Errorf("the message does not tell who keeps what: %s", m)
			}
			off.Store(true)
			w.Advance(time.Hour)
			living(t, w, []string{})
			if _, found := w.Get("customers"); found {
				t.Errorf("the source is still there\n%s", w.Describe("customers"))
			}
		})
	}
}

// The deletion is not approved; people delete the tenants themselves.
func TestAHeldSourceGoesOnceItsTenantsAreGone(t *testing.T) {
	w, _ := newWorld(t, 12)
	w.Advance(time.Second)
	w.Delete("customers")
	w.Advance(time.Minute)
	expect(t, w, "Ready=False/DeletionHeld")
	tenants := w.AllTenants()
	for i := range tenants {
		must(t, w.Kube.Delete(t.Context(), &tenants[i]))
	}
	w.Bury()
	w.Advance(interval)
	if _, found := w.Get("customers"); found {
		t.Errorf("the source is still there\n%s", w.Describe("customers"))
	}
}

// A customer who is back, but switched off, must at no moment be served.
func TestARowThatIsBackSwitchedOffIsNeverServed(t *testing.T) {
	var w *sourceworld.World
	var served atomic.Bool
	w, table := worldWith(t, 3, sourceworld.Options{Funcs: interceptor.Funcs{
		Apply: func(ctx context.Context, c client.WithWatch, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			err := c.Apply(ctx, o, opts...)
			var now v1alpha1.DistributionTenant
			if w != nil && c.Get(ctx, client.ObjectKey{Namespace: w.Namespace, Name: "customer-001"}, &now) == nil && (now.Spec.Enabled == nil || *now.Spec.Enabled) {
				served.Store(true)
			}
			return err
		},
	}}, func(o *v1alpha1.TenantSource) { o.Spec.DeletionPolicy = v1alpha1.SourceDeletionPolicyDisable })
	w.Advance(time.Second)
	must(t, table.Remove(t.Context(), "customer-001"))
	w.Advance(2 * interval)
	if o := w.AllTenants()[1]; *o.Spec.Enabled {
		t.Fatalf("not disabled\n%s", w.Describe("customers"))
	}
	served.Store(false)
	must(t, table.Put(t.Context(), map[string]any{"name": "customer-001", "domain": "customer-001.example.com", "enabled": false}))
	w.Advance(interval)
	if served.Load() {
		t.Error("the tenant was served for a moment")
	}
	if o := w.AllTenants()[1]; *o.Spec.Enabled || o.Annotations[v1alpha1.AnnotationSourceDisabled] != "" {
		t.Errorf("the tenant is %t, %v", *o.Spec.Enabled, o.Annotations)
	}
	must(t, table.Put(t.Context(), row(1)))
	w.Advance(interval)
	if o := w.AllTenants()[1]; !*o.Spec.Enabled {
		t.Error("the tenant is not served again")
	}
}
