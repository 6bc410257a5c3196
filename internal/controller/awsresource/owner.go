package awsresource

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
)

// OwnerAlive reports whether the owner in the tags is another live object of this cluster. The object of that kind is read
// into blank. An owner that can't be looked up counts as alive. Of an owner whose tags were removed in part, the UID is
// enough: the object may be about to restore the others.
func OwnerAlive(ctx context.Context, kube client.Client, me ownership.Owner, tags map[string]string, blank client.Object) bool {
	if ownership.Relate(me, tags) != ownership.Foreign {
		return false
	}
	owner, _ := ownership.FromTags(tags)
	switch {
	case owner.Cluster != "" && owner.Cluster != me.Cluster:
		return false
	case owner.Namespace == "" || owner.Name == "":
		return owner.UID != "" && hasUID(ctx, kube, blank, types.UID(owner.UID))
	}
	if err := kube.Get(ctx, client.ObjectKey{Namespace: owner.Namespace, Name: owner.Name}, blank); err != nil {
		return !apierrors.IsNotFound(err)
	}
	return owner.UID == "" || string(blank.GetUID()) == owner.UID
}

// hasUID reports whether there is an object of that kind with the UID.
func hasUID(ctx context.Context, kube client.Client, of client.Object, uid types.UID) bool {
	kind, err := kube.GroupVersionKindFor(of)
	if err != nil {
		return true
	}
	kind.Kind += "List"
	made, err := kube.Scheme().New(kind)
	if err != nil {
		return true
	}
	list, is := made.(client.ObjectList)
	if !is || kube.List(ctx, list, client.UnsafeDisableDeepCopy) != nil {
		return true
	}
	found := errors.New("found")
	return meta.EachListItem(list, func(o runtime.Object) error {
		if object, err := meta.Accessor(o); err != nil || object.GetUID() == uid {
			return found
		}
		return nil
	}) != nil
}
