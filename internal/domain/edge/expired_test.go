package edge_test

import (
	"testing"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/cert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/edge"
)

// A certificate that was issued ends without a sign in the list of tenants. What ACM shows
// makes it worth a read, and so a new request; nothing else does while the ETag stands.
func TestAnIssuedCertificateThatACMShowsAsUnusableIsReadAgain(t *testing.T) {
	attached := func(in *edge.Input) {
		requested(in)
		change(in, func(t *edge.Observed) { t.Customizations.CertificateARN = ownARN })
		in.Memory.Certificate = &cert.Managed{ARN: ownARN, State: cert.Issued}
		in.Memory.Certificates = []string{ownARN}
		in.Memory.Requested = &edge.SentRequest{CertificateRequest: *in.Desired.Request, At: now.Add(-time.Hour)}
	}
	unusable := func(in *edge.Input) { in.World.CertificateUnusable = true }
	seen := func(ago time.Duration) func(*edge.Input) {
		return func(in *edge.Input) {
			in.Attempts.CertificateSeen, in.Attempts.Certificate, in.Attempts.CertificateETag = now.Add(-ago), in.Memory.Certificate, "E-1"
		}
	}
	named := func(in *edge.Input) { in.Desired.Customizations.CertificateARN = ownARN }
	expired := func(in *edge.Input) {
		in.World.ManagedKnown, in.World.Managed = true, &cert.Managed{ARN: ownARN, State: cert.Expired}
	}
	look := edge.Look{At: edge.LookManaged}
	for name, q := range map[string]question{
		"one that nobody doubts rests":              {in: with(quiet(), attached), rule: "Idle", step: edge.Rest{}},
		"a fresh process reads it":                  {in: with(quiet(), attached, unusable), rule: "CertificateKnown", step: look},
		"and one that saw it long ago":              {in: with(quiet(), attached, seen(time.Hour), unusable), rule: "CertificateKnown", step: look},
		"a read of a moment ago is believed":        {in: with(quiet(), attached, seen(time.Second), unusable), rule: "Idle", step: edge.Rest{}},
		"one that the spec names is the user's own": {in: with(quiet(), attached, named, unusable), rule: "Idle", step: edge.Rest{}},
		"what was read is reported":                 {in: with(quiet(), attached, unusable, expired), rule: "CertificateUsable", step: edge.Rest{}, reason: edge.ReasonCertificateFailed, stuck: true},
	} {
		t.Run(name, func(t *testing.T) { ask(t, q) })
	}
}
