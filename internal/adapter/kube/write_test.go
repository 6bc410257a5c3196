package kube_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
)

func TestCreateTakesNothing(t *testing.T) {
	r := start(t, plane.RESTConfig(), core...)
	namespace := newNamespace(t)
	create(t, &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "kleff-plan"}})
	for _, o := range []plan.Object{quota(namespace, "5"), object(plan.KindNamespace, "", namespace, nil)} {
		before := live(t, o.Kind, o.Namespace, o.Name)
		_, err := r.Create(t.Context(), o)
		refused(t, err, fault.Exists, "Create"+o.Kind.Kind, "the "+o.Ref()+" already exists")
		after := live(t, o.Kind, o.Namespace, o.Name)
		if diff := cmp.Diff(before.Object, after.Object); diff != "" {
			t.Errorf("the foreign %s was changed:\n%s", o.Ref(), diff)
		}
	}
}

func TestCreate(t *testing.T) {
	r := start(t, plane.RESTConfig(), core...)
	o := object(plan.KindNamespace, "", newNamespace(t)+"-new", nil)
	made := must(t)(r.Create(t.Context(), o))
	there := live(t, o.Kind, "", o.Name)
	if made.UID != string(there.GetUID()) || made.ResourceVersion == "1" || !made.UpToDate(o) {
		t.Errorf("got %v", made)
	}
	manager := there.GetManagedFields()[0]
	if manager.Manager != v1.FieldManager || manager.Operation != metav1.ManagedFieldsOperationApply {
		t.Errorf("applied as %s by %s", manager.Operation, manager.Manager)
	}
}

func TestApplyHasOurFieldsOnly(t *testing.T) {
	r := start(t, plane.RESTConfig(), core...)
	namespace := newNamespace(t)
	o := configMap(namespace, map[string]any{"a": "1", "b": "2"})
	o.Labels["ours"] = "now"
	made := must(t)(r.Create(t.Context(), o))

	there := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: o.Name}}
	patch(t, there, `{"metadata":{"labels":{"theirs":"kept","kleff.io/tenant":"stolen"}},"data":{"a":"9","c":"3"}}`)
	o.Labels = map[string]string{plan.LabelManagedBy: plan.ManagedBy, plan.LabelTenant: "acme", plan.LabelTenantUID: "uid-1"}
	o.Body = map[string]any{"data": map[string]any{"a": "1"}}
	applied := must(t)(r.Apply(t.Context(), o, made.UID))
	want := map[string]any{"a": "1", "c": "3"}
	if diff := cmp.Diff(want, applied.Body["data"]); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	o.Labels["theirs"] = "kept"
	if diff := cmp.Diff(o.Labels, applied.Labels); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}

	// Once more changes nothing, and costs no write.
	delete(o.Labels, "theirs")
	again := must(t)(r.Apply(t.Context(), o, made.UID))
	if again.ResourceVersion != applied.ResourceVersion {
		t.Error("an apply without a difference was stored")
	}
}

func TestApplyIsAboutOneObject(t *testing.T) {
	r := start(t, plane.RESTConfig(), core...)
	namespace := newNamespace(t)
	made := must(t)(r.Create(t.Context(), configMap(namespace, map[string]any{"a": "1"})))
	o := configMap(namespace, map[string]any{"a": "2"})
	_, err := r.Apply(t.Context(), o, "00000000-0000-0000-0000-000000000000")
	refused(t, err, fault.Conflict, "ConfigMap kleff-plan was changed or replaced")
	if got := live(t, o.Kind, namespace, o.Name); got.GetResourceVersion() != made.ResourceVersion {
		t.Error("another object was changed")
	}
	o.Name = "gone"
	_, err = r.Apply(t.Context(), o, made.UID)
	refused(t, err, fault.Conflict)
	if err := admin.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "gone"}, &corev1.ConfigMap{}); !apierrors.IsNotFound(err) {
		t.Errorf("what was gone is there again: %v", err)
	}
}

