package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/onboarding"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/controlplane"
)

// kube reaches the API server of this package. The tests play the operator.
var kube client.Client

func TestMain(m *testing.M) {
	os.Exit(controlplane.RunTests(m, controlplane.Options{}, func(cp *controlplane.ControlPlane) (err error) {
		log.SetLogger(logr.Discard())
		scheme := runtime.NewScheme()
		for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
			if err := add(scheme); err != nil {
				return err
			}
		}
		if kube, err = client.New(cp.RESTConfig(), client.Options{Scheme: scheme}); err != nil {
			return err
		}
		crds := filepath.Join("..", "..", "config", "crd")
		_, err = controlplane.InstallCRDs(cp.RESTConfig(), envtest.CRDInstallOptions{Paths: []string{crds}, ErrorIfPathMissing: true})
		return err
	}))
}

// newServer serves the page.
func newServer(t *testing.T) *httptest.Server {
	t.Helper()
	s := server{kube: kube, namespace: "default", distribution: "platform"}
	web := httptest.NewServer(s.handler())
	t.Cleanup(web.Close)
	return web
}

// operate writes what the operator says about a domain.
func operate(ctx context.Context, domain string, state v1alpha1.DomainState, records ...v1alpha1.DomainRecord) error {
	var t v1alpha1.DistributionTenant
	if err := kube.Get(ctx, client.ObjectKey{Namespace: "default", Name: objectName(domain)}, &t); err != nil {
		return err
	}
	t.Status.Domains = []v1alpha1.DomainStatus{{Domain: domain, State: state, Since: metav1.Now(), Records: records}}
	return kube.Status().Update(ctx, &t)
}

// target is where the domains have to point.
const target = "d111111abcdef8.cloudfront.net"

// routing is the record that points a domain there.
func routing(domain string, state v1alpha1.SeenState, seen ...string) v1alpha1.DomainRecord {
	return v1alpha1.DomainRecord{
		Purpose: v1alpha1.PurposeRouting, Type: "CNAME", Name: domain, Value: target, PublishedBy: v1alpha1.PartyCustomer, State: state, Seen: seen,
	}
}

func TestParseDomain(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 63)
	for typed, want := range map[string]string{
		"shop.example.com": "shop.example.com", " Shop.Example.COM. ": "shop.example.com", "xn--bcher-kva.example": "xn--bcher-kva.example",
		long + ".example": long + ".example", "": "", "shop": "", "https://Shop.example.com/cart?a=b": "shop.example.com", "shop.example.com/path": "shop.example.com", "shop.example.com:8080": "shop.example.com", "https://": "", "shop..example.com": "",
		"-shop.example.com": "", "*.example.com": "", "shop_1.example.com": "", "192.0.2.1": "", "bücher.example": "", "a.example\n": "a.example",
		"a.example;b.example": "", long + "a.example": "", strings.Repeat("a.", 130) + "example": "", `"><script>alert(1)</script>.example`: "", "a.example\x00": "",
	} {
		if got, err := parseDomain(typed); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q, %v", typed, got, err)
		}
	}
}

// No two domains share an object.
func TestObjectName(t *testing.T) {
	t.Parallel()
	names := map[string]string{}
	for _, domain := range []string{
		"a-b.example.com", "a.b-example.com", "a.b.example.com", strings.Repeat("a", 39) + ".example.com", strings.Repeat("a", 39) + ".example.org", strings.Repeat("a", 40) + ".example",
	} {
		name := objectName(domain)
		if other, taken := names[name]; taken || len(name) > 63 || strings.Contains(name, "--") || !domainName.MatchString(name+".example") {
			t.Errorf("%s and %q share the name %q", domain, other, name)
		}
		names[name] = domain
	}
}

// Each state is told, and docs/customer-onboarding.md recommends the same texts and draws the state.
func TestEveryStateIsTold(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "customer-onboarding.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, diagram, _ := strings.Cut(string(text), "```mermaid\n")
	diagram, _, _ = strings.Cut(diagram, "```")
	table := onboarding.Table()
	if len(stories) != len(table) {
		t.Errorf("%d of %d states are told", len(stories), len(table))
	}
	if want := fmt.Sprintf("| %s | %s |\n", astray.title, astray.text); !strings.Contains(string(text), want) {
		t.Errorf("the page has no row with %s", want)
	}
	for _, row := range table {
		told := stories[v1alpha1.DomainState(row.State)]
		if want := fmt.Sprintf("| `%s` | %s | %s |\n", row.State, told.title, told.text); told.title == "" || !strings.Contains(string(text), want) {
			t.Errorf("the page has no row %s", want)
		}
		if row.State != onboarding.Refused && !strings.Contains(diagram, string(row.State)) {
			t.Errorf("the diagram has no state %s", row.State)
		}
	}
}

