package awsresource

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
)

// OwnerAlive reports whether the owner in the tags is another live object of this cluster. The object of that kind is read
// into blank. What can't be looked up counts as alive, and so does an owner whose tags were removed in part: the object may
// be about to restore them.
func OwnerAlive(ctx context.Context, kube client.Reader, me ownership.Owner, tags map[string]string, blank client.Object) bool {
	if ownership.Relate(me, tags) != ownership.Foreign {
		return false
	}
	owner, _ := ownership.FromTags(tags)
	switch {
	case owner.Cluster != "" && owner.Cluster != me.Cluster:
		return false
	case owner.Namespace == "" || owner.Name == "":
		return true
	}
	if err := kube.Get(ctx, client.ObjectKey{Namespace: owner.Namespace, Name: owner.Name}, blank); err != nil {
		return !apierrors.IsNotFound(err)
	}
	return owner.UID == "" || string(blank.GetUID()) == owner.UID
}
