package webhook_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"
	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/advice"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/install"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/webhook"
)

// soon is how long the webhook may take for many requests at once: 1.5 s for each, and what a slow machine adds.
const soon = 5 * time.Second

func (r *rig) says(parts ...string) {
	r.t.Helper()
	said := r.warnings.take()
	for _, p := range parts {
		if !strings.Contains(said, p) {
			r.t.Errorf("the warnings do not say %q: %q", p, said)
		}
	}
	if len(parts) == 0 && said != "" {
		r.t.Errorf("there are warnings: %q", said)
	}
}

// The API server hands on what it hears within two seconds, and nothing later.
func TestADomainThatLeadsElsewhereIsAnsweredWithAWarning(t *testing.T) {
	t.Parallel()
	r := start(t, webhook.Options{DNS: resolve(t, "shop.example.com. CNAME x.example.net.", "x.example.net. A 192.0.2.1")})
	r.create(r.tenant("shop", "shop.example.com"))
	r.says("The domain points to x.example.net. Replace that with the record shop.example.com CNAME d111111abcdef8.cloudfront.net")
}

// A replica that ends has no connection on which the next request may already be on its way.
func TestEachAnswerEndsItsConnection(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(webhook.Serve(webhook.New(webhook.Options{Scheme: scheme(t)})))
	defer server.Close()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	response, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		t.Fatal(err)
	}
	if !response.Close {
		t.Error("the connection is kept")
	}
}

func TestWithoutTheWebhookEverythingElseWorks(t *testing.T) {
	t.Parallel()
	r := start(t, webhook.Options{DNS: resolve(t, "shop.example.com. A 192.0.2.1"), Deny: []advice.Check{advice.DNS}})
	if err := r.kube.Create(t.Context(), r.tenant("shop", "shop.example.com")); !apierrors.IsForbidden(err) {
		t.Fatalf("with the webhook: %v, want a refusal", err)
	}
	r.kill()
	o := r.tenant("shop", "shop.example.com")
	if err := r.kube.Create(t.Context(), o); err != nil {
		t.Fatalf("without the webhook: %v", err)
	}
	before := o.DeepCopy()
	o.Spec.Domains = append(o.Spec.Domains, v1alpha1.TenantDomain{Domain: "second.example.com"})
	if err := r.kube.Patch(t.Context(), o, client.MergeFrom(before)); err != nil {
		t.Errorf("updating without the webhook: %v", err)
	}
	if err := r.kube.Delete(t.Context(), o); err != nil {
		t.Errorf("deleting without the webhook: %v", err)
	}
	r.says()
}

// The API server asks about changes of spec only, and not about the operator's own.
func TestWhatTheAPIServerAsks(t *testing.T) {
	t.Parallel()
	r := start(t, webhook.Options{})
	o := r.tenant("shop")
	r.create(o)
	asked := func() int {
		return r.counted.of(string(webhook.Silent)) + r.counted.of(string(webhook.Warned)) + r.counted.of(string(webhook.Skipped))
	}
	before := asked()
	change := func(what string, want int, edit func(), write func(from client.Patch) error) {
		t.Helper()
		from := client.MergeFrom(o.DeepCopy())
		edit()
		if err := write(from); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		// The API server asks again where its cache was a version behind.
		if got := asked() - before; min(got, 1) != want {
			t.Errorf("%s: the webhook was asked %d times, want %d", what, got, want)
		}
		before = asked()
	}
	patch := func(from client.Patch) error { return r.kube.Patch(t.Context(), o, from) }
	change("labels", 0, func() { o.Labels = map[string]string{"team": "shop"} }, patch)
	change("the finalizer", 0, func() { o.Finalizers = []string{"example.com/wait"} }, patch)
	change("status", 0, func() { o.Status.ID = "dt_1" }, func(from client.Patch) error { return r.kube.Status().Patch(t.Context(), o, from) })
	tag := func(value string) func() {
		return func() { o.Spec.Tags = []v1alpha1.Tag{{Key: "team", Value: value}} }
	}
	change("spec", 1, tag("shop"), patch)
	config := rest.CopyConfig(kubeConfig)
	config.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:" + install.Namespace + ":" + install.Release, Groups: []string{"system:masters"}}
	operator, err := client.New(config, client.Options{Scheme: scheme(t)})
	if err != nil {
		t.Fatal(err)
	}
	change("spec, by the operator", 0, tag("bank"), func(from client.Patch) error { return operator.Patch(t.Context(), o, from) })
	change("a deletion", 0, func() {}, func(client.Patch) error { return r.kube.Delete(t.Context(), o) })
	if err := r.kube.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
		t.Fatal(err)
	}
	// The cache has to have the deletion: this waits until it does.
	seen := &client.GetOptions{Raw: &metav1.GetOptions{ResourceVersion: o.ResourceVersion}}
	if err := r.kube.Get(t.Context(), client.ObjectKeyFromObject(o), o, seen); err != nil {
		t.Fatal(err)
	}
	change("spec of an object that is being deleted", 0, tag("shop"), patch)
	change("the last finalizer", 0, func() { o.Finalizers = nil }, patch)
}

