//go:build linux

package node_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/install"
)

// stays is what docs/uninstall.md says that an uninstall leaves, in addition to the CRDs, their objects and the namespace.
var stays = []string{
	"ConfigMap kube-system/cloudfront-tenant-operator-cluster",
	"Lease " + install.Namespace + "/cloudfront-tenant-operator",
}

// inventory lists the objects of all kinds but those that come and go.
func (w *world) inventory() map[string]bool {
	w.t.Helper()
	out := map[string]bool{}
	kinds, err := discovery.NewDiscoveryClientForConfigOrDie(w.host.RESTConfig()).ServerPreferredResources()
	w.must(err)
	for _, group := range kinds {
		version, err := schema.ParseGroupVersion(group.GroupVersion)
		w.must(err)
		for _, kind := range group.APIResources {
			if !slices.Contains(kind.Verbs, "list") || kind.Kind == "Event" || strings.HasSuffix(version.Group, install.Release+".io") {
				continue
			}
			list := &metav1.PartialObjectMetadataList{}
			list.SetGroupVersionKind(version.WithKind(kind.Kind + "List"))
			w.must(w.kube.List(w.t.Context(), list))
			for _, o := range list.Items {
				out[strings.TrimPrefix(fmt.Sprintf("%s %s/%s", kind.Kind, o.Namespace, o.Name), "/")] = true
			}
		}
	}
	return out
}

// left are the objects that were not there before the installation, without those of the scenarios.
func (w *world) left() []string {
	w.t.Helper()
	now := w.inventory()
	maps.DeleteFunc(now, func(name string, _ bool) bool {
		kind, rest, _ := strings.Cut(name, " ")
		namespace, _, _ := strings.Cut(rest, "/")
		scenario := namespace != "" && namespace != install.Namespace && !strings.HasPrefix(namespace, "kube-")
		return w.before[name] || scenario || kind == "Namespace" || kind == "CustomResourceDefinition"
	})
	return slices.Sorted(maps.Keys(now))
}

// uninstall leaves what the page says, and no lease that a new installation has to wait for.
func (w *world) uninstall() {
	crds := w.kubectl("get", "crds", "--output=name")
	_, err := w.host.Helm(w.t.Context(), "uninstall", install.Release, "--namespace", install.Namespace, "--wait", "--timeout", "2m")
	w.must(err)
	w.eventually(func(g gomega.Gomega) { g.Expect(w.pods()).To(gomega.BeEmpty()) })
	left := w.left()
	w.exactly(w.t, "objects that helm uninstall leaves, besides CRDs", len(left), len(stays))
	if !slices.Equal(left, stays) {
		w.t.Errorf("an uninstall leaves %q, and docs/uninstall.md names %q", left, stays)
	}
	if now := w.kubectl("get", "crds", "--output=name"); now != crds {
		w.t.Errorf("the CRDs were\n%sand are\n%s", crds, now)
	}
	var lease coordinationv1.Lease
	w.must(w.kube.Get(w.t.Context(), client.ObjectKey{Namespace: install.Namespace, Name: install.Release}, &lease))
	if holder := lease.Spec.HolderIdentity; holder != nil && *holder != "" {
		w.t.Errorf("the lease is still held by %s", *holder)
	}
}
