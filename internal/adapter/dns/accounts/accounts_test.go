package accounts_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/accounts"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// client is what an account is opened as: only its identity matters here.
type client struct {
	port.DNS
	account accounts.Account
}

// folder has the file of accounts and a folder with the keys of a Secret.
type folder struct {
	t    *testing.T
	path string
}

func newFolder(t *testing.T) folder {
	t.Helper()
	return folder{t, t.TempDir()}
}

func (f folder) file() string { return filepath.Join(f.path, "accounts.yaml") }

func (f folder) write(name, text string) {
	f.t.Helper()
	path := filepath.Join(f.path, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// open makes the client of an account that needs the key token.
func open(a accounts.Account) (port.DNS, error) {
	if a.Provider == dns.Cloudflare {
		if _, err := a.Secret("token"); err != nil {
			return nil, err
		}
	}
	return &client{account: a}, nil
}

// told is what is wrong with each account, empty for one that can be used.
func told(all map[dns.Provider]accounts.Entry) map[string]string {
	out := map[string]string{}
	for name, e := range all {
		out[name.String()] = ""
		if e.Err != nil {
			out[name.String()] = e.Err.Error()
		}
	}
	return out
}

func TestAnAccountThatIsNotValidStopsNoOther(t *testing.T) {
	const good = "{name: good, provider: rfc2136, rfc2136: {server: 'ns1.example.com:53', zones: [example.com], tsig: {name: key}}}"
	for name, test := range map[string]struct{ account, want string }{
		"an unknown field":                 {"{name: bad, provider: cloudflare, tokne: x}", `unknown field "tokne"`},
		"another provider's block":         {"{name: bad, provider: cloudflare, azure: {subscriptionId: s}}", "the block azure belongs to another provider than cloudflare: remove it, or change provider"},
		"no Secret":                        {"{name: bad, provider: cloudflare}", "no Secret is set: set secretName to one with the key token"},
		"a Secret without the key":         {"{name: bad, provider: cloudflare, credentials: %s/none}", "the Secret has no key token: add it"},
		"an empty key":                     {"{name: bad, provider: cloudflare, credentials: %s/empty}", "the key token of the Secret is empty: give it a value"},
		"no subscription":                  {"{name: bad, provider: azure}", "azure.subscriptionId is missing: set it to the subscription that has the zones"},
		"an unknown credential":            {"{name: bad, provider: azure, azure: {subscriptionId: s, credential: Magic}}", `azure.credential "Magic" is not valid: use WorkloadIdentity, ManagedIdentity or ClientSecret`},
		"an unknown cloud":                 {"{name: bad, provider: azure, azure: {subscriptionId: s, cloud: Mars}}", `azure.cloud "Mars" is not valid: use Public, Government or China`},
		"a client secret without names":    {"{name: bad, provider: azure, azure: {subscriptionId: s, credential: ClientSecret}}", "azure.tenantId and azure.clientId are required with credential ClientSecret: set both"},
		"an endpoint without an authority": {"{name: bad, provider: azure, azure: {subscriptionId: s, resourceManagerEndpoint: 'https://management.example.com'}}", "azure.resourceManagerEndpoint and azure.authorityHost belong together"},
		"an authority without an endpoint": {"{name: bad, provider: azure, azure: {subscriptionId: s, authorityHost: 'https://login.example.com'}}", "azure.resourceManagerEndpoint and azure.authorityHost belong together"},
		"a private cloud in a public one":  {"{name: bad, provider: azure, azure: {subscriptionId: s, cloud: Public, resourceManagerEndpoint: 'https://management.example.com', authorityHost: 'https://login.example.com'}}", "azure.cloud and azure.resourceManagerEndpoint exclude each other"},
		"an endpoint without TLS":          {"{name: bad, provider: azure, azure: {subscriptionId: s, resourceManagerEndpoint: 'http://management.example.com', authorityHost: 'https://login.example.com'}}", `azure.resourceManagerEndpoint "http://management.example.com" is not an https URL`},
		"an authority with a password":     {"{name: bad, provider: azure, azure: {subscriptionId: s, resourceManagerEndpoint: 'https://management.example.com', authorityHost: 'https://a:b@login.example.com'}}", "azure.authorityHost"},
		"an audience of a public cloud":    {"{name: bad, provider: azure, azure: {subscriptionId: s, audience: 'https://management.example.com'}}", "azure.audience is for private clouds"},
		"no server":                        {"{name: bad, provider: rfc2136}", "rfc2136.server is missing: set it to host:port of the primary server"},
		"no zones":                         {"{name: bad, provider: rfc2136, rfc2136: {server: 'a:53', zones: [], tsig: {name: k}}}", "rfc2136.zones is empty: name the zones that the key may change"},
		"a zone with a dot at its end":     {"{name: bad, provider: rfc2136, rfc2136: {server: 'a:53', zones: [Example.com.], tsig: {name: k}}}", `rfc2136.zones: "Example.com." is not a zone name`},
		"no key":                           {"{name: bad, provider: rfc2136, rfc2136: {server: 'a:53', zones: [example.com], tsig: {}}}", "rfc2136.tsig.name is missing: set it to the name of the key"},
		"a server without a port":          {"{name: bad, provider: rfc2136, rfc2136: {server: a, zones: [example.com], tsig: {name: k}}}", `rfc2136: "a" is not host:port`},
		"a name server without a port":     {"{name: bad, provider: cloudflare, nameServers: [a]}", `nameServers: "a" is not host:port`},
		"a negative rate":                  {"{name: bad, provider: cloudflare, rate: -1}", "rate and burst can't be negative"},
		"a name that no spec can say":      {"{name: Bad, provider: cloudflare}", `name "Bad" is not valid: use at most 63 lower-case letters, digits and inner hyphens`},
		"an unknown provider":              {"{name: bad, provider: bind}", `provider "bind" is not valid: use cloudflare, azure, rfc2136 or externaldns`},
		"no provider":                      {"{name: bad}", `provider "" is not valid: use cloudflare, azure, rfc2136 or externaldns`},
		"nothing at all":                   {"null", `name "" is not valid`},
		"the name of another one":          {"{name: good, provider: rfc2136}", `two accounts of rfc2136 are named "good": rename one of them`},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFolder(t)
			f.write("empty/token", "\n")
			f.write("none/other", "x")
			account := test.account
			if strings.Contains(account, "%s") {
				account = fmt.Sprintf(account, f.path)
			}
			f.write("accounts.yaml", "accounts:\n- "+good+"\n- "+account+"\n- "+strings.ReplaceAll(good, "name: good", "name: other")+"\n")
			got := told(accounts.New(accounts.Options{File: f.file(), Open: open, Clock: clock.RealClock{}}).All())
			if _, some := got["route53"]; some {
				t.Errorf("an account has the place of Route 53: %v", got)
			}
			usable := 0
			for _, err := range got {
				if err == "" {
					usable++
				} else if !strings.Contains(err, test.want) {
					t.Errorf("error %q, want %q", err, test.want)
				}
			}
			want := 2
			if strings.Contains(test.want, "two accounts") {
				want = 1
			}
			if usable != want {
				t.Errorf("%d accounts can be used, want %d: %v", usable, want, got)
			}
		})
	}
}

