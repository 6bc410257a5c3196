package distributiontenant_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// All facts that can be known before the first write are asked before it, and named by field.
func TestPreflight(t *testing.T) {
	distribution := func(change func(*distributiontenant.Distribution)) func(*distributiontenant.Input) {
		return func(in *distributiontenant.Input) {
			d := *in.World.Distribution
			change(&d)
			in.World.Distribution = &d
		}
	}
	certificate := func(c distributiontenant.Certificate) func(*distributiontenant.Input) {
		return func(in *distributiontenant.Input) {
			in.World.Certificates = map[string]distributiontenant.Certificate{distARN: c}
		}
	}
	domains := func(list ...string) func(*distributiontenant.Input) {
		return func(in *distributiontenant.Input) { in.Desired.Domains = list }
	}
	tests := map[string]struct {
		change []func(*distributiontenant.Input)
		// look is what is read, reason and says what is reported; all empty: the create is sent.
		look   distributiontenant.Look
		reason chain.Reason
		says   string
	}{
		"everything is there":            {},
		"the distribution is read first": {change: []func(*distributiontenant.Input){func(in *distributiontenant.Input) { in.World.Distribution = nil }}, look: distributiontenant.Look{At: distributiontenant.LookDistribution}},
		"a distribution that may not be read leaves the judgement to AWS": {change: []func(*distributiontenant.Input){distribution(func(d *distributiontenant.Distribution) { *d = distributiontenant.Distribution{Unreadable: true} })}},
		"a distribution that is missing":                                  {change: []func(*distributiontenant.Input){distribution(func(d *distributiontenant.Distribution) { d.Missing = true })}, reason: resource.ReasonValidationFailed, says: "spec.distributionId E1"},
		"a distribution without tenants":                                  {change: []func(*distributiontenant.Input){distribution(func(d *distributiontenant.Distribution) { d.MultiTenant = false })}, reason: resource.ReasonValidationFailed, says: "tenant-only"},
		"a required parameter is missing": {
			change: []func(*distributiontenant.Input){distribution(func(d *distributiontenant.Distribution) {
				d.Parameters = []distributiontenant.ParameterDefinition{{Name: "zone", Required: true}, {Name: "tier"}, {Name: "area", Required: true}}
			})},
			reason: distributiontenant.ReasonMissingParameters, says: "spec.parameters must include area, zone",
		},
		"a parameter is not declared": {
			change: []func(*distributiontenant.Input){distribution(func(d *distributiontenant.Distribution) { d.Parameters = nil })},
			reason: resource.ReasonValidationFailed, says: "spec.parameters includes tier",
		},
		"no certificate at all": {
			change: []func(*distributiontenant.Input){distribution(func(d *distributiontenant.Distribution) { d.CertificateARN = "" })},
			reason: distributiontenant.ReasonMissingCertificate, says: "spec.managedCertificateRequest",
		},
		"a managed certificate is asked for: AWS judges": {change: []func(*distributiontenant.Input){requested, distribution(func(d *distributiontenant.Distribution) { d.CertificateARN = "" })}},
		"certificates are read, the tenant's own too": {
			change: []func(*distributiontenant.Input){func(in *distributiontenant.Input) {
				in.Desired.Customizations.CertificateARN, in.World.Certificates = ownARN, nil
			}},
			look: distributiontenant.Look{At: distributiontenant.LookCertificates, ARNs: []string{ownARN, distARN}},
		},
		"a certificate that may not be read leaves the judgement to AWS": {change: []func(*distributiontenant.Input){certificate(distributiontenant.Certificate{Unreadable: true})}},
		"a certificate that is missing":                                  {change: []func(*distributiontenant.Input){certificate(distributiontenant.Certificate{Missing: true})}, reason: distributiontenant.ReasonMissingCertificate, says: distARN + " of distribution E1 does not exist"},
		"a certificate that is not issued":                               {change: []func(*distributiontenant.Input){certificate(distributiontenant.Certificate{Status: "PENDING_VALIDATION"})}, reason: distributiontenant.ReasonMissingCertificate, says: "PENDING_VALIDATION"},
		"a distribution's expired certificate matters not where the tenant's own covers all": {change: []func(*distributiontenant.Input){func(in *distributiontenant.Input) {
			in.Desired.Customizations.CertificateARN = ownARN
			in.World.Certificates = map[string]distributiontenant.Certificate{
				ownARN: {Status: "ISSUED", Names: in.Desired.Domains}, distARN: {Status: "EXPIRED"},
			}
		}}},
		"a wildcard covers one label": {change: []func(*distributiontenant.Input){domains("alpha.example.com", "a.b.example.com")}, reason: distributiontenant.ReasonCertificateSANMismatch, says: "no certificate covers a.b.example.com."},
		"long lists are cut": {
			change: []func(*distributiontenant.Input){domains("a.a.org", "b.a.org", "c.a.org", "d.a.org", "e.a.org", "f.a.org", "g.a.org")},
			reason: distributiontenant.ReasonCertificateSANMismatch, says: "e.a.org and 2 more",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := with(unborn(), test.change...)
			got := distributiontenant.Decide(in)
			switch {
			case test.look.At != "":
				ask(t, question{in: in, rule: "TenantPresent", step: test.look})
			case test.reason != "":
				ask(t, question{in: in, rule: "TenantPresent", step: distributiontenant.Rest{}, reason: test.reason, stuck: true})
				if !strings.Contains(got.Problem.Message, test.says) {
					t.Errorf("message %q does not say %q", got.Problem.Message, test.says)
				}
			default:
				if _, ok := got.Step.(distributiontenant.Create); !ok {
					t.Errorf("got %T (%+v), want a create", got.Step, got.Problem)
				}
			}
		})
	}
}

