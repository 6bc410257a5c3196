package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/accounts"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/azuredns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

// withDNSProviders is a world with nothing but the simulated services.
func withDNSProviders(t *testing.T) *world {
	t.Helper()
	server := httptest.NewServer(sim.New(sim.Options{}))
	t.Cleanup(server.Close)
	w := &world{dir: t.TempDir(), aws: stack.NewAWS(strings.TrimPrefix(server.URL, "http://")), say: newNarrator(&testWriter{t}), cancel: func(err error) { t.Error(err) }}
	for _, start := range []func(context.Context) error{w.startCloudflare, w.startAzure, w.writeAccounts} {
		if err := start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if err := errors.Join(w.cloudflare.stop(), w.azure.stop()); err != nil {
			t.Error(err)
		}
	})
	return w
}

type testWriter struct{ t *testing.T }

func (w *testWriter) Write(p []byte) (int, error) {
	w.t.Log(string(p))
	return len(p), nil
}

// CloudFront issues a certificate for a name at Cloudflare because it points there, and only as long as it does.
func TestAWSKnowsWhatCloudflareAnswers(t *testing.T) {
	w := withDNSProviders(t)
	c := w.cloudflare
	records := c.records()
	resolving := func() (names []string) {
		t.Helper()
		if err := w.aws.Control(t.Context(), http.MethodGet, "resolving", nil, &names); err != nil {
			t.Fatal(err)
		}
		return names
	}
	send := func(method, url string, body any) {
		t.Helper()
		if err := call(t.Context(), method, url, cloudflareToken, body); err != nil {
			t.Fatal(err)
		}
	}
	send(http.MethodPost, records, map[string]any{"name": shopDomain, "type": "CNAME", "content": endpoint, "ttl": 300})
	if diff := cmp.Diff([]string{shopDomain}, resolving()); diff != "" {
		t.Errorf("after a record was created (-want +got):\n%s", diff)
	}
	_, id := c.record()
	send(http.MethodPatch, records+"/"+id, map[string]any{"content": elsewhere})
	if got := resolving(); len(got) != 0 {
		t.Errorf("after the record was pointed elsewhere %v point to CloudFront", got)
	}
	send(http.MethodPatch, records+"/"+id, map[string]any{"content": endpoint})
	send(http.MethodDelete, records+"/"+id, nil)
	if got := resolving(); len(got) != 0 {
		t.Errorf("after the record was deleted %v point to CloudFront", got)
	}
}

// The operator reads the file as it is, and can open the account.
func TestTheOperatorCanReadTheAccounts(t *testing.T) {
	w := withDNSProviders(t)
	var opened []accounts.Account
	accounts.New(accounts.Options{File: w.accountsFile(), OnError: func(err error) { t.Error(err) }, Open: func(a accounts.Account) (port.DNS, error) {
		opened = append(opened, a)
		return nil, nil
	}})
	want := []accounts.Account{{
		Name: "main", Provider: "cloudflare", Credentials: filepath.Join(w.dir, "dns", "cloudflare"), NameServers: []string{w.cloudflare.dns},
		Cloudflare: &accounts.Cloudflare{BaseURL: w.cloudflare.url()},
	}, {
		Name: "main", Provider: "azure", Credentials: filepath.Join(w.dir, "dns", "azure"), NameServers: []string{w.azure.dns},
		Azure: &accounts.Azure{
			SubscriptionID: azuredns.DefaultSubscription, ResourceGroup: azureGroup, TenantID: azuredns.DefaultTenant, ClientID: azureClient,
			Credential: "ClientSecret", ResourceManagerEndpoint: w.azure.url(), AuthorityHost: w.azure.url(), Audience: "https://management.azure.com",
		},
	}}
	if diff := cmp.Diff(want, opened); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	if token, err := opened[0].Secret("token"); err != nil || token != cloudflareToken {
		t.Errorf("the token is %q, %v", token, err)
	}
	if secret, err := opened[1].Secret("clientSecret"); err != nil || secret != azureSecret {
		t.Errorf("the client secret is %q, %v", secret, err)
	}
	info, err := os.Stat(filepath.Join(opened[0].Credentials, "token"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the token has the mode %v, %v", info.Mode(), err)
	}
}

// Each provider answers for its own zones.
func TestLookupAtCloudflare(t *testing.T) {
	w := withDNSProviders(t)
	w.dnsAddress = publicDNS(t)
	for name, want := range map[string]string{
		"www.azure.example":     "www.azure.example.   300   IN   A   192.0.2.80",
		foreignRecord:           foreignRecord + ".   300   IN   A   192.0.2.80",
		shopDomain:              shopDomain + ": NXDOMAIN",
		"www.example.net":       "www.example.net.   60   IN   A   192.0.2.80",
		"www.somewhere.invalid": "www.somewhere.invalid: REFUSED",
	} {
		// A record is visible a moment after it was created.
		NewWithT(t).Eventually(func() (string, error) { return lookup(t.Context(), w.nameServers(), name) }).WithTimeout(time.Minute).Should(Equal(want))
	}
}
