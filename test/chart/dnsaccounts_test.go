package chart_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/accounts"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

const dnsAccounts = `
dns:
  accounts:
    - {name: main, provider: cloudflare, secretName: cloudflare-main, nameServers: ["127.0.0.1:53"], rate: 1.5, burst: 20, cloudflare: {baseUrl: "https://proxy.example.com/client/v4/"}}
    - {name: eu, provider: azure, azure: {subscriptionId: s, resourceGroup: dns, tenantId: t, clientId: c, credential: ManagedIdentity, cloud: Government}}
    - {name: app, provider: azure, secretName: azure-app, azure: {subscriptionId: s, tenantId: t, clientId: c, credential: ClientSecret}}
    - {name: own, provider: azure, secretName: azure-app, azure: {subscriptionId: s, tenantId: t, clientId: c, credential: ClientSecret, resourceManagerEndpoint: "https://management.example.com", authorityHost: "https://login.example.com", audience: "https://management.tenant.example.com/id"}}
    - {name: lab, provider: rfc2136, secretName: bind-lab, rfc2136: {server: "ns1.example.com:53", secondaries: ["ns2.example.com:53"], zones: [lab.example.com], tsig: {name: operator, algorithm: hmac-sha512}}}
    - {name: lab2, provider: rfc2136, secretName: bind-lab, rfc2136: {server: "ns3.example.com:53", zones: [lab2.example.com], tsig: {name: operator}}}
    - {name: ext, provider: externaldns, nameServers: ["192.0.2.1:53"], externalDNS: {namespace: external-dns, labels: {edge: "true"}, domains: [ext.example.com]}}
    - {name: ext2, provider: externaldns, nameServers: ["192.0.2.1:53"], externalDNS: {domains: [ext2.example.com]}}
`

// The operator finds each account of the values, with its Secret, where the chart has put it.
func TestDNSAccountsReachTheOperator(t *testing.T) {
	r := render(t, dnsAccounts)
	var config corev1.ConfigMap
	for _, o := range r.find("ConfigMap") {
		if strings.HasSuffix(o.GetName(), "-dns-accounts") {
			as(t, o, &config)
		}
	}
	mounts, volumes := map[string]string{}, map[string]string{}
	for _, v := range r.deployment(t).Spec.Template.Spec.Volumes {
		switch {
		case v.ConfigMap != nil:
			volumes[v.Name] = "ConfigMap " + v.ConfigMap.Name
		case v.Secret != nil:
			volumes[v.Name] = "Secret " + v.Secret.SecretName
			if v.Secret.Optional == nil || !*v.Secret.Optional {
				t.Errorf("a missing Secret %s keeps the operator from starting", v.Secret.SecretName)
			}
		}
	}
	for _, m := range r.container(t).VolumeMounts {
		mounts[m.MountPath] = volumes[m.Name]
	}
	want := map[string]string{
		"/etc/dns-accounts": "ConfigMap " + config.Name, "/etc/dns-credentials/cloudflare-main": "Secret cloudflare-main",
		"/etc/dns-credentials/azure-app": "Secret azure-app", "/etc/dns-credentials/bind-lab": "Secret bind-lab",
	}
	if d := cmp.Diff(want, mounts); d != "" {
		t.Errorf("mounts (-want +got):\n%s", d)
	}
	checkFlags(t, r.container(t).Args)
	if args := strings.Join(r.container(t).Args, "\n"); !strings.Contains(args, "--dns-accounts=/etc/dns-accounts/accounts.yaml") {
		t.Errorf("the operator is not told of the accounts:\n%s", args)
	}

	file := filepath.Join(t.TempDir(), "accounts.yaml")
	if err := os.WriteFile(file, []byte(config.Data["accounts.yaml"]), 0o600); err != nil {
		t.Fatal(err)
	}
	credentials := map[string]string{}
	all := accounts.New(accounts.Options{File: file, Clock: clock.RealClock{}, Open: func(a accounts.Account) (port.DNS, error) {
		credentials[string(a.Provider)+"/"+a.Name] = a.Credentials
		return nil, nil
	}})
	for name, entry := range all.All() {
		if entry.Err != nil {
			t.Errorf("account %s: %v", name, entry.Err)
		}
	}
	wantCredentials := map[string]string{
		"cloudflare/main": "/etc/dns-credentials/cloudflare-main", "azure/eu": "", "azure/app": "/etc/dns-credentials/azure-app",
		"azure/own":   "/etc/dns-credentials/azure-app",
		"rfc2136/lab": "/etc/dns-credentials/bind-lab", "rfc2136/lab2": "/etc/dns-credentials/bind-lab",
		"externaldns/ext": "", "externaldns/ext2": "",
	}
	if d := cmp.Diff(wantCredentials, credentials); d != "" {
		t.Errorf("credentials (-want +got):\n%s", d)
	}
}

