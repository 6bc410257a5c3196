// Package connectiongroup brings to the controller of parents what is a connection group's own.
package connectiongroup

import (
	"context"
	"time"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/account"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/awsresource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	domain "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distribution"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// Kind implements awsresource.Kind for ConnectionGroup.
type Kind struct {
	AWS        port.Groups
	Dependents port.Dependents
}

var _ awsresource.Kind[*v1alpha1.ConnectionGroup, port.Group] = Kind{}

// In is the kind in an AWS account.
func In(a *account.Account) awsresource.Kind[*v1alpha1.ConnectionGroup, port.Group] {
	return Kind{AWS: a.CloudFront, Dependents: a.CloudFront}
}

// New implements awsresource.Kind.
func (Kind) New() *v1alpha1.ConnectionGroup { return &v1alpha1.ConnectionGroup{} }

// Spec implements awsresource.Kind.
func (Kind) Spec(o *v1alpha1.ConnectionGroup) awsresource.Spec {
	return awsresource.Spec{
		Words: domain.Words{
			Noun: "connection group", Object: convert.GroupName(o), Field: "name",
			Command: "connection-group", GetFlag: "--identifier", Filter: "ConnectionGroupId",
		},
		Class: convert.ClassConnectionGroup, Enabled: o.Spec.Enabled == nil || *o.Spec.Enabled, Policies: &o.Spec.ResourcePolicies,
		Targets: convert.Targets(o), Wants: convert.GroupWants(o), Name: convert.GroupName(o),
	}
}

// Status implements awsresource.Kind.
func (Kind) Status(o *v1alpha1.ConnectionGroup) awsresource.Status {
	return awsresource.Status{Whole: &o.Status, Common: &o.Status.ResourceStatus, Targets: &o.Status.CustomerTargets}
}

// Observe implements awsresource.Kind.
func (Kind) Observe(g port.Group) domain.Observed {
	g.Endpoint, g.IPv6 = g.RoutingEndpoint, g.Config.IPv6Enabled != nil && *g.Config.IPv6Enabled
	return g.Observed
}

// Differences implements awsresource.Kind.
func (Kind) Differences(o *v1alpha1.ConnectionGroup, g port.Group) []resource.Difference {
	return convert.GroupDifferences(o.Spec.ConnectionGroupConfig, g.Config)
}

// Report implements awsresource.Kind.
func (Kind) Report(o *v1alpha1.ConnectionGroup, g *port.Group) {
	o.Status.Name, o.Status.RoutingEndpoint, o.Status.IsDefault = "", "", false
	if g != nil {
		o.Status.Name, o.Status.RoutingEndpoint, o.Status.IsDefault = g.Name, g.RoutingEndpoint, g.Default
	}
}

// Read implements awsresource.Kind.
func (k Kind) Read(ctx context.Context, id string) (port.Group, error) {
	return k.AWS.ReadGroup(ctx, id)
}

// Find implements awsresource.Kind. A name is unique in its account.
func (k Kind) Find(ctx context.Context, o *v1alpha1.ConnectionGroup, _ time.Time) (port.Group, error) {
	return k.AWS.ReadGroup(ctx, convert.GroupName(o))
}

// Create implements awsresource.Kind.
func (k Kind) Create(ctx context.Context, o *v1alpha1.ConnectionGroup, tags map[string]string) (port.Group, error) {
	return k.AWS.CreateGroup(ctx, convert.GroupName(o), convert.NormalizeGroup(o.Spec.ConnectionGroupConfig), tags)
}

// Update implements awsresource.Kind.
func (k Kind) Update(ctx context.Context, o *v1alpha1.ConnectionGroup, seen port.Group) (port.Group, error) {
	return k.AWS.UpdateGroup(ctx, seen, convert.NormalizeGroup(o.Spec.ConnectionGroupConfig))
}

// Disable implements awsresource.Kind.
func (k Kind) Disable(ctx context.Context, seen port.Group) (port.Group, error) {
	return k.AWS.DisableGroup(ctx, seen.ID, seen.ETag)
}

// Delete implements awsresource.Kind.
func (k Kind) Delete(ctx context.Context, seen domain.Observed) error {
	return k.AWS.DeleteGroup(ctx, seen.ID, seen.ETag)
}

// Tenants implements awsresource.Kind.
func (k Kind) Tenants(ctx context.Context, seen port.Group) ([]string, bool, error) {
	return k.Dependents.TenantsOf(ctx, "", seen.ID)
}
