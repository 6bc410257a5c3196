// Package contract shows what a status means to machines: that conditions and reasons mean what the page for users of
// the operator before this one says, and what kstatus and Argo CD conclude from objects of each kind.
package contract

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

const (
	domainName  = "acme.example.com"
	endpoint    = "d1.cloudfront.net"
	distCert    = "arn:aws:acm:us-east-1:111122223333:certificate/of-the-distribution"
	managedCert = "arn:aws:acm:us-east-1:111122223333:certificate/managed"
	tenantARN   = "arn:aws:cloudfront::111122223333:distribution-tenant/dt_1"
)

var (
	now = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	me  = ownership.Owner{Cluster: "c1", Namespace: "shop", Name: "acme", UID: "u1"}
)

// tenantWorld is an object, and what is known of the world outside.
type tenantWorld struct {
	object   *v1alpha1.DistributionTenant
	world    distributiontenant.World
	attempts distributiontenant.Attempts
}

// tenantChange changes a world in which all is well.
type tenantChange func(*tenantWorld)

// quietTenant is a tenant that is deployed and equals its spec.
func quietTenant() *tenantWorld {
	applied := metav1.NewTime(now.Add(-time.Hour))
	w := &tenantWorld{object: &v1alpha1.DistributionTenant{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: "DistributionTenant"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "acme", UID: "u1", Generation: 2, CreationTimestamp: applied, Finalizers: []string{v1alpha1.Finalizer}},
		Spec:       v1alpha1.DistributionTenantSpec{DistributionID: "E1", Domains: []v1alpha1.TenantDomain{{Domain: domainName}}},
	}}
	s := &w.object.Status
	s.ID, s.ARN, s.ETag, s.DNSTarget, s.ObservedGeneration = "dt_1", tenantARN, "E-1", endpoint, 2
	s.Conditions = []metav1.Condition{
		{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Deployed", ObservedGeneration: 2, LastTransitionTime: applied},
		{Type: "Synced", Status: metav1.ConditionTrue, Reason: "InSync", ObservedGeneration: 2, LastTransitionTime: applied},
	}
	tenant := convert.Desired(w.object, convert.Defaults{}).Tenant
	tenant.ConnectionGroupID = "cg_1"
	w.world = distributiontenant.World{
		World: resource.World{Knowledge: resource.Whole, Tags: me.Tags(), TagsKnown: true, TagsRead: now, TagsFresh: true},
		Swept: true, RoutingEndpoint: endpoint, RoutingKnown: true,
		Tenant: &distributiontenant.Observed{
			Tenant: tenant, ID: "dt_1", ARN: tenantARN, ETag: "E-1", Status: distributiontenant.Deployed,
			DomainStates: map[string]string{domainName: distributiontenant.DomainActive}, Created: now.Add(-time.Hour), Modified: now.Add(-time.Hour),
		},
		Distribution: &distributiontenant.Distribution{ID: "E1", MultiTenant: true, CertificateARN: distCert},
		Certificates: map[string]distributiontenant.Certificate{
			distCert: {ARN: distCert, Status: distributiontenant.CertificateIssued, Names: []string{"*.example.com"}},
		},
	}
	return w
}

// tenantAfter is the object after a pass in the quiet world with those changes: the chain decides, concludes, and writes
// its status.
func tenantAfter(changes ...tenantChange) *v1alpha1.DistributionTenant {
	w := quietTenant()
	for _, change := range changes {
		change(w)
	}
	o := w.object
	defaults := convert.Defaults{DriftPolicy: resource.DriftEnforce}
	in := distributiontenant.Input{
		Object: resource.Object{Now: now, Me: me, Generation: o.Generation, HasFinalizer: true}, Deleting: o.DeletionTimestamp != nil,
		Desired: convert.Desired(o, defaults), Policy: convert.Policy(o, defaults), Memory: convert.Memory(&o.Status),
		Attempts: w.attempts, World: w.world,
	}
	report := distributiontenant.Conclude(in, distributiontenant.Outcome{Decision: distributiontenant.Decide(in)})
	convert.Status(&o.Status, in.Desired.Name, report, now)
	return o
}

// The changes.

func edited(w *tenantWorld) { w.object.Generation++ }

// unborn has no tenant yet.
func unborn(w *tenantWorld) {
	w.object.Status = v1alpha1.DistributionTenantStatus{}
	w.world.Tenant, w.world.Tags, w.world.TagsKnown, w.world.Knowledge = nil, nil, false, resource.Absent
}

// lost is a tenant that was deleted outside.
func lost(w *tenantWorld) {
	status := w.object.Status
	unborn(w)
	w.object.Status, w.world.Account = status, resource.AccountOf(tenantARN)
}

func deleted(w *tenantWorld) {
	at := metav1.NewTime(now)
	w.object.DeletionTimestamp = &at
}

