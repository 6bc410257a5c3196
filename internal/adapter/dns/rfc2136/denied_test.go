package rfc2136_test

import (
	"testing"
	"time"

	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/rfc2136"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// The message says what is wrong with a signature, whatever the question.
func TestASignatureThatIsNotAccepted(t *testing.T) {
	t.Parallel()
	skewed := func(by time.Duration) func(*rfc2136.Config) {
		return func(c *rfc2136.Config) {
			c.Clock = clocktesting.NewFakePassiveClock(clock.RealClock{}.Now().Add(by))
		}
	}
	secret := func(text string) func(*rfc2136.Config) {
		return func(c *rfc2136.Config) { c.TSIG.Secret = func() string { return text } }
	}
	for name, tt := range map[string]struct {
		change func(*rfc2136.Config)
		says   string
	}{
		"a wrong secret":                  {secret("d3Jvbmc="), "BADSIG: the server does not accept the signature: the TSIG secret"},
		"a key that is not known":         {func(c *rfc2136.Config) { c.TSIG.Name = "other-key" }, "BADKEY: the server does not know the account's TSIG key"},
		"a key of another algorithm":      {func(c *rfc2136.Config) { c.TSIG.Algorithm = "hmac-sha512" }, "BADKEY: "},
		"a clock that is an hour behind":  {skewed(-time.Hour), "BADTIME: the server does not accept the time of the signature"},
		"a clock that is an hour ahead":   {skewed(time.Hour), "BADTIME: "},
		"a secret that is not in base64":  {secret("not base64!"), "UnreadableSecret: the TSIG secret of the account is empty or not in base64"},
		"a secret that is not stored yet": {secret(""), "UnreadableSecret: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, tt.change)
			_, err := w.GetZone(t.Context(), w.zone)
			expectKind(t, err, fault.Denied, "SOA: "+tt.says)
			_, _, err = w.ListRecords(t.Context(), w.zone, "")
			expectKind(t, err, fault.Denied, "AXFR: "+tt.says)
			_, err = w.ReadName(t.Context(), w.zone, w.name("a"))
			expectKind(t, err, fault.Denied, "AXFR: "+tt.says)
			_, err = w.Change(t.Context(), w.zone, create(w.cname("a", target)))
			expectKind(t, err, fault.Denied, "UPDATE: "+tt.says)
			w.holds(t)
		})
	}
}

// Clocks that differ by less than five minutes are no matter, and neither are spaces around a secret.
func TestASignatureThatIsAccepted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *rfc2136.Config) {
		c.Clock = clocktesting.NewFakePassiveClock(clock.RealClock{}.Now().Add(-4 * time.Minute))
		c.TSIG.Name, c.TSIG.Algorithm = "Operator-Key.", ""
		key := shared.Key()
		c.TSIG.Secret = func() string { return key.Secret + "\n" }
	})
	w.change(t, create(w.cname("a", target))...)
	if got := w.list(t); len(got) != 1 {
		t.Errorf("%d sets, want 1", len(got))
	}
}

// The policy of a zone denies one name, and all types but two: what it allows is changed all the same.
func TestAPolicyThatDeniesSome(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, strictZone)
	for name, changes := range map[string][]dns.Change{
		"a name":                     create(w.cname("locked", target)),
		"a name with one that isn't": create(w.cname("free", target), w.cname("locked", target)),
		"a type":                     create(w.set("free", "A", 60, "192.0.2.1")),
		"the zone's own name":        create(dns.RecordSet{Key: dns.Key{Name: w.zone, Type: dns.TXT}, TTL: 60, Values: []string{"x"}}),
	} {
		_, err := w.Change(t.Context(), w.zone, changes)
		if !fault.Is(err, fault.Denied) {
			t.Errorf("%s: error %v", name, err)
			continue
		}
		expectKind(t, err, fault.Denied, "UPDATE: REFUSED: the server refuses the change", "update-policy")
	}
	w.holds(t)
	w.change(t, create(w.cname("free", target))...)
	w.change(t, remove(w.cname("free", target))...)
}

func TestATransferThatIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, closedZone)
	_, _, err := w.ListRecords(t.Context(), w.zone, "")
	expectKind(t, err, fault.Denied, "AXFR: REFUSED: the server refuses to transfer the zone", "allow-transfer")
	_, err = w.ReadName(t.Context(), w.zone, w.name("a"))
	expectKind(t, err, fault.Denied, "allow-transfer")
	if _, err := w.GetZone(t.Context(), w.zone); err != nil {
		t.Error(err)
	}
}

func TestAccountsThatCantBe(t *testing.T) {
	t.Parallel()
	newWorld(t) // which starts the server
	for name, change := range map[string]func(*rfc2136.Config){
		"a server without a port":      func(c *rfc2136.Config) { c.Server = "ns1.example.com" },
		"a secondary without a port":   func(c *rfc2136.Config) { c.Secondaries = []string{"ns2.example.com"} },
		"no zone":                      func(c *rfc2136.Config) { c.Zones = nil },
		"a zone that is no name":       func(c *rfc2136.Config) { c.Zones = []string{"a..b"} },
		"the root":                     func(c *rfc2136.Config) { c.Zones = []string{".."} },
		"a key without a name":         func(c *rfc2136.Config) { c.TSIG.Name = "" },
		"a key whose name is none":     func(c *rfc2136.Config) { c.TSIG.Name = "a..b" },
		"an algorithm that is too old": func(c *rfc2136.Config) { c.TSIG.Algorithm = "hmac-md5" },
		"no secret":                    func(c *rfc2136.Config) { c.TSIG.Secret = nil },
	} {
		if _, err := rfc2136.New(config(t, "x.example", change)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
