package route53_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/canned"
)

// The meaning of a refused batch, in both forms of Route 53's reasons.
func TestRefusedBatches(t *testing.T) {
	t.Parallel()
	there, alsoThere, gone := cname("a", target), text("b", "x"), cname("gone", target)
	otherTTL, otherValue := there, cname("a", "other.cloudfront.net")
	otherTTL.TTL = 60
	for name, tt := range map[string]struct {
		changes []dns.Change
		want    fault.Kind
		says    []string
	}{
		"a set that is there":             {create(there), fault.Exists, []string{"a.test.example", "already exists"}},
		"a set with another value":        {create(otherValue), fault.Exists, []string{"already exists"}},
		"several that are there":          {create(there, alsoThere), fault.Exists, []string{"a.test.example", "b.test.example"}},
		"one of several that is there":    {create(cname("new", target), there), fault.Exists, []string{"a.test.example"}},
		"one there, one impossible":       {create(there, cname("x..y", target)), fault.Invalid, []string{"already exists", "x..y"}},
		"a CNAME at the top":              {create(dns.RecordSet{Key: dns.Key{Name: zoneName, Type: dns.CNAME}, TTL: 300, Values: []string{target}}), fault.Invalid, []string{"at apex"}},
		"a CNAME next to something":       {create(cname("b", target)), fault.Invalid, []string{"conflicts with other records"}},
		"one there and one next to it":    {create(there, cname("b", target)), fault.Invalid, []string{"already exists", "conflicts"}},
		"a name of another zone":          {create(dns.RecordSet{Key: dns.Key{Name: "a.example.org", Type: dns.CNAME}, TTL: 300, Values: []string{target}}), fault.Invalid, []string{"not permitted in zone"}},
		"a deletion of what is not there": {remove(gone), fault.Invalid, []string{"not found"}},
		"a deletion with another value":   {remove(otherValue), fault.Invalid, []string{"do not match"}},
		"a deletion with another TTL":     {remove(otherTTL), fault.Invalid, []string{"do not match"}},
		"one there and one not":           {append(create(there), remove(gone)...), fault.Invalid, []string{"already exists", "not found"}},
		"nothing to change":               {nil, fault.Invalid, nil},
	} {
		for form, inMessages := range map[string]bool{"as an error": false, "as messages": true} {
			t.Run(name+", "+form, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.change(t, create(there, alsoThere)...)
				w.ChangeSwitches(func(s *sim.Switches) { s.ChangeBatchMessages = inMessages })
				before, _ := w.HostedZone(zoneID)
				_, err := w.Change(t.Context(), zoneID, tt.changes)
				if !fault.Is(err, tt.want) {
					t.Fatalf("error %v is %v, want %v", err, fault.KindOf(err), tt.want)
				}
				for _, says := range tt.says {
					if !strings.Contains(err.Error(), says) {
						t.Errorf("error %q does not say %q", err, says)
					}
				}
				if again, _ := w.HostedZone(zoneID); !cmp.Equal(before, again) {
					t.Errorf("a part was carried out (-before +after):\n%s", cmp.Diff(before, again))
				}
				_, repeated := w.Change(t.Context(), zoneID, tt.changes)
				if repeated.Error() != err.Error() {
					t.Errorf("the text moves:\n%v\n%v", err, repeated)
				}
			})
		}
	}
}

