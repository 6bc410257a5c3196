// Package distribution brings to the controller of parents what is a distribution's own.
package distribution

import (
	"context"
	"strconv"
	"time"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/account"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/awsresource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	domain "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distribution"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/loss"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// Kind implements awsresource.Kind for Distribution.
type Kind struct {
	AWS        port.Distributions
	Dependents port.Dependents
	// Certificates is what is known of certificates.
	Certificates Certificates
}

// Certificates tells when certificates expire. It makes no call.
type Certificates interface {
	// Watched is what was last seen of the certificate, nil for nothing. It is looked at for as long as it is asked for.
	Watched(arn string) *distributiontenant.Served
}

var _ awsresource.Kind[*v1alpha1.Distribution, port.Distribution] = Kind{}

// In is the kind in an AWS account.
func In(a *account.Account) awsresource.Kind[*v1alpha1.Distribution, port.Distribution] {
	return Kind{AWS: a.CloudFront, Dependents: a.CloudFront, Certificates: a.References}
}

// New implements awsresource.Kind.
func (Kind) New() *v1alpha1.Distribution { return &v1alpha1.Distribution{} }

// Spec implements awsresource.Kind.
func (Kind) Spec(o *v1alpha1.Distribution) awsresource.Spec {
	return awsresource.Spec{
		Words: domain.Words{
			Noun: "distribution", Object: o.Name, Field: "distributionId",
			Command: "distribution", GetFlag: "--id", Filter: "DistributionId",
		},
		Class: class(o), Direct: mode(o) == v1alpha1.ConnectionModeDirect,
		Adopts: o.Spec.DistributionID, Enabled: o.Spec.Enabled == nil || *o.Spec.Enabled, Policies: &o.Spec.ResourcePolicies,
		Aliases: o.Spec.Aliases, Wants: convert.DistributionWants(o), Name: o.Spec.DistributionID,
	}
}

// Status implements awsresource.Kind.
func (Kind) Status(o *v1alpha1.Distribution) awsresource.Status {
	return awsresource.Status{Whole: &o.Status, Common: &o.Status.ResourceStatus, Creations: &o.Status.Creations}
}

// Observe implements awsresource.Kind.
func (Kind) Observe(d port.Distribution) domain.Observed {
	d.Aliases = d.Config.Aliases
	return d.Observed
}

// Differences implements awsresource.Kind.
func (Kind) Differences(o *v1alpha1.Distribution, d port.Distribution) []resource.Difference {
	return convert.DistributionDifferences(o.Spec.DistributionConfig, d.Config)
}

// Report implements awsresource.Kind.
func (k Kind) Report(o *v1alpha1.Distribution, d *port.Distribution) {
	if d == nil {
		o.Status.DomainName, o.Status.Certificate = "", nil
		return
	}
	o.Status.DomainName = d.DomainName
	o.Status.Certificate = k.certificate(o.Status.Certificate, d.Config.ViewerCertificate)
}

// certificate is the one in ACM that the distribution has. Of others nothing is known.
func (k Kind) certificate(before *v1alpha1.ServedCertificate, v *v1alpha1.ViewerCertificate) *v1alpha1.ServedCertificate {
	if v == nil || v.ACMCertificateARN == "" {
		return nil
	}
	return convert.DistributionCertificate(before, v.ACMCertificateARN, k.Certificates.Watched(v.ACMCertificateARN))
}

// Read implements awsresource.Kind.
func (k Kind) Read(ctx context.Context, id string) (port.Distribution, error) {
	return k.AWS.ReadDistribution(ctx, id)
}

// Find implements awsresource.Kind. Every caller reference of the object begins with its UID.
func (k Kind) Find(ctx context.Context, o *v1alpha1.Distribution, since time.Time) (port.Distribution, error) {
	return k.AWS.FindDistribution(ctx, mode(o), string(o.UID), since)
}

// Create implements awsresource.Kind.
func (k Kind) Create(ctx context.Context, o *v1alpha1.Distribution, tags map[string]string) (port.Distribution, error) {
	return k.AWS.CreateDistribution(ctx, reference(o), convert.NormalizeDistribution(o.Spec.DistributionConfig), tags)
}

// Update implements awsresource.Kind.
func (k Kind) Update(ctx context.Context, o *v1alpha1.Distribution, seen port.Distribution) (port.Distribution, error) {
	return k.AWS.UpdateDistribution(ctx, seen, convert.NormalizeDistribution(o.Spec.DistributionConfig))
}

// Disable implements awsresource.Kind.
func (k Kind) Disable(ctx context.Context, seen port.Distribution) (port.Distribution, error) {
	return k.AWS.DisableDistribution(ctx, seen)
}

// Delete implements awsresource.Kind.
func (k Kind) Delete(ctx context.Context, seen domain.Observed) error {
	return k.AWS.DeleteDistribution(ctx, seen.ID, seen.ETag)
}

// Tenants implements awsresource.Kind. A standard distribution has none, and it is not known how AWS answers a request
// for them: a refusal would hold the deletion up forever.
func (k Kind) Tenants(ctx context.Context, seen port.Distribution) ([]string, bool, error) {
	if seen.Config.ConnectionMode == v1alpha1.ConnectionModeDirect {
		return nil, false, nil
	}
	return k.Dependents.TenantsOf(ctx, seen.ID, "")
}

// reference is the caller reference of the next create. AWS takes each only once, which makes it the guard against
// a second distribution: it changes only when the previous one is gone.
func reference(o *v1alpha1.Distribution) string {
	if n := o.Status.Creations; n > 0 {
		return string(o.UID) + "-" + strconv.Itoa(int(n))
	}
	return string(o.UID)
}

func class(o *v1alpha1.Distribution) loss.Class {
	if mode(o) == v1alpha1.ConnectionModeDirect {
		return convert.ClassDistribution
	}
	return convert.ClassSharedDistribution
}

func mode(o *v1alpha1.Distribution) v1alpha1.ConnectionMode {
	if o.Spec.ConnectionMode == "" {
		return v1alpha1.ConnectionModeTenantOnly
	}
	return o.Spec.ConnectionMode
}
