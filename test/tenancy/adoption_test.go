package tenancy_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

// The page about security has a policy to copy: it has to refuse what it says, and nothing that the operator does.
func TestAdoptionCanBeReserved(t *testing.T) {
	t.Parallel()
	s := newScene(t, "reserved")
	const ns = "reserved-tenants"
	s.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns, Labels: map[string]string{"test": ns}}})
	s.grant(ns, "editor", "get", "create", "update", "patch")
	s.grant(ns, "platform", "get", "create", "update", "patch", "adopt")
	stored := edgeTenant(ns, "stored", v1alpha1.AdoptionPolicyIfUnowned, false)
	stored.Annotations = map[string]string{v1alpha1.AnnotationPaused: "true"}
	s.create(stored)
	s.policyOfThePage(ns)

	editor, platform := s.as("editor"), s.as("platform")
	s.eventually(func(g gomega.Gomega) { // the API server takes up a policy after a moment
		g.Expect(editor.Create(t.Context(), edgeTenant(ns, "probe", v1alpha1.AdoptionPolicyForce, false), client.DryRunAll)).
			To(gomega.MatchError(gomega.ContainSubstring("reserved to the platform team")))
	})
	annotate, widen := stored.DeepCopy(), stored.DeepCopy()
	annotate.Annotations["note"] = "kept"
	widen.Spec.Domains = append(widen.Spec.Domains, v1alpha1.TenantDomain{Domain: "more.example.com"})
	for name, c := range map[string]struct {
		err     error
		refused bool
	}{
		"adopting":                           {editor.Create(t.Context(), edgeTenant(ns, "adopting", v1alpha1.AdoptionPolicyIfUnowned, false), client.DryRunAll), true},
		"taking records over":                {editor.Create(t.Context(), edgeTenant(ns, "taking", "", true), client.DryRunAll), true},
		"neither":                            {editor.Create(t.Context(), edgeTenant(ns, "neither", "", false), client.DryRunAll), false},
		"adopting with the verb":             {platform.Create(t.Context(), edgeTenant(ns, "allowed", v1alpha1.AdoptionPolicyIfUnowned, true), client.DryRunAll), false},
		"metadata of one that adopts":        {editor.Patch(t.Context(), annotate, client.MergeFrom(stored), client.DryRunAll), false},
		"another spec of one that adopts":    {editor.Patch(t.Context(), widen, client.MergeFrom(stored), client.DryRunAll), true},
		"a ConnectionGroup that does not":    {editor.Create(t.Context(), connectionGroup(ns, ""), client.DryRunAll), false},
		"a ConnectionGroup that would adopt": {editor.Create(t.Context(), connectionGroup(ns, v1alpha1.AdoptionPolicyIfUnowned), client.DryRunAll), true},
	} {
		if refused := apierrors.IsForbidden(c.err) || apierrors.IsInvalid(c.err); refused != c.refused || c.err != nil && !refused {
			t.Errorf("%s: %v, want a refusal: %t", name, c.err, c.refused)
		}
	}
	s.delete(stored)
	s.gone(stored)
}

func edgeTenant(namespace, name string, adopts v1alpha1.AdoptionPolicy, takeover bool) *v1alpha1.DistributionTenant {
	o := &v1alpha1.DistributionTenant{ObjectMeta: in(namespace, name), Spec: v1alpha1.DistributionTenantSpec{
		DistributionID: "E2EXAMPLE1", Domains: []v1alpha1.TenantDomain{{Domain: name + ".example.com"}}, AdoptionPolicy: adopts,
	}}
	if takeover {
		o.Spec.DNS = &v1alpha1.DNS{Provider: v1alpha1.DNSProviderRoute53, Takeover: true}
	}
	return o
}

func connectionGroup(namespace string, adopts v1alpha1.AdoptionPolicy) *v1alpha1.ConnectionGroup {
	o := &v1alpha1.ConnectionGroup{ObjectMeta: in(namespace, "group")}
	o.Spec.AdoptionPolicy = adopts
	return o
}

// grant lets a user do so in the namespace.
func (s *scene) grant(namespace, user string, verbs ...string) {
	s.t.Helper()
	s.create(&rbacv1.Role{ObjectMeta: in(namespace, user), Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{v1alpha1.GroupName}, Resources: []string{"distributiontenants", "connectiongroups"}, Verbs: verbs,
	}}})
	s.create(&rbacv1.RoleBinding{
		ObjectMeta: in(namespace, user),
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	})
}

var adoptionBlock = regexp.MustCompile("(?s)<!-- tried: security/adoption -->\n```yaml\n(.*?)```\n")

// policyOfThePage applies what the page has, for one namespace: other tests adopt, too.
func (s *scene) policyOfThePage(namespace string) {
	s.t.Helper()
	page, err := os.ReadFile("../../docs/security-model.md")
	if err != nil {
		s.t.Fatal(err)
	}
	block := adoptionBlock.FindSubmatch(page)
	if block == nil {
		s.t.Fatal(`the page has no block "security/adoption"`)
	}
	for text := range strings.SplitSeq(string(block[1]), "\n---\n") {
		o := &unstructured.Unstructured{}
		if err := yaml.UnmarshalStrict([]byte(text), &o.Object); err != nil {
			s.t.Fatal(err)
		}
		if o.GetKind() == "ValidatingAdmissionPolicyBinding" {
			only := map[string]any{"matchLabels": map[string]any{"test": namespace}}
			if err := unstructured.SetNestedMap(o.Object, only, "spec", "matchResources", "namespaceSelector"); err != nil {
				s.t.Fatal(err)
			}
		}
		s.create(o)
	}
}
