package gatekeeper_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/process"
)

// gatekeeperNamespace is where Gatekeeper keeps what it knows about itself.
const gatekeeperNamespace = "gatekeeper-system"

// stopTimeout is how long Gatekeeper may take to end: it waits for the API server to forget its webhook.
const stopTimeout = 30 * time.Second

// startGatekeeper runs Gatekeeper and has the API server ask it, until the test ends.
func startGatekeeper(t *testing.T, flags ...string) {
	t.Helper()
	dir := t.TempDir()
	certificate, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"tls.crt": certificate, "tls.key": key, "ca.crt": certificate} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	processes := process.NewGroup(nil)
	t.Cleanup(func() {
		if err := processes.Stop(); err != nil {
			t.Error(err)
		}
	})
	ports, err := processes.Ports(t.Context(), 3)
	if err != nil {
		t.Fatal(err)
	}
	child, err := processes.Start(process.Command{
		Path: filepath.Join(os.Getenv(assetsVariable), "gatekeeper"),
		Args: slices.Concat([]string{
			"--kubeconfig", host.ControlPlane.Kubeconfig(),
			// Without generate it never gets ready, and the webhook needs status.
			"--operation=webhook", "--operation=status", "--operation=generate",
			"--debug-use-fake-pod", "--disable-cert-rotation", "--enable-external-data=false",
			"--cert-dir", dir, "--host", "127.0.0.1", fmt.Sprintf("--port=%d", ports[0]),
			"--health-addr=" + ports.Address(1), fmt.Sprintf("--prometheus-port=%d", ports[2]),
		}, flags),
		Env:         append(os.Environ(), "POD_NAME=gatekeeper-0", "POD_NAMESPACE="+gatekeeperNamespace),
		LogFile:     filepath.Join(dir, "gatekeeper.log"),
		StopTimeout: stopTimeout,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the end of Gatekeeper's log:\n%s", child.LogTail(15))
		}
	})
	awaitReady(t, child, "http://"+ports.Address(1)+"/readyz")

	registration := registration(t, ports.Address(0), certificate)
	if err := kube.Create(t.Context(), registration); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := kube.Delete(context.WithoutCancel(t.Context()), registration); err != nil {
			t.Error(err)
		}
	})
}

func awaitReady(t *testing.T, child *process.Child, url string) {
	t.Helper()
	eventually(t, func(g gomega.Gomega) {
		select {
		case <-child.Ended():
			gomega.StopTrying("Gatekeeper ended: " + child.LogTail(15)).Now()
		default:
		}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		response, err := http.DefaultClient.Do(request)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(response.Body.Close()).To(gomega.Succeed())
		g.Expect(response.StatusCode).To(gomega.Equal(http.StatusOK), "the status of %s", url)
	})
}

// registration is what Gatekeeper's chart says about the webhook that decides. The other one, that guards namespaces which
// Gatekeeper is to ignore, can't be given an address.
func registration(t *testing.T, address string, authority []byte) client.Object {
	t.Helper()
	const template = "templates/gatekeeper-validating-webhook-configuration-validatingwebhookconfiguration.yaml"
	out, err := exec.CommandContext(t.Context(), filepath.Join(host.ControlPlane.BinDir(), "helm"),
		"template", "gatekeeper", filepath.Join(os.Getenv(assetsVariable), "chart"), "--namespace", gatekeeperNamespace,
		"--show-only", template, "--set", "validatingWebhookURL="+address,
		// A busy machine must not turn a refusal into silence.
		"--set", "validatingWebhookFailurePolicy=Fail,validatingWebhookTimeoutSeconds=30",
	).Output()
	if err != nil {
		t.Fatalf("rendering Gatekeeper's chart: %v", err)
	}
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	if err := yaml.UnmarshalStrict(out, configuration); err != nil {
		t.Fatal(err)
	}
	configuration.Webhooks = configuration.Webhooks[:1]
	configuration.Webhooks[0].ClientConfig.CABundle = authority
	return configuration
}