// A refusal over a domain names its holder to users whom that concerns, and says to all what to do about it.
func TestDomainConflictNamesTheHolder(t *testing.T) {
	far, abroad := other, other
	far.Namespace, far.Name = "pay", "checkout"
	abroad.Cluster = "prod"
	held := func(o ownership.Owner) *distributiontenant.Holder {
		return &distributiontenant.Holder{ID: "dt_9", Name: "secret", Domain: "alpha.example.com", Owner: o}
	}
	tests := map[string]struct {
		holder *distributiontenant.Holder
		says   []string
		// hides is what only the log has.
		hides []string
	}{
		"another object of the namespace": {held(other), []string{"secret", "dt_9", "shop/beta", "Remove it there"}, nil},
		"one of another namespace":        {held(far), []string{"alpha.example.com", "another namespace", "platform team"}, []string{"secret", "dt_9", "pay", "checkout", far.UID, far.Cluster}},
		"one of another cluster":          {held(abroad), []string{"alpha.example.com", "another cluster", "platform team"}, []string{"secret", "dt_9", "beta", "prod", abroad.UID}},
		"a tenant without an owner":       {held(ownership.Owner{}), []string{"alpha.example.com", "no operator owns", "IfUnowned", "platform team"}, []string{"secret", "dt_9"}},
		"something out of sight":          {nil, []string{"alpha.example.com", "said AWS"}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := with(unborn(), refused(fault.DomainTaken), func(in *distributiontenant.Input) { in.World.HolderKnown, in.World.Holder = true, test.holder })
			got := distributiontenant.Decide(in)
			for _, part := range test.says {
				if !strings.Contains(got.Problem.Message, part) {
					t.Errorf("message %q does not say %q", got.Problem.Message, part)
				}
			}
			report := distributiontenant.Conclude(in, distributiontenant.Outcome{Decision: got})
			log := strings.Join(report.Details, " ")
			for _, part := range test.hides {
				if strings.Contains(got.Problem.Message, part) || !strings.Contains(log, part) {
					t.Errorf("%q is in the message, or not in the log: %q, %q", part, got.Problem.Message, log)
				}
			}
			if len(test.hides) == 0 && log != "" {
				t.Errorf("the log adds %q", log)
			}
			for _, c := range report.Conditions {
				for _, part := range test.hides {
					if strings.Contains(c.Message, part) {
						t.Errorf("condition %s says %q: %s", c.Type, part, c.Message)
					}
				}
			}
		})
	}
}

