package port

import "context"

// Resolver asks public DNS.
type Resolver interface {
	// Leads reports whether public DNS shows a name to lead to the target, by a CNAME or by
	// an alias whose challenge text is there.
	Leads(ctx context.Context, name, target string) (bool, error)
}
