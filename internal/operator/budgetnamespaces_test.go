package operator

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
)

// namespaces are those of the cache, with the UID that their label has.
type namespaces map[string]string

func (n namespaces) Find(_ context.Context, _ plan.Kind, _, name string) (*plan.Live, error) {
	uid, there := n[name]
	if !there {
		return nil, nil
	}
	return &plan.Live{Object: plan.Object{Kind: plan.KindNamespace, Name: name, Labels: map[string]string{plan.LabelTenantUID: uid}}}, nil
}

// Deletions in a namespace are decided on with the Tenant that the namespace belongs to, and not with one that only
// names it.
func TestATenantThatWaitsOwnsOnlyItsNamespace(t *testing.T) {
	t.Parallel()
	scheme, err := Scheme()
	if err != nil {
		t.Fatal(err)
	}
	b := fake.NewClientBuilder().WithScheme(scheme)
	for name, namespace := range map[string]string{"owner": "shop", "names-it": "shop", "unlabelled": "plain", "never-made": "missing"} {
		b = b.WithObjects(&kleffv1.Tenant{
			ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Finalizers: []string{kleffv1.NamespaceFinalizer}, DeletionTimestamp: new(metav1.Now())},
			Spec:       kleffv1.TenantSpec{Namespace: namespace},
		})
	}
	cached := namespaces{"shop": "owner", "plain": ""}
	_, waiting, err := listNamespaces(b.Build(), cached.Find)(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, i := range waiting {
		got[i.Name] = i.Owns
	}
	if d := cmp.Diff(map[string]string{"owner": "shop", "names-it": "", "unlabelled": "", "never-made": ""}, got); d != "" {
		t.Errorf("what the Tenants own (-want +got):\n%s", d)
	}
}
