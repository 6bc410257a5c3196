package cli_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli"
)

// in is a status of a domain.
func in(state v1alpha1.DomainState, waitsFor v1alpha1.Party, message string) func(*v1alpha1.DistributionTenant) {
	return func(o *v1alpha1.DistributionTenant) {
		waiting(o)
		o.Status.DNSTarget = "d111111abcdef8.cloudfront.net"
		record := v1alpha1.DomainRecord{
			Purpose: v1alpha1.PurposeRouting, Type: "CNAME", Name: o.Spec.Domains[0].Domain, Value: o.Status.DNSTarget,
			PublishedBy: v1alpha1.PartyCustomer, State: v1alpha1.RecordMissing,
		}
		if state == v1alpha1.DomainLive {
			record.State = v1alpha1.RecordPresent
		}
		o.Status.Domains = []v1alpha1.DomainStatus{{
			Domain: o.Spec.Domains[0].Domain, State: state, Since: metav1.NewTime(now.Add(-3 * time.Minute)), WaitsFor: waitsFor, Message: message,
			Records: []v1alpha1.DomainRecord{record},
		}}
	}
}

// exitCode is the one of a run.
func exitCode(t *testing.T, r result) int {
	t.Helper()
	var answer cli.Answer
	switch {
	case r.failure == nil:
		return 0
	case errors.As(r.failure, &answer):
		return answer.ExitCode()
	}
	t.Fatal(r.failure)
	return 2
}

func TestDomainSaysWhoHasToAct(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	for name, tt := range map[string]struct {
		status func(*v1alpha1.DistributionTenant)
		code   int
		shown  []string
	}{
		"waits-for-customer": {
			in(v1alpha1.DomainAwaitingDNS, v1alpha1.PartyCustomer, "Create the record."), 3,
			[]string{"AwaitingDNS for 3m, waits for the customer", "Create the record.", "Routing   CNAME", "d111111abcdef8.cloudfront.net   customer   Missing"},
		},
		"waits-for-platform": {in(v1alpha1.DomainDisabled, v1alpha1.PartyPlatform, "It is disabled."), 3, []string{"Disabled", "waits for the platform"}},
		"waits-for-aws":      {in(v1alpha1.DomainIssuing, v1alpha1.PartyAWS, "It is being issued."), 4, []string{"Issuing", "waits for AWS"}},
		"leaves":             {in(v1alpha1.DomainLeaving, "", "The domain is being removed."), 4, []string{"Leaving for 3m   Dist"}},
		"refused":            {in(v1alpha1.DomainRefused, v1alpha1.PartyPlatform, "Another account has it."), 5, []string{"Refused", "Another account has it."}},
		"live":               {in(v1alpha1.DomainLive, "", "The domain is live."), 0, []string{"Live for 3m   Dist", "Present"}},
		"renewal":            {in(v1alpha1.DomainLive, v1alpha1.PartyCustomer, "The renewal waits."), 0, []string{"Live for 3m, waits for the customer"}},
		"new":                {nil, 4, []string{"Unknown for 26h, waits for the operator", "The operator has not looked at the domain yet."}},
	} {
		t.Run(name, func(t *testing.T) {
			tenant(t, ns, name, tt.status)
			r := command(t, "", "domain", strings.ToUpper(name)+".example.com.", "--lookup=false")
			if code := exitCode(t, r); code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			shows(t, r.out, append(tt.shown, name+".example.com", "DistributionTenant "+ns+"/"+name)...)
		})
	}
}

// Two objects may want one domain: the one that has it is shown.
func TestDomainThatTwoObjectsWant(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	twice := func(name string, state v1alpha1.DomainState) {
		o := tenant(t, ns, name, nil)
		o.Spec.Domains[0].Domain = "twice.example.com"
		if err := admin.Update(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		in(state, "", "It is so.")(o)
		if err := admin.Status().Update(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	twice("first", v1alpha1.DomainRefused)
	twice("second", v1alpha1.DomainLive)
	r := command(t, "", "domain", "twice.example.com", "-n", ns, "--lookup=false", "-o", "json")
	if code := exitCode(t, r); code != 0 {
		t.Errorf("exit code %d", code)
	}
	shows(t, r.out, `"kind": "Domain"`, `"state": "Live"`, `"distributionTenant": "`+ns+`/second"`, `"`+ns+`/first"`)
}

func TestDomainThatIsNotThere(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	r := command(t, "", "domain", "absent.example.com", "-n", ns)
	if r.failure == nil || !strings.Contains(r.failure.Error(), `no DistributionTenant in namespace `+ns+` has the domain "absent.example.com"`) {
		t.Errorf("got %v", r.failure)
	}
}

// The wait ends when the domain is live or refused, and shows each change once.
func TestDomainWaits(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		last v1alpha1.DomainState
		code int
	}{"until-live": {v1alpha1.DomainLive, 0}, "until-refused": {v1alpha1.DomainRefused, 5}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := namespace(t)
			o := tenant(t, ns, name, in(v1alpha1.DomainAwaitingDNS, v1alpha1.PartyCustomer, "Create the record."))
			done := make(chan result)
			go func() {
				done <- command(t, "", "domain", name+".example.com", "-n", ns, "--lookup=false", "--wait", "--timeout=1m")
			}()
			o.Labels = map[string]string{"nothing": "changes"}
			if err := admin.Update(t.Context(), o); err != nil {
				t.Error(err)
			}
			in(tt.last, "", "That is the end.")(o)
			if err := admin.Status().Update(t.Context(), o); err != nil {
				t.Error(err)
			}
			r := <-done
			if code := exitCode(t, r); code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			shows(t, r.out, string(tt.last))
			if n := strings.Count(r.out, "AwaitingDNS for"); n > 1 {
				t.Errorf("the first state is shown %d times:\n%s", n, r.out)
			}
		})
	}
}

