package tenancy_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/thirdparty"
)

const meshed = `
resourceQuota: {hard: {pods: "3"}}
istio:
  gateway: {selector: {istio: ingressgateway}, hosts: ["{{username}}.apps.example.com"], tlsSecret: "{{username}}-tls"}
  authorizationPolicy: NamespaceAndIngress
  peerAuthentication: STRICT
`

// Istio may come and go while customers are there.
func TestIstioComesAndGoes(t *testing.T) {
	t.Parallel()
	s := newScene(t, "mesh")
	p := s.plan("mesh", meshed)
	o := s.tenant("mesh", "mesh")
	s.says(o, kleffv1.ConditionMeshReady, "False/CRDMissing", "Gateway", "AuthorizationPolicy", "PeerAuthentication", "install Istio")
	s.says(o, kleffv1.ConditionTenantReady, "False/CRDMissing")
	s.says(o, kleffv1.ConditionPlanApplied, "True/Applied")
	s.says(p, kleffv1.ConditionReady, "True/RolledOut")
	s.quotaOf("mesh-id")

	crds := slices.DeleteFunc(thirdparty.IstioCRDs(t), func(crd *apiextensionsv1.CustomResourceDefinition) bool {
		return !slices.Contains([]string{"gateways.networking.istio.io", "authorizationpolicies.security.istio.io", "peerauthentications.security.istio.io"}, crd.Name)
	})
	thirdparty.Install(t, host.RESTConfig(), crds...)
	s.says(o, kleffv1.ConditionMeshReady, "True/Applied")
	s.says(o, kleffv1.ConditionTenantReady, "True/Ready")
	for kind, want := range map[schemaKind]any{
		{"networking.istio.io/v1", "Gateway", "kleff-gateway"}:          nil,
		{"security.istio.io/v1", "AuthorizationPolicy", "kleff-tenant"}: nil,
		{"security.istio.io/v1", "PeerAuthentication", "kleff-tenant"}:  map[string]any{"mtls": map[string]any{"mode": "STRICT"}},
	} {
		u := kind.in("mesh-id")
		s.read(u)
		if want != nil {
			if diff := gocmp.Diff(want, u.Object["spec"]); diff != "" {
				t.Errorf("%s (-want +got):\n%s", kind.kind, diff)
			}
		}
		if u.GetLabels()[kleffv1.LabelTenantUID] != string(o.UID) {
			t.Errorf("%s has the labels %v", kind.kind, u.GetLabels())
		}
	}
	s.serves("mesh-id", "mesh.apps.example.com", "mesh-tls")
	s.admits("mesh-id", "mesh-id", "istio-system", "istio-ingress")

	for _, crd := range crds {
		s.uninstall(crd)
	}
	s.says(o, kleffv1.ConditionMeshReady, "False/CRDMissing")
	s.says(o, kleffv1.ConditionTenantReady, "False/CRDMissing")
	before := s.requests("networking.istio.io", "security.istio.io")
	s.consistently(func(g gomega.Gomega) {
		g.Expect(s.requests("networking.istio.io", "security.istio.io")).To(gomega.Equal(before), "kinds that are gone are not asked for")
	})
	s.delete(o)
	s.gone(o, namespace("mesh-id"))
}

// schemaKind names an object of a kind that the client does not know.
type schemaKind struct{ apiVersion, kind, name string }

func (k schemaKind) in(namespace string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(k.apiVersion)
	u.SetKind(k.kind)
	u.SetNamespace(namespace)
	u.SetName(k.name)
	return u
}

// serves wants the Gateway to serve a host with its certificate.
func (s *scene) serves(namespace, name, secret string) {
	s.t.Helper()
	u := schemaKind{"networking.istio.io/v1", "Gateway", "kleff-gateway"}.in(namespace)
	s.read(u)
	servers, _, err := unstructured.NestedSlice(u.Object, "spec", "servers")
	if err != nil || len(servers) != 2 {
		s.t.Fatalf("the Gateway has the servers %v (%v)", servers, err)
	}
	text := fmt.Sprint(servers[0])
	s.Expect(text).To(gomega.ContainSubstring(name))
	s.Expect(text).To(gomega.ContainSubstring(secret))
}

// admits wants the AuthorizationPolicy to let in these namespaces.
func (s *scene) admits(namespace string, want ...string) {
	s.t.Helper()
	u := schemaKind{"security.istio.io/v1", "AuthorizationPolicy", "kleff-tenant"}.in(namespace)
	s.read(u)
	rules := []any{map[string]any{"from": []any{map[string]any{"source": map[string]any{"namespaces": anyOf(want)}}}}}
	if diff := gocmp.Diff(map[string]any{"action": "ALLOW", "rules": rules}, u.Object["spec"]); diff != "" {
		s.t.Errorf("the AuthorizationPolicy (-want +got):\n%s", diff)
	}
}

func anyOf(list []string) (out []any) {
	for _, text := range list {
		out = append(out, text)
	}
	return out
}

func (s *scene) uninstall(crd *apiextensionsv1.CustomResourceDefinition) {
	s.t.Helper()
	thirdparty.Uninstall(s.t, kube, crd)
}

// requests counts what the operator has asked of these groups.
func (s *scene) requests(groups ...string) (n int) {
	s.t.Helper()
	all, err := host.ControlPlane.Audit(host.Installation.User())
	if err != nil {
		s.t.Fatal(err)
	}
	for _, r := range all {
		if slices.Contains(groups, r.APIGroup) {
			n++
		}
	}
	return n
}

