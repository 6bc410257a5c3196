package awsresource_test

import (
	"maps"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/awsresource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
)

// A live object keeps what is its own, also when some of the owner tags were removed: no adoption policy takes it away.
func TestOwnerAlive(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	living := &v1alpha1.DistributionTenant{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "living", UID: types.UID("uid-1")}}
	kube := fake.NewClientBuilder().WithScheme(scheme).WithObjects(living).Build()
	me := ownership.Owner{Cluster: "here", Namespace: "team", Name: "rival", UID: "uid-2"}
	owner := ownership.Owner{Cluster: "here", Namespace: "team", Name: "living", UID: "uid-1"}
	without := func(keys ...string) map[string]string {
		tags := owner.Tags()
		maps.DeleteFunc(tags, func(key, _ string) bool { return slices.Contains(keys, key) })
		return tags
	}
	replaced := func(key, value string) map[string]string {
		tags := owner.Tags()
		tags[key] = value
		return tags
	}
	for name, tt := range map[string]struct {
		tags map[string]string
		want bool
	}{
		"the tags of a live object":                    {owner.Tags(), true},
		"without the cluster":                          {without(ownership.ClusterKey), true},
		"without the UID":                              {without(ownership.UIDKey), true},
		"without a name, by its UID":                   {without(ownership.NameKey), true},
		"without a namespace":                          {without(ownership.NamespaceKey), true},
		"the UID alone":                                {without(ownership.ClusterKey, ownership.NamespaceKey, ownership.NameKey), true},
		"the UID of no object":                         {map[string]string{ownership.UIDKey: "uid-9"}, false},
		"a namespace and no object":                    {map[string]string{ownership.NamespaceKey: "team"}, false},
		"the object of another cluster":                {replaced(ownership.ClusterKey, "there"), false},
		"an object that is gone":                       {replaced(ownership.NameKey, "gone"), false},
		"an earlier object of that name":               {replaced(ownership.UIDKey, "uid-0"), false},
		"the object's own tags":                        {me.Tags(), false},
		"no owner tags":                                {nil, false},
		"the tags of no object, and without a cluster": {map[string]string{ownership.NamespaceKey: "team", ownership.NameKey: "gone", ownership.UIDKey: "uid-9"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := awsresource.OwnerAlive(t.Context(), kube, me, tt.tags, &v1alpha1.DistributionTenant{}); got != tt.want {
				t.Errorf("alive: %t, want %t", got, tt.want)
			}
		})
	}
}
