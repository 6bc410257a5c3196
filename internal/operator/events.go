package operator

import (
	"context"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/reference"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

// reportingController is who our events are from.
const reportingController = "cloudfront-tenant-operator"

// What the API server takes: the name of an event, and its note.
const (
	maxEventName = 253
	maxNote      = 1024
)

// eventTimeout is how long a pass waits for an event to be stored, which is sent and forgotten: no decision depends on
// it.
const eventTimeout = 5 * time.Second

// publisher writes events. The recorder of client-go keeps every event for six minutes, to
// join those that repeat: that is more memory for a fleet than its objects take. Ours tell of
// transitions, and do not repeat.
type publisher struct {
	client   client.Client
	clock    clock.PassiveClock
	instance string
}

func newPublisher(c client.Client, clk clock.PassiveClock) *publisher {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return &publisher{client: c, clock: clk, instance: reportingController + "-" + host}
}

// publish implements the driver's Publish.
func (p *publisher) publish(o client.Object, e reconcile.Event) {
	ctx, cancel := context.WithTimeout(context.Background(), eventTimeout)
	defer cancel()
	err := p.write(ctx, o, e)
	if err != nil && !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		ctrl.Log.WithName("events").Error(err, "An event could not be recorded", "namespace", o.GetNamespace(), "name", o.GetName(), "reason", e.Reason)
	}
}

func (p *publisher) write(ctx context.Context, o client.Object, e reconcile.Event) error {
	regarding, err := reference.GetReference(p.client.Scheme(), o)
	if err != nil {
		return fmt.Errorf("referring to the object: %w", err)
	}
	kind := corev1.EventTypeNormal
	if e.Warning {
		kind = corev1.EventTypeWarning
	}
	now := p.clock.Now()
	namespace := o.GetNamespace()
	if namespace == "" {
		// The API server wants the events of what has no namespace there.
		namespace = metav1.NamespaceDefault
	}
	return p.client.Create(ctx, &eventsv1.Event{
		ObjectMeta:          metav1.ObjectMeta{Namespace: namespace, Name: eventName(o.GetName(), now)},
		EventTime:           metav1.NewMicroTime(now),
		ReportingController: reportingController,
		ReportingInstance:   p.instance,
		Action:              "Reconcile",
		Reason:              e.Reason,
		Regarding:           *regarding,
		Note:                prose.Fit(e.Message, maxNote),
		Type:                kind,
	})
}

// eventName is unique as long as one object has no two events in one nanosecond.
func eventName(object string, now time.Time) string {
	suffix := fmt.Sprintf(".%x", now.UnixNano())
	return object[:min(len(object), maxEventName-len(suffix))] + suffix
}
