package cli

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli/fleet"
)

// get reads the object that a user names: KIND/NAME, or the NAME of a DistributionTenant.
func (s *session) get(ctx context.Context, named string) (fleet.Item, error) {
	kind, name, found := strings.Cut(named, "/")
	if !found {
		kind, name = "cfdt", named
	}
	k, err := fleet.KindNamed(kind)
	if err != nil {
		return fleet.Item{}, err
	}
	c, err := s.client()
	if err != nil {
		return fleet.Item{}, err
	}
	key := client.ObjectKey{Name: name}
	if !k.Cluster {
		if key.Namespace, err = s.cluster.namespace(); err != nil {
			return fleet.Item{}, err
		}
	}
	o := k.New()
	switch err := c.Get(ctx, key, o); {
	case meta.IsNoMatchError(err):
		return fleet.Item{}, s.missing(ctx, k.Name)
	case apierrors.IsNotFound(err) && key.Namespace != "":
		return fleet.Item{}, fmt.Errorf("there is no %s %s in namespace %s", k.Name, name, key.Namespace)
	case apierrors.IsNotFound(err):
		return fleet.Item{}, fmt.Errorf("there is no %s %s", k.Name, name)
	case err != nil:
		return fleet.Item{}, fmt.Errorf("reading %s %s: %w", k.Name, name, err)
	}
	return fleet.Of(o), nil
}
