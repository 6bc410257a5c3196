package externaldns

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
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
	// annotationWithdrawn has the endpoints that an emptied object had.
	annotationWithdrawn = "cloudfront-tenant-operator.io/withdrawn"
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
func (d *DNS) newObject(zone, name string, owner dns.Owner) object {
	o := empty()
	o.SetNamespace(d.config.Namespace)
	o.SetName(objectName(name))
	labels := maps.Clone(d.config.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[labelManagedBy] = managedBy
	o.SetLabels(labels)
	annotations := map[string]string{annotationCluster: d.config.ClusterID, annotationZone: zone, annotationName: name}
	if owner.Name != "" {
		annotations[annotationOwner] = owner.Namespace + "/" + owner.Name
	}
	o.SetAnnotations(annotations)
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

// withdrawn reports whether the object was emptied.
func (o object) withdrawn() bool {
	return len(o.raw()) == 0 && o.GetAnnotations()[annotationWithdrawn] != ""
}

// sets are what the object has published, or had.
func (o object) sets() ([]dns.RecordSet, error) {
	all, leaving := o.raw(), o.withdrawn()
	if leaving {
		if err := json.Unmarshal([]byte(o.GetAnnotations()[annotationWithdrawn]), &all); err != nil {
			return nil, fmt.Errorf("the annotation %s: %w", annotationWithdrawn, err)
		}
	}
	out := make([]dns.RecordSet, 0, len(all))
	for _, one := range all {
		set, err := readEndpoint(one)
		if err != nil {
			return nil, err
		}
		set.Leaving = leaving
		out = append(out, set)
	}
	return out, nil
}

// readEndpoint is the set that an endpoint stands for. One with a property that the operator never writes is Routed.
func readEndpoint(one any) (dns.RecordSet, error) {
	fields, _ := one.(map[string]any)
	var e endpoint
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &e); err != nil {
		return dns.RecordSet{}, fmt.Errorf("the endpoint can't be read: %w", err)
	}
	name, err := dns.Canonical(e.DNSName)
	if err != nil {
		name = strings.ToLower(strings.TrimSuffix(e.DNSName, "."))
	}
	set := dns.RecordSet{Key: dns.Key{Name: name, Type: e.RecordType}, TTL: e.RecordTTL}
	for _, target := range e.Targets {
		if e.RecordType == dns.CNAME {
			target = strings.ToLower(strings.TrimSuffix(target, "."))
		}
		set.Values = append(set.Values, target)
	}
	slices.Sort(set.Values)
	for field, value := range fields {
		switch field {
		case "dnsName", "recordType", "recordTTL", "targets":
		default:
			set.Routed = set.Routed || !isEmpty(value)
		}
	}
	return set, nil
}

func isEmpty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// endpointOf is the endpoint for a set.
func endpointOf(s dns.RecordSet) any {
	targets := make([]any, len(s.Values))
	for i, v := range s.Values {
		targets[i] = v
	}
	return map[string]any{"dnsName": s.Name, "recordType": s.Type, "recordTTL": s.TTL, "targets": targets}
}
