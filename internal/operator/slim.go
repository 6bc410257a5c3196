package operator

import (
	"strings"
	"unique"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

// slim makes an object smaller before the cache keeps it. Managed fields and what kubectl applied last are half of an
// object, and nothing here reads them. They may be missing in the cache: the operator writes merge patches of the
// difference, which never contain them.
//
// The rest stays whole, but shares its text: of ten thousand tenants each has the same
// conditions.
func slim(object any) (any, error) {
	o, ok := object.(client.Object)
	if !ok {
		return object, nil // a tombstone
	}
	o.SetManagedFields(nil)
	o.SetNamespace(shared(o.GetNamespace()))
	o.SetAnnotations(slimAnnotations(o.GetAnnotations()))
	o.SetFinalizers(sharedAll(o.GetFinalizers()))
	if t, ok := o.(*v1alpha1.DistributionTenant); ok {
		slimSpec(&t.Spec)
		slimStatus(t)
	}
	return object, nil
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
	if c := s.Certificate; c != nil {
		c.ARN, c.Issuer, c.Type = shared(c.ARN), shared(c.Issuer), shared(c.Type)
	}
	s.AppliedTagKeys = sharedAll(s.AppliedTagKeys)
	s.DomainResults, s.DomainProofs = exact(s.DomainResults), exact(s.DomainProofs)
	for i := range s.DomainResults {
		r := &s.DomainResults[i]
		r.Status = shared(r.Status)
		if i < len(o.Spec.Domains) && o.Spec.Domains[i].Domain == r.Domain {
			r.Domain = o.Spec.Domains[i].Domain
		}
	}
	s.Conditions = exact(s.Conditions)
	for i := range s.Conditions {
		c := &s.Conditions[i]
		c.Type, c.Status, c.Reason, c.Message = shared(c.Type), shared(c.Status), shared(c.Reason), shared(c.Message)
	}
}

// shared returns the one copy of a text that many objects have.
func shared[S ~string](s S) S { return S(unique.Make(string(s)).Value()) }

func sharedAll(list []string) []string {
	list = exact(list)
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
