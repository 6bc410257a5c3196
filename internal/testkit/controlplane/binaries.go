package controlplane

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// KubernetesVersion is the version that hack/controlplane builds.
const KubernetesVersion = "v1.37.2"

// FindBinaries returns the folder of the binaries: dir if given, else
// KUBEBUILDER_ASSETS, else the one that "make controlplane" links to.
func FindBinaries(dir string) (string, error) {
	advice := ""
	if dir == "" {
		dir = os.Getenv("KUBEBUILDER_ASSETS")
		advice = " (KUBEBUILDER_ASSETS)"
	}
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("finding the cache folder: %w", err)
		}
		link := fmt.Sprintf("current-%s-%s-%s", KubernetesVersion, runtime.GOOS, runtime.GOARCH)
		dir = filepath.Join(cache, "cloudfront-tenant-operator", "controlplane", link)
		advice = `: run "make controlplane"`
	}
	for _, name := range []string{"etcd", "kube-apiserver", "kube-controller-manager"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return "", fmt.Errorf("finding the control plane binaries%s: %w", advice, err)
		}
	}
	// A rebuild may move the link while we run.
	return filepath.EvalSymlinks(dir)
}
