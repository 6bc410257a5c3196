package operator

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"unique"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

// slimmer makes objects smaller before the cache keeps them. Objects that arrive one after the other, as in an import
// or at the start, share the values that many objects of a fleet have in common: their times are of the same second.
type slimmer struct {
	annotations  recent[map[string]string]
	finalizers   recent[[]string]
	conditions   recent[[]metav1.Condition]
	times        recent[metav1.Time]
	certificates recent[v1alpha1.ServedCertificate]
}

func newSlimmer() *slimmer {
	return &slimmer{
		annotations:  recent[map[string]string]{equal: maps.Equal[map[string]string, map[string]string]},
		finalizers:   recent[[]string]{equal: slices.Equal[[]string]},
		conditions:   recent[[]metav1.Condition]{equal: slices.Equal[[]metav1.Condition]},
		times:        recent[metav1.Time]{equal: func(a, b metav1.Time) bool { return a == b }},
		certificates: recent[v1alpha1.ServedCertificate]{equal: func(a, b v1alpha1.ServedCertificate) bool { return a == b }},
	}
}

// slim is a transformation of the cache. Managed fields and what kubectl applied last are half of an object, and nothing
// here reads them. They may be missing in the cache: the operator writes merge patches of the difference, which never
// contain them.
//
// The rest stays whole, but shares its text: of ten thousand tenants each has the same
// conditions. An object may come twice, when a watch is begun again. Shared values are never written to.
func (s *slimmer) slim(object any) (any, error) {
	o, ok := object.(client.Object)
	if !ok {
		return object, nil // a tombstone
	}
	o.SetManagedFields(nil)
	o.SetNamespace(shared(o.GetNamespace()))
	o.SetAnnotations(s.annotations.shared(slimAnnotations(o.GetAnnotations())))
	o.SetFinalizers(s.finalizers.shared(sharedAll(o.GetFinalizers())))
	if t, ok := o.(*v1alpha1.DistributionTenant); ok {
		slimSpec(&t.Spec)
		slimStatus(t)
		s.share(&t.Status)
	}
	return object, nil
}

// share replaces what other objects have as well.
func (s *slimmer) share(t *v1alpha1.DistributionTenantStatus) {
	t.Conditions = s.conditions.shared(t.Conditions)
	for _, at := range []**metav1.Time{&t.CreatedTime, &t.LastModifiedTime, &t.LastDriftCheckTime} {
		*at = s.times.pointer(*at)
	}
	t.Certificate = s.certificates.pointer(t.Certificate)
}

func slimAnnotations(given map[string]string) map[string]string {
	var out map[string]string
	for key, value := range given {
		if key == corev1.LastAppliedConfigAnnotation {
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		out[shared(key)] = value
	}
	return out
}

func slimSpec(s *v1alpha1.DistributionTenantSpec) {
	s.DistributionID, s.DriftPolicy = shared(s.DistributionID), shared(s.DriftPolicy)
	s.ConnectionGroupID = shared(s.ConnectionGroupID)
	for _, r := range []*v1alpha1.ObjectReference{s.DistributionRef, s.ConnectionGroupRef} {
		if r != nil {
			r.Name = shared(r.Name)
		}
	}
	s.DeletionPolicy, s.AdoptionPolicy = shared(s.DeletionPolicy), shared(s.AdoptionPolicy)
	s.Domains, s.Parameters, s.Tags = exact(s.Domains), exact(s.Parameters), exact(s.Tags)
	for i := range s.Parameters {
		s.Parameters[i].Name = shared(s.Parameters[i].Name)
	}
	for i := range s.Tags {
		s.Tags[i].Key = shared(s.Tags[i].Key)
	}
}

func slimStatus(o *v1alpha1.DistributionTenant) {
	s := &o.Status
	if s.TenantName == o.Name {
		s.TenantName = o.Name
	}
	if strings.HasSuffix(s.ARN, s.ID) {
		s.ID = s.ARN[len(s.ARN)-len(s.ID):]
	}
	s.DistributionID, s.ConnectionGroupID = shared(s.DistributionID), shared(s.ConnectionGroupID)
	s.DistributionTenantStatus, s.DNSTarget = shared(s.DistributionTenantStatus), shared(s.DNSTarget)
	s.CertificateARN, s.ManagedCertificateStatus = shared(s.CertificateARN), shared(s.ManagedCertificateStatus)
	if s.Certificate != nil {
		c := *s.Certificate
		c.ARN, c.Issuer, c.Type = shared(c.ARN), shared(c.Issuer), shared(c.Type)
		s.Certificate = &c
	}
	s.AppliedTagKeys = sharedAll(s.AppliedTagKeys)
	s.DomainResults = exact(s.DomainResults)
	slimDomains(o)
	for i := range s.DomainResults {
		r := &s.DomainResults[i]
		r.Status = shared(r.Status)
		if i < len(o.Spec.Domains) && o.Spec.Domains[i].Domain == r.Domain {
			r.Domain = o.Spec.Domains[i].Domain
		}
	}
	s.Conditions = slices.Clone(s.Conditions)
	for i := range s.Conditions {
		c := &s.Conditions[i]
		c.Type, c.Status, c.Reason, c.Message = shared(c.Type), shared(c.Status), shared(c.Reason), shared(c.Message)
	}
}

// slimDomains lets what is told of the domains share its text with the spec and with the ledger.
func slimDomains(o *v1alpha1.DistributionTenant) {
	s := &o.Status
	s.Domains = exact(s.Domains)
	for i := range s.Domains {
		d := &s.Domains[i]
		if i < len(o.Spec.Domains) && o.Spec.Domains[i].Domain == d.Domain {
			d.Domain = o.Spec.Domains[i].Domain
		}
		d.State, d.WaitsFor, d.Message, d.Records = shared(d.State), shared(d.WaitsFor), shared(d.Message), exact(d.Records)
		for n := range d.Records {
			r := &d.Records[n]
			r.Purpose, r.Type, r.PublishedBy, r.State = shared(r.Purpose), shared(r.Type), shared(r.PublishedBy), shared(r.State)
			r.Value = shared(r.Value)
			if r.Name == d.Domain {
				r.Name = d.Domain
			}
		}
	}
}

// recent shares what equals one of the last values. Shared values must not be changed: readers of the cache get copies.
type recent[T any] struct {
	equal func(a, b T) bool

	mu   sync.Mutex
	kept [64]*T
	next int
}

func (r *recent[T]) shared(value T) T { return *r.pointer(&value) }

// pointer returns the pointer to the value that was given first. Nil stays nil.
func (r *recent[T]) pointer(value *T) *T {
	if value == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, known := range r.kept {
		if known != nil && r.equal(*known, *value) {
			return known
		}
	}
	r.kept[r.next] = value
	r.next = (r.next + 1) % len(r.kept)
	return value
}

// shared returns the one copy of a text that many objects have.
func shared[S ~string](s S) S { return S(unique.Make(string(s)).Value()) }

func sharedAll(list []string) []string {
	list = slices.Clone(list)
	for i := range list {
		list[i] = shared(list[i])
	}
	return list
}

// exact drops the room that a decoder leaves behind the elements of a list: the smallest has
// room for four.
func exact[S ~[]E, E any](list S) S {
	if cap(list) == len(list) {
		return list
	}
	return append(make(S, 0, len(list)), list...)
}
