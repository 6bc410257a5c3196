package importing

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Refusals are the reasons for which the API server would refuse an object.
func Refusals(ctx context.Context, o client.Object) ([]string, error) {
	s, err := theSchemas()
	if err != nil {
		return nil, err
	}
	return s.refusals(ctx, o)
}
