package operator_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator"
)

// The owner is the object with that very UID: a later one of the same name is another owner.
func TestOwnerAlive(t *testing.T) {
	scheme, err := operator.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	living := &v1alpha1.DistributionTenant{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "alpha", UID: "u1"}}
	alive := operator.OwnerAlive(fake.NewClientBuilder().WithScheme(scheme).WithObjects(living).Build())
	for owner, want := range map[ownership.Owner]bool{
		{Namespace: "shop", Name: "alpha", UID: "u1"}: true,
		{Namespace: "shop", Name: "alpha", UID: "u0"}: false,
		{Namespace: "shop", Name: "beta", UID: "u1"}:  false,
	} {
		if got, err := alive(t.Context(), owner); err != nil || got != want {
			t.Errorf("%s: %t, %v, want %t", owner, got, err, want)
		}
	}
}
