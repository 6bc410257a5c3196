package tenantsource_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/sourceworld"
)

// Each poll asks again whether the Secret is offered to the source, before it connects to anything.
func TestASecretThatIsNoLongerOfferedIsNotUsed(t *testing.T) {
	w, table := inMemory(t, 2, sourceworld.Options{})
	reads := len(table.reads)
	relabel(t, w, map[string]string{v1alpha1.LabelTenantSource: "another"})
	table.rows = append(table.rows[1:], storyRow(2))
	w.Advance(5 * interval)
	expect(t, w, "Ready=False/InvalidConfig", "Synced=False/InvalidConfig")
	if got := w.Message("customers", v1alpha1.ConditionReady); !strings.Contains(got, `spec.postgres.connectionSecretRef: the Secret "customers" has the label`) {
		t.Errorf("the message is %q", got)
	}
	if len(table.reads) != reads {
		t.Error("the table was read with a Secret that is not offered to the source")
	}
	living(t, w, names(2))

	relabel(t, w, map[string]string{v1alpha1.LabelTenantSource: v1alpha1.TenantSourceAny})
	table.rows = allRows(3)
	w.Advance(2 * interval)
	expect(t, w, "Ready=True/PollSucceeded", "Synced=True/InSync")
	living(t, w, names(3))
}

// relabel gives the source's Secret other labels.
func relabel(t *testing.T, w *sourceworld.World, labels map[string]string) {
	t.Helper()
	secret := &corev1.Secret{}
	must(t, w.Kube.Get(t.Context(), client.ObjectKey{Namespace: w.Namespace, Name: "customers"}, secret))
	secret.Labels = labels
	must(t, w.Kube.Update(t.Context(), secret))
}
