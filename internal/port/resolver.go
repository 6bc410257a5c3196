package port

import (
	"context"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/onboarding"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/proof"
)

// Resolver asks public DNS.
type Resolver interface {
	// Leads reports whether public DNS shows a name to lead to the target, by a CNAME or by
	// an alias whose challenge text is there.
	Leads(ctx context.Context, name, target string) (bool, error)
	// LookForProof tells what several servers show of a TXT record that proves a domain, before the context ends.
	LookForProof(ctx context.Context, r proof.Record) proof.Sight
}

// Guide tells where public DNS leads names.
type Guide interface {
	// Where tells where public DNS leads a name, before the context ends. Servers that don't answer have no say.
	Where(ctx context.Context, name string, targets []string) onboarding.Sight
}