// An adoption from another namespace names no one in the event, and the log has the name.
func TestAnAdoptionFromElsewhereIsNotNamed(t *testing.T) {
	in, abroad := quiet(), other
	abroad.Cluster = "prod"
	out := distributiontenant.Outcome{Done: []distributiontenant.Step{distributiontenant.Adopt{Previous: abroad.ShownTo(me)}}}
	r := distributiontenant.Conclude(in, out)
	if log := strings.Join(r.Details, " "); !strings.Contains(log, abroad.String()) {
		t.Errorf("the log has %q", log)
	}
	want := []chain.Event{{ID: in.World.Tenant.ID, Reason: "Adopted", Message: `Adopted the distribution tenant "alpha". It belonged to an object of another cluster.`}}
	if d := cmp.Diff(want, distributiontenant.Acts(in, out)); d != "" {
		t.Errorf("events (-want +got):\n%s", d)
	}
}

// The names of certificates are reported as far as they lead to the domains: the others may be another team's
// customers.
func TestACertificateIsNotReadOut(t *testing.T) {
	const wide = "arn:aws:acm:us-east-1:111122223333:certificate/wide"
	for name, test := range map[string]struct {
		names, says, hides []string
	}{
		"one of a parent":     {[]string{"*.example.com", "shop.customer.test"}, []string{"deep.sub.example.com", "cover *.example.com", "exactly one label"}, []string{"customer.test"}},
		"one of a neighbour":  {[]string{"other.example.com", "shop.customer.test"}, []string{"deep.sub.example.com", "spec.managedCertificateRequest"}, []string{"other.example.com", "customer.test"}},
		"one that looks like": {[]string{"*.ub.example.com"}, []string{"deep.sub.example.com"}, []string{"ub.example.com."}},
	} {
		t.Run(name, func(t *testing.T) {
			in := with(unborn(), func(in *distributiontenant.Input) {
				in.Desired.Domains = []string{"deep.sub.example.com"}
				in.Desired.Customizations.CertificateARN = wide
				in.World.Certificates = map[string]distributiontenant.Certificate{
					wide:    {Status: distributiontenant.CertificateIssued, Names: test.names},
					distARN: {Status: distributiontenant.CertificateIssued},
				}
			})
			got := distributiontenant.Decide(in)
			if got.Problem == nil {
				t.Fatalf("got %+v", got)
			}
			log := strings.Join(distributiontenant.Conclude(in, distributiontenant.Outcome{Decision: got}).Details, " ")
			for _, part := range test.says {
				if !strings.Contains(got.Problem.Message, part) {
					t.Errorf("%q does not say %q", got.Problem.Message, part)
				}
			}
			for _, part := range test.hides {
				if strings.Contains(strings.ReplaceAll(got.Problem.Message, "deep.sub.example.com", ""), part) || !strings.Contains(log, part) {
					t.Errorf("%q is in the message, or not in the log: %q, %q", part, got.Problem.Message, log)
				}
			}
		})
	}
}

// An obstacle to an adoption is reported together with the way to remove it.
func TestAdoptionAdvice(t *testing.T) {
	former := me
	former.UID = "u0"
	tests := map[string]struct {
		change []func(*distributiontenant.Input)
		says   string
	}{
		"unowned":            {[]func(*distributiontenant.Input){tagged(nil)}, "spec.adoptionPolicy to IfUnowned"},
		"former":             {[]func(*distributiontenant.Input){taggedFor(former)}, "earlier object of this name"},
		"foreign":            {[]func(*distributiontenant.Input){taggedFor(other)}, "spec.adoptionPolicy to Force"},
		"foreign, and alive": {[]func(*distributiontenant.Input){taggedFor(other), ownerAlive}, "create one with another spec.tenantName"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := distributiontenant.Decide(with(with(quiet(), test.change...), freshTags))
			if got.Problem == nil || !strings.Contains(got.Problem.Message, test.says) {
				t.Errorf("got %+v, want a message that says %q", got.Problem, test.says)
			}
		})
	}
}
