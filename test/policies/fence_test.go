package policies_test

import (
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
)

// enforce is the label with the level of pod security.
const enforce = "pod-security.kubernetes.io/enforce"

// The operator's account may do everything by RBAC here, so that only the fence is in its way.
func TestTheOperatorStaysInCustomersNamespaces(t *testing.T) {
	label := func(o *corev1.Namespace) {
		o.Labels = map[string]string{kleffv1.LabelTenantUID: "uid-1", enforce: "baseline"}
	}
	enforcing := func(level string) func(*corev1.Namespace) {
		return func(o *corev1.Namespace) { label(o); o.Labels[enforce] = level }
	}
	given := func(o *corev1.Namespace) { o.Annotations = map[string]string{kleffv1.AnnotationAdoptBy: "acme"} }
	createNamespace(t, "fence-customer", label)
	createNamespace(t, "fence-given", given)
	createNamespace(t, "fence-other")
	createNamespace(t, "kube-customer", label) // a reserved name
	createNamespace(t, "unlisted-customer", label)
	createNamespace(t, "fence-lax", enforcing("privileged"))
	createNamespace(t, "unlisted-given", given)
	operator := as(t, chart.User())

	const notOurs, reserved, unlisted = "belongs to no Tenant", "is reserved", "tenancy.namespaces lists the names"
	const lax = "enforce less pod security than baseline. The chart value tenancy.minPodSecurity"
	for name, c := range map[string]struct {
		do   func() error
		says string
	}{
		"create a customer's namespace":            {doCreate(t, operator, namespace("fence-new", label)), ""},
		"create one that is stricter":              {doCreate(t, operator, namespace("fence-new", enforcing("restricted"))), ""},
		"create a privileged one":                  {doCreate(t, operator, namespace("fence-new", enforcing("privileged"))), lax},
		"create one with no level":                 {doCreate(t, operator, namespace("fence-new", label, func(o *corev1.Namespace) { delete(o.Labels, enforce) })), lax},
		"relax a customer's namespace":             {doPatch(t, operator, namespace("fence-customer"), `{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"privileged"}}}`), lax},
		"take the level from it":                   {doPatch(t, operator, namespace("fence-customer"), `{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":null}}}`), lax},
		"relax it and give it back":                {doPatch(t, operator, namespace("fence-customer"), `{"metadata":{"labels":{"kleff.io/tenant-uid":null,"pod-security.kubernetes.io/enforce":"privileged"}}}`), lax},
		"change a lax one and leave it lax":        {doPatch(t, operator, namespace("fence-lax"), `{"metadata":{"labels":{"a":"b"}}}`), lax},
		"change a lax one and make it strict":      {doPatch(t, operator, namespace("fence-lax"), `{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"baseline"}}}`), ""},
		"give a lax one back":                      {doPatch(t, operator, namespace("fence-lax"), `{"metadata":{"labels":{"kleff.io/tenant-uid":null}}}`), ""},
		"delete a lax one":                         {doDelete(t, operator, namespace("fence-lax")), ""},
		"adopt one without a level":                {doPatch(t, operator, namespace("fence-given"), `{"metadata":{"labels":{"kleff.io/tenant-uid":"uid-1"}}}`), lax},
		"create another namespace":                 {doCreate(t, operator, namespace("fence-new")), "only with the label kleff.io/tenant-uid"},
		"create a namespace that is given":         {doCreate(t, operator, namespace("fence-new", given)), "only with the label kleff.io/tenant-uid"},
		"create one with a reserved prefix":        {doCreate(t, operator, namespace("kube-new", label)), "the namespace kube-new " + reserved},
		"create one with a reserved name":          {doCreate(t, operator, namespace("istio-system", label)), "tenancy.reservedNamespaces"},
		"change a customer's namespace":            {doPatch(t, operator, namespace("fence-customer"), `{"metadata":{"labels":{"a":"b"}}}`), ""},
		"release a customer's namespace":           {doPatch(t, operator, namespace("fence-customer"), `{"metadata":{"labels":{"kleff.io/tenant-uid":null}}}`), ""},
		"change another namespace":                 {doPatch(t, operator, namespace("fence-other"), `{"metadata":{"labels":{"a":"b"}}}`), "the namespace fence-other " + notOurs},
		"take a namespace":                         {doPatch(t, operator, namespace("fence-other"), `{"metadata":{"labels":{"kleff.io/tenant-uid":"uid-1"}}}`), "annotate it with kleff.io/adopt-by=NAME"},
		"take a namespace, and say it is given":    {doPatch(t, operator, namespace("fence-other"), `{"metadata":{"labels":{"kleff.io/tenant-uid":"uid-1"},"annotations":{"kleff.io/adopt-by":"acme"}}}`), notOurs},
		"adopt a namespace that is given":          {doPatch(t, operator, namespace("fence-given"), `{"metadata":{"labels":{"kleff.io/tenant-uid":"uid-1","pod-security.kubernetes.io/enforce":"baseline"}}}`), ""},
		"change what is given without adopting it": {doPatch(t, operator, namespace("fence-given"), `{"metadata":{"labels":{"a":"b"}}}`), notOurs},
		"change a reserved namespace":              {doPatch(t, operator, namespace("kube-customer"), `{"metadata":{"labels":{"a":"b"}}}`), reserved},
		"relax pod security of kube-system":        {doPatch(t, operator, namespace("kube-system"), `{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"privileged"}}}`), reserved},
		"change the operator's own namespace":      {doPatch(t, operator, namespace(chart.Namespace), `{"metadata":{"labels":{"a":"b"}}}`), reserved},
		"delete a customer's namespace":            {doDelete(t, operator, namespace("fence-customer")), ""},
		"delete another namespace":                 {doDelete(t, operator, namespace("fence-other")), notOurs},
		"delete one that is given":                 {doDelete(t, operator, namespace("fence-given")), notOurs},
		"delete a reserved namespace":              {doDelete(t, operator, namespace("kube-customer")), reserved},
		"create one that is not listed":            {doCreate(t, operator, namespace("unlisted-new", label)), unlisted},
		"adopt one that is not listed":             {doPatch(t, operator, namespace("unlisted-given"), `{"metadata":{"labels":{"kleff.io/tenant-uid":"uid-1","pod-security.kubernetes.io/enforce":"baseline"}}}`), unlisted},
		"change one that is no longer listed":      {doPatch(t, operator, namespace("unlisted-customer"), `{"metadata":{"labels":{"a":"b"}}}`), ""},
		"release one that is no longer listed":     {doPatch(t, operator, namespace("unlisted-customer"), `{"metadata":{"labels":{"kleff.io/tenant-uid":null}}}`), ""},
		"delete one that is no longer listed":      {doDelete(t, operator, namespace("unlisted-customer")), ""},
		"finalize another namespace": {func() error {
			return operator.SubResource("finalize").Update(t.Context(), namespace("fence-other"), client.DryRunAll)
		}, notOurs},
	} {
		judge(t, name, c.do, c.says)
	}
}

