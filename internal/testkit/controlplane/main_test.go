package controlplane_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/controlplane"
)

// asVictim makes this test binary a process that starts a control plane and
// waits to be killed.
const asVictim = "CONTROLPLANE_TEST_VICTIM"

// shared is the control plane of all tests that don't stop theirs.
var shared *controlplane.ControlPlane

func TestMain(m *testing.M) {
	if os.Getenv(asVictim) != "" {
		os.Exit(beVictim())
	}
	os.Exit(controlplane.RunTests(m, controlplane.Options{}, func(cp *controlplane.ControlPlane) error {
		shared = cp
		return nil
	}))
}

// beVictim says on stdout where its control plane keeps its files.
func beVictim() int {
	cp, err := controlplane.Start(context.Background(), controlplane.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(cp.LogDir())
	select {}
}

func client(t *testing.T, cp *controlplane.ControlPlane) kubernetes.Interface {
	t.Helper()
	clients, err := kubernetes.NewForConfig(cp.RESTConfig())
	if err != nil {
		t.Fatalf("creating a client: %v", err)
	}
	return clients
}

// newNamespace returns the name of a namespace of the test's own.
func newNamespace(t *testing.T, clients kubernetes.Interface) string {
	t.Helper()
	prefix := strings.ToLower(strings.ReplaceAll(t.Name(), "/", "-")) + "-"
	namespace, err := clients.CoreV1().Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: prefix}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating a namespace: %v", err)
	}
	return namespace.Name
}
