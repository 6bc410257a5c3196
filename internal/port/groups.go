package port

import (
	"context"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distribution"
)

// ConnectionGroup is a routing endpoint that tenants' DNS points at.
type ConnectionGroup struct {
	ID, Name        string
	RoutingEndpoint string
	IsDefault       bool
	// IPv6 reports whether the endpoint has addresses of both kinds. The list does not tell.
	IPv6 bool
	// AnycastIPListID is the list that its addresses are from, empty for none.
	AnycastIPListID string
}

// Group is a connection group as it was read.
type Group struct {
	distribution.Observed
	// RoutingEndpoint is where DNS has to point.
	RoutingEndpoint string
	Config          v1alpha1.ConnectionGroupConfig
}

// Groups reads and changes connection groups, on the same terms as Distributions.
type Groups interface {
	// ReadGroup reads one by ID, name or ARN; an absent one is fault.NotFound.
	ReadGroup(ctx context.Context, identifier string) (Group, error)
	// CreateGroup creates one with all its tags. fault.Exists: the name is taken.
	CreateGroup(ctx context.Context, name string, c v1alpha1.ConnectionGroupConfig, tags map[string]string) (Group, error)
	// UpdateGroup changes the configuration if the group is still as it was seen.
	UpdateGroup(ctx context.Context, seen Group, c v1alpha1.ConnectionGroupConfig) (Group, error)
	// DisableGroup sends nothing but enabled=false.
	DisableGroup(ctx context.Context, id, etag string) (Group, error)
	// DeleteGroup deletes a disabled group.
	DeleteGroup(ctx context.Context, id, etag string) error
}
