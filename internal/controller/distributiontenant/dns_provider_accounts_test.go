package distributiontenant_test

import (
	"strings"
	"testing"
	"time"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
)

var secondAccount = dns.Provider{Service: dns.Cloudflare, Account: "second"}

// An object that means no account of the operator is told what to correct, but not which accounts there are, and no call
// is made for it.
func TestAnAccountThatIsNotThere(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		accounts []dns.Provider
		asks     edit
		says     []string
	}{
		"no account of the provider": {nil, atCloudflare(), []string{"no account", "cloudflare", "dns.accounts"}},
		"an unknown account":         {[]dns.Provider{mainAccount, secondAccount}, withDNS(at(dns.Provider{Service: dns.Cloudflare, Account: "third"})), []string{`"third"`, "spec.dns.account", "administrator"}},
		"several and none is named":  {[]dns.Provider{mainAccount, secondAccount}, atCloudflare(), []string{"several accounts", "spec.dns.account", "administrator"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newCFRig(t, rigOptions{}, nil)
			r.configure(tc.accounts...)
			r.Apply(r.Tenant("alpha", tc.asks))
			r.Advance(10 * time.Minute)
			is(t, r.World, "alpha", "Ready=False/DNSError", "DNSReady=False/DNSError", syncedTrue)
			says(t, r.World, "alpha", "DNSReady", tc.says...)
			if said := r.Message("alpha", "DNSReady"); strings.Contains(said, secondAccount.Account) {
				t.Errorf("the message names an account to a tenant: %s", said)
			}
			writes := r.KubeWrites()
			r.Advance(time.Hour)
			if n := r.KubeWrites() - writes; n != 0 {
				t.Errorf("%d writes while nothing moves", n)
			}
			if calls := r.cf.Calls(); len(calls) > 0 {
				t.Errorf("Cloudflare was asked: %v", calls)
			}
			// It published nothing, so nothing holds its deletion.
			r.Delete("alpha")
			r.Advance(15 * time.Minute)
			gone(t, r.World, "alpha")
		})
	}
}

// The account that a spec names can be added later.
func TestAnAccountThatIsAdded(t *testing.T) {
	t.Parallel()
	r := newCFRig(t, rigOptions{}, nil)
	r.configure()
	r.Apply(r.Tenant("alpha", atCloudflare()))
	r.Advance(10 * time.Minute)
	is(t, r.World, "alpha", "DNSReady=False/DNSError")
	r.configure(mainAccount)
	r.Advance(10 * time.Minute)
	is(t, r.World, "alpha", readyTrue, syncedTrue, dnsReady)
	r.cfHas(cfRecord)
	r.removed("alpha")
	r.cfHas()
}

// An account that the administrator removes takes no records with it, and holds the deletion of its objects.
func TestAnAccountThatDisappears(t *testing.T) {
	t.Parallel()
	for name, restart := range map[string]bool{"while the operator runs": false, "with a restart": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newCFRig(t, rigOptions{served: true}, nil)
			r.serving("alpha", atCloudflare())
			r.always = []string{moving}
			r.configure()
			if restart {
				r.Restart()
			}
			r.watched(5 * time.Minute)
			r.cfHas(cfRecord)
			is(t, r.World, "alpha", "DNSReady=False/DNSError", syncedTrue)
			says(t, r.World, "alpha", "DNSReady", "account", "cloudflare")
			r.configure(mainAccount)
			r.watched(5 * time.Minute)
			is(t, r.World, "alpha", readyTrue, syncedTrue, dnsReady)
			r.cfHas(cfRecord)
			r.always = nil
			r.removed("alpha")
			r.cfHas()
		})
	}
}

func TestDeletingWithoutTheAccount(t *testing.T) {
	t.Parallel()
	for name, abandon := range map[string]bool{"until the account is back": false, "until the records are given up": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newCFRig(t, rigOptions{}, nil)
			r.serving("alpha", atCloudflare())
			tenant := inAWS(t, r.World, "alpha")
			r.configure()
			r.Delete("alpha")
			r.Advance(time.Hour)
			is(t, r.World, "alpha", "Ready=False/DNSError")
			says(t, r.World, "alpha", "Ready", "abandon-dns", moving)
			untouched(t, r.World, tenant)
			r.cfHas(cfRecord)
			if abandon {
				r.exempt[moving] = true
				annotate(r.World, "alpha", v1alpha1.AnnotationAbandonDNS, v1alpha1.AbandonTrue)
				r.Advance(10 * time.Minute)
				gone(t, r.World, "alpha")
				r.cfHas(cfRecord)
				return
			}
			r.configure(mainAccount)
			r.Advance(15 * time.Minute)
			gone(t, r.World, "alpha")
			r.cfHas()
		})
	}
}

// A second account makes it unclear which one a spec means that names none. Its published records stay where they are,
// and is still looked after; nothing new is published.
func TestASecondAccountIsAdded(t *testing.T) {
	t.Parallel()
	r := newCFRig(t, rigOptions{}, nil)
	r.serving("alpha", atCloudflare())
	r.always = []string{moving}
	r.configure(mainAccount, secondAccount)
	r.watched(5 * time.Minute)
	is(t, r.World, "alpha", readyTrue, dnsReady)
	r.Edit("alpha", domains(moving, "www.example.com"))
	r.watched(5 * time.Minute)
	is(t, r.World, "alpha", "DNSReady=False/DNSError")
	says(t, r.World, "alpha", "DNSReady", "several accounts", "spec.dns.account")
	r.cfHas(cfRecord)
	r.Edit("alpha", withDNS(at(mainAccount)))
	r.watched(5 * time.Minute)
	is(t, r.World, "alpha", readyTrue, syncedTrue, dnsReady)
	r.cfHas(cfRecord, "CNAME www.example.com "+mainEndpoint+" 300")
	r.always = nil
	r.removed("alpha")
	r.cfHas()
}
