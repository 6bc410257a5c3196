package tenantsource_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/sourceworld"
)

// The report of an audit is removed with the audit, before the next poll.
func TestAnAuditThatIsOverIsNotSaidAnyMore(t *testing.T) {
	w, table := inMemory(t, 2, sourceworld.Options{})
	o, _ := w.Get("customers")
	meta.SetStatusCondition(&o.Status.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionGranted, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonNotEnforced, Message: "EdgeGrants are audited.",
	})
	must(t, w.Kube.Status().Update(t.Context(), o))
	reads := len(table.reads)
	w.Restart()
	w.Advance(time.Second)
	if got := w.Condition("customers", v1alpha1.ConditionGranted); got != "Granted is not there" {
		t.Errorf("it still says %s", got)
	}
	if len(table.reads) != reads {
		t.Error("that took a poll")
	}
	expect(t, w, "Ready=True/PollSucceeded", "Synced=True/InSync")
}
