package distributiontenant

import (
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/retry"
)

// failure is what the failure in status lets a pass do.
type failure struct {
	// waiting means that a failure of this generation is not due for its next try. That of a certificate only delays
	// its own next request.
	waiting bool
	// patience keeps what was said of it until it is.
	patience Rest
	// refused means that AWS has refused what the spec asks for, other than for a domain that
	// it does not see yet, and it is not time for the next try.
	refused bool
	// retrying means that DNS is only made ready for another try of what was refused: that stays
	// the thing to say.
	retrying bool
}

// judgeFailure finds out which steps the failure in status delays.
func (in judged) judgeFailure() failure {
	f, v := in.Memory.Failure, in.resource
	if f == nil {
		return failure{}
	}
	next := func(f resource.Failure, last time.Time) time.Time {
		if !v.Present && in.first && republished(f) {
			return retry.Republished.Next(f.Since, last)
		}
		return f.NextTry(last)
	}
	certificate := f.Reason == resource.ReasonCertificateFailed
	// The tenant that stood in the way is gone.
	unblocked := f.Reason == resource.ReasonAdoptionRequired && in.World.Swept && !v.Present
	waiting := !certificate && !unblocked && v.Pausing(next) > 0
	return failure{
		waiting: waiting, patience: Rest{After: v.DueIn(next), KeepConditions: true},
		refused:  waiting && f.Reason != resource.ReasonDomainValidationPending,
		retrying: f.Generation == in.Generation && !certificate,
	}
}

// republished reports whether AWS refuses what is tried with names that are published first, so that the next try
// begins with publishing them.
func republished(f resource.Failure) bool {
	switch f.Reason {
	case resource.ReasonAccessDenied, resource.ReasonQuotaExceeded, resource.ReasonInvalidSpec, resource.ReasonDomainConflict, resource.ReasonAWSError:
		return true
	default:
		return false
	}
}
