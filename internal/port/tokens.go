package port

import (
	"context"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

// Tokens makes the passwords of logins with AWS IAM.
type Tokens interface {
	// Token makes one on behalf of a namespace. It is valid for a quarter of an hour, and what it lets in may stay longer.
	//
	// fault.Denied: the role may not be assumed. fault.Transient, fault.Throttled: more tries may succeed.
	Token(ctx context.Context, l mapping.Login, namespace string) (string, error)
}