// The operator may write DNSEndpoints in the namespaces of the accounts, and nowhere else.
func TestAccountsOfExternalDNSHaveARoleInTheirNamespace(t *testing.T) {
	r := render(t, dnsAccounts)
	got := map[string][]string{}
	for _, o := range r.find("Role") {
		var role rbacv1.Role
		as(t, o, &role)
		for _, rule := range role.Rules {
			if slices.Contains(rule.Resources, "dnsendpoints") {
				got[role.Namespace] = append(got[role.Namespace], rule.Verbs...)
			}
		}
	}
	verbs := []string{"get", "list", "create", "update", "delete"}
	if d := cmp.Diff(map[string][]string{"external-dns": verbs, namespace: verbs}, got); d != "" {
		t.Errorf("rights on DNSEndpoints by namespace (-want +got):\n%s", d)
	}
	for _, o := range r.find("ClusterRole") {
		var role rbacv1.ClusterRole
		as(t, o, &role)
		for _, rule := range role.Rules {
			if slices.Contains(rule.Resources, "dnsendpoints") {
				t.Errorf("the ClusterRole %s has a right on DNSEndpoints", role.Name)
			}
		}
	}
}

func TestWithoutDNSAccountsNothingIsMounted(t *testing.T) {
	r := render(t, "")
	if args := strings.Join(r.container(t).Args, "\n"); strings.Contains(args, "--dns-accounts") || strings.Contains(strings.Join(r.names(), "\n"), "dns-accounts") {
		t.Errorf("a release without accounts has some:\n%s", args)
	}
}

func TestWrongDNSAccountsAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ account, message string }{
		"no name":                     {"provider: cloudflare", "missing property 'name'"},
		"a provider without accounts": {"name: a, provider: route53", "value must be one of 'cloudflare', 'azure', 'rfc2136', 'externaldns'"},
		"a name in capitals":          {"name: Main, provider: cloudflare", "'Main' does not match pattern"},
		"a token in the values":       {"name: a, provider: cloudflare, token: secret", "additional properties 'token' not allowed"},
		"a server without a port":     {"name: a, provider: rfc2136, rfc2136: {server: ns1.example.com, zones: [example.com], tsig: {name: k}}", "'ns1.example.com' does not match pattern"},
		"no zones":                    {"name: a, provider: rfc2136, rfc2136: {server: 'ns1.example.com:53', zones: [], tsig: {name: k}}", "minItems: got 0, want 1"},
		"ExternalDNS without servers": {"name: a, provider: externaldns, externalDNS: {domains: [example.com]}", "missing property 'nameServers'"},
		"ExternalDNS without domains": {"name: a, provider: externaldns, nameServers: ['192.0.2.1:53'], externalDNS: {}", "missing property 'domains'"},
		"half a private cloud":        {"name: a, provider: azure, azure: {subscriptionId: s, resourceManagerEndpoint: 'https://management.example.com'}", "'authorityHost'"},
		"an endpoint without TLS":     {"name: a, provider: azure, azure: {subscriptionId: s, resourceManagerEndpoint: 'http://management.example.com', authorityHost: 'https://login.example.com'}", "'http://management.example.com' does not match pattern"},
		"two clouds in one account":   {"name: a, provider: azure, azure: {subscriptionId: s, cloud: China, resourceManagerEndpoint: 'https://management.example.com', authorityHost: 'https://login.example.com'}", "'not' failed"},
		"a weak signature":            {"name: a, provider: rfc2136, rfc2136: {server: 'ns1.example.com:53', zones: [example.com], tsig: {name: k, algorithm: hmac-md5}}", "value must be one of 'hmac-sha224'"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			values := "dns: {accounts: [{" + c.account + "}]}"
			if out, err := helm(t, values, "template", release, chartDir); err == nil || !strings.Contains(out, c.message) {
				t.Errorf("helm says (%v):\n%s\nwant %q", err, out, c.message)
			}
		})
	}
}

// The default grant allows the zones of every provider that objects can name.
func TestTheDefaultGrantHasTheZonesOfEveryProvider(t *testing.T) {
	args := strings.Join(render(t, "").container(t).Args, "\n")
	for _, s := range []dns.Service{dns.Cloudflare, dns.Azure, dns.RFC2136, dns.ExternalDNS} {
		if !strings.Contains(args, `"provider\":\"`+s.String()) && !strings.Contains(args, `"provider":"`+s.String()) {
			t.Errorf("the default grant has no zones of %s:\n%s", s, args)
		}
	}
}
