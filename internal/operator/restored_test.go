package operator_test

import (
	"fmt"
	"testing"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

// Records that the zones restore have no pass of the object behind them. They leave an event and a line in the log all
// the same.
func TestRestoredRecordsAreTold(t *testing.T) {
	t.Parallel()
	record := dns.Record{ZoneID: "Z1", Name: "a.example.com", Type: dns.CNAME, Value: "d1.cloudfront.net", TTL: 300}
	found := record
	found.Value = "elsewhere.example.net"
	var lines []string
	told := make(chan string)
	o := operator.NewZoneObserver(
		funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{}),
		func(o client.Object, e reconcile.Event) {
			told <- fmt.Sprintf("%s/%s %s %s: %s", o.GetNamespace(), o.GetName(), o.GetUID(), e.Reason, e.Message)
		},
	)
	o.Corrected([]dns.Correction{{Owner: dns.Owner{Namespace: "web", Name: "alpha", UID: "1"}, Restores: []dns.Record{record}, Replaces: []dns.RecordSet{found.Set()}}})
	const message = "Restored in DNS: CNAME a.example.com -> d1.cloudfront.net instead of CNAME elsewhere.example.net (TTL 300)."
	if got, want := <-told, "web/alpha 1 DriftCorrected: "+message; got != want {
		t.Errorf("the event is %q, want %q", got, want)
	}
	want := []string{`"level"=0 "msg"="Changed" "namespace"="web" "name"="alpha" "what"="DriftCorrected" "change"="` + message + `"`}
	if d := cmp.Diff(want, lines); d != "" {
		t.Errorf("log (-want +got):\n%s", d)
	}
}
