package distributiontenant

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// seenCertificates are the managed certificates that were ever seen for this tenant: what
// status has, with the one that was read now as the last.
func (in judged) seenCertificates() []string {
	// ACM may not show yet what CloudFront has requested there.
	sent := in.Memory.Requested
	requested := sent != nil && in.Now.Sub(sent.At) < resource.GracePeriod
	seen := slices.Clone(in.Memory.Certificates)
	managed, known := in.certificate.Managed, in.certificate.Known
	if known && managed != nil && managed.ARN != "" && in.resource.Mine() && managed.ARN != in.Desired.Customizations.CertificateARN {
		seen = append(slices.DeleteFunc(seen, func(arn string) bool { return arn == managed.ARN }), managed.ARN)
	}
	return slices.DeleteFunc(seen, func(arn string) bool {
		c, known := in.World.Certificates[arn]
		return in.Deleting && known && c.disposed(requested)
	})
}

// disposed reports whether a certificate needs no more thought: it is gone, or turned out
// to be the user's own. One that was just requested may not show yet.
func (c Certificate) disposed(requested bool) bool {
	return !c.Unreadable && (c.Deleted || c.Missing && !requested || !c.Missing && !c.CloudFrontManaged)
}

// retainsCertificates reports whether the managed certificates outlive the object.
func (p Policy) retainsCertificates() bool { return p.Retain || p.RetainCertificates }

// certificatesLearned makes sure that status has the managed certificate of a tenant before the tenant is deleted:
// afterwards it can't be known that the certificate was this tenant's.
func certificatesLearned(in judged) (Decision, bool) {
	if !in.ManagesCertificate() || in.Policy.retainsCertificates() || !in.World.present() {
		return pass()
	}
	// What was only assumed after a request has no ARN.
	managed := in.certificate.Managed
	seen := !in.Attempts.CertificateSeen.IsZero() && !in.certificate.Moved && managed != nil && managed.ARN != ""
	if !in.World.ManagedKnown && !seen {
		return do(Look{At: LookManaged})
	}
	if managed == nil && in.certificate.Stage == certificate.Underway && !in.World.Tenant.Enabled {
		return rest(chain.Problem{Reason: resource.ReasonDeleting, Message: "The distribution tenant is deleted, and its managed certificate with it, once AWS shows the one that was requested a moment ago."}, certificateAppears)
	}
	if !in.stored {
		return do(Rest{Store: true})
	}
	return pass()
}

// certificateAppears is the pause before CloudFront or ACM is asked again for a certificate that it should have.
const certificateAppears = 10 * time.Second

// certificatesGone deletes the managed certificates of a tenant that is gone: otherwise they would count against the
// account's quota forever.
func certificatesGone(in judged) (Decision, bool) {
	if in.Policy.retainsCertificates() {
		return pass()
	}
	if in.World.Deleted && len(in.certificates) > 0 {
		// The pass has had its one write: what was read now would be read again in the next.
		return do(Rest{Store: true})
	}
	if in.World.Knowledge != resource.Absent {
		return pass()
	}
	inUse := ""
	for _, arn := range in.certificates {
		c, known := in.World.Certificates[arn]
		switch {
		case arn == in.Desired.Customizations.CertificateARN:
			continue
		case known && c.InUse:
			// It keeps none of the others.
			inUse = cmp.Or(inUse, arn)
			continue
		case known && c.Missing:
			return rest(chain.Problem{Reason: resource.ReasonDeleting, Message: fmt.Sprintf(
				"The distribution tenant is deleted. Its managed certificate %s was requested recently and does not appear in ACM yet; it is deleted when it does.", arn)}, certificateAppears)
		case in.World.RefusedWith(fault.InUse):
			return certificateInUse(arn)
		case in.World.RefusedWith(fault.Denied):
			return certificateLeft(arn, "acm:DeleteCertificate")
		case in.World.Refused != nil:
			return in.refusal()
		case known && c.Unreadable:
			return certificateLeft(arn, "acm:DescribeCertificate")
		case !known:
			return do(Look{At: LookCertificates, ARNs: []string{arn}})
		}
		return do(DeleteCertificate{ARN: arn})
	}
	if inUse != "" {
		return certificateInUse(inUse)
	}
	return pass()
}

func certificateInUse(arn string) (Decision, bool) {
	return stuck(resource.ReasonDeleting, fmt.Sprintf(
		"The distribution tenant is deleted. ACM still reports its managed certificate %s as in use; it is deleted when ACM no longer does. If something else uses it, set spec.managedCertificateRequest.deleteOnTenantDeletion to false to keep it.", arn))
}

func certificateLeft(arn, action string) (Decision, bool) {
	return stuck(resource.ReasonAccessDenied, fmt.Sprintf(
		"The distribution tenant is deleted, but its managed certificate %s is not, because the operator is not allowed %s. Allow it, or set spec.managedCertificateRequest.deleteOnTenantDeletion to false to keep the certificate.", arn, action))
}
