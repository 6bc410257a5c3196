package externaldns_test

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/controlplane"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/externaldns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/nameserver"
)

const zone = "example.com"

var (
	config *rest.Config
	kube   client.Client
)

func TestMain(m *testing.M) {
	// Objects are deleted by the API server alone, so nothing needs the controllers.
	os.Exit(controlplane.RunTests(m, controlplane.Options{WithoutControllerManager: true}, func(cp *controlplane.ControlPlane) (err error) {
		config = cp.RESTConfig()
		if err := externaldns.InstallCRD(config); err != nil {
			return err
		}
		kube, err = client.New(config, client.Options{})
		return err
	}))
}

// world is a namespace with an ExternalDNS of its own, and a BIND with a zone.
type world struct {
	*testing.T
	namespace string
	server    *nameserver.Server
	dns       *externaldns.ExternalDNS
}

// operatorKey stands for the key of the server that may not transfer the closed zone.
var operatorKey = nameserver.Key{Name: nameserver.KeyName}

// newWorld starts a world. The options may leave out what every world has.
func newWorld(t *testing.T, o externaldns.Options) *world {
	t.Helper()
	w := &world{T: t}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "externaldns-"}}
	w.must(kube.Create(t.Context(), namespace))
	w.namespace = namespace.Name
	server, err := nameserver.Start(t.Context(), nameserver.Options{Zones: []nameserver.Zone{{Name: zone}, {Name: "closed.example", ClosedToTransfers: true}}})
	w.must(err)
	t.Cleanup(func() { w.close(server.Close()) })
	w.server = server
	o.Config, o.Namespace, o.Server = config, w.namespace, server
	if o.Key == operatorKey {
		o.Key = server.Key()
	}
	if o.Zones == nil {
		o.Zones = []string{zone}
	}
	w.dns, err = externaldns.Start(t.Context(), o)
	w.must(err)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("ExternalDNS logged:\n%s", w.dns.Log(100))
		}
		w.close(w.dns.Close())
	})
	return w
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) close(err error) {
	w.Helper()
	if err != nil {
		w.Error(err)
	}
}

// entry is an endpoint of an object.
func entry(name, kind string, ttl int64, targets ...string) map[string]any {
	e := map[string]any{"dnsName": name, "recordType": kind}
	if ttl > 0 {
		e["recordTTL"] = ttl
	}
	var all []any
	for _, t := range targets {
		all = append(all, t)
	}
	e["targets"] = all
	return e
}

// put creates an object, or changes its endpoints.
func (w *world) put(name string, entries ...map[string]any) {
	w.Helper()
	o := w.empty(name)
	err := kube.Get(w.Context(), client.ObjectKeyFromObject(o), o)
	found := err == nil
	w.must(client.IgnoreNotFound(err))
	endpoints := make([]any, 0, len(entries)) // [] and not null
	for _, e := range entries {
		endpoints = append(endpoints, e)
	}
	w.must(unstructured.SetNestedSlice(o.Object, endpoints, "spec", "endpoints"))
	if found {
		w.must(kube.Update(w.Context(), o))
		return
	}
	w.must(kube.Create(w.Context(), o))
}

func (w *world) empty(name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion("externaldns.k8s.io/v1alpha1")
	o.SetKind("DNSEndpoint")
	o.SetNamespace(w.namespace)
	o.SetName(name)
	return o
}

func (w *world) get(name string) *unstructured.Unstructured {
	w.Helper()
	o := w.empty(name)
	w.must(kube.Get(w.Context(), client.ObjectKeyFromObject(o), o))
	return o
}

func (w *world) delete(name string) {
	w.Helper()
	w.must(kube.Delete(w.Context(), w.empty(name)))
}

// round carries out a round that has no error.
func (w *world) round() {
	w.Helper()
	w.must(w.dns.Round(w.Context()))
}

// failingRound carries out a round that has an error.
func (w *world) failingRound(want string) {
	w.Helper()
	if err := w.dns.Round(w.Context()); err == nil || err.Error() != want {
		w.Errorf("the round has the error %v, want %s", err, want)
	}
}

// messages is how many messages change the zone meanwhile: each adds 1 to the serial number.
func (w *world) messages(do func()) int {
	w.Helper()
	before, err := w.server.Serial(w.Context(), zone)
	w.must(err)
	do()
	after, err := w.server.Serial(w.Context(), zone)
	w.must(err)
	return int(after - before)
}

// expect compares all records of the zone but those that it has from the beginning.
func (w *world) expect(want ...string) {
	w.Helper()
	w.expectIn(zone, want...)
}

func (w *world) expectIn(zone string, want ...string) {
	w.Helper()
	want = append([]string{zone + " 300 NS ns1." + zone + ".", "ns1." + zone + " 300 A 127.0.0.1"}, want...)
	slices.Sort(want)
	got, err := w.server.Records(w.Context(), zone)
	w.must(err)
	if diff := cmp.Diff(want, got); diff != "" {
		w.Errorf("records (-want +got):\n%s", diff)
	}
}

// note is the TXT record of the registry that says whose a record is.
func (w *world) note(name, object string) string {
	return w.noteOf("default", name, object)
}

func (w *world) noteOf(owner, name, object string) string {
	return fmt.Sprintf(`%s 0 TXT "heritage=external-dns,external-dns/owner=%s,external-dns/resource=crd/%s/%s"`, name, owner, w.namespace, object)
}

// observed compares whether ExternalDNS says of an object that it has read it as it is.
func (w *world) observed(name string, want bool) {
	w.Helper()
	o := w.get(name)
	observed, _, err := unstructured.NestedInt64(o.Object, "status", "observedGeneration")
	w.must(err)
	if got := observed == o.GetGeneration(); got != want {
		w.Errorf("%s is at generation %d and was observed at %d, want that up to date: %t", name, o.GetGeneration(), observed, want)
	}
}

func (w *world) byHand(lines ...string) {
	w.Helper()
	w.must(w.server.AddByHand(w.Context(), zone, lines...))
}

func (w *world) removeByHand(lines ...string) {
	w.Helper()
	w.must(w.server.DeleteByHand(w.Context(), zone, lines...))
}
