package importing

import (
	"fmt"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
)

// Cause is why something is not written.
type Cause string

// The causes.
const (
	// OtherCluster and Former own what --force-owner includes.
	OtherCluster Cause = "owned by another cluster"
	Former       Cause = "owned by an object that is gone"
	// Managed is for a resource that an object of this cluster has, or that is written already.
	Managed Cause = "managed already"
	// DefaultGroup is the connection group of CloudFront.
	DefaultGroup Cause = "default connection group"
	// Invalid is for a resource whose object the API server would refuse.
	Invalid Cause = "not valid"
	// Gone is for a resource that was deleted meanwhile.
	Gone Cause = "deleted meanwhile"
)

// Skipped is something in AWS that is not written.
type Skipped struct {
	// Kind is that of the object that it would have. Name is its name in AWS, ID that of a distribution.
	Kind, Name string
	Cause      Cause
	// Owner is the cluster of the owner, or the object, depending on the cause.
	Owner string
	// Reason is a sentence for the user. For what is not valid it names each field.
	Reason string
}

// found is a resource in AWS for which an object may be written.
type found struct {
	kind string
	// subject is what the object is for, as in Object.
	subject string
	// account is where it is.
	account string
	tags    map[string]string
}

// verdict is what the owner tags say of a resource.
type verdict struct {
	skip *Skipped
	// policy is the adoptionPolicy that takes the resource over.
	policy v1alpha1.AdoptionPolicy
	// name is that of the object that had it before. Empty: any.
	name string
	// by is the object of this cluster that manages it, nil if none does.
	by *Object
}

func skip(f found, cause Cause, owner, format string, args ...any) verdict {
	return verdict{skip: &Skipped{Kind: f.kind, Name: f.subject, Cause: cause, Owner: owner, Reason: fmt.Sprintf(format, args...)}}
}

// judge says whether an object may be written for the resource. One that belongs to a living object of this cluster is
// never taken from it.
func (b *builder) judge(f found) verdict {
	if other := b.existing.bySubject[[2]string{f.kind, f.subject}]; other != nil && (other.Account == "" || other.Account == f.account) {
		return managedBy(f, other, "Already managed by the %s %s/%s.")
	}
	owner, owned := ownership.FromTags(f.tags)
	id := b.Cluster.ClusterID()
	switch {
	case !owned:
		return verdict{policy: v1alpha1.AdoptionPolicyIfUnowned}
	case id == "" || owner.Cluster != id:
		return b.ownedElsewhere(f, owner)
	}
	if other := b.existing.byUID[owner.UID]; other != nil {
		return managedBy(f, other, "The %s %s/%s owns it.")
	}
	if owner.Namespace == b.Namespace && isName(owner.Name) {
		// The rules let an object of the same name have it back.
		return verdict{policy: v1alpha1.AdoptionPolicyIfUnowned, name: owner.Name}
	}
	if b.ForceOwner {
		return verdict{policy: v1alpha1.AdoptionPolicyForce}
	}
	return skip(f, Former, owner.Namespace+"/"+owner.Name,
		"Its owner tags name %s/%s of this cluster, which does not exist any more. Use --force-owner to include it.", owner.Namespace, owner.Name)
}

func (b *builder) ownedElsewhere(f found, owner ownership.Owner) verdict {
	if b.ForceOwner {
		return verdict{policy: v1alpha1.AdoptionPolicyForce}
	}
	cluster := owner.Cluster
	if cluster == "" {
		cluster = "unknown"
	}
	return skip(f, OtherCluster, cluster,
		"Its owner tags name %s/%s of the cluster %s. Use --force-owner to include it, once that cluster does not manage it any more.", owner.Namespace, owner.Name, cluster)
}

func managedBy(f found, other *Object, format string) verdict {
	v := skip(f, Managed, other.Namespace+"/"+other.Name, format, other.Kind, other.Namespace, other.Name)
	v.by = other
	return v
}

// existing are the objects of the cluster by the keys for lookups.
type existing struct {
	bySubject map[[2]string]*Object
	byUID     map[string]*Object
}

func (c *Cluster) index() existing {
	e := existing{bySubject: map[[2]string]*Object{}, byUID: map[string]*Object{}}
	objects := c.objects()
	for i := range objects {
		o := &objects[i]
		e.byUID[o.UID] = o
		if o.Subject != "" {
			e.bySubject[[2]string{o.Kind, o.Subject}] = o
		}
	}
	return e
}