func TestTheOperatorWritesInCustomersNamespacesOnly(t *testing.T) {
	for name, adjust := range map[string]func(*corev1.Namespace){
		"fenced-customer": func(o *corev1.Namespace) { o.Labels = map[string]string{kleffv1.LabelTenantUID: "uid-1"} },
		"fenced-given":    func(o *corev1.Namespace) { o.Annotations = map[string]string{kleffv1.AnnotationAdoptBy: "acme"} },
		"fenced-other":    func(*corev1.Namespace) {},
		"kube-fenced":     func(o *corev1.Namespace) { o.Labels = map[string]string{kleffv1.LabelTenantUID: "uid-1"} },
	} {
		createNamespace(t, name, adjust)
		for _, o := range children(name, "there") {
			create(t, o)
		}
	}
	operator := as(t, chart.User())
	for place, says := range map[string]string{
		"fenced-customer": "", "fenced-given": "", "fenced-other": "the namespace fenced-other belongs to no Tenant", "kube-fenced": "the namespace kube-fenced is reserved",
	} {
		for kind, o := range children(place, "new") {
			judge(t, "create a "+kind+" in "+place, doCreate(t, operator, o), says)
		}
		for kind, o := range children(place, "there") {
			judge(t, "change a "+kind+" in "+place, doPatch(t, operator, o, `{"metadata":{"labels":{"a":"b"}}}`), says)
			judge(t, "delete a "+kind+" in "+place, doDelete(t, operator, o), says)
		}
	}

	for name, c := range map[string]struct {
		change func(*rbacv1.RoleBinding)
		says   string
	}{
		"a role that plans may give":            {func(*rbacv1.RoleBinding) {}, ""},
		"the other role that plans may give":    {func(b *rbacv1.RoleBinding) { b.RoleRef.Name = "view" }, ""},
		"a ClusterRole that plans may not give": {func(b *rbacv1.RoleBinding) { b.RoleRef.Name = "cluster-admin" }, "may not bind the ClusterRole cluster-admin: add it to the chart value tenancy.ownerClusterRoles"},
		"a Role with the name of one":           {func(b *rbacv1.RoleBinding) { b.RoleRef.Kind = "Role" }, "may not bind the Role edit"},
		"another name":                          {func(b *rbacv1.RoleBinding) { b.Name = "owner" }, "names begin with kleff-owner-, and not owner"},
		"a group": {func(b *rbacv1.RoleBinding) {
			b.Subjects[0].Kind, b.Subjects[0].Name = rbacv1.GroupKind, "system:authenticated"
		}, "only to users"},
		"a service account": {func(b *rbacv1.RoleBinding) {
			b.Subjects[0] = rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: chart.Namespace, Name: "x"}
		}, "only to users"},
		"a service account that is written as a user": {func(b *rbacv1.RoleBinding) { b.Subjects[0].Name = "system:serviceaccount:" + chart.Namespace + ":x" }, "names that begin with system:"},
	} {
		b := binding("fenced-customer", "new")
		c.change(b)
		judge(t, "bind "+name, doCreate(t, operator, b), c.says)
	}
	b := binding("fenced-customer", "new")
	b.RoleRef.Name, b.Name = "cluster-admin", "any"
	if err := kube.Create(t.Context(), b, client.DryRunAll); err != nil {
		t.Errorf("the administrator is not fenced, but: %v", err)
	}
}

