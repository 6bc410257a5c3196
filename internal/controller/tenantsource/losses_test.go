package tenantsource_test

import (
	"strings"
	"testing"
	"time"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

// A user deletes all objects of a source. It says so at once, with one write and no read of the table, until they are
// all there again.
func TestObjectsThatOthersDeleteAreNotInSync(t *testing.T) {
	w, _ := newWorld(t, 15)
	w.Advance(time.Second)
	w.Advance(interval)
	expect(t, w, "Ready=True/PollSucceeded", "Synced=True/InSync")

	before, polls := w.Writes(), len(w.Polls)
	tenants := w.AllTenants()
	for i := range tenants {
		must(t, w.Kube.Delete(t.Context(), &tenants[i]))
		w.ShowDeletions("customers")
		w.Advance(time.Second)
	}
	expect(t, w, "Ready=True/PollSucceeded", "Synced=False/UpdatePending")
	if writes, read := w.Writes().SourceStatus-before.SourceStatus, len(w.Polls)-polls; writes != 1 || read != 0 {
		t.Errorf("15 deletions cost %d writes and %d polls, want 1 and none", writes, read)
	}

	w.Advance(interval)
	expect(t, w, "Synced=False/UpdatePending")
	if m := w.Message("customers", v1alpha1.ConditionSynced); !strings.HasPrefix(m, "15 objects are being deleted, and are created again") {
		t.Errorf("the poll says %q", m)
	}
	w.Bury()
	w.Advance(interval)
	expect(t, w, "Ready=True/PollSucceeded", "Synced=True/InSync")
	living(t, w, names(15))
}

// Deletions by the source itself, because a row no longer exists, are no news to it: not while they take long, and not
// after a restart.
func TestObjectsThatTheSourceDeletesAreInSync(t *testing.T) {
	w, table := newWorld(t, 5)
	w.Advance(time.Second)
	must(t, table.Remove(t.Context(), "customer-004"))
	for range 4 {
		w.Advance(interval)
		w.ShowDeletions("customers")
		w.Advance(time.Second)
	}
	living(t, w, names(4))
	expect(t, w, "Ready=True/PollSucceeded", "Synced=True/InSync")

	w.Restart()
	for range 2 {
		w.ShowDeletions("customers")
		w.Advance(time.Second)
		expect(t, w, "Ready=True/PollSucceeded", "Synced=True/InSync")
		w.Advance(interval)
	}
}
