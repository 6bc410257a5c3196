package distributiontenant_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/onboarding"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

const ledName = "alpha.example.com"

// watched has the domain looked at in public DNS, which leads it that way.
func watched(way onboarding.Way) func(*distributiontenant.Input) {
	return func(in *distributiontenant.Input) {
		in.World.Watched = true
		in.World.Sights = map[string]onboarding.Sight{ledName: {Way: way, Since: now, At: now}}
	}
}

// askedAWS asked AWS about the domains that long ago.
func askedAWS(ago time.Duration) func(*distributiontenant.Input) {
	return func(in *distributiontenant.Input) { in.Attempts.Asking(in.Generation, now.Add(-ago)) }
}

// unserved is not served by CloudFront.
func unserved(in *distributiontenant.Input) {
	change(in, func(t *distributiontenant.Observed) { t.DomainStates = map[string]string{ledName: "inactive"} })
}

// waitsSince has told that the domain waits, for that long.
func waitsSince(ago time.Duration) func(*distributiontenant.Input) {
	return func(in *distributiontenant.Input) {
		in.Memory.Domains = map[string]distributiontenant.DomainMemory{ledName: {
			Domain: onboarding.Domain{Domain: ledName, State: onboarding.AwaitingDNS}, Since: now.Add(-ago),
		}}
	}
}

// verified is when AWS was last asked for its word.
func verified(ago time.Duration) func(*distributiontenant.Input) {
	return func(in *distributiontenant.Input) { in.Attempts.Verified = now.Add(-ago) }
}

// said is what an earlier pass, or an earlier process, has told of Ready.
func said(reason chain.Reason) func(*distributiontenant.Input) {
	return func(in *distributiontenant.Input) {
		in.Memory.Conditions = map[chain.ConditionType]chain.Condition{chain.Ready: {Type: chain.Ready, Reason: reason, Generation: in.Generation}}
	}
}

// endsIn has a certificate of its own that expires then.
func endsIn(left time.Duration) func(*distributiontenant.Input) {
	return func(in *distributiontenant.Input) {
		in.Desired.Customizations.CertificateARN = ownARN
		change(in, func(t *distributiontenant.Observed) { t.Customizations.CertificateARN = ownARN })
		in.World.Served = &distributiontenant.Served{ARN: ownARN, NotAfter: now.Add(left), Type: "AMAZON_ISSUED"}
	}
}

