package gatekeeper_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/install"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/thirdparty"
)

// plan has both templates of the chart.
const plan = `
apiVersion: kleff.kleff.io/v1
kind: TenantPlan
metadata: {name: guarded}
spec:
  gatekeeper:
    constraints:
    - kind: KleffAllowedRegistries
      name: guarded-registries
      parameters: {registries: [good.example.com/team]}
    - kind: KleffPodSecurity
      name: guarded-security
      parameters: {allowPrivilegeEscalation: true}
`

const tenant = `
apiVersion: kleff.kleff.io/v1
kind: Tenant
metadata: {name: customer}
spec: {plan: guarded, userId: customer-1, username: customer}
`

// registry is the one that the plan names.
const registry = "good.example.com/team"

// A namespace of the tenant, and one that belongs to no tenant.
const customers, nobodys = "customer-1", "not-a-tenant"

const (
	trusted = `
apiVersion: v1
kind: Pod
metadata: {name: trusted}
spec: {containers: [{name: app, image: "good.example.com/team/app:v1"}]}
`
	untrusted = `
apiVersion: v1
kind: Pod
metadata: {name: untrusted}
spec: {containers: [{name: app, image: "good.example.com.evil.com/team/app:v1"}]}
`
	untrustedInit = `
apiVersion: v1
kind: Pod
metadata: {name: untrusted-init}
spec:
  initContainers: [{name: init, image: nginx}]
  containers: [{name: app, image: "good.example.com/team/app:v1"}]
`
	untrustedDeployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: untrusted}
spec:
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec: {containers: [{name: app, image: "evil.example.com/app:v1"}]}
`
	onNode = `
apiVersion: v1
kind: Pod
metadata: {name: on-node}
spec: {hostNetwork: true, containers: [{name: app, image: "good.example.com/team/app:v1"}]}
`
)

// TestPlan shows what the constraints of a plan do, from the plan's creation to its end: by Gatekeeper's webhook, and by
// the policies that Gatekeeper makes of our templates for the API server itself.
func TestPlan(t *testing.T) {
	create(t, "apiVersion: v1\nkind: Namespace\nmetadata: {name: "+gatekeeperNamespace+"}")
	create(t, "apiVersion: v1\nkind: Namespace\nmetadata: {name: "+nobodys+"}")
	thirdparty.Install(t, host.ControlPlane.RESTConfig(), thirdparty.GatekeeperCRDs(t)...)
	startOperator(t)

	for name, tt := range map[string]struct {
		// flags are Gatekeeper's.
		flags []string
		// refuses is who does, in the words of the API server.
		refuses string
	}{
		"the webhook refuses": {
			flags:   []string{"--default-create-vap-for-templates=false", "--default-create-vap-binding-for-constraints=false"},
			refuses: `admission webhook "validation.gatekeeper.sh" denied the request`,
		},
		"the API server refuses on its own": {
			refuses: `ValidatingAdmissionPolicy 'gatekeeper-kleff`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			startGatekeeper(t, tt.flags...)
			create(t, strings.Replace(plan, registry, "https://"+registry, 1))
			mentions(t, `"https://`+registry+`" is no registry: use its host`)
			correct(t, func(p *kleffv1.TenantPlan) {
				p.Spec.Gatekeeper.Constraints[0].Parameters.Raw = fmt.Appendf(nil, `{"registries": [%q]}`, registry)
			})
			create(t, tenant)
			eventually(t, func(g gomega.Gomega) {
				g.Expect(condition(t, &kleffv1.TenantPlan{}, "guarded", kleffv1.ConditionPolicyReady)).To(gomega.Equal("True " + kleffv1.ReasonApplied))
				g.Expect(condition(t, &kleffv1.Tenant{}, "customer", kleffv1.ConditionTenantReady)).To(gomega.Equal("True " + kleffv1.ReasonReady))
			})
			// Gatekeeper and the API server notice new constraints in their own time, and each one separately.
			for object, reason := range map[string]string{
				untrusted:           "images of good.example.com.evil.com/team/app are not allowed here: use those of good.example.com/team/",
				untrustedInit:       "images of docker.io/library/nginx are not allowed here",
				untrustedDeployment: "images of evil.example.com/app are not allowed here",
				onNode:              "pods may not use the namespaces of their node here: remove hostNetwork",
			} {
				eventually(t, func(g gomega.Gomega) {
					err := try(t, customers, object)
					g.Expect(err).To(gomega.MatchError(gomega.And(gomega.ContainSubstring(tt.refuses), gomega.ContainSubstring(reason))))
				})
				passes(t, nobodys, object)
			}
			passes(t, customers, trusted)
			passes(t, nobodys, trusted)
			refusesDebugging(t, tt.refuses)

			// A constraint that the plan no longer names is gone, and the other one stays.
			correct(t, func(p *kleffv1.TenantPlan) { p.Spec.Gatekeeper.Constraints = p.Spec.Gatekeeper.Constraints[:1] })
			eventually(t, func(g gomega.Gomega) {
				g.Expect(constraints(t, "KleffPodSecurity")).To(gomega.BeEmpty())
				g.Expect(try(t, customers, onNode)).To(gomega.Succeed())
			})
			if try(t, customers, untrusted) == nil {
				t.Error("the other constraint holds no longer")
			}

			// With the tenant its namespace goes, and with the plan its constraints.
			remove(t, tenant)
			remove(t, plan)
			if got := constraints(t, "KleffAllowedRegistries"); len(got) != 0 {
				t.Errorf("there are still the constraints %q", got)
			}
			eventually(t, func(g gomega.Gomega) { g.Expect(policies(t)).To(gomega.BeEmpty()) })
		})
	}
}

