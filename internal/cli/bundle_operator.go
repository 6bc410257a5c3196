package cli

import (
	"context"
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/kube/budget"
	clusteradapter "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/kube/cluster"
)

const (
	// logLines is how much of the log of each operator's pod is taken.
	logLines = 5000
	// operatorContainer is the container in which the chart runs the operator.
	operatorContainer = "operator"
)

// bundleOperator takes an operator's Deployment and pods, their logs and its ConfigMaps.
func (s *session) bundleOperator(ctx context.Context, b *bundle, o installation) error {
	c, err := s.client()
	if err != nil {
		return err
	}
	config, err := s.cluster.config()
	if err != nil {
		return err
	}
	typed, err := corev1client.NewForConfig(config)
	if err != nil {
		return err
	}
	folder := path.Join("operator", o.Namespace)
	var d appsv1.Deployment
	if err := c.Get(ctx, client.ObjectKey{Namespace: o.Namespace, Name: o.Name}, &d); err != nil {
		return err
	}
	known := appsv1.Deployment{ObjectMeta: knownMeta(&d), Spec: appsv1.DeploymentSpec{Replicas: d.Spec.Replicas}, Status: d.Status}
	known.Spec.Template.Spec = b.knownSpec(d.Spec.Template.Spec)
	if err := b.addYAML(path.Join(folder, "deployment-"+d.Name+".yaml"), known); err != nil {
		return err
	}
	var pods corev1.PodList
	if err := c.List(ctx, &pods, client.InNamespace(o.Namespace), client.MatchingLabels{labelName: operatorName}); err != nil {
		return err
	}
	for _, pod := range pods.Items {
		known := corev1.Pod{ObjectMeta: knownMeta(&pod), Spec: b.knownSpec(pod.Spec), Status: knownStatus(pod.Status)}
		if err := b.addYAML(path.Join(folder, pod.Name+".yaml"), known); err != nil {
			return err
		}
		log, err := typed.Pods(pod.Namespace).GetLogs(pod.Name, &corev1.PodLogOptions{Container: operatorContainer, TailLines: new(int64(logLines))}).DoRaw(ctx)
		if err != nil {
			log = []byte("the log can't be read: " + err.Error() + "\n")
		}
		b.add(path.Join(folder, pod.Name+".log"), string(log))
	}
	return b.addConfigMaps(ctx, c, o.Namespace, folder)
}

// addConfigMaps takes those that the chart or the operator has made.
func (b *bundle) addConfigMaps(ctx context.Context, c client.Client, namespace, folder string) error {
	var maps corev1.ConfigMapList
	if err := c.List(ctx, &maps, client.InNamespace(namespace)); err != nil {
		return err
	}
	for _, m := range maps.Items {
		if m.Labels[labelName] != operatorName && m.Name != budget.Name && m.Name != clusteradapter.Name {
			b.leave(leftConfigMaps, m.Name)
			continue
		}
		meta := knownMeta(&m)
		meta.Annotations = b.own(m.Annotations)
		text, err := json.MarshalIndent(corev1.ConfigMap{ObjectMeta: meta, Data: m.Data}, "", "  ")
		if err != nil {
			return err
		}
		b.add(path.Join(folder, "configmap-"+m.Name+".json"), string(text))
	}
	return nil
}

func knownMeta(o client.Object) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: o.GetNamespace(), Name: o.GetName(), Generation: o.GetGeneration(), CreationTimestamp: o.GetCreationTimestamp()}
}

// knownSpec has the fields of a pod's spec that matter to the operator and have no secrets. Of other containers than the
// operator's, the arguments are not known.
func (b *bundle) knownSpec(spec corev1.PodSpec) corev1.PodSpec {
	known := corev1.PodSpec{NodeName: spec.NodeName, ServiceAccountName: spec.ServiceAccountName}
	for _, c := range spec.Containers {
		known.Containers = append(known.Containers, b.knownContainer(c))
	}
	for _, c := range spec.InitContainers {
		known.InitContainers = append(known.InitContainers, b.knownContainer(c))
	}
	for _, c := range spec.EphemeralContainers {
		common := b.knownContainer(corev1.Container(c.EphemeralContainerCommon))
		known.EphemeralContainers = append(known.EphemeralContainers, corev1.EphemeralContainer{EphemeralContainerCommon: corev1.EphemeralContainerCommon(common)})
	}
	return known
}

func (b *bundle) knownContainer(c corev1.Container) corev1.Container {
	known := corev1.Container{Name: c.Name, Image: c.Image, Resources: c.Resources}
	for _, e := range c.Env {
		known.Env = append(known.Env, corev1.EnvVar{Name: e.Name, Value: redacted})
		b.leave(leftEnv, e.Name)
	}
	switch args, left := knownArgs(c.Args); {
	case c.Name == operatorContainer:
		known.Args = args
		b.leave(leftArgs, left...)
	case len(c.Args) > 0:
		b.leave(leftArgs, "all of container "+c.Name)
	}
	return known
}

// flagName is what an argument begins with if it is a flag.
var flagName = regexp.MustCompile(`^--?([a-z][a-z0-9-]*)(=|$)`)

// knownArgs drops the values of all arguments that are not flags of the operator. left are the names of these.
func knownArgs(args []string) (known, left []string) {
	for _, arg := range args {
		flag := flagName.FindStringSubmatch(arg)
		switch {
		case flag == nil:
			arg = redacted
			left = append(left, "an argument without a name")
		case !slices.Contains(operatorFlags, flag[1]) && !strings.HasPrefix(flag[1], "zap-"):
			arg = strings.TrimSuffix(flag[0], "=") + "=" + redacted
			left = append(left, "--"+flag[1])
		}
		known = append(known, arg)
	}
	return known, left
}

func knownStatus(status corev1.PodStatus) corev1.PodStatus {
	return corev1.PodStatus{
		Phase: status.Phase, Reason: status.Reason, Message: status.Message, Conditions: status.Conditions, StartTime: status.StartTime,
		ContainerStatuses: knownStates(status.ContainerStatuses), InitContainerStatuses: knownStates(status.InitContainerStatuses),
	}
}

func knownStates(list []corev1.ContainerStatus) (known []corev1.ContainerStatus) {
	for _, c := range list {
		known = append(known, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, ImageID: c.ImageID, Ready: c.Ready, RestartCount: c.RestartCount, State: c.State, LastTerminationState: c.LastTerminationState,
		})
	}
	return known
}
