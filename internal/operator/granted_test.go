package operator

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/config"
)

// Grants see the objects of each kind whose controller runs, and what is deleted asks for nothing.
func TestGrantsSeeTheKindsThatRun(t *testing.T) {
	t.Parallel()
	scheme, err := Scheme()
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: "shop", Name: name, Finalizers: []string{v1alpha1.Finalizer}}
	}
	deleted := at("gone")
	deleted.DeletionTimestamp = new(metav1.Now())
	reader := fake.NewClientBuilder().WithScheme(scheme).WithObjects(
		&v1alpha1.DistributionTenant{ObjectMeta: at("tenant")}, &v1alpha1.DistributionTenant{ObjectMeta: deleted}, &v1alpha1.TenantSource{ObjectMeta: at("source")},
		&v1alpha1.Distribution{ObjectMeta: at("distribution")}, &v1alpha1.ConnectionGroup{ObjectMeta: at("group")},
	).Build()
	all := map[string]bool{
		"DistributionTenant/tenant": true, "DistributionTenant/gone": false, "TenantSource/source": true, "Distribution/distribution": true, "ConnectionGroup/group": true,
	}
	for name, tt := range map[string]struct {
		controllers []string
		want        map[string]bool
	}{
		"all of them":  {[]string{config.DistributionTenant, config.TenantSource, config.Distribution, config.ConnectionGroup}, all},
		"one of them":  {[]string{config.TenantSource, config.Invalidation}, map[string]bool{"TenantSource/source": true}},
		"none of them": {nil, map[string]bool{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects, err := grantedObjects(t.Context(), reader, tt.controllers)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]bool{}
			for _, o := range objects {
				got[o.Kind+"/"+o.Name] = o.Asks != nil
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("objects, and whether they ask for anything (-want +got):\n%s", d)
			}
		})
	}
}