func disabled(w *tenantWorld)  { w.world.Tenant.Enabled = false }
func deploying(w *tenantWorld) { w.world.Tenant.Status, w.world.Tenant.Modified = "InProgress", now }
func drifted(w *tenantWorld)   { w.world.Tenant.Parameters = map[string]string{"tier": "lead"} }
func inactive(w *tenantWorld) {
	w.world.Tenant.DomainStates = map[string]string{domainName: "inactive"}
}
func reporting(w *tenantWorld) { w.object.Spec.DriftPolicy = v1alpha1.DriftPolicyReport }

func refusedWith(kind fault.Kind) tenantChange {
	return func(w *tenantWorld) {
		w.world.Refused, w.world.HolderKnown = &fault.Error{Kind: kind, Operation: "CreateDistributionTenant", Message: "No."}, true
	}
}

// certified asks for a managed certificate, which is in that state.
func certified(state certificate.State) tenantChange {
	return func(w *tenantWorld) {
		w.object.Spec.ManagedCertificateRequest = &v1alpha1.ManagedCertificateRequest{ValidationTokenHost: "cloudfront"}
		w.object.Status.CertificateRequest = &v1alpha1.SentCertificateRequest{ValidationTokenHost: "cloudfront", Time: metav1.NewTime(now.Add(-time.Hour))}
		w.object.Status.ManagedCertificates = []string{managedCert}
		w.world.ManagedKnown, w.world.Managed = true, &certificate.Managed{ARN: managedCert, State: state}
	}
}

func attached(w *tenantWorld) { w.world.Tenant.Customizations.CertificateARN = managedCert }

// publishing asks for a DNS record, which stands like that. The ledger has it in that state, if in any.
func publishing(standing dns.Standing, state dns.State) tenantChange {
	return func(w *tenantWorld) {
		w.object.Spec.DNS = &v1alpha1.DNS{Provider: v1alpha1.DNSProviderRoute53, TTL: 300}
		w.world.Zones, w.world.ZonesKnown, w.world.IPv6Known = []dns.Zone{{ID: "Z1", Name: "example.com"}}, true, true
		record := dns.Record{ZoneID: "Z1", Name: domainName, Type: dns.CNAME, Value: endpoint, TTL: 300}
		w.world.DNS.Records = map[dns.Record]dns.Standing{record: standing}
		if state != "" {
			w.object.Status.DNS = &v1alpha1.DNSStatus{Records: []v1alpha1.DNSRecord{{
				ZoneID: "Z1", Name: domainName, Type: dns.CNAME, Value: endpoint, TTL: 300, State: v1alpha1.RecordState(state),
			}}}
		}
	}
}

// tenantState is a state of the world, and the row of the contract that it is an example of.
type tenantState struct {
	row     string
	changes []tenantChange
}