func ledCases() map[string]question {
	create := func(in distributiontenant.Input) distributiontenant.Create {
		c, _ := distributiontenant.Decide(in).Step.(distributiontenant.Create)
		return c
	}
	plain := create(with(unborn(), requested))
	waits := func(after time.Duration) distributiontenant.Rest { return distributiontenant.Rest{After: after} }
	const pending = resource.ReasonDomainValidationPending
	return map[string]question{
		"AWS is asked about a new object at once":  {in: with(unborn(), requested, watched("")), rule: "TenantPresent", step: plain},
		"and then no more while DNS leads nowhere": {in: with(unborn(), requested, watched(onboarding.Nowhere), askedAWS(time.Minute)), rule: "Led", step: waits(59 * time.Minute), reason: pending},
		"or elsewhere":                                                 {in: with(unborn(), requested, watched(onboarding.Elsewhere), askedAWS(time.Minute)), rule: "Led", step: waits(59 * time.Minute), reason: pending},
		"or only some resolvers lead there":                            {in: with(unborn(), requested, watched(onboarding.Partly), askedAWS(time.Minute)), rule: "Led", step: waits(59 * time.Minute), reason: pending},
		"it is asked as soon as DNS leads there":                       {in: with(unborn(), requested, watched(onboarding.Here), askedAWS(time.Minute)), rule: "TenantPresent", step: plain},
		"and every hour, since the resolvers may be wrong":             {in: with(unborn(), requested, watched(onboarding.Nowhere), askedAWS(time.Hour)), rule: "TenantPresent", step: plain},
		"resolvers that do not answer hold nothing":                    {in: with(unborn(), requested, watched(onboarding.Silent), askedAWS(time.Minute)), rule: "TenantPresent", step: plain},
		"nor lead there because their zone is broken":                  {in: with(unborn(), requested, watched(onboarding.Failing), askedAWS(time.Minute)), rule: "Led", step: waits(59 * time.Minute), reason: pending},
		"without resolvers it is tried as before":                      {in: with(unborn(), requested, askedAWS(time.Minute)), rule: "TenantPresent", step: plain},
		"a new process does not ask all over again":                    {in: with(unborn(), requested, watched(""), said(resource.ReasonDomainValidationPending)), rule: "Led", step: distributiontenant.Rest{After: time.Hour, KeepConditions: true}},
		"a change of the spec is tried at once":                        {in: with(unborn(), requested, watched(onboarding.Nowhere), askedAWS(time.Minute), edited), rule: "TenantPresent", step: plain},
		"a tenant that validates nothing is created without DNS":       {in: with(unborn(), watched(onboarding.Nowhere), askedAWS(time.Minute)), rule: "TenantPresent", step: create(unborn())},
		"a refusal for the sake of DNS is told with the record to set": {in: with(unborn(), requested, watched(onboarding.Nowhere), askedAWS(0), refused(fault.DomainUnverified)), rule: "TenantPresent", step: waits(time.Hour), reason: pending},
		"a domain that another tenant has does not wait for its DNS":   {in: with(unborn(), requested, watched(onboarding.Nowhere), askedAWS(time.Minute), said(resource.ReasonDomainConflict)), rule: "TenantPresent", step: plain},
		"a mistake of the platform is told before DNS": {
			in: with(unborn(), requested, watched(onboarding.Nowhere), askedAWS(time.Minute), func(in *distributiontenant.Input) {
				in.World.Distribution = &distributiontenant.Distribution{ID: "E1", Missing: true}
			}), rule: "Led", step: waits(59 * time.Minute), reason: resource.ReasonValidationFailed, stuck: true,
		},
		"AWS is asked for its word after half an hour": {in: with(quiet(), unserved, waitsSince(31*time.Minute), verified(time.Hour)), rule: "Explained", step: distributiontenant.Look{At: distributiontenant.LookWords, Domains: []string{ledName}}},
		"and not before":   {in: with(quiet(), unserved, waitsSince(29*time.Minute), verified(time.Hour)), rule: "Serving", step: distributiontenant.Rest{}, reason: pending},
		"and once an hour": {in: with(quiet(), unserved, waitsSince(31*time.Minute), verified(59*time.Minute)), rule: "Serving", step: distributiontenant.Rest{}, reason: pending},
		"a new process does not ask about all domains at once": {in: with(quiet(), unserved, waitsSince(24*time.Hour)), rule: "Serving", step: distributiontenant.Rest{}, reason: pending},
		"a renewal is overdue":                                 {in: with(quiet(), endsIn(44*24*time.Hour)), rule: "Renewed", step: distributiontenant.Look{At: distributiontenant.LookRenewal, ARNs: []string{ownARN}}},
		"or not yet":                                           {in: with(quiet(), endsIn(46*24*time.Hour)), rule: "Idle", step: distributiontenant.Rest{}},
	}
}

func TestLed(t *testing.T) {
	for name, q := range ledCases() {
		t.Run(name, func(t *testing.T) { ask(t, q) })
	}
}

