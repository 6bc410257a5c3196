package convert

import (
	"maps"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distribution"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// defaultDeletionTimeout is that of an object that was stored before the field had its default.
const defaultDeletionTimeout = 30 * time.Minute

// ResourceTags are the tags that a distribution or connection group should have, owner tags not included.
func ResourceTags(p *v1alpha1.ResourcePolicies, d Defaults) map[string]string {
	out := map[string]string{}
	maps.Copy(out, d.Tags)
	for _, t := range p.Tags {
		out[t.Key] = t.Value
	}
	return out
}

// ResourcePolicy renders what the user allows.
func ResourcePolicy(p *v1alpha1.ResourcePolicies, d Defaults) distribution.Policy {
	out := distribution.Policy{
		Policy: resource.Policy{
			Drift: resource.DriftPolicy(p.DriftPolicy), Adoption: resource.AdoptionPolicy(p.AdoptionPolicy),
			Retain: p.DeletionPolicy == v1alpha1.DeletionPolicyRetain,
		},
		Timeout: defaultDeletionTimeout,
	}
	if out.Drift == "" {
		out.Drift = d.DriftPolicy
	}
	if out.Adoption == "" {
		out.Adoption = resource.AdoptNever
	}
	if p.DeletionTimeout != nil {
		out.Timeout = p.DeletionTimeout.Duration
	}
	return out
}

// AdoptedResourceMark is what AnnotationAdoptedGeneration holds after the adoption of that resource. It names the
// resource: one that is created later, because that one was deleted, was not adopted.
func AdoptedResourceMark(o metav1.Object, id string) string { return AdoptedMark(o) + "/" + id }

// AdoptedResource reads back for which generation of this very object which resource was adopted. Zero: none.
func AdoptedResource(o metav1.Object) (generation int64, id string) {
	parts := strings.SplitN(o.GetAnnotations()[v1alpha1.AnnotationAdoptedGeneration], "/", 3)
	if len(parts) < 3 || parts[0] != string(o.GetUID()) {
		return 0, ""
	}
	n, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil {
		return 0, ""
	}
	return n, parts[2]
}

// ResourceMemory reads back from status what only status remembers.
func ResourceMemory(s *v1alpha1.ResourceStatus) distribution.Memory {
	m := distribution.Memory{Memory: resource.Memory{
		ID: s.ID, Account: resource.AccountOf(s.ARN), AppliedGeneration: appliedGeneration(s.ObservedGeneration, s.AppliedGeneration),
		AppliedTagKeys: s.AppliedTagKeys, Failure: failureMemory(s.Failure), Conditions: conditionMemory(s.Conditions),
	}}
	if d := s.Deletion; d != nil {
		m.Deletion = &distribution.Progress{Step: distribution.DeletionStep(d.Step), Since: d.Since.Time}
	}
	return m
}

// ResourceReport writes a report into status. now stamps transitions only.
func ResourceReport(s *v1alpha1.ResourceStatus, r distribution.Report, now time.Time) {
	switch o := r.Resource; {
	case o != nil:
		s.ID, s.ARN, s.ETag, s.DeploymentStatus, s.LastModifiedTime = o.ID, o.ARN, o.ETag, o.Status, timeOf(o.Modified)
		s.Enabled = &o.Enabled
	case r.Forget:
		// The ARN stays: it tells in which account the next one has to be.
		s.ID, s.ETag, s.DeploymentStatus, s.LastModifiedTime, s.Enabled = "", "", "", nil, nil
	case r.Absent:
		s.DeploymentStatus, s.Enabled = "", nil
	}
	s.AppliedTagKeys = r.AppliedTagKeys
	setGenerations(&s.ObservedGeneration, &s.AppliedGeneration, judged(r.Conditions), r.AppliedGeneration)
	s.Drift, s.Failure, s.Deletion = driftedFields(r.Drift), failureStatus(r.Failure), nil
	if d := r.Deletion; d != nil {
		s.Deletion = &v1alpha1.DeletionProgress{Step: v1alpha1.DeletionStep(d.Step), Since: metav1.NewTime(d.Since.Truncate(time.Second))}
	}
	setConditions(&s.Conditions, r.Conditions, now)
	synced := meta.FindStatusCondition(s.Conditions, v1alpha1.ConditionSynced)
	s.DriftDetected = synced != nil && (synced.Reason == v1alpha1.ReasonDriftDetected || synced.Reason == v1alpha1.ReasonDriftNotConverging)
}
