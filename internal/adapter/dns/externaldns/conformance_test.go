package externaldns_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/dnssuite"
)

// A real ExternalDNS in front of a real BIND does what every provider has to do.
func TestConformance(t *testing.T) {
	all := newServers(t, 80)
	dnssuite.Run(t, func(t *testing.T) *dnssuite.Subject {
		t.Helper()
		w := all.world(t)
		return &dnssuite.Subject{
			DNS: w.adapter(), Access: access, Clock: w.clock,
			Zone: dns.Zone{ID: w.zone, Name: w.zone}, Other: dns.Zone{ID: otherZone, Name: otherZone},
			Put: w.hand.Put, Remove: w.hand.Remove, Sets: w.hand.Sets, IsNote: isNote, Owner: w.owner,
			Lose: w.wire.lose, Deny: w.deny, DropZone: func() { w.front.Lead(w.empty.Address()) },
			Stall: func(stalled bool) { w.stalled = stalled }, Settle: w.settle, Answers: w.hand.Answers, Calls: w.wire.calls,
			Poison: strings.Repeat("l", 64) + "." + w.zone,
			Can: dnssuite.Can{
				// ExternalDNS notes at most five objects a second that it has read.
				Batch: 1, Deletion: 2, Many: 40,
				NoAlias: "the DNS provider externaldns has no alias records for a." + w.zone + ": use Auto or CNAME",
				NoApex: w.zone + " is the apex of its zone, and the DNS provider externaldns can't lead an apex to CloudFront: use a name below it such as www." +
					w.zone + ", or host the zone at a provider that can, for example route53 or cloudflare",
				NoForeign:  "ExternalDNS does not tell which records there are",
				NoGone:     "a server that does not have a zone says the same as one that has another",
				NoTwin:     "ExternalDNS is asked for a name, and not for a zone",
				NoThrottle: "the client of the API server keeps to the pace that it is asked for",
				LongLabel: "UpdateDNSEndpoint: " + strings.Repeat("l", 63) + "." + w.zone + " is too long for ExternalDNS, which would publish it without a note " +
					"of whose it is and never delete it: use a name whose first label has at most 57 characters, and that has at most 247 in all",
				NoText:  "ExternalDNS never deletes a TXT record that it has published",
				NoExact: "ExternalDNS deletes a record that its registry has, whatever it has become",
			},
		}
	})
}

// isNote reports whether a set is one of ExternalDNS's registry.
func isNote(s dns.RecordSet) bool {
	return s.Type == dns.TXT && strings.HasPrefix(s.Values[0], "heritage=external-dns")
}

var endpointKind = schema.GroupVersionKind{Group: "externaldns.k8s.io", Version: "v1alpha1", Kind: "DNSEndpoint"}

// endpoints are the objects of the namespace.
func (w *world) endpoints() []unstructured.Unstructured {
	w.t.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(endpointKind)
	must(w.t, admin.List(w.t.Context(), list, client.InNamespace(w.namespace)))
	return list.Items
}

// owner is what the object of a name says.
func (w *world) owner(_ string, k dns.Key) string {
	for _, o := range w.endpoints() {
		if o.GetAnnotations()["cloudfront-tenant-operator.io/dns-name"] == k.Name {
			return o.GetAnnotations()["cloudfront-tenant-operator.io/object"]
		}
	}
	return ""
}
