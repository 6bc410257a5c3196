package migration

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
)

// kleffTenants are two customers as the other operator has left them, with its finalizers.
const kleffTenants = `
apiVersion: kleff.kleff.io/v1
kind: Tenant
metadata: {name: example-tenant, namespace: default, finalizers: [kleff.io/finalizer], labels: {team: shop}}
spec: {plan: "basic", userId: "user-12345", username: "exampleuser"}
---
apiVersion: kleff.kleff.io/v1
kind: Tenant
metadata: {name: second, namespace: team-a, finalizers: [kleff.io/namespace-finalizer]}
spec: {plan: "pro", userId: "user-67890", username: "other"}
`

func TestFromKleff(t *testing.T) {
	c := newCluster(t, moduleRoot+"/test/migration/testdata/kleff-crd.yaml")
	r := &reader{t: t, cluster: c, kubeconfig: c.Kubeconfig(), namespace: "default", dir: t.TempDir()}
	r.write("old.yaml", kleffTenants)
	r.run("kubectl create namespace team-a; kubectl create namespace user-12345; kubectl create namespace user-67890; kubectl apply -f old.yaml")
	kube := kleffClient(t, c)
	before := namespaceUIDs(t, kube)

	// The page says that it can't be changed in place.
	if err := c.apply(t.Context(), newCRD+"/kleff.kleff.io_tenants.yaml"); err == nil || !strings.Contains(err.Error(), "spec.scope") {
		t.Fatalf("the kind was changed in place: %v", err)
	}

	if out := r.follow("kleff/look"); !strings.Contains(out, "user-67890") {
		t.Errorf("the customers are not shown:\n%s", out)
	}
	r.follow("kleff/release")
	r.follow("kleff/save")
	r.follow("kleff/adopt")
	r.follow("kleff/remove")
	if err := c.apply(t.Context(), newCRD); err != nil {
		t.Fatal(err)
	}
	// The API server takes a moment to serve a kind that it has just stopped serving.
	gomega.NewWithT(t).Eventually(func() error {
		o := &kleffv1.Tenant{ObjectMeta: metav1.ObjectMeta{Name: "served"}, Spec: kleffv1.TenantSpec{Plan: "p", UserID: "u", Username: "n"}}
		// A new client each time: it remembers where a kind is, as kubectl does.
		return kleffClient(t, c).Create(t.Context(), o, client.DryRunAll)
	}).WithTimeout(patience).Should(gomega.Succeed())
	r.follow("kleff/apply")

	kube = kleffClient(t, c)
	var tenants kleffv1.TenantList
	if err := kube.List(t.Context(), &tenants); err != nil {
		t.Fatal(err)
	}
	type customer struct {
		Namespace, Plan, UserID, Username, Team string
		Finalizers                              []string
	}
	got := map[string]customer{}
	for _, o := range tenants.Items {
		got[o.Name] = customer{o.Namespace, o.Spec.Plan, o.Spec.UserID, o.Spec.Username, o.Labels["team"], o.Finalizers}
	}
	want := map[string]customer{
		"example-tenant": {Plan: "basic", UserID: "user-12345", Username: "exampleuser", Team: "shop"},
		"second":         {Plan: "pro", UserID: "user-67890", Username: "other"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tenants differ (-want +got):\n%s", diff)
	}
	// The namespaces are the existing ones, and given to their tenants.
	if diff := cmp.Diff(before, namespaceUIDs(t, kube)); diff != "" {
		t.Errorf("namespaces differ (-before +after):\n%s", diff)
	}
	for name, tenant := range map[string]string{"user-12345": "example-tenant", "user-67890": "second", "team-a": "", "default": ""} {
		ns := &corev1.Namespace{}
		if err := kube.Get(t.Context(), client.ObjectKey{Name: name}, ns); err != nil {
			t.Fatal(err)
		}
		if by := ns.Annotations[kleffv1.AnnotationAdoptBy]; by != tenant || ns.DeletionTimestamp != nil {
			t.Errorf("the namespace %s is given to %q, want %q; deleted: %v", name, by, tenant, ns.DeletionTimestamp)
		}
	}
}

// The page on a forgotten step: the kind waits, and nothing is lost.
func TestForgettingTheFinalizersOfKleff(t *testing.T) {
	c := newCluster(t, moduleRoot+"/test/migration/testdata/kleff-crd.yaml")
	r := &reader{t: t, cluster: c, kubeconfig: c.Kubeconfig(), namespace: "default", dir: t.TempDir()}
	r.write("old.yaml", kleffTenants)
	r.run("kubectl create namespace team-a; kubectl create namespace user-12345; kubectl create namespace user-67890; kubectl apply -f old.yaml")
	kube := kleffClient(t, c)
	before := namespaceUIDs(t, kube)

	r.run("kubectl delete crd tenants.kleff.kleff.io --wait=false")
	if out := r.run("kubectl get tenants.kleff.kleff.io -A --no-headers"); strings.Count(out, "\n") != 2 {
		t.Errorf("the objects did not wait:\n%s", out)
	}
	r.follow("kleff/release")
	r.run("kubectl wait --for=delete crd/tenants.kleff.kleff.io --timeout=60s")
	if diff := cmp.Diff(before, namespaceUIDs(t, kube)); diff != "" {
		t.Errorf("namespaces differ (-before +after):\n%s", diff)
	}
}

func kleffClient(t *testing.T, c *cluster) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, kleffv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	kube, err := client.New(c.config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return kube
}

func namespaceUIDs(t *testing.T, kube client.Client) map[string]types.UID {
	t.Helper()
	var list corev1.NamespaceList
	if err := kube.List(t.Context(), &list); err != nil {
		t.Fatal(err)
	}
	uids := map[string]types.UID{}
	for _, ns := range list.Items {
		if ns.DeletionTimestamp == nil {
			uids[ns.Name] = ns.UID
		}
	}
	return uids
}