func TestApplyDropsLabels(t *testing.T) {
	r := start(t, plane.RESTConfig(), core...)
	namespace := newNamespace(t)
	patch(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, `{"metadata":{"labels":{"istio-injection":"enabled","team":"red"}}}`)
	o := object(plan.KindNamespace, "", namespace, nil)
	o.Labels["istio.io/rev"] = "canary"
	uid := string(live(t, o.Kind, "", namespace).GetUID())
	applied := must(t)(r.Apply(t.Context(), o, uid, "istio-injection", "istio.io/dataplane-mode"))
	there := live(t, o.Kind, "", namespace)
	want := map[string]string{
		plan.LabelManagedBy: plan.ManagedBy, plan.LabelTenant: "acme", plan.LabelTenantUID: "uid-1",
		"istio.io/rev": "canary", "team": "red", corev1.LabelMetadataName: namespace,
	}
	for what, got := range map[string]map[string]string{"the answer": applied.Labels, "the object": there.GetLabels()} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s, -want +got:\n%s", what, diff)
		}
	}
	again := must(t)(r.Apply(t.Context(), o, uid, "istio-injection", "istio.io/dataplane-mode"))
	if applied.ResourceVersion != there.GetResourceVersion() || again.ResourceVersion != there.GetResourceVersion() {
		t.Error("labels that are not there were taken off")
	}
}

func TestTryChangesNothing(t *testing.T) {
	r := start(t, plane.RESTConfig(), core...)
	namespace := newNamespace(t)
	made := must(t)(r.Create(t.Context(), configMap(namespace, map[string]any{"a": "1"})))
	o := configMap(namespace, map[string]any{"a": "2"})
	if err := r.Try(t.Context(), o); err != nil {
		t.Errorf("a change that is fine: %v", err)
	}
	if got := live(t, o.Kind, namespace, o.Name).GetResourceVersion(); got != made.ResourceVersion {
		t.Error("it was changed")
	}
	o.Name = "another"
	if err := r.Try(t.Context(), o); err != nil {
		t.Errorf("a new one that is fine: %v", err)
	}
	if err := admin.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "another"}, &corev1.ConfigMap{}); !apierrors.IsNotFound(err) {
		t.Errorf("it was made: %v", err)
	}
	for what, test := range map[string]struct {
		spec map[string]any
		says string
	}{
		"a name that means nothing": {map[string]any{"hard": map[string]any{"pods and more": "6"}}, "spec.hard"},
		"a negative quantity":       {map[string]any{"hard": map[string]any{"pods": "-6"}}, "spec.hard[pods]: Invalid value"},
		"no quantity":               {map[string]any{"hard": map[string]any{"pods": "many"}}, "quantities must match"},
		"another type":              {map[string]any{"hard": "many"}, "hard"},
		"a field that is not there": {map[string]any{"soft": map[string]any{"pods": "6"}}, "soft"},
	} {
		t.Run(what, func(t *testing.T) {
			refused(t, r.Try(t.Context(), object(plan.KindResourceQuota, namespace, "kleff-plan", test.spec)), fault.Invalid, test.says)
		})
	}
}

// The API server refuses new webhooks that take no part in dry runs, but keeps those that it had before it did. Their
// answer about an object is not known before the write.
func TestTryWhereAWebhookTakesNoPart(t *testing.T) {
	for sentence, c := range map[string]struct {
		message string
		want    fault.Kind
	}{
		"a webhook that takes no part": {`admission webhook "old.example.com" does not support dry run`, fault.None},
		"any other bad request":        {"the object is not valid JSON", fault.Invalid},
	} {
		config := rest.CopyConfig(plane.RESTConfig())
		config.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return roundTripper(func(r *http.Request) (*http.Response, error) {
				if r.URL.Query().Get("dryRun") == "" {
					return next.RoundTrip(r)
				}
				status := apierrors.NewBadRequest(c.message).ErrStatus
				status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
				w := httptest.NewRecorder()
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusBadRequest)
				err := json.NewEncoder(w).Encode(status)
				return w.Result(), err
			})
		})
		r := start(t, config, core...)
		if err := r.Try(t.Context(), configMap(newNamespace(t), map[string]any{"a": "1"})); fault.KindOf(err) != c.want {
			t.Errorf("%s: got %v, want the kind %s", sentence, err, c.want)
		}
	}
}