func TestDomainWaitsNoLongerThanToldTo(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	o := tenant(t, ns, "slow", in(v1alpha1.DomainAwaitingDNS, v1alpha1.PartyCustomer, "Create the record."))
	r := command(t, "", "domain", "slow.example.com", "-n", ns, "--lookup=false", "--wait", "--timeout=50ms", "-o", "json")
	if code := exitCode(t, r); code != 3 {
		t.Errorf("exit code %d", code)
	}
	shows(t, r.err, "slow.example.com is neither live nor refused after 50ms")
	shows(t, r.out, `"state": "AwaitingDNS"`)

	done := make(chan result)
	go func() { done <- command(t, "", "domain", "slow.example.com", "-n", ns, "--lookup=false", "--wait") }()
	if err := admin.Delete(t.Context(), o); err != nil {
		t.Error(err)
	}
	if r := <-done; r.failure == nil {
		t.Errorf("a deleted object is no failure: %s", r.out)
	}
}

// zone serves some records of public DNS.
func zone(t *testing.T, records ...string) string {
	t.Helper()
	conn, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &dns.Server{PacketConn: conn, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		m := new(dns.Msg).SetReply(q)
		m.Rcode = dns.RcodeNameError
		for _, text := range records {
			rr, err := dns.NewRR(text)
			if err != nil {
				panic(err)
			}
			if rr.Header().Name != q.Question[0].Name {
				continue
			}
			m.Rcode = dns.RcodeSuccess
			if kind := rr.Header().Rrtype; kind == q.Question[0].Qtype || kind == dns.TypeCNAME {
				m.Answer = append(m.Answer, rr)
			}
		}
		_ = w.WriteMsg(m)
	})}
	go func() { _ = server.ActivateAndServe() }()
	//nolint:usetesting // the test's own context has ended
	t.Cleanup(func() { _ = server.ShutdownContext(context.Background()) })
	return conn.LocalAddr().String()
}

func TestDomainSaysWhatPublicDNSShows(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	o := tenant(t, ns, "seen", in(v1alpha1.DomainAwaitingDNS, v1alpha1.PartyCustomer, "Create the record."))
	const soa, target = "example.com. SOA ns.example.com. admin.example.com. 1 2 3 4 5", "d111111abcdef8.cloudfront.net"
	for name, tt := range map[string]struct {
		records []string
		want    string
	}{
		"no record":                     {[]string{soa}, "There is no DNS record for the domain."},
		"no zone":                       {nil, "Public DNS has no zone example.com."},
		"it leads there":                {[]string{"seen.example.com. CNAME " + target + "."}, "The domain points to CloudFront."},
		"through the platform's name":   {[]string{"seen.example.com. CNAME c.example.net.", "c.example.net. CNAME " + target + ".", target + ". A 192.0.2.1"}, "The domain points to CloudFront."},
		"it leads elsewhere":            {[]string{"seen.example.com. CNAME old.example.net.", "old.example.net. A 192.0.2.1"}, "The domain points to old.example.net."},
		"addresses without a challenge": {[]string{"seen.example.com. A 192.0.2.1"}, "The domain points to 192.0.2.1, and no record says that this is CloudFront."},
		"the challenge of another":      {[]string{"seen.example.com. A 192.0.2.1", `_cf-challenge.seen.example.com. TXT "d2.cloudfront.net"`}, "The domain points to another endpoint of CloudFront (d2.cloudfront.net)."},
		"an alias":                      {[]string{"seen.example.com. A 192.0.2.1", `_cf-challenge.seen.example.com. TXT "` + target + `"`}, "The domain points to CloudFront."},
	} {
		t.Run(name, func(t *testing.T) {
			r := command(t, "", "domain", "seen.example.com", "-n", ns, "--dns-resolvers", zone(t, tt.records...))
			if code := exitCode(t, r); code != 3 {
				t.Errorf("exit code %d", code)
			}
			shows(t, strings.Join(strings.Fields(r.out), " "), "now: "+tt.want)
		})
	}
	r := command(t, "", "domain", "seen.example.com", "-n", ns, "--dns-resolvers", "nothing")
	if code := exitCode(t, r); code != 3 {
		t.Errorf("exit code %d", code)
	}
	shows(t, r.out, `Public DNS gave no answer. DNS server "nothing"`)
	if err := client.IgnoreNotFound(admin.Delete(t.Context(), o)); err != nil {
		t.Error(err)
	}
}
