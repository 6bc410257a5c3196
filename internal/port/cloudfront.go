// Package port says what the operator needs of the world, in the words of the domain.
// Adapters implement it; the inventory and the controllers use it.
//
// Every method makes at most one round of calls, never waits for the world to change,
// and answers failures as *fault.Error. Absence is an error of kind fault.NotFound: an
// empty answer never stands for "not there".
package port

import (
	"context"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
)

// TenantReader reads distribution tenants.
type TenantReader interface {
	// GetTenant reads one tenant by name, id or ARN.
	GetTenant(ctx context.Context, identifier string) (distributiontenant.Observed, error)
	// GetTenantByDomain reads the tenant of this account that holds the domain.
	GetTenantByDomain(ctx context.Context, domain string) (distributiontenant.Observed, error)
	// ListTenants reads one page of all tenants of the account. The tenants lack
	// parameters and tags, and their ETag is the summary's. next is empty on the last page.
	ListTenants(ctx context.Context, marker string) (page []distributiontenant.Observed, next string, err error)
	// ListTags reads the tags of a resource.
	ListTags(ctx context.Context, arn string) (map[string]string, error)
	// GetManagedCertificate reads the certificate that CloudFront manages for the
	// tenant with that identifier. fault.NotFound: it manages none.
	GetManagedCertificate(ctx context.Context, identifier string) (certificate.Managed, error)
}

// TenantWriter changes distribution tenants. No method retries: after a failure of kind
// fault.Transient nobody knows whether the change was made.
type TenantWriter interface {
	// CreateTenant creates the tenant with all its tags.
	CreateTenant(ctx context.Context, t distributiontenant.Tenant, tags map[string]string, request *distributiontenant.CertificateRequest) (distributiontenant.Observed, error)
	// UpdateTenant sends every block of the tenant whole, an empty one as empty, if the
	// tenant still has that ETag. request may be nil.
	UpdateTenant(ctx context.Context, id, etag string, t distributiontenant.Tenant, request *distributiontenant.CertificateRequest) (distributiontenant.Observed, error)
	// DisableTenant sends nothing but enabled=false.
	DisableTenant(ctx context.Context, id, etag string) (distributiontenant.Observed, error)
	// DeleteTenant deletes a disabled tenant.
	DeleteTenant(ctx context.Context, id, etag string) error
}

// Tagger changes the tags of a resource.
type Tagger interface {
	// Tag sets tags; other keys stay.
	Tag(ctx context.Context, arn string, tags map[string]string) error
	// Untag removes keys.
	Untag(ctx context.Context, arn string, keys []string) error
}

// Tenants is all that CloudFront offers for tenants.
type Tenants interface {
	TenantReader
	TenantWriter
	Tagger
}

// ConnectionGroup is a routing endpoint that tenants' DNS points at.
type ConnectionGroup struct {
	ID, Name        string
	RoutingEndpoint string
	IsDefault       bool
	// IPv6 reports whether the endpoint has addresses of both kinds. The list does not tell.
	IPv6 bool
}

// Parents reads what tenants hang on.
type Parents interface {
	// GetDistribution reads a distribution; an absent one is fault.NotFound.
	GetDistribution(ctx context.Context, id string) (distributiontenant.Distribution, error)
	// ListConnectionGroups reads all connection groups of the account.
	ListConnectionGroups(ctx context.Context) ([]ConnectionGroup, error)
	// GetConnectionGroup reads one connection group; an absent one is fault.NotFound.
	GetConnectionGroup(ctx context.Context, id string) (ConnectionGroup, error)
}

// Identity tells whose credentials the calls are made with.
type Identity interface {
	// Account is the id of the AWS account.
	Account(ctx context.Context) (string, error)
}

// Certificates reads and deletes certificates in ACM.
type Certificates interface {
	// DescribeCertificate reads a certificate; an absent one is fault.NotFound.
	DescribeCertificate(ctx context.Context, arn string) (distributiontenant.Certificate, error)
	// ListCertificates reads one page of all certificates that CloudFront can use. They lack
	// the reason of a failure, and the names may not be all. next is empty on the last page.
	ListCertificates(ctx context.Context, marker string) (page []distributiontenant.Certificate, next string, err error)
	// DeleteCertificate deletes a certificate. fault.InUse: something uses it.
	// fault.NotFound: there is none of that ARN.
	DeleteCertificate(ctx context.Context, arn string) error
}
