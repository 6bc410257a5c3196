// Package sources shows on all five kinds of tables that tenants follow their customers, and that nothing that can
// happen to a table takes a tenant away that a customer still has. The databases, the API server, the
// controller and its adapters are the real ones; only time is played.
package sources_test

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/zap/zapcore"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/controlplane"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/process"
)

// kubeConfig reaches the API server of this package.
var kubeConfig *rest.Config

// logs are all that was logged in this package, at every level that exists.
var logs = &transcript{}

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	// Many cases wait for a driver to give up.
	if err := process.TestsAtOnce(8); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	ctrl.SetLogger(zap.New(zap.WriteTo(logs), zap.Level(zapcore.Level(-9))))
	log.SetOutput(logs)
	code := database.RunTests(onControlPlane{m})
	if text := logs.String(); strings.Contains(strings.ToLower(text), database.Canary) {
		fmt.Fprintln(os.Stderr, "the logs tell a piece of a connection string:", around(text, database.Canary))
		code = 1
	} else if code == 0 && !strings.Contains(text, "Reading the table failed") && flag.Lookup("test.run").Value.String() == "" {
		fmt.Fprintln(os.Stderr, "the logs do not tell that tables could not be read: nothing was captured")
		code = 1
	}
	return code
}

// onControlPlane runs the tests with a control plane around them. Its controller manager collects garbage and
// empties namespaces.
type onControlPlane struct{ m *testing.M }

func (o onControlPlane) Run() int {
	return controlplane.RunTests(o.m, controlplane.Options{WithoutWatchCache: true}, func(cp *controlplane.ControlPlane) error {
		kubeConfig = cp.RESTConfig()
		kubeConfig.QPS, kubeConfig.Burst = -1, 0
		_, err := controlplane.InstallCRDs(kubeConfig, envtest.CRDInstallOptions{
			Paths: []string{filepath.Join("..", "..", "config", "crd")}, ErrorIfPathMissing: true,
		})
		if err != nil {
			return fmt.Errorf("installing the CRDs: %w", err)
		}
		return nil
	})
}

// transcript keeps what is written.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (t *transcript) Write(content []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.Write(content)
}

func (t *transcript) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}

// around is the piece of a text about the first place of a word.
func around(text, word string) string {
	at := strings.Index(strings.ToLower(text), word)
	return text[max(0, at-200):min(len(text), at+200)]
}