// The file and the Secrets are followed while the operator runs, and a client whose account is as it was stays.
func TestTheFileIsFollowed(t *testing.T) {
	f := newFolder(t)
	f.write("main/token", "secret")
	one := fmt.Sprintf("{name: main, provider: cloudflare, credentials: %s/main}", f.path)
	late := fmt.Sprintf("{name: late, provider: cloudflare, credentials: %s/late}", f.path)
	f.write("accounts.yaml", "accounts: ["+one+", "+late+"]")
	synctest.Test(t, func(t *testing.T) {
		changes := 0
		var failures []error
		all := accounts.New(accounts.Options{
			File: f.file(), Open: open, Clock: clock.RealClock{}, OnChange: func() { changes++ }, OnError: func(err error) { failures = append(failures, err) },
		})
		ctx, stop := context.WithCancel(t.Context())
		go func() { _ = all.Start(ctx) }()
		wait := func() {
			time.Sleep(time.Minute) // of the bubble's time
			synctest.Wait()
		}
		expect := func(when string, wantChanges int, want map[string]string) {
			t.Helper()
			wait()
			if d := cmp.Diff(want, told(all.All())); d != "" {
				t.Errorf("%s (-want +got):\n%s", when, d)
			}
			if changes != wantChanges {
				t.Errorf("%s: %d changes were told, want %d", when, changes, wantChanges)
			}
		}
		missing := "the Secret has no key token: add it"
		main := dns.Provider{Service: dns.Cloudflare, Account: "main"}
		first := all.All()[main].DNS
		expect("at first", 0, map[string]string{"cloudflare/main": "", "cloudflare/late": missing})
		f.write("late/token", "secret")
		expect("once the Secret has its key", 1, map[string]string{"cloudflare/main": "", "cloudflare/late": ""})
		if all.All()[main].DNS != first {
			t.Error("an account that did not change was opened again, and has forgotten its rate")
		}
		f.write("accounts.yaml", "accounts: ["+strings.Replace(one, "}", ", rate: 7}", 1)+"]")
		expect("an account gone, another changed", 2, map[string]string{"cloudflare/main": ""})
		if all.All()[main].DNS == first {
			t.Error("a changed account still has its former client")
		}
		before := maps.Clone(all.All())
		for _, broken := range []string{"accounts: {", "unknown: []", "accounts: [1]"} {
			f.write("accounts.yaml", broken)
			expect("a file that can't be read: "+broken, 2, map[string]string{"cloudflare/main": ""})
		}
		if !maps.Equal(before, all.All()) {
			t.Error("a file that can't be read has changed an account")
		}
		if len(failures) != 3 {
			t.Errorf("failures %v, want one for each broken file", failures)
		}
		stop()
		synctest.Wait()
	})
}

func TestWithoutAFileThereAreNoAccounts(t *testing.T) {
	all := accounts.New(accounts.Options{Open: func(accounts.Account) (port.DNS, error) { return nil, errors.New("opened") }, Clock: clock.RealClock{}})
	if len(all.All()) > 0 || all.Start(t.Context()) != nil {
		t.Error("accounts without a file")
	}
}
