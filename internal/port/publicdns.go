package port

import (
	"context"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/advice"
)

// PublicDNS looks at what the world sees of a domain.
type PublicDNS interface {
	// Look tells what could be found out before the context ends. The rest is missing in the answer, and the error says
	// why.
	Look(ctx context.Context, q advice.Question) (advice.Sight, error)
}
