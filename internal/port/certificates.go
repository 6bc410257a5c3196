package port

import (
	"context"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
)

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
