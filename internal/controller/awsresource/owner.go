package awsresource

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
)

// OwnerAlive reports whether the owner in the tags is another live object of this cluster. What can't be looked up
// counts as alive. The object of that kind is read into blank.
func OwnerAlive(ctx context.Context, kube client.Reader, me ownership.Owner, tags map[string]string, blank client.Object) bool {
	if ownership.Relate(me, tags) != ownership.Foreign {
		return false
	}
	owner, _ := ownership.FromTags(tags)
	if owner.Cluster != me.Cluster {
		return false
	}
	if err := kube.Get(ctx, client.ObjectKey{Namespace: owner.Namespace, Name: owner.Name}, blank); err != nil {
		return !apierrors.IsNotFound(err)
	}
	return string(blank.GetUID()) == owner.UID
}