// A customer is shown the records that are theirs to set, once the value is known.
func TestProgressOf(t *testing.T) {
	t.Parallel()
	const domain = "shop.example.com"
	mine, operators, unknown := routing(domain, v1alpha1.RecordMissing), routing(domain, v1alpha1.RecordMissing), routing(domain, v1alpha1.RecordMissing)
	operators.PublishedBy, unknown.Value = v1alpha1.PartyOperator, ""
	o := &v1alpha1.DistributionTenant{Status: v1alpha1.DistributionTenantStatus{Domains: []v1alpha1.DomainStatus{
		{Domain: "other.example.com", State: v1alpha1.DomainLive},
		{Domain: domain, State: v1alpha1.DomainAwaitingDNS, Records: []v1alpha1.DomainRecord{operators, mine, unknown}},
	}}}
	want := progress{
		Domain: domain, State: v1alpha1.DomainAwaitingDNS, Title: "Set your DNS record",
		Text: "Add the record below at your DNS provider. We check for it automatically.", Records: []v1alpha1.DomainRecord{mine},
	}
	if diff := cmp.Diff(want, progressOf(o, domain)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if p := progressOf(o, "new.example.com"); p.State != "" || p.Title != "Preparing your domain" {
		t.Errorf("a domain without a state: %+v", p)
	}
}

// A live domain without its DNS record is not shown as one that visitors reach.
func TestLiveAndAstray(t *testing.T) {
	t.Parallel()
	const domain = "shop.example.com"
	for state, want := range map[v1alpha1.SeenState]string{
		v1alpha1.RecordPresent: "Your domain is live", v1alpha1.RecordUnknown: "Your domain is live",
		v1alpha1.RecordMissing: "Check your DNS record", v1alpha1.RecordWrong: "Check your DNS record",
	} {
		o := &v1alpha1.DistributionTenant{Status: v1alpha1.DistributionTenantStatus{Domains: []v1alpha1.DomainStatus{
			{Domain: domain, State: v1alpha1.DomainLive, Records: []v1alpha1.DomainRecord{routing(domain, state)}},
		}}}
		if got := progressOf(o, domain); got.Title != want {
			t.Errorf("%s: got %q, want %q", state, got.Title, want)
		}
	}
}

// status is that of the answer to a request.
func status(t *testing.T, method, url, body string, headers ...string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	return answer.StatusCode
}

func TestRequests(t *testing.T) {
	t.Parallel()
	url := newServer(t).URL
	others := &v1alpha1.DistributionTenant{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: objectName("others.example.com")},
		Spec:       v1alpha1.DistributionTenantSpec{DistributionID: "E2EXAMPLE1", Domains: []v1alpha1.TenantDomain{{Domain: "others.example.com"}}},
	}
	if err := kube.Create(t.Context(), others); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		method, path, body string
		headers            []string
		want               int
	}{
		"the page":                            {"GET", "/", "", nil, 200},
		"a domain is added":                   {"POST", "/domains", `{"domain": "new.example.com"}`, nil, 200},
		"the address of a page is added":      {"POST", "/domains", `{"domain": "https://pasted.example.com/cart"}`, nil, 200},
		"no domain":                           {"POST", "/domains", `{"domain": "example"}`, nil, 400},
		"no JSON":                             {"POST", "/domains", `domain=a.example.com`, nil, 400},
		"more than a domain":                  {"POST", "/domains", `{"domain": "` + strings.Repeat("a", 5000) + `"}`, nil, 400},
		"from the page of another site":       {"POST", "/domains", `{"domain": "a.example.com"}`, []string{"Sec-Fetch-Site", "cross-site"}, 403},
		"a domain that was not added":         {"GET", "/domains/absent.example.com", "", nil, 404},
		"no domain to show":                   {"GET", "/domains/..%2Fx", "", nil, 404},
		"the object of others is not shown":   {"GET", "/domains/others.example.com", "", nil, 404},
		"nor is it taken over by the example": {"POST", "/domains", `{"domain": "others.example.com"}`, nil, 404},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := status(t, tt.method, url+tt.path, tt.body, tt.headers...); got != tt.want {
				t.Errorf("status %d, want %d", got, tt.want)
			}
		})
	}
}

// A domain that is added twice has one object.
func TestAddTwice(t *testing.T) {
	t.Parallel()
	url := newServer(t).URL
	for range 2 {
		if got := status(t, "POST", url+"/domains", `{"domain": "twice.example.com"}`); got != 200 {
			t.Fatalf("status %d", got)
		}
	}
	var o v1alpha1.DistributionTenant
	if err := kube.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: objectName("twice.example.com")}, &o); err != nil {
		t.Fatal(err)
	}
	if o.Spec.DistributionRef.Name != "platform" || o.Spec.Domains[0].Domain != "twice.example.com" {
		t.Errorf("%+v", o.Spec)
	}
}