func TestADomainOfAnotherObject(t *testing.T) {
	t.Parallel()
	r, other := start(t, webhook.Options{}), start(t, webhook.Options{})
	first := r.tenant("first", r.namespace+".example.com")
	r.create(first)
	// The caches are a moment behind.
	r.eventually("a second object of the namespace is warned", func() bool {
		_ = r.kube.Create(t.Context(), r.tenant("second", r.namespace+".example.com"), client.DryRunAll)
		return strings.Contains(r.warnings.take(), `the DistributionTenant "first" in this namespace`)
	})
	other.eventually("one of another namespace does not learn the name", func() bool {
		_ = other.kube.Create(t.Context(), other.tenant("second", r.namespace+".example.com"), client.DryRunAll)
		said := other.warnings.take()
		if strings.Contains(said, "first") || strings.Contains(said, "DistributionTenant "+r.namespace) {
			t.Fatalf("it does: %s", said)
		}
		return strings.Contains(said, "a DistributionTenant in another namespace")
	})
	// The object itself has it, too.
	r.warnings.take()
	before := first.DeepCopy()
	first.Spec.Tags = []v1alpha1.Tag{{Key: "team", Value: "shop"}}
	if err := r.kube.Patch(t.Context(), first, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	r.says()
	// Who has not proven the domain has nothing of it.
	first.Status.Domains = []v1alpha1.DomainStatus{{Domain: r.namespace + ".example.com", State: v1alpha1.DomainAwaitingProof, Since: metav1.Now(), Records: []v1alpha1.DomainRecord{{
		Purpose: v1alpha1.PurposeProof, Type: "TXT", Name: "name", Value: "value", PublishedBy: v1alpha1.PartyCustomer, State: v1alpha1.RecordMissing,
	}}}}
	if err := r.kube.Status().Update(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	r.eventually("a domain that is not proven is no one's", func() bool {
		_ = r.kube.Create(t.Context(), r.tenant("second", r.namespace+".example.com"), client.DryRunAll)
		return r.warnings.take() == ""
	})
}

// A domain that is handed over is not taken by the one who still has it, for the namespace that gets it.
func TestADomainThatIsHandedOver(t *testing.T) {
	t.Parallel()
	const domain = "hand.example.com"
	tenant := func(namespace, name string) *v1alpha1.DistributionTenant {
		o := &v1alpha1.DistributionTenant{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
		o.Spec.DistributionID, o.Spec.Domains = "E1", []v1alpha1.TenantDomain{{Domain: domain}}
		return o
	}
	claimed := func(change func(*v1alpha1.DomainClaim)) *v1alpha1.DomainClaim {
		c := &v1alpha1.DomainClaim{ObjectMeta: metav1.ObjectMeta{Name: domain}, Spec: v1alpha1.DomainClaimSpec{Domain: domain, Namespace: "team-b", HandOver: true}}
		change(c)
		return c
	}
	asIs := func(*v1alpha1.DomainClaim) {}
	named := func(namespace, name string) func(*v1alpha1.DomainClaim) {
		return func(c *v1alpha1.DomainClaim) {
			c.Spec.Namespace, c.Spec.TenantRef = namespace, &v1alpha1.DomainClaimTenantReference{Name: name}
		}
	}
	for name, c := range map[string]struct {
		claim     *v1alpha1.DomainClaim
		namespace string
		result    webhook.Result
	}{
		"to this namespace":                 {claimed(asIs), "team-b", webhook.Silent},
		"to this one, which has it already": {claimed(func(c *v1alpha1.DomainClaim) { c.Spec.Namespace = "team-a" }), "team-a", webhook.Refused},
		"to another one":                    {claimed(asIs), "team-c", webhook.Refused},
		"to this object":                    {claimed(named("team-b", "second")), "team-b", webhook.Silent},
		"to this one of the same namespace": {claimed(named("team-a", "second")), "team-a", webhook.Silent},
		"to another object":                 {claimed(named("team-b", "third")), "team-b", webhook.Refused},
		"to the one that has it":            {claimed(named("team-a", "first")), "team-a", webhook.Refused},
		"only reserved for this one":        {claimed(func(c *v1alpha1.DomainClaim) { c.Spec.HandOver = false }), "team-b", webhook.Refused},
		"without a claim":                   {nil, "team-b", webhook.Refused},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, count := scheme(t), &counted{count: map[string]int{}}
			b := fake.NewClientBuilder().WithScheme(s).WithObjects(tenant("team-a", "first")).
				WithIndex(&v1alpha1.DistributionTenant{}, "webhook.domain", func(client.Object) []string { return []string{domain} }).
				WithIndex(&v1alpha1.Distribution{}, "webhook.distribution", func(client.Object) []string { return nil })
			if c.claim != nil {
				b = b.WithObjects(c.claim)
			}
			cached := b.Build()
			handler := webhook.New(webhook.Options{
				Cache: cached, Claims: cached, Scheme: s, Observer: count, Deny: []advice.Check{advice.DomainTaken},
				Distribution: func(context.Context, string, string) (d distributiontenant.Distribution, known bool) { return d, false },
			})
			req := request(t, "someone", tenant(c.namespace, "second"), nil)
			req.Namespace = c.namespace
			answer := handler.Handle(t.Context(), req)
			if count.of(string(c.result)) != 1 {
				t.Errorf("the answer is %+v, want %s", answer.Result, c.result)
			}
		})
	}
}

// The refusals of several checks are listed one below the other, each beginning with its field.
func TestSeveralRefusalsAreApart(t *testing.T) {
	t.Parallel()
	s := scheme(t)
	handler := webhook.New(webhook.Options{
		Cache: fake.NewClientBuilder().WithScheme(s).
			WithIndex(&v1alpha1.Distribution{}, "webhook.distribution", func(client.Object) []string { return nil }).
			WithIndex(&v1alpha1.DistributionTenant{}, "webhook.domain", func(client.Object) []string { return nil }).Build(),
		Scheme: s, Observer: &counted{count: map[string]int{}}, Deny: []advice.Check{advice.Parameters},
		Distribution: func(_ context.Context, _, id string) (distributiontenant.Distribution, bool) {
			return distributiontenant.Distribution{ID: id, MultiTenant: true, Parameters: []distributiontenant.ParameterDefinition{{Name: "tier", Required: true}}}, true
		},
	})
	o := &v1alpha1.DistributionTenant{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
	o.Spec.DistributionID, o.Spec.Parameters = "E1", []v1alpha1.Parameter{{Name: "teir", Value: "gold"}}
	said := strings.Split(handler.Handle(t.Context(), request(t, "someone", o, nil)).Result.Message, "\n")
	if len(said) != 2 || !strings.HasPrefix(said[0], "spec.parameters must include tier") || !strings.HasPrefix(said[1], "spec.parameters includes teir") {
		t.Errorf("it is refused with %q", said)
	}
}

func TestTheDistribution(t *testing.T) {
	t.Parallel()
	known := map[string]distributiontenant.Distribution{
		"E1":       {ID: "E1", MultiTenant: true, Parameters: []distributiontenant.ParameterDefinition{{Name: "tier", Required: true}}},
		"EMISSING": {ID: "EMISSING", Missing: true},
	}
	r := start(t, webhook.Options{Distribution: func(_ context.Context, _, id string) (distributiontenant.Distribution, bool) {
		d, ok := known[id]
		return d, ok
	}})
	r.create(r.tenant("lacking"))
	r.says("spec.parameters must include tier, which distribution E1 requires.")

	undeclared := r.tenant("undeclared")
	undeclared.Spec.Parameters = []v1alpha1.Parameter{{Name: "tier", Value: "gold"}, {Name: "teir", Value: "gold"}}
	r.create(undeclared)
	r.says("spec.parameters includes teir, which distribution E1 does not declare. It declares: tier.")

	missing := r.tenant("missing")
	missing.Spec.DistributionID = "EMISSING"
	r.create(missing)
	r.says("spec.distributionId EMISSING: there is no such distribution")

	unread := r.tenant("unread")
	unread.Spec.DistributionID = "EUNREAD"
	r.create(unread)
	r.says()

	ref := r.tenant("ref")
	ref.Spec.DistributionID, ref.Spec.DistributionRef = "", &v1alpha1.ObjectReference{Name: "main"}
	r.create(ref)
	r.says("spec.distributionRef main: there is no such Distribution object in this namespace.")
}

// Two hundred objects at once, with a DNS server that never answers. No other test runs meanwhile, so that the
// goroutines are those of this one.
func TestMuchAtOnceIsAnsweredInTime(t *testing.T) {
	const requests = 200
	count := &counted{count: map[string]int{}}
	s := scheme(t)
	handler := webhook.New(webhook.Options{
		Cache: fake.NewClientBuilder().WithScheme(s).Build(), Scheme: s, Observer: count, DNS: ask(t, func(dns.ResponseWriter, *dns.Msg) {}),
		Distribution: func(context.Context, string, string) (d distributiontenant.Distribution, known bool) { return d, false },
		Endpoint:     func(context.Context, string, string) string { return "" },
	})
	before := runtime.NumGoroutine()
	began, most := time.Now(), 0
	var group sync.WaitGroup
	for range requests {
		group.Go(func() {
			if answer := handler.Handle(t.Context(), request(t, "someone", create(), nil)); !answer.Allowed {
				t.Errorf("refused: %v", answer.Result)
			}
		})
	}
	done := make(chan struct{})
	go func() { group.Wait(); close(done) }()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for running := true; running; {
		select {
		case <-done:
			running = false
		case <-tick.C:
			most = max(most, runtime.NumGoroutine()-before)
		}
	}
	if took := time.Since(began); took > soon {
		t.Errorf("it took %s", took)
	}
	if busy, failed := count.of(string(webhook.LookBusy)), count.of(string(webhook.LookFailed)); busy+failed != requests || failed > 16 || failed == 0 {
		t.Errorf("DNS was asked about %d objects, and not about %d", failed, busy)
	}
	// Each object has three domains, each with two questions that take two goroutines, and the packets of the server.
	if limit := requests + 16*3*6; most > limit {
		t.Errorf("%d goroutines, want at most %d", most, limit)
	}
}

func create(change ...func(*v1alpha1.DistributionTenant)) *v1alpha1.DistributionTenant {
	o := &v1alpha1.DistributionTenant{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "shop"}}
	o.Spec.DistributionID = "EMISSING"
	for _, d := range []string{"a.example.com", "b.example.com", "c.example.com", "d.example.com"} {
		o.Spec.Domains = append(o.Spec.Domains, v1alpha1.TenantDomain{Domain: d})
	}
	o.Spec.ManagedCertificateRequest = &v1alpha1.ManagedCertificateRequest{ValidationTokenHost: v1alpha1.ValidationTokenHostCloudFront}
	for _, c := range change {
		c(o)
	}
	return o
}

func request(t *testing.T, user string, now, before *v1alpha1.DistributionTenant) admission.Request {
	t.Helper()
	req := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		Operation: admissionv1.Create, Namespace: "team", UserInfo: authenticationv1.UserInfo{Username: user}, Object: k8sruntime.RawExtension{Raw: raw(t, now)},
	}}
	if before != nil {
		req.Operation, req.OldObject = admissionv1.Update, k8sruntime.RawExtension{Raw: raw(t, before)}
	}
	return req
}