func TestDelete(t *testing.T) {
	r := start(t, plane.RESTConfig(), core...)
	namespace := newNamespace(t)
	first := must(t)(r.Create(t.Context(), quota(namespace, "5")))
	if err := r.Delete(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	if err := r.Delete(t.Context(), first); err != nil {
		t.Errorf("deleting what has gone: %v", err)
	}
	second := must(t)(r.Create(t.Context(), quota(namespace, "5")))
	refused(t, r.Delete(t.Context(), first), fault.Conflict)
	if got := live(t, second.Kind, namespace, second.Name); string(got.GetUID()) != second.UID || got.GetDeletionTimestamp() != nil {
		t.Error("another object of that name was deleted")
	}
	noKind := plan.Live{Object: object(plan.ConstraintKind("NeverThere"), "", "basic", nil), UID: "uid"}
	if err := r.Delete(t.Context(), noKind); err != nil {
		t.Errorf("deleting what has no kind any more: %v", err)
	}
}

func TestRefusals(t *testing.T) {
	r := start(t, plane.RESTConfig(), core...)
	policy := func(namespace string) plan.Object {
		return object(plan.KindNetworkPolicy, namespace, "kleff-isolation", map[string]any{"podSelector": map[string]any{}})
	}

	t.Run("a quota that is used up", func(t *testing.T) {
		namespace := newNamespace(t)
		full := quota(namespace, "5")
		full.Body["spec"] = map[string]any{"hard": map[string]any{"count/networkpolicies.networking.k8s.io": "0"}}
		must(t)(r.Create(t.Context(), full))
		var err error
		NewWithT(t).Eventually(func() fault.Kind {
			// The API server learns of a quota a moment later.
			_, err = r.Create(t.Context(), policy(namespace))
			_ = admin.DeleteAllOf(t.Context(), &networkingv1.NetworkPolicy{}, client.InNamespace(namespace))
			return fault.KindOf(err)
		}, eventually).Should(Equal(fault.Quota))
		refused(t, err, fault.Quota, "kleff-plan")
	})

	t.Run("a namespace that is not there", func(t *testing.T) {
		_, err := r.Create(t.Context(), policy("not-there"))
		refused(t, err, fault.NotFound, `namespaces "not-there" not found`)
		if got := fault.CodeOf(err); got != "NotFound" {
			t.Errorf("the code is %s", got)
		}
	})

	t.Run("a namespace that is being deleted", func(t *testing.T) {
		namespace := newNamespace(t)
		held := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "held", Finalizers: []string{"example.com/hold"}}}
		create(t, held)
		if err := admin.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
			t.Fatal(err)
		}
		_, err := r.Create(t.Context(), policy(namespace))
		refused(t, err, fault.Conflict, "the namespace "+namespace+" is being deleted")
		patch(t, held, `{"metadata":{"finalizers":null}}`)
	})

	t.Run("a policy of the cluster", func(t *testing.T) {
		namespace := newNamespace(t)
		denyAll(t, namespace, "no policies here, ask the platform team")
		var err error
		NewWithT(t).Eventually(func() error {
			err = r.Try(t.Context(), policy(namespace))
			return err
		}, eventually).Should(HaveOccurred(), "the policy is in force")
		refused(t, err, fault.Denied, "no policies here, ask the platform team")
	})

	t.Run("an invalid object", func(t *testing.T) {
		o := policy(newNamespace(t))
		o.Body["spec"] = map[string]any{"podSelector": map[string]any{}, "policyTypes": []any{"Sideways"}}
		_, err := r.Create(t.Context(), o)
		refused(t, err, fault.Invalid, `spec.policyTypes[0]: Unsupported value: "Sideways"`)
	})
}

// denyAll refuses network policies in a namespace.
func denyAll(t *testing.T, namespace, message string) {
	t.Helper()
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}}
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{
				RuleWithOperations: admissionregistrationv1.RuleWithOperations{
					Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.OperationAll},
					Rule:       admissionregistrationv1.Rule{APIGroups: []string{"networking.k8s.io"}, APIVersions: []string{"*"}, Resources: []string{"networkpolicies"}},
				},
			}}},
			Validations: []admissionregistrationv1.Validation{{Expression: "false", Message: message}},
		},
	}
	create(t, policy)
	create(t, &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: namespace, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
			MatchResources: &admissionregistrationv1.MatchResources{NamespaceSelector: selector},
		},
	})
}