func tenantStates() map[string]tenantState {
	all := func(changes ...tenantChange) []tenantChange { return changes }
	refusedDNS := dns.Standing{Phase: dns.Refused, Err: &fault.Error{Kind: fault.Invalid, Operation: "ChangeResourceRecordSets", Message: "No."}}
	downDNS := dns.Standing{Phase: dns.Unknown, Err: &fault.Error{Kind: fault.Transient, Operation: "ListResourceRecordSets", Message: "No answer."}}
	return map[string]tenantState{
		"all is well":                             {"Ready=True/Deployed", nil},
		"a new object":                            {"Ready=False/Creating", all(unborn)},
		"a change on its way":                     {"Ready=False/Deploying", all(deploying)},
		"a deleted object":                        {"Ready=False/Disabling", all(deleted)},
		"a disable on its way":                    {"Ready=False/Disabling", all(deleted, disabled, deploying, func(w *tenantWorld) { w.world.SettlesFirst = true })},
		"a deletion that AWS has accepted":        {"Ready=False/Deleting", all(deleted, disabled, func(w *tenantWorld) { w.attempts.DeletedAt = now })},
		"a domain that is taken":                  {"Ready=False/DomainConflict", all(unborn, refusedWith(fault.DomainTaken))},
		"a missing permission":                    {"Ready=False/AccessDenied", all(unborn, refusedWith(fault.Denied))},
		"a request that AWS rejects":              {"Ready=False/InvalidSpec", all(unborn, refusedWith(fault.Invalid))},
		"a change that AWS rejects":               {"Ready=False/InvalidSpec", all(edited, drifted, refusedWith(fault.Invalid))},
		"a deletion that AWS refuses":             {"Ready=False/AWSError", all(deleted, disabled, refusedWith(fault.InUse))},
		"a tenant that was deleted outside":       {"Ready=False/AWSError", all(lost, reporting)},
		"a distribution that does not exist":      {"Ready=False/ValidationFailed", all(unborn, func(w *tenantWorld) { w.world.Distribution.Missing = true })},
		"a parameter that is not declared":        {"Ready=False/ValidationFailed", all(unborn, func(w *tenantWorld) { w.object.Spec.Parameters = []v1alpha1.Parameter{{Name: "tier", Value: "gold"}} })},
		"a domain that no certificate covers":     {"Ready=False/CertificateSANMismatch", all(unborn, func(w *tenantWorld) { w.object.Spec.Domains[0].Domain = "acme.example.net" })},
		"a domain that AWS can't verify":          {"Ready=False/DomainValidationPending", all(unborn, refusedWith(fault.DomainUnverified))},
		"a domain that CloudFront does not serve": {"Ready=False/DomainValidationPending", all(inactive)},
		"a required parameter that is missing": {"Ready=False/MissingParameters", all(unborn, func(w *tenantWorld) {
			w.world.Distribution.Parameters = []distributiontenant.ParameterDefinition{{Name: "tier", Required: true}}
		})},
		"no certificate":                          {"Ready=False/MissingCertificate", all(unborn, func(w *tenantWorld) { w.world.Distribution.CertificateARN = "" })},
		"AWS matches the spec":                    {"Synced=True/InSync", nil},
		"an accepted change that is not deployed": {"Synced=True/InSync", all(deploying)},
		"drift that is only reported":             {"Synced=False/DriftDetected", all(drifted, reporting)},
		"a change that was not sent":              {"Synced=False/UpdatePending", all(edited, drifted)},
		"a managed certificate in use":            {"CertificateReady=True/Validated", all(certified(certificate.Issued), attached)},
		"one that waits for validation":           {"CertificateReady=False/PendingValidation", all(certified(certificate.Pending), inactive)},
		"one that was issued":                     {"CertificateReady=False/Attaching", all(certified(certificate.Issued), inactive)},
		"one that failed":                         {"CertificateReady=False/CertificateFailed", all(certified(certificate.TimedOut), inactive)},
		"one that is wanted no more": {"CertificateReady=False/NotConfigured", all(func(w *tenantWorld) {
			w.object.Status.Conditions = append(w.object.Status.Conditions, metav1.Condition{Type: "CertificateReady", Status: metav1.ConditionFalse, Reason: "PendingValidation", ObservedGeneration: 1})
		})},
		"a record in sync":                       {"DNSReady=True/DNSReady", all(publishing(dns.Standing{Phase: dns.There}, dns.Published))},
		"no DNS":                                 {"DNSReady=True/DNSNotConfigured", nil},
		"a record that is about to be published": {"DNSReady=False/DNSRecordCreating", all(publishing(dns.Standing{Phase: dns.Absent}, ""))},
		"a record that was changed outside":      {"DNSReady=False/DNSRecordCreating", all(publishing(dns.Standing{Phase: dns.Blocked, Found: "CNAME x"}, dns.Published))},
		"a record that was sent":                 {"DNSReady=False/DNSPropagating", all(publishing(dns.Standing{Phase: dns.Coming}, dns.Intended))},
		"a record that is refused":               {"DNSReady=False/DNSError", all(publishing(refusedDNS, dns.Intended))},

		// Additions to the contract.
		"a DNS service that does not answer": {"DNSReady=False/DNSUnavailable", all(publishing(downDNS, dns.Intended))},
		"a tenant of another owner":          {"Ready=False/AdoptionRequired", all(unborn, stranger)},
		"a quota that is used up":            {"Ready=False/QuotaExceeded", all(unborn, refusedWith(fault.Quota))},
		"a record of another owner":          {"DNSReady=False/DNSConflict", all(publishing(dns.Standing{Phase: dns.Blocked, Found: "CNAME x"}, ""))},
		"a record whose name was delegated":  {"DNSReady=False/DNSConflict", all(publishing(dns.Standing{Phase: dns.Blocked, Found: "NS x", Fixed: true, Delegated: domainName}, dns.Published))},
		"a zone that does not exist":         {"DNSReady=False/ZoneNotFound", all(publishing(dns.Standing{Phase: dns.Absent}, ""), func(w *tenantWorld) { w.world.Zones = nil })},
		"a role that was not granted": {"DNSReady=False/RoleNotAllowed", all(publishing(dns.Standing{Phase: dns.Absent}, ""), func(w *tenantWorld) {
			w.object.Spec.DNS.AssumeRoleARN = "arn:aws:iam::222233334444:role/dns"
		})},
	}
}

// stranger is a tenant of the name that nothing proves ours.
func stranger(w *tenantWorld) {
	theirs := quietTenant().world
	w.world.Tenant, w.world.Tags, w.world.TagsKnown, w.world.Knowledge = theirs.Tenant, map[string]string{"team": "other"}, true, resource.Whole
}

// extra are the reasons in these states that the contract does not have.
func extra(r chain.Reason) bool {
	return slices.Contains([]chain.Reason{"DNSUnavailable", "AdoptionRequired", "QuotaExceeded", "DNSConflict", "ZoneNotFound", "RoleNotAllowed"}, r)
}

// stalled is the condition Stalled; nil while no one has to act.
func stalled(list []metav1.Condition) *metav1.Condition {
	for i := range list {
		if list[i].Type == v1alpha1.ConditionStalled {
			return &list[i]
		}
	}
	return nil
}
