// Package domainclaim stores claims for domains as DomainClaim objects.
package domainclaim

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/claim"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// Store implements port.DomainClaims.
type Store struct {
	Client client.Client
	// Live reads past the cache.
	Live client.Reader
}

var _ port.DomainClaims = Store{}

// Of is an object as the domain's value.
func Of(o *v1alpha1.DomainClaim) claim.Claim {
	c := claim.Claim{
		UID: string(o.UID), Version: o.ResourceVersion, Domain: o.Spec.Domain, Namespace: o.Spec.Namespace,
		Subdomains: o.Spec.Subdomains, HandOver: o.Spec.HandOver, FromDistribution: o.Spec.FromDistributionID,
		Since: o.CreationTimestamp.Time, ReleasedBy: o.Annotations[v1alpha1.AnnotationReleasedBy],
	}
	if o.Spec.TenantRef != nil {
		c.Receiver = o.Spec.TenantRef.Name
	}
	if o.Spec.Until != nil {
		c.Until = o.Spec.Until.Time
	}
	c.Reported = equality.Semantic.DeepEqual(o.Status, status(c))
	return c
}

// status is the status of a claim.
func status(c claim.Claim) v1alpha1.DomainClaimStatus {
	s := v1alpha1.DomainClaimStatus{Phase: v1alpha1.DomainClaimPhase(c.Phase()), Since: timeOf(c.Since)}
	if c.Held() {
		s.From = &v1alpha1.DomainHolder{Namespace: c.Namespace, Name: c.ReleasedBy}
	}
	return s
}

func timeOf(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	m := metav1.NewTime(t.Truncate(time.Second))
	return &m
}

// Store implements port.DomainClaims.
func (s Store) Store(ctx context.Context, c claim.Claim) (claim.Claim, error) {
	o := &v1alpha1.DomainClaim{
		ObjectMeta: metav1.ObjectMeta{Name: claim.Name(c.Domain)},
		Spec:       v1alpha1.DomainClaimSpec{Domain: c.Domain, Namespace: c.Namespace, Subdomains: c.Subdomains, HandOver: c.HandOver, FromDistributionID: c.FromDistribution, Until: timeOf(c.Until)},
	}
	if c.Receiver != "" {
		o.Spec.TenantRef = &v1alpha1.DomainClaimTenantReference{Name: c.Receiver}
	}
	if c.Held() {
		o.Annotations = map[string]string{v1alpha1.AnnotationReleasedBy: c.ReleasedBy}
	}
	err := s.Client.Create(ctx, o)
	if apierrors.IsAlreadyExists(err) {
		err = s.Live.Get(ctx, client.ObjectKeyFromObject(o), o)
	}
	if err != nil {
		return claim.Claim{}, fmt.Errorf("storing the DomainClaim %s: %w", o.Name, err)
	}
	return Of(o), nil
}

// Extend implements port.DomainClaims.
func (s Store) Extend(ctx context.Context, c claim.Claim) (claim.Claim, error) {
	base := stored(c)
	next := base.DeepCopy()
	next.Spec.Until = timeOf(c.Until)
	if err := s.Client.Patch(ctx, next, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})); err != nil {
		return claim.Claim{}, fmt.Errorf("extending the DomainClaim %s: %w", base.Name, err)
	}
	return Of(next), nil
}

// Report implements port.DomainClaims.
func (s Store) Report(ctx context.Context, c claim.Claim) error {
	base := stored(c)
	next := base.DeepCopy()
	next.Status = status(c)
	err := s.Client.Status().Patch(ctx, next, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil // the watch will deliver its current state
	}
	if err != nil {
		return fmt.Errorf("writing the status of the DomainClaim %s: %w", base.Name, err)
	}
	return nil
}

// Remove implements port.DomainClaims.
func (s Store) Remove(ctx context.Context, c claim.Claim) error {
	o, uid := stored(c), types.UID(c.UID)
	err := s.Client.Delete(ctx, o, client.Preconditions{UID: &uid, ResourceVersion: &c.Version})
	if err := client.IgnoreNotFound(err); err != nil {
		return fmt.Errorf("deleting the DomainClaim %s: %w", o.Name, err)
	}
	return nil
}

// stored is the object of a stored claim, as far as a patch needs it.
func stored(c claim.Claim) *v1alpha1.DomainClaim {
	return &v1alpha1.DomainClaim{ObjectMeta: metav1.ObjectMeta{Name: claim.Name(c.Domain), UID: types.UID(c.UID), ResourceVersion: c.Version}}
}