func TestBindingARoleThatOneMayNot(t *testing.T) {
	config, err := plane.AddUser("binder")
	if err != nil {
		t.Fatal(err)
	}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{GenerateName: "binder-"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{rbacv1.GroupName}, Resources: []string{"rolebindings"}, Verbs: []string{"*"}},
		{APIGroups: []string{rbacv1.GroupName}, Resources: []string{"clusterroles"}, ResourceNames: []string{"view"}, Verbs: []string{"bind"}},
	}}
	create(t, role)
	create(t, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "binder-"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "binder"}},
	})
	r := start(t, config, core...).ready(t, plan.KindRoleBinding)
	namespace := newNamespace(t)
	binding := func(role string) plan.Object {
		o := object(plan.KindRoleBinding, namespace, "kleff-owner", nil)
		o.Body = map[string]any{
			"roleRef":  map[string]any{"apiGroup": rbacv1.GroupName, "kind": "ClusterRole", "name": role},
			"subjects": []any{map[string]any{"apiGroup": rbacv1.GroupName, "kind": "User", "name": "user-12345"}},
		}
		return o
	}
	for role, says := range map[string]string{"cluster-admin": "not allowed to bind the ClusterRole cluster-admin", "not-there": "there is no such role"} {
		_, err := r.Create(t.Context(), binding(role))
		for _, err := range []error{err, r.Try(t.Context(), binding(role))} {
			refused(t, err, fault.Denied, says, "chart value tenancy.ownerClusterRoles")
			if code := fault.CodeOf(err); code != plan.CodeMayNotBind {
				t.Errorf("binding %s: code %s", role, code)
			}
		}
	}
	if err := r.Try(t.Context(), binding("view")); err != nil {
		t.Errorf("trying to bind a role that one may: %v", err)
	}
	must(t)(r.Create(t.Context(), binding("view")))
	_, err = r.Create(t.Context(), quota(namespace, "5"))
	refused(t, err, fault.Denied, `cannot patch resource "resourcequotas"`)
}

// The next pass comes before the watch has told of this one's writes.
func TestOwnWritesAreSeenAtOnce(t *testing.T) {
	r := start(t, plane.RESTConfig(), core...).ready(t, core...)
	namespace := newNamespace(t)
	r.wire.hold("resourcequotas")

	seen := func(want plan.Live) {
		t.Helper()
		found, err := r.Find(t.Context(), want.Kind, namespace, want.Name)
		if err != nil || found == nil {
			t.Fatalf("found %v, %v", found, err)
		}
		if diff := cmp.Diff(want, *found); diff != "" {
			t.Errorf("-want +found:\n%s", diff)
		}
		list, err := r.List(t.Context(), want.Kind, namespace)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]plan.Live{want}, list); diff != "" {
			t.Errorf("-want +listed:\n%s", diff)
		}
		if list, err := r.List(t.Context(), want.Kind, "default"); len(list) > 0 || err != nil {
			t.Errorf("another namespace has %v, %v", list, err)
		}
	}
	made := must(t)(r.Create(t.Context(), quota(namespace, "5")))
	seen(made)
	applied := must(t)(r.Apply(t.Context(), quota(namespace, "6"), made.UID))
	seen(applied)
	if told := r.told(made.Kind, namespace, "kleff-plan"); len(told) > 0 {
		t.Fatalf("the watch has told of it (%v), this test proves nothing", told)
	}

	// Another client deletes it, which is known when the watch is there again.
	if err := admin.Delete(t.Context(), &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "kleff-plan"}}); err != nil {
		t.Fatal(err)
	}
	seen(applied)
	r.wire.release()
	r.Eventually(func() (*plan.Live, error) { return r.Find(t.Context(), made.Kind, namespace, made.Name) }, eventually).Should(BeNil())
}
