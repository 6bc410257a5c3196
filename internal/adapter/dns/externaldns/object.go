package externaldns

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/kubename"
)

// kind is that of the objects.
var kind = schema.GroupVersionKind{Group: "externaldns.k8s.io", Version: "v1alpha1", Kind: "DNSEndpoint"}

// What says whose an object is.
const (
	labelManagedBy = "app.kubernetes.io/managed-by"
	managedBy      = "cloudfront-tenant-operator"
	// annotationCluster is the operator's cluster ID, which not every label can have.
	annotationCluster = "cloudfront-tenant-operator.io/cluster-id"
	// annotationZone and annotationName are the zone and the name that the object is for.
	annotationZone = "cloudfront-tenant-operator.io/zone"
	annotationName = "cloudfront-tenant-operator.io/dns-name"
	// annotationOwner is the object whose records they are.
	annotationOwner = "cloudfront-tenant-operator.io/object"
	// annotationPublished has the endpoints that the operator gave the object last, after it has emptied it, too:
	// servers may show them, even if others have changed the object.
	annotationPublished = "cloudfront-tenant-operator.io/published"
)

// endpoint is an entry of a DNSEndpoint, as far as the operator writes it.
type endpoint struct {
	DNSName    string   `json:"dnsName"`
	RecordType string   `json:"recordType"`
	RecordTTL  int64    `json:"recordTTL,omitempty"`
	Targets    []string `json:"targets,omitempty"`
}

// object is a DNSEndpoint.
type object struct {
	*unstructured.Unstructured
}

func empty() object {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(kind)
	return object{u}
}

// objectName is the name of the object for the records of a name: the same, where the API server takes it.
func objectName(name string) string {
	if kubename.IsSubdomain(name) {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	plain := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.':
			return r
		case r == '*':
			return 'x'
		}
		return '-'
	}, name)
	labels := strings.Split(plain, ".")
	for i, l := range labels {
		if labels[i] = strings.Trim(l, "-"); labels[i] == "" {
			labels[i] = "x"
		}
	}
	const suffix = 17
	plain = strings.Trim(strings.Join(labels, "."), "-.")
	if longest := kubename.LongestName - suffix; len(plain) > longest {
		plain = strings.TrimRight(plain[:longest], "-.")
	}
	return plain + "-" + hex.EncodeToString(sum[:8])
}

// newObject is the object of a name that does not have one yet.
func (d *DNS) newObject(zone, name string) object {
	o := empty()
	o.SetNamespace(d.config.Namespace)
	o.SetName(objectName(name))
	o.SetLabels(map[string]string{labelManagedBy: managedBy})
	o.SetAnnotations(map[string]string{annotationCluster: d.config.ClusterID, annotationZone: zone, annotationName: name})
	return o
}

// ours reports whether the object is this operator's, for a name of the zone.
func (d *DNS) ours(o object, zone string) bool {
	a := o.GetAnnotations()
	return o.GetLabels()[labelManagedBy] == managedBy && a[annotationCluster] == d.config.ClusterID && a[annotationZone] == zone &&
		o.GetName() == objectName(a[annotationName])
}

// seen reports whether ExternalDNS has read the object as it is.
func (o object) seen() bool {
	observed, _, _ := unstructured.NestedInt64(o.Object, "status", "observedGeneration")
	return observed >= o.GetGeneration()
}

// raw are the endpoints as the object has them.
func (o object) raw() []any {
	all, _, _ := unstructured.NestedSlice(o.Object, "spec", "endpoints")
	return all
}

// emptied reports whether the object has no endpoints.
func (o object) emptied() bool { return len(o.raw()) == 0 }

// noted are the sets that the operator gave the object last. It is not ok where that can't be read any more.
func (o object) noted() (sets []dns.RecordSet, ok bool) {
	var all []any
	if err := json.Unmarshal([]byte(o.GetAnnotations()[annotationPublished]), &all); err != nil {
		return nil, false
	}
	sets = o.at(readEndpoints(all))
	return sets, len(sets) > 0
}

// at are those of the sets that are at the name that the object is for.
func (o object) at(sets []dns.RecordSet) []dns.RecordSet {
	return slices.DeleteFunc(sets, func(s dns.RecordSet) bool { return s.Name != o.GetAnnotations()[annotationName] })
}

// intact reports whether ExternalDNS reads what the operator gave the object last, which others may have changed.
func (d *DNS) intact(o object) bool {
	sets, ok := o.noted()
	return ok && d.labelled(o) && slices.EqualFunc(sets, readEndpoints(o.raw()), equal)
}

// labelled reports whether the object has the labels that ExternalDNS may select by.
func (d *DNS) labelled(o object) bool {
	labels := o.GetLabels()
	for key, value := range d.config.Labels {
		if labels[key] != value {
			return false
		}
	}
	return true
}

// label gives the object its labels.
func (d *DNS) label(o object) {
	labels := o.GetLabels()
	maps.Copy(labels, d.config.Labels)
	o.SetLabels(labels)
}

// readEndpoints are the sets that endpoints stand for. Further properties of an endpoint do not count: admission
// webhooks add properties that some services need.
func readEndpoints(all []any) (sets []dns.RecordSet) {
	for _, one := range all {
		fields, _ := one.(map[string]any)
		var e endpoint
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &e); err != nil {
			continue
		}
		name, err := dns.Canonical(e.DNSName)
		if err != nil {
			name = dns.Lower(e.DNSName)
		}
		set := dns.RecordSet{Key: dns.Key{Name: name, Type: e.RecordType}, TTL: e.RecordTTL}
		for _, target := range e.Targets {
			if e.RecordType == dns.CNAME {
				target = dns.Lower(target)
			}
			set.Values = append(set.Values, target)
		}
		slices.Sort(set.Values)
		sets = append(sets, set)
	}
	return sets
}

// endpointsOf are the endpoints for sets.
func endpointsOf(sets []dns.RecordSet) []any {
	endpoints := make([]any, len(sets))
	for i, s := range sets {
		targets := make([]any, len(s.Values))
		for i, v := range s.Values {
			targets[i] = v
		}
		endpoints[i] = map[string]any{"dnsName": s.Name, "recordType": s.Type, "recordTTL": s.TTL, "targets": targets}
	}
	return endpoints
}
