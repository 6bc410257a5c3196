package chart_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	namegen "k8s.io/apiserver/pkg/storage/names"
)

// A pod that ends answers its webhook until the API server has noticed, and then has the time that its passes may take.
func TestAWebhookOutlivesItsPod(t *testing.T) {
	if l := render(t, "{}").container(t).Lifecycle; l != nil {
		t.Errorf("without a webhook the pod waits before it ends: %+v", l)
	}
	r := render(t, "webhook: {enabled: true}")
	want := &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 3}}}
	if diff := cmp.Diff(want, r.container(t).Lifecycle); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	const shutdown = 25 // the operator's shutdownTimeout in seconds
	if grace := *r.deployment(t).Spec.Template.Spec.TerminationGracePeriodSeconds; grace < want.PreStop.Sleep.Seconds+shutdown {
		t.Errorf("the pod has %d seconds to end", grace)
	}
}

// CloudTrail shows which pod has called. Other names are taken as they are given.
func TestSessionsHaveTheNameOfThePod(t *testing.T) {
	const name = "AWS_ROLE_SESSION_NAME"
	own := corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}}
	for values, want := range map[string]corev1.EnvVar{
		"resources: {limits: null}":                      own,
		"extraEnv: [{name: " + name + ", value: given}]": {Name: name, Value: "given"},
	} {
		others := cmpopts.IgnoreSliceElements(func(e corev1.EnvVar) bool { return e.Name != name })
		if diff := cmp.Diff([]corev1.EnvVar{want}, render(t, values).container(t).Env, others); diff != "" {
			t.Errorf("with %s (-want +got):\n%s", values, diff)
		}
	}
	// What STS takes, and how a ReplicaSet names the pods of the longest Deployment.
	takes := regexp.MustCompile(`^[\w+=,.@-]{2,64}$`)
	if pod := namegen.SimpleNameGenerator.GenerateName(strings.Repeat("x", 253) + "-"); !takes.MatchString(pod) {
		t.Errorf("STS takes no session with the name %s", pod)
	}
}

// The pod of helm test is like those of the operator, ends, and is not taken for one of them.
func TestThePodOfHelmTest(t *testing.T) {
	r := render(t, everything+"\nwebhook: {enabled: true}")
	test, operator := r.testPod(t), r.deployment(t).Spec.Template.Spec
	want := *operator.DeepCopy()
	want.RestartPolicy, want.InitContainers, want.TopologySpreadConstraints = corev1.RestartPolicyNever, nil, nil
	want.Containers = want.Containers[:1]
	c := &want.Containers[0]
	c.Args = append(c.Args, "--check=true")
	c.Ports, c.LivenessProbe, c.ReadinessProbe, c.Lifecycle = nil, nil, nil, nil
	if diff := cmp.Diff(want, test.Spec); diff != "" {
		t.Errorf("its spec (-want +got):\n%s", diff)
	}
	for _, o := range r.objects {
		for _, path := range [][]string{{"spec", "selector", "matchLabels"}, {"spec", "selector"}, {"spec", "podSelector", "matchLabels"}} {
			selector, found, err := unstructured.NestedStringMap(o.Object, path...)
			if err == nil && found && labels.SelectorFromSet(selector).Matches(labels.Set(test.Labels)) && o.GetKind() != "ServiceMonitor" {
				t.Errorf("%s %s selects it by %v", o.GetKind(), o.GetName(), selector)
			}
		}
	}
}

// The second note is about the identity in AWS, wherever it comes from.
func TestNotesKnowWhereTheIdentityComesFrom(t *testing.T) {
	for values, note := range map[string]string{
		"{}": "2. Give the ServiceAccount " + namespace + "/" + release + " an AWS identity",
		"serviceAccount: {annotations: {eks.amazonaws.com/role-arn: a}}":                                  "2. Its AWS identity comes from the annotations",
		"extraEnv: [{name: AWS_ACCESS_KEY_ID, value: a}]":                                                 "2. Its AWS identity comes from extraEnv.",
		"extraEnv: [{name: AWS_ENDPOINT_URL, value: a}]":                                                  "2. Give the ServiceAccount",
		"extraEnv: [{name: HTTPS_PROXY, value: a}, {name: AWS_CONTAINER_CREDENTIALS_FULL_URI, value: a}]": "2. Its AWS identity comes from extraEnv.",
	} {
		out, err := helm(t, values, "install", release, chartDir, "--dry-run=client")
		if err != nil {
			t.Fatalf("helm install with %s: %v\n%s", values, err, out)
		}
		if !strings.Contains(out, note) || strings.Count(out, "\n2. ") != 1 {
			t.Errorf("with %s the notes lack %q:\n%s", values, note, out[strings.Index(out, "NOTES:"):])
		}
	}
}
