package distributiontenant_test

import (
	"testing"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// A certificate that was issued ends without a sign in the list of tenants. Only ACM's answer makes it worth a read,
// and so a new request, while the ETag stays.
func TestAnIssuedCertificateThatACMShowsAsUnusableIsReadAgain(t *testing.T) {
	attached := func(in *distributiontenant.Input) {
		requested(in)
		change(in, func(t *distributiontenant.Observed) { t.Customizations.CertificateARN = ownARN })
		in.Memory.Certificate = &certificate.Managed{ARN: ownARN, State: certificate.Issued}
		in.Memory.Certificates = []string{ownARN}
		in.Memory.Requested = &certificate.Sent{Request: *in.Desired.Request, At: now.Add(-time.Hour)}
	}
	unusable := func(in *distributiontenant.Input) { in.World.CertificateUnusable = true }
	seen := func(ago time.Duration) func(*distributiontenant.Input) {
		return func(in *distributiontenant.Input) {
			in.Attempts.CertificateSeen, in.Attempts.Certificate, in.Attempts.CertificateETag = now.Add(-ago), in.Memory.Certificate, "E-1"
		}
	}
	named := func(in *distributiontenant.Input) { in.Desired.Customizations.CertificateARN = ownARN }
	expired := func(in *distributiontenant.Input) {
		in.World.ManagedKnown, in.World.Managed = true, &certificate.Managed{ARN: ownARN, State: certificate.Expired}
	}
	look := distributiontenant.Look{At: distributiontenant.LookManaged}
	for name, q := range map[string]question{
		"one that is not in doubt rests":            {in: with(quiet(), attached), rule: "Idle", step: distributiontenant.Rest{}},
		"a fresh process reads it":                  {in: with(quiet(), attached, unusable), rule: "CertificateKnown", step: look},
		"and one that saw it long ago":              {in: with(quiet(), attached, seen(time.Hour), unusable), rule: "CertificateKnown", step: look},
		"a read of a moment ago is believed":        {in: with(quiet(), attached, seen(time.Second), unusable), rule: "Idle", step: distributiontenant.Rest{}},
		"one that the spec names is the user's own": {in: with(quiet(), attached, named, unusable), rule: "Idle", step: distributiontenant.Rest{}},
		"what was read is reported":                 {in: with(quiet(), attached, unusable, expired), rule: "CertificateUsable", step: distributiontenant.Rest{}, reason: resource.ReasonCertificateFailed, stuck: true},
	} {
		t.Run(name, func(t *testing.T) { ask(t, q) })
	}
}