// startOperator installs the chart with all that there is for tenants' namespaces, and runs the operator until the test ends.
func startOperator(t *testing.T) {
	t.Helper()
	installation, err := host.Install(t.Context(), install.Options{Values: []string{"tenancy.enabled=true", "tenancy.constraintTemplates.enabled=true"}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := host.Start(t.Context(), stack.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	op, err := s.StartOperator(t.Context(), stack.OperatorOptions{Installation: installation})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if log, err := op.Log(); t.Failed() && err == nil {
			t.Logf("the end of the operator's log:\n%s", log[max(0, len(log)-6000):])
		}
	})
}

// refusesDebugging adds a container of another registry to a pod that runs, which is a request of its own.
func refusesDebugging(t *testing.T, refuses string) {
	t.Helper()
	pod := decode(t, trusted)
	pod.SetNamespace(customers)
	eventually(t, func(g gomega.Gomega) {
		// The service account of a new namespace takes a moment.
		g.Expect(client.IgnoreAlreadyExists(kube.Create(t.Context(), pod))).To(gomega.Succeed())
	})
	patch := client.RawPatch(types.StrategicMergePatchType, []byte(`{"spec": {"ephemeralContainers": [{"name": "debug", "image": "evil.example.com/debug"}]}}`))
	err := kube.SubResource("ephemeralcontainers").Patch(t.Context(), pod, patch)
	gomega.NewWithT(t).Expect(err).To(gomega.MatchError(gomega.And(gomega.ContainSubstring(refuses), gomega.ContainSubstring("images of evil.example.com/debug"))))
}

// mentions waits until the plan says what is wrong with its constraints.
func mentions(t *testing.T, want string) {
	t.Helper()
	eventually(t, func(g gomega.Gomega) {
		p := &kleffv1.TenantPlan{}
		g.Expect(kube.Get(t.Context(), client.ObjectKey{Name: "guarded"}, p)).To(gomega.Succeed())
		c := meta.FindStatusCondition(p.Status.Conditions, kleffv1.ConditionPolicyReady)
		g.Expect(c).NotTo(gomega.BeNil())
		g.Expect(c.Status).To(gomega.Equal(metav1.ConditionFalse))
		g.Expect(c.Message).To(gomega.ContainSubstring(want))
	})
}

// correct changes the plan.
func correct(t *testing.T, change func(*kleffv1.TenantPlan)) {
	t.Helper()
	eventually(t, func(g gomega.Gomega) {
		p := &kleffv1.TenantPlan{}
		g.Expect(kube.Get(t.Context(), client.ObjectKey{Name: "guarded"}, p)).To(gomega.Succeed())
		change(p)
		g.Expect(kube.Update(t.Context(), p)).To(gomega.Succeed())
	})
}

// condition returns the status and the reason of a condition, once it speaks of the object as it is now.
func condition(t *testing.T, o client.Object, name, condition string) string {
	t.Helper()
	if err := kube.Get(t.Context(), client.ObjectKey{Name: name}, o); err != nil {
		t.Fatal(err)
	}
	var all []metav1.Condition
	switch o := o.(type) {
	case *kleffv1.TenantPlan:
		all = o.Status.Conditions
	case *kleffv1.Tenant:
		all = o.Status.Conditions
	}
	c := meta.FindStatusCondition(all, condition)
	if c == nil || c.ObservedGeneration != o.GetGeneration() {
		return ""
	}
	return string(c.Status) + " " + c.Reason
}

// constraints returns the names of the constraints of a kind.
func constraints(t *testing.T, kind string) []string {
	t.Helper()
	return names(t, "constraints.gatekeeper.sh/v1beta1", kind)
}

// policies returns the names of what binds policies of the API server, where Gatekeeper makes them of constraints.
func policies(t *testing.T) []string {
	t.Helper()
	return slices.DeleteFunc(names(t, "admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding"),
		func(name string) bool { return !strings.HasPrefix(name, "gatekeeper-") })
}

func names(t *testing.T, apiVersion, kind string) []string {
	t.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(apiVersion)
	list.SetKind(kind + "List")
	if err := kube.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, o := range list.Items {
		out = append(out, o.GetName())
	}
	return out
}

// try asks the API server whether it would take an object.
func try(t *testing.T, namespace, object string) error {
	t.Helper()
	o := decode(t, object)
	o.SetNamespace(namespace)
	return kube.Create(t.Context(), o, client.DryRunAll)
}

// passes wants an object to be taken.
func passes(t *testing.T, namespace, object string) {
	t.Helper()
	// The service account of a new namespace takes a moment.
	eventually(t, func(g gomega.Gomega) { g.Expect(try(t, namespace, object)).To(gomega.Succeed()) })
}

func create(t *testing.T, object string) {
	t.Helper()
	if err := kube.Create(t.Context(), decode(t, object)); err != nil {
		t.Fatal(err)
	}
}

// remove deletes an object and waits until it is gone.
func remove(t *testing.T, object string) {
	t.Helper()
	o := decode(t, object)
	if err := kube.Delete(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	eventually(t, func(g gomega.Gomega) {
		err := kube.Get(t.Context(), client.ObjectKeyFromObject(o), o)
		g.Expect(apierrors.IsNotFound(err)).To(gomega.BeTrue(), "%s %s is still there: %v", o.GetKind(), o.GetName(), err)
	})
}

func decode(t *testing.T, object string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(object), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}
