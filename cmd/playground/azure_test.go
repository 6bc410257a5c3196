package main

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/azure"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/calls"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/azuredns"
)

// The operator's adapter publishes at the simulated Azure with what the account and the folder of authorities have, and
// CloudFront issues a certificate for a name there as long as it points to it.
func TestAWSKnowsWhatAzureAnswers(t *testing.T) {
	w := withDNSProviders(t)
	zones := atAzure(t, w)
	set := dns.RecordSet{Key: dns.Key{Name: "shop.azure.example", Type: dns.CNAME}, TTL: 300, Values: []string{"d111111abcdef8.cloudfront.net"}}
	for _, step := range []struct {
		action dns.Action
		want   []string
	}{{dns.Create, []string{"shop.azure.example"}}, {dns.Delete, nil}} {
		if _, err := zones.Change(t.Context(), azureGroup+"/"+azureZone, []dns.Change{{Action: step.action, Set: set}}); err != nil {
			t.Fatal(err)
		}
		var names []string
		if err := w.aws.Control(t.Context(), http.MethodGet, "resolving", nil, &names); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(step.want, names, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("after %s (-want +got):\n%s", step.action, diff)
		}
	}
}

func atAzure(t *testing.T, w *world) port.Zones {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(w.authorities(), "azure.pem"))
	if err != nil {
		t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(text)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12}}
	t.Cleanup(transport.CloseIdleConnections)
	metrics, err := calls.NewMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	wall := clock.RealClock{}
	account, err := azure.New(azure.Config{
		SubscriptionID: azuredns.DefaultSubscription, ResourceGroup: azureGroup, Endpoint: w.azure.url(), Authority: w.azure.url(),
		Audience: "https://management.azure.com", HTTPClient: &http.Client{Transport: transport}, ClusterID: "test", Clock: wall,
		Credential: azure.Credential{Kind: azure.ClientSecret, TenantID: azuredns.DefaultTenant, ClientID: azureClient, Secret: func() string { return azureSecret }},
		Gate:       calls.New(calls.Config{Provider: dns.Provider{Service: dns.Azure, Account: "main"}, Rate: 100, Burst: 100, Clock: wall, Metrics: metrics}),
	})
	if err != nil {
		t.Fatal(err)
	}
	return account.As(dns.Access{})
}
