//go:build linux

package node_test

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/install"
)

// stays is what an uninstall leaves, in addition to the CRDs, their objects and the namespace. docs/uninstall.md names each.
var stays = []string{
	"ConfigMap " + install.Namespace + "/cloudfront-tenant-operator-cluster",
	"ConfigMap " + install.Namespace + "/cloudfront-tenant-operator-deletion-budget",
	"ConfigMap kube-system/cloudfront-tenant-operator-cluster",
	"Lease " + install.Namespace + "/cloudfront-tenant-operator",
}

// notCounted are events, which come and go, and what the page says of the CRDs and the namespace.
var notCounted = []string{"Event", "CustomResourceDefinition", "APIService", "Namespace"}

// everywhere are the names of objects that Kubernetes puts into each namespace.
var everywhere = []string{"default", "kube-root-ca.crt"}

// left are the objects that an installation made: what is in its namespace, and elsewhere what has its name.
func (w *world) left() []string {
	w.t.Helper()
	var out []string
	kinds, err := discovery.NewDiscoveryClientForConfigOrDie(w.host.RESTConfig()).ServerPreferredResources()
	w.must(err)
	for _, group := range kinds {
		version, err := schema.ParseGroupVersion(group.GroupVersion)
		w.must(err)
		for _, kind := range group.APIResources {
			if !slices.Contains(kind.Verbs, "list") || slices.Contains(notCounted, kind.Kind) || strings.HasSuffix(version.Group, install.Release+".io") {
				continue
			}
			list := &metav1.PartialObjectMetadataList{}
			list.SetGroupVersionKind(version.WithKind(kind.Kind + "List"))
			w.must(w.kube.List(w.t.Context(), list))
			for _, o := range list.Items {
				if o.Namespace == install.Namespace && !slices.Contains(everywhere, o.Name) || strings.Contains(o.Name, install.Release) {
					out = append(out, strings.TrimPrefix(fmt.Sprintf("%s %s/%s", kind.Kind, o.Namespace, o.Name), "/"))
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// helmTest checks the installation as a user does.
func (w *world) helmTest() {
	w.twoReady()
	_, err := w.host.Helm(w.t.Context(), "test", install.Release, "--namespace", install.Namespace, "--timeout", "2m")
	w.must(err)
}

// uninstall leaves what the page says.
func (w *world) uninstall() {
	crds := w.kubectl("get", "crds", "--output=name")
	_, err := w.host.Helm(w.t.Context(), "uninstall", install.Release, "--namespace", install.Namespace, "--wait", "--timeout", "2m")
	w.must(err)
	var left []string
	w.eventually(func(g gomega.Gomega) {
		left = w.left()
		for _, one := range left {
			g.Expect(one).NotTo(gomega.HavePrefix("Pod "))
		}
	})
	w.exactly(w.t, "objects that helm uninstall leaves, besides CRDs", len(left), len(stays))
	if diff := cmp.Diff(stays, left); diff != "" {
		w.t.Errorf("what an uninstall leaves (-want +got):\n%s", diff)
	}
	page, err := os.ReadFile(w.host.Path("docs", "uninstall.md"))
	w.must(err)
	for _, one := range stays {
		if name := "`" + one[strings.LastIndex(one, "/")+1:] + "`"; !strings.Contains(string(page), name) {
			w.t.Errorf("docs/uninstall.md does not name %s", name)
		}
		if strings.Contains(one, " kube-system/") && !strings.Contains(string(page), "kube-system") {
			w.t.Errorf("docs/uninstall.md does not say where %s is", one)
		}
	}
	if now := w.kubectl("get", "crds", "--output=name"); now != crds {
		w.t.Errorf("the CRDs were\n%sand are\n%s", crds, now)
	}
}