// The operator brings its authority into the configuration of its webhook, which decides what is sent to whom, and changes
// nothing else of it.
func TestTheOperatorChangesNothingButTheAuthorityOfItsWebhook(t *testing.T) {
	operator, webhooks := as(t, chart.User()), func(o *admissionregistrationv1.ValidatingWebhookConfiguration) *admissionregistrationv1.ValidatingWebhook {
		return &o.Webhooks[0]
	}
	read := func() *admissionregistrationv1.ValidatingWebhookConfiguration {
		var o admissionregistrationv1.ValidatingWebhookConfiguration
		if err := kube.Get(t.Context(), client.ObjectKey{Name: chart.Release}, &o); err != nil {
			t.Fatal(err)
		}
		return &o
	}
	const only = "may change only the authority of the webhooks"
	for name, c := range map[string]struct {
		change func(*admissionregistrationv1.ValidatingWebhookConfiguration)
		says   string
	}{
		"the authority": {func(o *admissionregistrationv1.ValidatingWebhookConfiguration) {
			webhooks(o).ClientConfig.CABundle = authority(t)
		}, ""},
		"what is sent": {func(o *admissionregistrationv1.ValidatingWebhookConfiguration) {
			webhooks(o).Rules[0].Resources = []string{"*/*"}
		}, only},
		"where it is sent": {func(o *admissionregistrationv1.ValidatingWebhookConfiguration) {
			webhooks(o).ClientConfig.Service.Name = "other"
		}, only},
		"to whom outside": {func(o *admissionregistrationv1.ValidatingWebhookConfiguration) {
			webhooks(o).ClientConfig.Service, webhooks(o).ClientConfig.URL = nil, new("https://example.com")
		}, only},
		"what a failure means": {func(o *admissionregistrationv1.ValidatingWebhookConfiguration) {
			webhooks(o).FailurePolicy = new(admissionregistrationv1.Fail)
		}, only},
		"how long is waited": {func(o *admissionregistrationv1.ValidatingWebhookConfiguration) {
			webhooks(o).TimeoutSeconds = new(int32(30))
		}, only},
		"which namespaces": {func(o *admissionregistrationv1.ValidatingWebhookConfiguration) { webhooks(o).NamespaceSelector = nil }, only},
		"which objects": {func(o *admissionregistrationv1.ValidatingWebhookConfiguration) {
			webhooks(o).ObjectSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
		}, only},
		"the conditions": {func(o *admissionregistrationv1.ValidatingWebhookConfiguration) { webhooks(o).MatchConditions = nil }, only},
		"what equal means": {func(o *admissionregistrationv1.ValidatingWebhookConfiguration) {
			webhooks(o).MatchPolicy = new(admissionregistrationv1.Exact)
		}, only},
		"whether it has effects": {func(o *admissionregistrationv1.ValidatingWebhookConfiguration) {
			webhooks(o).SideEffects = new(admissionregistrationv1.SideEffectClassNoneOnDryRun)
		}, only},
		"another webhook": {func(o *admissionregistrationv1.ValidatingWebhookConfiguration) {
			another := *webhooks(o).DeepCopy()
			another.Name = "more.example.com"
			o.Webhooks = append(o.Webhooks, another)
		}, only},
		"labels": {func(o *admissionregistrationv1.ValidatingWebhookConfiguration) { o.Labels["a"] = "b" }, only},
		"the authority and a rule": {func(o *admissionregistrationv1.ValidatingWebhookConfiguration) {
			webhooks(o).ClientConfig.CABundle, webhooks(o).Rules[0].Resources = authority(t), []string{"*"}
		}, only},
	} {
		judge(t, "change "+name, func() error {
			o := read()
			c.change(o)
			return operator.Update(t.Context(), o, client.DryRunAll)
		}, c.says)
	}
	judge(t, "delete it", doDelete(t, operator, read()), "may not create or delete")
	more := read()
	more.ObjectMeta = metav1.ObjectMeta{Name: "more"}
	judge(t, "create another", doCreate(t, operator, more), "may not create or delete")
}