func raw(t *testing.T, o *v1alpha1.DistributionTenant) []byte {
	t.Helper()
	o.SetGroupVersionKind(v1alpha1.SchemeGroupVersion.WithKind("DistributionTenant"))
	content, err := json.Marshal(o)
	if err != nil {
		t.Error(err)
	}
	return content
}

func TestWhatIsNotAskedAbout(t *testing.T) {
	t.Parallel()
	deleted := func(o *v1alpha1.DistributionTenant) { o.DeletionTimestamp = new(metav1.Now()) }
	labelled := func(o *v1alpha1.DistributionTenant) { o.Labels = map[string]string{"team": "shop"} }
	reported := func(o *v1alpha1.DistributionTenant) { o.Status.ID = "dt_1" }
	tagged := func(o *v1alpha1.DistributionTenant) { o.Spec.Tags = []v1alpha1.Tag{{Key: "team", Value: "shop"}} }
	for name, tt := range map[string]struct {
		user        string
		now, before *v1alpha1.DistributionTenant
		want        webhook.Result
	}{
		"a create is":                            {"someone", create(), nil, webhook.Warned},
		"a change of spec is":                    {"someone", create(tagged), create(), webhook.Warned},
		"a change of labels is not":              {"someone", create(labelled), create(), webhook.Skipped},
		"a change of status is not":              {"someone", create(reported), create(), webhook.Skipped},
		"an object that is being deleted is not": {"someone", create(deleted, tagged), create(deleted), webhook.Skipped},
		"what the operator does is not":          {"operator", create(), nil, webhook.Skipped},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			count := &counted{count: map[string]int{}}
			s := scheme(t)
			handler := webhook.New(webhook.Options{
				Cache: fake.NewClientBuilder().WithScheme(s).Build(), Scheme: s, Observer: count, Self: "operator",
				Distribution: func(_ context.Context, _, id string) (distributiontenant.Distribution, bool) {
					return distributiontenant.Distribution{ID: id, Missing: true}, true
				},
				Endpoint: func(context.Context, string, string) string { return "" },
			})
			if answer := handler.Handle(t.Context(), request(t, tt.user, tt.now, tt.before)); !answer.Allowed || count.of(string(tt.want)) != 1 {
				t.Errorf("allowed: %t, counted %v, want %s", answer.Allowed, count.count, tt.want)
			}
		})
	}
	s := scheme(t)
	broken := request(t, "someone", create(), nil)
	broken.Object.Raw = []byte("{")
	handler := webhook.New(webhook.Options{Cache: fake.NewClientBuilder().WithScheme(s).Build(), Scheme: s, Observer: &counted{count: map[string]int{}}})
	if answer := handler.Handle(t.Context(), broken); !answer.Allowed {
		t.Errorf("what can't be read is refused: %v", answer.Result)
	}
}