// template is a ConstraintTemplate of that kind.
func template(name, kind string) []byte {
	return fmt.Appendf(nil, `
apiVersion: templates.gatekeeper.sh/v1
kind: ConstraintTemplate
metadata: {name: %s}
spec:
  crd:
    spec:
      names: {kind: %s}
      validation:
        openAPIV3Schema: {type: object, properties: {label: {type: string}}}
  targets:
  - target: admission.k8s.gatekeeper.sh
    rego: |
      package %[1]s
      violation[{"msg": "label"}] { not input.review.object.metadata.labels[input.parameters.label] }
`, name, kind)
}

// A plan's constraints are one object each, whatever the number of its tenants, and follow the plan.
func TestConstraintsFollowThePlan(t *testing.T) {
	t.Parallel()
	s := newScene(t, "policy")
	p := s.plan("policy", `
gatekeeper:
  constraints:
  - {kind: TestNeedsLabel, name: policy-team, parameters: {label: team}, kinds: [{apiGroups: [""], kinds: [Pod]}]}
  - {kind: TestNeedsLabel, name: policy-cost, parameters: {label: cost}, enforcementAction: warn}
  - {kind: TestNeedsOwner, name: policy-owner}
`)
	o, second := s.tenant("policy", "policy"), s.tenant("policy-second", "policy")
	s.says(p, kleffv1.ConditionPolicyReady, "False/CRDMissing", "TestNeedsLabel", "TestNeedsOwner", "install Gatekeeper")
	s.says(o, kleffv1.ConditionPolicyReady, "False/CRDMissing", "TestNeedsLabel")
	s.says(o, kleffv1.ConditionPlanApplied, "True/Applied")

	label, owner := thirdparty.ConstraintCRD(t, template("testneedslabel", "TestNeedsLabel")), thirdparty.ConstraintCRD(t, template("testneedsowner", "TestNeedsOwner"))
	thirdparty.Install(t, host.RESTConfig(), label)
	foreign := schemaKind{"constraints.gatekeeper.sh/v1beta1", "TestNeedsOwner", "policy-owner"}.in("")
	foreign.Object["spec"] = map[string]any{"enforcementAction": "dryrun"}
	s.says(p, kleffv1.ConditionPolicyReady, "False/CRDMissing", "TestNeedsOwner")
	thirdparty.Install(t, host.RESTConfig(), owner)
	s.eventually(func(g gomega.Gomega) {
		g.Expect(s.constraints("TestNeedsLabel")).To(gomega.ConsistOf("policy-cost", "policy-team"))
	})
	for _, one := range []client.Object{p, o, second} {
		s.says(one, kleffv1.ConditionPolicyReady, "True/Applied")
	}
	s.says(o, kleffv1.ConditionTenantReady, "True/Ready")
	u := schemaKind{"constraints.gatekeeper.sh/v1beta1", "TestNeedsLabel", "policy-team"}.in("")
	s.read(u)
	want := map[string]any{
		"enforcementAction": "deny", "parameters": map[string]any{"label": "team"},
		"match": map[string]any{
			"kinds":             []any{map[string]any{"apiGroups": []any{""}, "kinds": []any{"Pod"}}},
			"namespaceSelector": map[string]any{"matchLabels": map[string]any{"kleff.io/tenant-plan": "policy"}},
			"scope":             "Namespaced",
		},
	}
	if diff := gocmp.Diff(want, u.Object["spec"]); diff != "" {
		t.Errorf("the constraint (-want +got):\n%s", diff)
	}

	// An entry that goes takes its constraint along, and so does the last one of its kind.
	s.replan("policy", `gatekeeper: {constraints: [{kind: TestNeedsLabel, name: policy-team, parameters: {label: squad}}]}`)
	s.eventually(func(g gomega.Gomega) {
		g.Expect(s.constraints("TestNeedsLabel")).To(gomega.ConsistOf("policy-team"))
		g.Expect(s.constraints("TestNeedsOwner")).To(gomega.BeEmpty())
		s.read(u)
		g.Expect(fmt.Sprint(u.Object["spec"])).To(gomega.ContainSubstring("squad"))
	})
	// An existing object of that name is not taken over.
	s.create(foreign)
	s.replan("policy", `gatekeeper: {constraints: [{kind: TestNeedsOwner, name: policy-owner}, {kind: TestNeedsLabel, name: policy-cost, parameters: {label: cost}}]}`)
	s.says(p, kleffv1.ConditionPolicyReady, "False/Error", `TestNeedsOwner "policy-owner"`, "did not create")
	s.says(o, kleffv1.ConditionPolicyReady, "False/Error", "policy-owner")
	s.says(o, kleffv1.ConditionTenantReady, "False/Error")
	s.eventually(func(g gomega.Gomega) { g.Expect(s.constraints("TestNeedsLabel")).To(gomega.ConsistOf("policy-cost")) })

	s.delete(p)
	s.says(p, kleffv1.ConditionReady, "False/InUse")
	s.delete(o)
	s.delete(second)
	s.gone(p, o, second)
	s.Expect(s.constraints("TestNeedsLabel")).To(gomega.BeEmpty())
	s.read(foreign)
	s.Expect(foreign.Object["spec"]).To(gomega.HaveKeyWithValue("enforcementAction", "dryrun"))
	s.uninstall(label)
	s.uninstall(owner)
}

// constraints are the names of those of a kind; nil while there is no such kind.
func (s *scene) constraints(kind string) (names []string) {
	s.t.Helper()
	s.eventually(func(g gomega.Gomega) {
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion("constraints.gatekeeper.sh/v1beta1")
		list.SetKind(kind + "List")
		err := kube.List(context.WithoutCancel(s.t.Context()), list)
		if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
			err = nil
		}
		g.Expect(err).NotTo(gomega.HaveOccurred())
		names = nil
		for _, u := range list.Items {
			names = append(names, u.GetName())
		}
	})
	return names
}