// authority is a certificate that the API server takes for one.
func authority(t *testing.T) []byte {
	t.Helper()
	if ca := cluster.RESTConfig().CAData; len(ca) > 0 {
		return ca
	}
	t.Fatal("the control plane has no authority")
	return nil
}

// judge fails unless the request is refused with that text, or allowed where there is none.
func judge(t *testing.T, name string, do func() error, says string) {
	t.Helper()
	if says == "" {
		if err := do(); err != nil {
			t.Errorf("%s: %v, want that it is allowed", name, err)
		}
		return
	}
	eventually(t, name, func() error { return refused(do(), says) })
}

// Whatever is done here is a dry run: policies judge it, and nothing is stored.
func doCreate(t *testing.T, c client.Client, o client.Object) func() error {
	t.Helper()
	return func() error { return c.Create(t.Context(), o.DeepCopyObject().(client.Object), client.DryRunAll) }
}

func doPatch(t *testing.T, c client.Client, o client.Object, patch string) func() error {
	t.Helper()
	return func() error {
		return c.Patch(t.Context(), o.DeepCopyObject().(client.Object), client.RawPatch("application/merge-patch+json", []byte(patch)), client.DryRunAll)
	}
}

func doDelete(t *testing.T, c client.Client, o client.Object) func() error {
	t.Helper()
	return func() error { return c.Delete(t.Context(), o, client.DryRunAll) }
}

func namespace(name string, adjust ...func(*corev1.Namespace)) *corev1.Namespace {
	o := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, a := range adjust {
		a(o)
	}
	return o
}

// children are one of each kind that the operator keeps in customers' namespaces, without those of Istio, which are not
// installed.
func children(namespace, name string) map[string]client.Object {
	meta := metav1.ObjectMeta{Namespace: namespace, Name: "kleff-" + name}
	return map[string]client.Object{
		"ResourceQuota": &corev1.ResourceQuota{ObjectMeta: meta},
		"LimitRange":    &corev1.LimitRange{ObjectMeta: meta},
		"NetworkPolicy": &networkingv1.NetworkPolicy{ObjectMeta: meta},
		"RoleBinding":   binding(namespace, name),
	}
}

func binding(namespace, name string) *rbacv1.RoleBinding {
	return &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "kleff-owner-" + name}, RoleRef: refTo("edit"), Subjects: subjects([]string{"acme"})}
}
