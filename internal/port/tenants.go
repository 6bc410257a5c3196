package port

import (
	"context"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/verdict"
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
	// VerifyDNS asks AWS where the DNS of a domain of the tenant leads, of all its domains if it is empty.
	VerifyDNS(ctx context.Context, tenantID, domain string) ([]verdict.DNS, error)
	// DomainConflicts reads what else has the domain, or one that overlaps with it, in any account: one page.
	// provenBy is the ID of a tenant or a distribution of this account whose certificate covers the domain. fault.Invalid:
	// none of its certificates does.
	DomainConflicts(ctx context.Context, domain, provenBy string) ([]verdict.Conflict, error)
}

// TenantWriter changes distribution tenants. No method retries: after a failure of kind fault.Transient it is not known
// whether the change was made.
type TenantWriter interface {
	// CreateTenant creates the tenant with all its tags.
	CreateTenant(ctx context.Context, t distributiontenant.Tenant, tags map[string]string, request *certificate.Request) (distributiontenant.Observed, error)
	// UpdateTenant makes the tenant that was seen, if it still has that ETag, what t is. Blocks that are equal in both
	// are not sent. An empty block, where AWS does not take one, stays as it was. request may be nil.
	UpdateTenant(ctx context.Context, seen distributiontenant.Observed, t distributiontenant.Tenant, request *certificate.Request) (distributiontenant.Observed, error)
	// MoveDomain gives a domain to the tenant with that ID, if it still has that ETag, and takes it from what has it now.
	// fault.NotFound: nothing has it. It may be a standard distribution that has it.
	MoveDomain(ctx context.Context, domain, id, etag string) error
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
