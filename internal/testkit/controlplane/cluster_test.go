package controlplane_test

import (
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/controlplane"
)

const eventually = 30 * time.Second

func TestNamespaceTerminates(t *testing.T) {
	t.Parallel()
	g, clients := NewWithT(t), client(t, shared)
	namespace := newNamespace(t, clients)
	if _, err := clients.CoreV1().ConfigMaps(namespace).Create(t.Context(), configMap("inside"), metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating a config map: %v", err)
	}
	if err := clients.CoreV1().Namespaces().Delete(t.Context(), namespace, metav1.DeleteOptions{}); err != nil {
		t.Fatalf("deleting the namespace: %v", err)
	}
	g.Eventually(func() bool {
		_, err := clients.CoreV1().Namespaces().Get(t.Context(), namespace, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	}, eventually).Should(BeTrue(), "the namespace is gone")
}

func TestOwnerReferencesCollect(t *testing.T) {
	t.Parallel()
	g, clients := NewWithT(t), client(t, shared)
	configMaps := clients.CoreV1().ConfigMaps(newNamespace(t, clients))
	owner, err := configMaps.Create(t.Context(), configMap("owner"), metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating the owner: %v", err)
	}
	child := configMap("child")
	child.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID}}
	if _, err := configMaps.Create(t.Context(), child, metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating the child: %v", err)
	}
	if err := configMaps.Delete(t.Context(), owner.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatalf("deleting the owner: %v", err)
	}
	g.Eventually(func() bool {
		_, err := configMaps.Get(t.Context(), child.Name, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	}, eventually).Should(BeTrue(), "the child is gone")
}

func TestQuotaIsEnforced(t *testing.T) {
	t.Parallel()
	g, clients := NewWithT(t), client(t, shared)
	namespace := newNamespace(t, clients)
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "quota"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/secrets": resource.MustParse("0")}},
	}
	if _, err := clients.CoreV1().ResourceQuotas(namespace).Create(t.Context(), quota, metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating the quota: %v", err)
	}
	g.Eventually(func() (corev1.ResourceList, error) {
		read, err := clients.CoreV1().ResourceQuotas(namespace).Get(t.Context(), "quota", metav1.GetOptions{})
		return read.Status.Used, err
	}, eventually).Should(HaveKey(corev1.ResourceName("count/secrets")), "the quota is counted")

	// Admission reads quotas from a watch of its own.
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "one-too-many"}}
	g.Eventually(func() bool {
		_, err := clients.CoreV1().Secrets(namespace).Create(t.Context(), secret, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return apierrors.IsForbidden(err)
	}, eventually).Should(BeTrue(), "a secret beyond the quota is forbidden")
}

func TestServiceAccountTokenAuthenticates(t *testing.T) {
	t.Parallel()
	g, clients := NewWithT(t), client(t, shared)
	namespace := newNamespace(t, clients)
	var request *authenticationv1.TokenRequest
	g.Eventually(func() (err error) {
		// "default" is made by the service account controller.
		request, err = clients.CoreV1().ServiceAccounts(namespace).CreateToken(t.Context(), "default",
			&authenticationv1.TokenRequest{}, metav1.CreateOptions{})
		return err
	}, eventually).Should(Succeed())

	want := "system:serviceaccount:" + namespace + ":default"
	if got := whoAmI(t, shared.TokenConfig(request.Status.Token)).Username; got != want {
		t.Errorf("the token is of %q, want %q", got, want)
	}
}

func TestAddUser(t *testing.T) {
	t.Parallel()
	config, err := shared.AddUser("jane", "auditors")
	if err != nil {
		t.Fatal(err)
	}
	info := whoAmI(t, config)
	if info.Username != "jane" || len(info.Groups) == 0 || info.Groups[0] != "auditors" {
		t.Errorf("got user %q of groups %q, want jane of auditors", info.Username, info.Groups)
	}

	// Her rights are those of RBAC: none at first, then those that are bound to her group.
	admin, jane := client(t, shared), kubernetes.NewForConfigOrDie(config)
	namespace := newNamespace(t, admin)
	list := func() error {
		_, err := jane.CoreV1().ConfigMaps(namespace).List(t.Context(), metav1.ListOptions{})
		return err
	}
	if err := list(); !apierrors.IsForbidden(err) {
		t.Errorf("listing without a role: got %v, want forbidden", err)
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "auditors"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "auditors"}},
	}
	if _, err := admin.RbacV1().RoleBindings(namespace).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatalf("binding the role: %v", err)
	}
	// "view" is empty until the aggregation controller has filled it.
	NewWithT(t).Eventually(list, eventually).Should(Succeed())
}

func TestKubectl(t *testing.T) {
	t.Parallel()
	kubectl := func(kubeconfig string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), filepath.Join(shared.BinDir(), "kubectl"), args...)
		cmd.Env = append(cmd.Environ(), "KUBECONFIG="+kubeconfig, "HOME="+t.TempDir())
		output, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, output)
		}
		return string(output)
	}

	version := kubectl(shared.Kubeconfig(), "version")
	for _, want := range []string{"Client Version: " + controlplane.KubernetesVersion, "Server Version: " + controlplane.KubernetesVersion} {
		if !strings.Contains(version, want+"\n") {
			t.Errorf("kubectl version lacks %q:\n%s", want, version)
		}
	}
	if strings.Contains(strings.ToLower(version), "warning") {
		t.Errorf("kubectl version warns:\n%s", version)
	}

	config, err := shared.AddUser("kim")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := controlplane.WriteKubeconfig(path, config); err != nil {
		t.Fatal(err)
	}
	if got := kubectl(path, "auth", "whoami", "-o", "jsonpath={.status.userInfo.username}"); got != "kim" {
		t.Errorf("with the user's kubeconfig kubectl is %q, want kim", got)
	}
}

func TestEtcdURL(t *testing.T) {
	t.Parallel()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, shared.EtcdURL()+"/version", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatalf("asking etcd for its version: %v", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("etcd answers %s", response.Status)
	}
}

func whoAmI(t *testing.T, config *rest.Config) authenticationv1.UserInfo {
	t.Helper()
	review, err := kubernetes.NewForConfigOrDie(config).AuthenticationV1().SelfSubjectReviews().
		Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("asking who we are: %v", err)
	}
	return review.Status.UserInfo
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
}