// A tenant that serves its customers keeps doing so while a domain of the spec waits for its DNS.
func TestADomainThatIsNotLedIsAddedLater(t *testing.T) {
	const added = "beta.example.com"
	in := with(quiet(), edited, requested, sent, managed(newARN, certificate.Issued), has(ledName), names(ledName, added), watched(onboarding.Here), askedAWS(time.Minute), func(in *distributiontenant.Input) {
		in.World.Sights[added] = onboarding.Sight{Way: onboarding.Nowhere}
		change(in, func(t *distributiontenant.Observed) { t.Customizations.CertificateARN = newARN })
	})
	d := distributiontenant.Decide(in)
	if d.Rule != "DomainsHeld" || d.Problem == nil || d.Problem.Reason != distributiontenant.ReasonDomainChangeHeld {
		t.Fatalf("rule %s, problem %+v", d.Rule, d.Problem)
	}
	r := distributiontenant.Conclude(in, distributiontenant.Outcome{Decision: d})
	states := map[string]onboarding.State{}
	for _, d := range r.Domains {
		states[d.Domain] = d.State
	}
	want := map[string]onboarding.State{ledName: onboarding.Live, added: onboarding.AwaitingDNS}
	if diff := cmp.Diff(want, states); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// AWS is asked for its word half an hour after a domain is first seen waiting; a process that finds waiting domains spreads
// its questions over the next half hour.
func TestWordsAreSpread(t *testing.T) {
	in := with(quiet(), unserved, waitsSince(24*time.Hour))
	for random, due := range map[float64]time.Duration{0: 30 * time.Minute, 0.5: 15 * time.Minute, 0.99: 18 * time.Second} {
		if got := in.Onboarding(random).Verified.Add(time.Hour).Sub(now); got.Round(time.Second) != due {
			t.Errorf("random %v: due in %v, want %v", random, got, due)
		}
	}
}

// A domain of a paused object does not claim that something is going on.
func TestADomainOfAPausedObject(t *testing.T) {
	in := with(unborn(), requested, watched(onboarding.Here), func(in *distributiontenant.Input) { in.Paused = true })
	r := distributiontenant.Conclude(in, distributiontenant.Outcome{Decision: distributiontenant.Decide(in)})
	if d := r.Domains[0]; d.WaitsFor != onboarding.Platform || !strings.Contains(d.Message, "until its paused annotation is removed") {
		t.Errorf("got %s, waits for %q: %s", d.State, d.WaitsFor, d.Message)
	}
}

// AWS's word on a domain that it has just refused is told, and is still told while nothing is sent.
func TestARefusalIsTold(t *testing.T) {
	in := with(unborn(), requested, watched(onboarding.Here), askedAWS(0), func(in *distributiontenant.Input) {
		in.World.Refused = &fault.Error{Kind: fault.DomainUnverified, Message: "Could not verify Domain Name ownership"}
	})
	in.Attempts, in.World.Refused = in.Onboarding(0), nil
	tell := func(in distributiontenant.Input) onboarding.Domain {
		return distributiontenant.Conclude(in, distributiontenant.Outcome{Decision: distributiontenant.Decide(in)}).Domains[0]
	}
	if d := tell(in); d.State != onboarding.Validating || !strings.HasSuffix(d.Message, "The operator retries. AWS: Could not verify Domain Name ownership.") {
		t.Errorf("%s: %s", d.State, d.Message)
	}
	// It is no word on a domain that was accepted since, nor on those of another spec.
	in.Generation++
	if d := tell(in); strings.Contains(d.Message, "AWS:") {
		t.Errorf("for another spec: %s", d.Message)
	}
	accepted := with(quiet(), requested, unserved, watched(onboarding.Here))
	accepted.Attempts.Refusal, accepted.Attempts.RefusedFor = "Could not verify.", accepted.Generation
	if d := tell(accepted); strings.Contains(d.Message, "AWS:") {
		t.Errorf("after it was accepted: %s", d.Message)
	}
}

// A domain that its customer has pointed elsewhere stays with the tenant.
func TestALostDomainIsKept(t *testing.T) {
	const lost = "beta.example.com"
	in := with(quiet(), edited, requested, sent, managed(newARN, certificate.Issued), has(ledName, lost), names(ledName, lost), watched(onboarding.Here), askedAWS(time.Minute), func(in *distributiontenant.Input) {
		in.World.Sights[lost] = onboarding.Sight{Way: onboarding.Elsewhere, At: now, Astray: now.Add(-48 * time.Hour)}
		in.Memory.Domains = map[string]distributiontenant.DomainMemory{lost: {Domain: onboarding.Domain{Domain: lost, State: onboarding.Lost}}}
		change(in, func(t *distributiontenant.Observed) { t.Customizations.CertificateARN = newARN })
	})
	if d := distributiontenant.Decide(in); d.Rule != "Idle" {
		t.Errorf("rule %s, step %+v", d.Rule, d.Step)
	}
}
