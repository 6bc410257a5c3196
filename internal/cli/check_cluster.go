package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/discovery"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	clusteradapter "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/kube/cluster"
)

// oldestKubernetes is the first supported version, as in the chart.
const oldestKubernetes = "1.30"

func (s *session) checkServer(context.Context) finding {
	config, err := s.cluster.config()
	if err != nil {
		return failed("Check the context, as in kubectl config get-contexts.", "%v", err)
	}
	server, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return failed("Check the context, as in kubectl config get-contexts.", "%v", err)
	}
	info, err := server.ServerVersion()
	if err != nil {
		return failed("Check the context, the network, and that your credentials are valid, as in kubectl version.",
			"%s does not answer: %v", config.Host, err)
	}
	is, err := version.ParseGeneric(info.GitVersion)
	switch {
	case err != nil:
		return warning("Use Kubernetes "+oldestKubernetes+" or later.", "The version %s can't be compared.", info.GitVersion)
	case is.LessThan(version.MustParseGeneric(oldestKubernetes)):
		return failed("Upgrade the cluster to Kubernetes "+oldestKubernetes+" or later.", "Kubernetes %s is not supported.", info.GitVersion)
	}
	return well("Kubernetes %s", info.GitVersion)
}

// kindsRequired are those that every installation has. The others can be switched off in the chart.
var kindsRequired = []string{kindTenant, "Distribution", "ConnectionGroup", "TenantSource", "Invalidation", "EdgeGrant", "DomainClaim"}

const (
	installPage = "https://github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/blob/main/docs/installation.md"
	installFix  = "Install the operator, or its CRDs: " + installPage
)

func (s *session) checkCRDs(ctx context.Context) finding {
	c, err := s.client()
	if err != nil {
		return failed("", "%v", err)
	}
	var missing []string
	for _, kind := range kindsRequired {
		gvk := v1alpha1.SchemeGroupVersion.WithKind(kind)
		if _, err := c.RESTMapper().RESTMapping(gvk.GroupKind(), gvk.Version); err != nil {
			missing = append(missing, kind)
		}
	}
	if len(missing) > 0 {
		return failed(installFix, "Missing: %s.", strings.Join(missing, ", "))
	}
	crd := &metav1.PartialObjectMetadata{}
	crd.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
	if err := c.Get(ctx, client.ObjectKey{Name: "distributiontenants." + v1alpha1.SchemeGroupVersion.Group}, crd); err != nil {
		return well("%d kinds. You may not read their version.", len(kindsRequired))
	}
	is, plugin := crd.Labels[labelVersion], strings.TrimPrefix(s.Version, "v")
	switch {
	case is == "":
		return well("%d kinds, without a version because the chart did not install them", len(kindsRequired))
	case is != plugin && plugin != "dev":
		return warning("Use the plugin of the operator's version, or upgrade the operator with its CRDs.",
			"The CRDs are version %s, and this plugin is version %s.", is, plugin)
	}
	return well("%d kinds of version %s", len(kindsRequired), is)
}

// askAdmin is the fix of a check that the user may not make.
const askAdmin = "Ask an administrator to run this check, or helm test."

// checkOperators finds the operators, and looks whether their replicas are available.
func (s *session) checkOperators(ctx context.Context) ([]installation, finding) {
	operators, err := s.operators(ctx)
	switch {
	case apierrors.IsForbidden(err):
		return nil, warning(askAdmin, "You may not list Deployments in all namespaces.")
	case err != nil:
		return nil, failed("", "%v", err)
	case len(operators) == 0:
		return nil, failed(installFix, "No Deployment has the label %s=%s.", labelName, operatorName)
	}
	var all []string
	for _, o := range operators {
		text := fmt.Sprintf("%s/%s version %s: %d of %d replicas available", o.Namespace, o.Name, o.Version, o.Available, o.Replicas)
		if o.Available == 0 {
			fix := "See kubectl -n " + o.Namespace + " logs deployment/" + o.Name + ", and kubectl -n " + o.Namespace + " describe pods."
			return operators, failed(fix, "%s.%s", text, s.stopped(ctx, o))
		}
		if o.Available < o.Replicas {
			return operators, warning("See kubectl -n "+o.Namespace+" describe pods.", "%s.%s", text, s.stopped(ctx, o))
		}
		all = append(all, text)
	}
	return operators, well("%s", strings.Join(all, "\n"))
}

// stopped says why a pod of the operator does not run, as far as the kubelet knows.
func (s *session) stopped(ctx context.Context, o installation) string {
	c, err := s.client()
	if err != nil {
		return ""
	}
	var pods corev1.PodList
	if err := c.List(ctx, &pods, client.InNamespace(o.Namespace), client.MatchingLabels{labelName: operatorName}); err != nil {
		return ""
	}
	for _, pod := range pods.Items {
		for _, st := range pod.Status.ContainerStatuses {
			if w := st.State.Waiting; w != nil {
				last := ptr.Deref(st.LastTerminationState.Terminated, corev1.ContainerStateTerminated{})
				return " " + strings.TrimSpace(fmt.Sprintf("Pod %s: %s. %s", pod.Name, w.Reason, cmp.Or(last.Message, w.Message)))
			}
		}
		for _, c := range pod.Status.Conditions {
			if c.Status == corev1.ConditionFalse && c.Message != "" {
				return fmt.Sprintf(" Pod %s: %s.", pod.Name, strings.TrimSuffix(c.Message, "."))
			}
		}
	}
	return ""
}

func (s *session) checkLease(ctx context.Context, namespace, elect string) finding {
	if elect == "false" {
		return well("No replica is elected, because the operator runs with --leader-elect=false.")
	}
	c, err := s.client()
	if err != nil {
		return failed("", "%v", err)
	}
	var lease coordinationv1.Lease
	err = c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: clusteradapter.Lease}, &lease)
	logs := "See the logs of the operator in namespace " + namespace + "."
	switch {
	case apierrors.IsForbidden(err):
		return warning(askAdmin, "You may not read the lease in namespace %s.", namespace)
	case apierrors.IsNotFound(err):
		return failed(logs, "No replica has taken the lease %s/%s.", namespace, clusteradapter.Lease)
	case err != nil:
		return failed("", "%v", err)
	}
	now, spec := s.Clock.Now(), lease.Spec
	holder, renewed := ptr.Deref(spec.HolderIdentity, ""), ptr.Deref(spec.RenewTime, metav1.MicroTime{})
	pod, _, _ := strings.Cut(holder, "_")
	ago := duration.HumanDuration(now.Sub(renewed.Time))
	if holder == "" || now.Sub(renewed.Time) > time.Duration(ptr.Deref(spec.LeaseDurationSeconds, 0))*time.Second {
		return failed(logs+" If they run, compare the clock of this machine with theirs.",
			"No replica leads. The lease was last renewed %s ago, by %s.", ago, cmp.Or(pod, "no replica"))
	}
	return well("held by %s for %s, renewed %s ago", pod, duration.HumanDuration(now.Sub(ptr.Deref(spec.AcquireTime, metav1.MicroTime{}).Time)), ago)
}
