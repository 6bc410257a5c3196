package ownership_test

import (
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
)

// The relation of tags to an object is told in full by which of the four are as the object's own.
func FuzzRelate(f *testing.F) {
	f.Add("c1", "shop", "alpha", "u1")
	f.Add("c1", "shop", "alpha", "u2")
	f.Add("", "", "", "u1")
	f.Add("", "", "", "")
	f.Add("c2", "shop", "alpha", "u1")
	f.Fuzz(func(t *testing.T, cluster, namespace, name, uid string) {
		tags := ownership.Owner{Cluster: cluster, Namespace: namespace, Name: name, UID: uid}.Tags()
		agrees := func(tag, own string) bool { return tag == "" || tag == own }
		want := ownership.Foreign
		switch {
		case cluster+namespace+name+uid == "":
			want = ownership.Unowned
		case uid == me.UID && agrees(cluster, me.Cluster) && agrees(namespace, me.Namespace) && agrees(name, me.Name):
			want = ownership.Ours
		case cluster == me.Cluster && namespace == me.Namespace && name == me.Name:
			want = ownership.Former
		}
		if got := ownership.Relate(me, tags); got != want {
			t.Errorf("%v is %d to %v, want %d", tags, got, me, want)
		}
		if owner, ok := ownership.FromTags(ownership.Merge(map[string]string{"team": name}, me)); !ok || owner != me {
			t.Errorf("the owner tags come back as %v", owner)
		}
	})
}
