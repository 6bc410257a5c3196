// Package ownership says whose a resource in AWS is. Everything that this operator creates or adopts carries four tags;
// nothing is changed or deleted unless they prove that it belongs to the very object that asks for it.
package ownership

import (
	"cmp"
	"fmt"
	"maps"
)

// Prefix starts the key of every owner tag. Users may not set tags below it.
const Prefix = "cloudfront-tenant-operator.io/"

// The keys of the owner tags.
const (
	ClusterKey   = Prefix + "cluster"
	NamespaceKey = Prefix + "namespace"
	NameKey      = Prefix + "name"
	UIDKey       = Prefix + "uid"
)

// Keys lists the owner tags in a fixed order.
func Keys() []string { return []string{ClusterKey, NamespaceKey, NameKey, UIDKey} }

// Owner names one Kubernetes object of one cluster.
type Owner struct {
	Cluster, Namespace, Name, UID string
}

// String renders the owner for messages. Some of its tags may have been removed in AWS.
func (o Owner) String() string {
	known := func(tag string) string { return cmp.Or(tag, "unknown") }
	return fmt.Sprintf("%s/%s (cluster %s, uid %s)", known(o.Namespace), known(o.Name), known(o.Cluster), known(o.UID))
}

// Shown is how an owner is named: in Text to users who may read an object, in Detail to readers of the operator's log.
// Detail is empty where Text has it all.
type Shown struct{ Text, Detail string }

// Named is the text, with the advice to ask the platform team if it leaves the name out.
func (s Shown) Named() string {
	if s.Detail == "" {
		return s.Text
	}
	return s.Text + " (ask the platform team: the operator's log has the name)"
}

// ShownTo names the owner to the readers of an object: by name only within the object's namespace.
func (o Owner) ShownTo(me Owner) Shown {
	switch {
	case o.Cluster == "" || o.Namespace == "":
		return Shown{Text: "an object that its tags name only in part", Detail: o.String()}
	case o.Cluster != me.Cluster:
		return Shown{Text: "an object of another cluster", Detail: o.String()}
	case o.Namespace != me.Namespace:
		return Shown{Text: "an object of another namespace", Detail: o.String()}
	}
	return Shown{Text: o.String()}
}

// Tags renders the owner as tags.
func (o Owner) Tags() map[string]string {
	return map[string]string{
		ClusterKey: o.Cluster, NamespaceKey: o.Namespace, NameKey: o.Name, UIDKey: o.UID,
	}
}

// FromTags reads the owner from tags. It is false when none of the four is there; an
// owner with a missing part is an owner all the same.
func FromTags(tags map[string]string) (Owner, bool) {
	o := Owner{
		Cluster: tags[ClusterKey], Namespace: tags[NamespaceKey], Name: tags[NameKey], UID: tags[UIDKey],
	}
	return o, o != Owner{}
}

// Relation is what the tags of a resource say about one object.
type Relation int

const (
	// Unknown means the tags were not read.
	Unknown Relation = iota
	// Ours means the tags name this object: its UID, and nothing that contradicts it. The other tags may have been
	// removed; they are restored like any other tag.
	Ours
	// Former means the tags name this object's cluster, namespace and name with
	// another UID. Two live objects can't share a name, so that owner is gone: a
	// restore from a backup looks like this. It counts as unowned.
	Former
	// Unowned means no operator claims the resource.
	Unowned
	// Foreign means another object or another cluster owns the resource.
	Foreign
)

// Relate compares the tags of a resource with an object.
func Relate(me Owner, tags map[string]string) Relation {
	owner, ok := FromTags(tags)
	switch {
	case !ok:
		return Unowned
	case owner.UID == me.UID && owner.complete(me) == me:
		return Ours
	case owner.Cluster == me.Cluster && owner.Namespace == me.Namespace && owner.Name == me.Name:
		return Former
	default:
		return Foreign
	}
}

// complete fills the missing parts of an owner from another one.
func (o Owner) complete(from Owner) Owner {
	or := func(s, other string) string {
		if s == "" {
			return other
		}
		return s
	}
	return Owner{
		Cluster: or(o.Cluster, from.Cluster), Namespace: or(o.Namespace, from.Namespace),
		Name: or(o.Name, from.Name), UID: or(o.UID, from.UID),
	}
}

// Merge lays the owner tags over the tags that users ask for.
func Merge(user map[string]string, o Owner) map[string]string {
	all := make(map[string]string, len(user)+len(Keys()))
	maps.Copy(all, user)
	maps.Copy(all, o.Tags())
	return all
}
