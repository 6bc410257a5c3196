package awsresource

import (
	"context"
	"errors"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/account"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	losses "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/loss"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/claims"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/grants"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/halt"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/loss"
)

// Shared is what the controller of anything with owner tags in AWS needs, that of tenants included.
type Shared struct {
	Client client.Client
	// Accounts are the AWS accounts in which resources are.
	Accounts *account.Registry
	// Breaker clears deletions; nil clears all.
	Breaker *loss.Breaker
	// Halt stops all writes; a nil one none.
	Halt *halt.Switch
	// Grants say what namespaces may have; nil grants everything.
	Grants *grants.Registry
	// DomainClaims says who may have a domain; a nil one lets every object have every domain.
	DomainClaims *claims.Registry
	Clock        clock.PassiveClock
	// ClusterID is part of the owner tags.
	ClusterID string
	Defaults  convert.Defaults
	// Interval is that of drift detection.
	Interval time.Duration
	// Random is in [0, 1).
	Random func() float64
}

// Object is what a pass knows of its object at first. tries are those that were recalled, m and answered what status
// remembers, and the token of the last question that it answers.
func (s *Shared) Object(o client.Object, class losses.Class, tries *resource.Tries, m resource.Memory, answered string) resource.Object {
	annotations := o.GetAnnotations()
	out := resource.Object{
		Now:          s.Clock.Now(),
		Me:           ownership.Owner{Cluster: s.ClusterID, Namespace: o.GetNamespace(), Name: o.GetName(), UID: string(o.GetUID())},
		Generation:   o.GetGeneration(),
		HasFinalizer: controllerutil.ContainsFinalizer(o, v1alpha1.Finalizer),
		Guarded:      s.Breaker.Watches(class),
		Rescued:      s.Breaker.Rescued(class, o.GetNamespace(), o.GetName()),
		Token:        convert.Token(annotations),
		// A halt wakes the remembered objects, and by now this one is one of them.
		Halt: s.Halt.Now(),
	}
	out.Paused, out.PausedNote = convert.Paused(annotations)
	out.Nudged = tries.Wants(out.Token, answered)
	if m.Failure != nil && tries.Last.IsZero() {
		// A fresh process takes the schedule of the failure up where it finds it.
		tries.Last = out.Now
	}
	if mark, marked := annotations[v1alpha1.AnnotationCreatePending]; marked {
		out.CreateMark = tries.Marked(mark, o.GetCreationTimestamp().Time, out.Now)
	}
	return out
}

// Place finds out in which account the resource of an object is, or will be. arn is the one in status.
func (s *Shared) Place(ctx context.Context, o client.Object, arn string) (account.Place, error) {
	granted, err := s.Grants.Access(ctx, o.GetNamespace())
	if err != nil {
		return account.Place{}, err
	}
	return s.Accounts.Of(ctx, convert.RecordedAccount(o, arn), granted)
}

// Kept keeps a refusal, so that it is decided on; any other failure ends the pass.
func Kept(err error, as **fault.Error) error {
	if refusal, ok := errors.AsType[*fault.Error](err); ok && resource.IsRefusal(refusal.Kind) {
		*as = refusal
		return nil
	}
	return err
}