func TestFailuresOfAChange(t *testing.T) {
	t.Parallel()
	answer := func(status int, code string) sim.Fault {
		return sim.Fault{
			Operation: "ChangeResourceRecordSets", Kind: sim.Instead, Error: &sim.FaultError{Status: status, Code: code, Message: "text"},
		}
	}
	for name, tt := range map[string]struct {
		fault sim.Fault
		want  fault.Kind
	}{
		"a throttle":                     {answer(400, "Throttling"), fault.Throttled},
		"a throttle in another spelling": {answer(400, "ThrottlingException"), fault.Throttled},
		"an earlier change is in work":   {answer(400, "PriorRequestNotComplete"), fault.Throttled},
		"a missing permission":           {answer(403, "AccessDenied"), fault.Denied},
		"an unknown caller":              {answer(401, "NotAuthorizedException"), fault.Denied},
		"a zone that is gone":            {answer(404, "NoSuchHostedZone"), fault.NotFound},
		"a request that has no sense":    {answer(400, "InvalidInput"), fault.Invalid},
		"a full zone":                    {answer(400, "LimitsExceeded"), fault.Quota},
		"an unknown code":                {answer(400, "BrandNew"), fault.Transient},
		"a server that breaks":           {answer(500, "InternalError"), fault.Transient},
		"a connection that breaks":       {sim.Fault{Operation: "ChangeResourceRecordSets", Effect: sim.EffectReset}, fault.Transient},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.inject(t, tt.fault)
			if _, err := w.Change(t.Context(), zoneID, create(cname("a", target))); !fault.Is(err, tt.want) {
				t.Errorf("error %v is %v, want %v", err, fault.KindOf(err), tt.want)
			}
			if n := w.calls("ChangeResourceRecordSets"); n != 1 {
				t.Errorf("sent %d times", n)
			}
		})
	}
	if _, err := newWorld(t).Change(t.Context(), "ZABSENT", create(cname("a", target))); !fault.Is(err, fault.NotFound) {
		t.Errorf("no zone: %v, want NotFound", err)
	}
}

// A second try of ours would be refused because the first was carried out.
func TestALostAnswerIsSeen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.inject(t, sim.Fault{Operation: "ChangeResourceRecordSets", Kind: sim.AfterCommit, Effect: sim.EffectReset})
	_, err := w.Change(t.Context(), zoneID, create(cname("a", target)))
	if !fault.Ambiguous(err) || w.calls("ChangeResourceRecordSets") != 1 {
		t.Errorf("sent %d times, error %v", w.calls("ChangeResourceRecordSets"), err)
	}
	if got := w.name(t, "a."+zoneName); len(got) != 1 {
		t.Errorf("the record is not there: %v", got)
	}
}

func TestAReadIsTriedTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, f := range []sim.Fault{
		{Operation: "ListResourceRecordSets", Effect: sim.EffectReset},
		{Operation: "GetHostedZone", Kind: sim.Instead, Error: &sim.FaultError{Status: 503, Code: "ServiceUnavailable"}},
	} {
		w.inject(t, f)
	}
	w.name(t, "odd."+zoneName)
	if _, err := w.GetZone(t.Context(), zoneID); err != nil {
		t.Error(err)
	}
	if n := w.calls("ListResourceRecordSets") + w.calls("GetHostedZone"); n != 4 {
		t.Errorf("%d calls", n)
	}
}

// One zone that is busy says nothing of how fast others may be called.
func TestABusyZoneDoesNotSlowDownTheAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ChangeSwitches(func(s *sim.Switches) { s.Route53ProcessingDelay = time.Minute })
	if _, err := w.Change(t.Context(), zoneID, create(cname("a", target))); err != nil {
		t.Fatal(err)
	}
	_, err := w.Change(t.Context(), zoneID, create(cname("b", target)))
	if !fault.Is(err, fault.Throttled) || !strings.Contains(err.Error(), "PriorRequestNotComplete") {
		t.Fatalf("error %v", err)
	}
	rate := func() float64 { return w.rate(t, "route53") }
	if got := rate(); got != 100 {
		t.Errorf("rate %v after a busy zone, want 100", got)
	}
	w.inject(t, sim.Fault{Operation: "GetChange", Kind: sim.Instead, Error: &sim.FaultError{Status: 400, Code: "Throttling"}})
	if _, err := w.InSync(t.Context(), "", dns.Sent{ID: "C1"}); !fault.Is(err, fault.Throttled) {
		t.Fatalf("error %v", err)
	}
	if got := rate(); got != 90 {
		t.Errorf("rate %v after a throttle, want 90", got)
	}
}

