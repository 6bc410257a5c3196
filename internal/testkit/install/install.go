// Package install puts the operator on a throw-away control plane as its users do: from the chart, and with the rights
// of the chart's service account. The pods can't run there, so the tests that run the binary take its flags, its
// environment and its identity from here.
package install

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/controlplane"
)

// The names that the documentation uses.
const (
	Release   = "cloudfront-tenant-operator"
	Namespace = "cloudfront-tenant-operator-system"
)

// container is the operator's in the Deployment's pod.
const container = "operator"

// establishTimeout bounds the wait for the kinds, which takes a moment.
const establishTimeout = time.Minute

// Options say what to install and where.
type Options struct {
	ControlPlane *controlplane.ControlPlane
	// Root is the checkout with the chart.
	Root string
	// Dir takes the kubeconfig and the token, and has to stay.
	Dir string
	// Release and Namespace are the documentation's if empty. The namespace is created if need be.
	Release, Namespace string
	// Values are helm's --set arguments.
	Values []string
	// Manifests is a file to install instead of the chart. Namespace has to be the one in it, and Release is a name for
	// the files in Dir.
	Manifests string
}

// Installation is a release of the chart on a control plane.
type Installation struct {
	Release, Namespace string
	// Objects are what was applied, in helm's order.
	Objects []*unstructured.Unstructured
	// Kubeconfig is a file that authenticates as the operator's service account.
	Kubeconfig string

	account   string
	container corev1.Container
}

// Install renders the chart, applies it, and requests a token for its service account, which is
// kept fresh until the control plane stops.
func Install(ctx context.Context, o Options) (*Installation, error) {
	i, err := Render(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := i.apply(ctx, o.ControlPlane); err != nil {
		return nil, fmt.Errorf("installing the release %s: %w", i.Release, err)
	}
	token := filepath.Join(o.Dir, i.Release+".token")
	if err := o.ControlPlane.ServiceAccountToken(ctx, i.Namespace, i.account, token, clock.RealClock{}); err != nil {
		return nil, err
	}
	i.Kubeconfig = filepath.Join(o.Dir, i.Release+".kubeconfig")
	return i, controlplane.WriteKubeconfig(i.Kubeconfig, o.ControlPlane.TokenFileConfig(token))
}

// Render asks helm for the objects, or reads them from a file, and touches no control plane.
func Render(ctx context.Context, o Options) (*Installation, error) {
	i := &Installation{Release: Release, Namespace: Namespace}
	if o.Release != "" {
		i.Release = o.Release
	}
	if o.Namespace != "" {
		i.Namespace = o.Namespace
	}
	rendered, err := o.read(ctx, i)
	if err != nil {
		return nil, err
	}
	if i.Objects, err = parse(rendered); err != nil {
		return nil, err
	}
	return i, i.readDeployment()
}

// read returns the text of what is to be installed.
func (o Options) read(ctx context.Context, i *Installation) (string, error) {
	if o.Manifests != "" {
		text, err := os.ReadFile(o.Manifests)
		if err != nil {
			return "", fmt.Errorf("reading the manifests: %w", err)
		}
		return string(text), nil
	}
	args := []string{"template", i.Release, filepath.Join(o.Root, "charts", "cloudfront-tenant-operator"), "--namespace", i.Namespace, "--skip-tests"}
	for _, value := range o.Values {
		args = append(args, "--set", value)
	}
	helm := exec.CommandContext(ctx, filepath.Join(o.ControlPlane.BinDir(), "helm"), args...)
	helm.Env = slices.DeleteFunc(os.Environ(), func(entry string) bool { return strings.HasPrefix(entry, "HELM_") })
	var stderr strings.Builder
	helm.Stderr = &stderr
	rendered, err := helm.Output()
	if err != nil {
		return "", fmt.Errorf("rendering the chart: %w: %s", err, stderr.String())
	}
	return string(rendered), nil
}

func parse(text string) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	documents := yaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096)
	for {
		u := &unstructured.Unstructured{}
		switch err := documents.Decode(&u.Object); {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, fmt.Errorf("reading what the chart renders: %w", err)
		case len(u.Object) > 0:
			out = append(out, u)
		}
	}
}

// readDeployment finds out how the operator is run.
func (i *Installation) readDeployment() error {
	var deployments []appsv1.Deployment
	if err := Select(i, "Deployment", &deployments); err != nil {
		return err
	}
	if len(deployments) != 1 {
		return fmt.Errorf("the chart renders %d Deployments, want one", len(deployments))
	}
	pod := deployments[0].Spec.Template.Spec
	n := slices.IndexFunc(pod.Containers, func(c corev1.Container) bool { return c.Name == container })
	if n < 0 {
		return fmt.Errorf("the chart's Deployment has no container %q", container)
	}
	i.account, i.container = pod.ServiceAccountName, pod.Containers[n]
	return nil
}

// Select reads the objects of a kind.
func Select[T any](i *Installation, kind string, out *[]T) error {
	for _, u := range i.Objects {
		if u.GetKind() != kind {
			continue
		}
		var o T
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &o); err != nil {
			return fmt.Errorf("reading the chart's %s %s: %w", kind, u.GetName(), err)
		}
		*out = append(*out, o)
	}
	return nil
}

// Args are the operator's flags in the Deployment, with the namespace of the lease, which a pod finds automatically.
func (i *Installation) Args() []string {
	return append([]string{"--leader-election-namespace=" + i.Namespace}, i.container.Args...)
}

// Env is the operator's environment in the Deployment.
func (i *Installation) Env() map[string]string {
	out := map[string]string{}
	for _, e := range i.container.Env {
		out[e.Name] = e.Value
	}
	return out
}

// User is the operator's user at the API server.
func (i *Installation) User() string {
	return "system:serviceaccount:" + i.Namespace + ":" + i.account
}

func (i *Installation) apply(ctx context.Context, cp *controlplane.ControlPlane) error {
	scheme := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		return fmt.Errorf("building the scheme: %w", err)
	}
	c, err := client.New(cp.RESTConfig(), client.Options{Scheme: scheme})
	if err != nil {
		return fmt.Errorf("creating a client: %w", err)
	}
	namespace := &unstructured.Unstructured{}
	namespace.SetAPIVersion("v1")
	namespace.SetKind("Namespace")
	namespace.SetName(i.Namespace)
	for _, u := range append([]*unstructured.Unstructured{namespace}, i.Objects...) {
		// The answer must not end up in what the chart says.
		if err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(u.DeepCopy()), client.FieldOwner("install"), client.ForceOwnership); err != nil {
			return fmt.Errorf("applying %s %s: %w", u.GetKind(), u.GetName(), err)
		}
	}
	return i.established(ctx, c)
}

// established waits until the API server serves the kinds.
func (i *Installation) established(ctx context.Context, c client.Client) error {
	for _, u := range i.Objects {
		if u.GetKind() != "CustomResourceDefinition" {
			continue
		}
		err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, establishTimeout, true, func(ctx context.Context) (bool, error) {
			var crd apiextensionsv1.CustomResourceDefinition
			if err := c.Get(ctx, client.ObjectKeyFromObject(u), &crd); err != nil {
				return false, err
			}
			return slices.ContainsFunc(crd.Status.Conditions, func(c apiextensionsv1.CustomResourceDefinitionCondition) bool {
				return c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionStatus(metav1.ConditionTrue)
			}), nil
		})
		if err != nil {
			return fmt.Errorf("waiting for the kind %s: %w", u.GetName(), err)
		}
	}
	return nil
}