// Changes of records have a rate of their own, which no batch exceeds.
func TestChangesOfRecordsAreLimited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := w.SetLimits(sim.Route53Limits()...); err != nil {
		t.Fatal(err)
	}
	clk := clocktesting.NewFakePassiveClock(time.Now())
	d, _ := newDNS(t, w.config, clk)
	zones := d.As(dns.Access{})
	batch := func(name string, n int) (changes []dns.Change) {
		for i := range n {
			changes = append(changes, create(cname(strings.Repeat("x", i%50)+name+string(rune('a'+i/50)), target))...)
		}
		return changes
	}
	if _, err := zones.Change(t.Context(), zoneID, batch("one", 1000)); err != nil {
		t.Fatal(err)
	}
	_, err := zones.Change(t.Context(), zoneID, batch("two", 1000))
	if !fault.Is(err, fault.Throttled) || !strings.Contains(err.Error(), aws.CodeLocalRateLimit) || w.calls("ChangeResourceRecordSets") != 1 {
		t.Fatalf("error %v, %d calls", err, w.calls("ChangeResourceRecordSets"))
	}
	// 800 are missing, at 80 a second.
	if delay := fault.RetryAfter(err); delay < 10*time.Second || delay > 11*time.Second {
		t.Errorf("told to come back after %v", delay)
	}
	clk.SetTime(clk.Now().Add(fault.RetryAfter(err)))
	w.Advance(fault.RetryAfter(err))
	if _, err := zones.Change(t.Context(), zoneID, batch("two", 1000)); err != nil {
		t.Error(err)
	}
	for _, use := range w.LimitUses() {
		if use.Refused != 0 {
			t.Errorf("%s refused %d calls", use.Operation, use.Refused)
		}
	}
}

// A batch that never left costs nothing.
func TestWhatWasNotSentIsNotCounted(t *testing.T) {
	t.Parallel()
	network := &canned.Transport{Status: http.StatusBadRequest, Body: "<ErrorResponse><Error><Code>InvalidInput</Code></Error></ErrorResponse>"}
	d, _ := newDNS(t, awssdk.Config{
		BaseEndpoint: awssdk.String("http://aws.invalid"),
		Credentials:  credentials.NewStaticCredentialsProvider("AKIATEST", "secret", ""),
		HTTPClient:   &http.Client{Transport: network},
	}, clocktesting.NewFakePassiveClock(time.Now()))
	zones := d.As(dns.Access{RoleARN: "arn:aws:iam::" + foreignAccount + ":role/forbidden", Namespace: namespace})
	for range 5 {
		_, err := zones.Change(t.Context(), zoneID, create(slices.Repeat([]dns.RecordSet{cname("a", target)}, 1000)...))
		if !fault.Is(err, fault.Denied) {
			t.Fatalf("error %v, want Denied each time", err)
		}
	}
	if network.Requests() != 0 {
		t.Errorf("%d calls on behalf of a role that is not allowed", network.Requests())
	}
}

func TestOtherAccounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	granted := w.dns.As(dns.Access{RoleARN: roleARN, Namespace: namespace})
	if z, err := granted.GetZone(t.Context(), foreignID); err != nil || z.Name != "foreign.example" {
		t.Fatalf("zone %+v, error %v", z, err)
	}
	if _, err := granted.Change(t.Context(), foreignID, create(dns.RecordSet{
		Key: dns.Key{Name: "a.foreign.example", Type: dns.CNAME}, TTL: 300, Values: []string{target},
	})); err != nil {
		t.Error(err)
	}
	if w.calls("AssumeRole") != 1 {
		t.Errorf("the role was assumed %d times for two calls", w.calls("AssumeRole"))
	}
	if _, err := granted.GetZone(t.Context(), zoneID); !fault.Is(err, fault.Denied) {
		t.Errorf("our own zone with their role: %v", err)
	}
	// Another namespace has another external id, which the role does not trust.
	_, err := w.dns.As(dns.Access{RoleARN: roleARN, Namespace: "rival"}).GetZone(t.Context(), foreignID)
	if !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), roleARN) || !strings.Contains(err.Error(), clusterID+"/rival") {
		t.Errorf("error %v, want one that names the role and the external id", err)
	}
	if got := w.dns.As(dns.Access{RoleARN: roleARN, Namespace: namespace}); got != granted {
		t.Error("the same identity has another client")
	}
	if w.dns.As(dns.Access{}) != w.dns.As(dns.Access{Namespace: namespace}) {
		t.Error("without a role a namespace makes another identity")
	}
	if own, other := w.rate(t, "route53"), w.rate(t, "route53/"+foreignAccount); own != 100 || other != 100 {
		t.Errorf("rates %v and %v, want one for each account", own, other)
	}
}
