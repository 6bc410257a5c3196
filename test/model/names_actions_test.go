package model_test

import (
	"maps"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

// The domains are few too: an apex and a wildcard, one in a zone below another zone, one in a
// zone of another account, and those that need a managed certificate.
var (
	coveredDomains = []string{"a.example.com", "b.example.com", "example.com", "*.example.com", "a.shop.example.com", "a.example.org"}
	openDomains    = []string{"a.example.net", "b.example.net", "example.net"}
)

func (n *names) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"user applies":           n.userApplies,
		"user applies again":     n.userApplies,
		"user edits":             n.userEdits,
		"user edits again":       n.userEdits,
		"user deletes":           n.userDeletes,
		"user pauses":            n.userPauses,
		"user nudges":            n.userNudges,
		"user abandons":          n.userAbandons,
		"time passes":            n.timePasses,
		"more time passes":       n.timePasses,
		"customers serve tokens": n.customersServe,
		"process crashes":        func(t *rapid.T) { n.losesChanges(); n.processCrashes(t) },
		"process restarts":       func(*rapid.T) { n.losesChanges(); n.Restart() },
		"cache lags":             func(t *rapid.T) { n.LagReads(rapid.IntRange(1, 3).Draw(t, "reads")) },
		"AWS fails":              n.awsFails,
		"AWS fails elsewhere":    n.awsFailsElsewhere,
		"AWS lags":               n.awsLags,
		"DNS lags":               n.dnsLags,
		"someone publishes":      n.somebodyPublishes,
		"someone deletes":        n.somebodyUnpublishes,
		"someone drops a zone":   n.somebodyDropsZone,
		"someone opens a zone":   n.somebodyOpensZone,
		"someone attaches":       n.somebodyAttaches,
		"someone takes tenant":   n.somebodyTakesTenant,
		"certificate changes":    n.certificateChanges,
		"":                       func(*rapid.T) { n.check() },
	}
}

func (n *names) userApplies(t *rapid.T) {
	name := rapid.SampledFrom(objectNames).Draw(t, "name")
	if _, found := n.Get(name); found {
		t.Skip("it is there")
	}
	n.Apply(n.Tenant(name, func(o *v1alpha1.DistributionTenant) {
		enabled := true
		o.Spec.Enabled = &enabled
		drawNames(t, &o.Spec)
		drawDNS(t, &o.Spec)
		o.Spec.DriftPolicy = rapid.SampledFrom([]v1alpha1.DriftPolicy{"", "", "", v1alpha1.DriftPolicyReport}).Draw(t, "drift")
		o.Spec.DeletionPolicy = rapid.SampledFrom([]v1alpha1.DeletionPolicy{
			v1alpha1.DeletionPolicyDelete, v1alpha1.DeletionPolicyDelete, v1alpha1.DeletionPolicyDelete, v1alpha1.DeletionPolicyRetain,
		}).Draw(t, "deletion")
		o.Spec.AdoptionPolicy = v1alpha1.AdoptionPolicyIfUnowned
	}))
	n.noteEdit(name)
	n.Advance(rapid.SampledFrom([]time.Duration{0, time.Second, 10 * time.Second, 3 * time.Minute}).Draw(t, "then"))
}

func (n *names) userEdits(t *rapid.T) {
	o := n.some(t)
	what := rapid.SampledFrom([]string{"names", "names", "dns", "dns", "no dns", "ttl", "group", "request", "other"}).Draw(t, "what")
	n.Edit(o.Name, func(o *v1alpha1.DistributionTenant) {
		switch s := &o.Spec; what {
		case "names":
			drawNames(t, s)
		case "dns":
			drawDNS(t, s)
		case "no dns":
			s.DNS = nil
		case "ttl":
			if s.DNS != nil {
				s.DNS.TTL = rapid.SampledFrom([]int32{60, 300}).Draw(t, "ttl")
			}
		case "group":
			s.ConnectionGroupID = rapid.SampledFrom(slices.Sorted(maps.Keys(endpoints))).Draw(t, "group")
		case "request":
			drawRequest(t, s)
		case "other":
			enabled := rapid.Bool().Draw(t, "enabled")
			s.Enabled = &enabled
			s.Parameters = []v1alpha1.Parameter{{Name: "tier", Value: rapid.SampledFrom([]string{"gold", "lead"}).Draw(t, "tier")}}
		}
	})
	n.noteEdit(o.Name)
	n.Advance(rapid.SampledFrom([]time.Duration{0, time.Second, 10 * time.Second, 3 * time.Minute}).Draw(t, "then"))
}

func (n *names) userDeletes(t *rapid.T) {
	o := n.some(t)
	if leaves(o) {
		n.loosen(o)
	}
	n.Delete(o.Name)
	n.Advance(rapid.SampledFrom([]time.Duration{0, time.Second, 3 * time.Minute}).Draw(t, "then"))
}

// drawNames draws domains, and a request where the API would take one for them.
func drawNames(t *rapid.T, s *v1alpha1.DistributionTenantSpec) {
	pool := rapid.SampledFrom([][]string{coveredDomains, openDomains, openDomains, slices.Concat(openDomains, coveredDomains[:3])}).Draw(t, "pool")
	s.Domains = nil
	for _, d := range rapid.SliceOfNDistinct(rapid.SampledFrom(pool), 1, 3, rapid.ID[string]).Draw(t, "domains") {
		s.Domains = append(s.Domains, v1alpha1.TenantDomain{Domain: d})
	}
	drawRequest(t, s)
}

func drawRequest(t *rapid.T, s *v1alpha1.DistributionTenantSpec) {
	s.ManagedCertificateRequest, s.Customizations = nil, nil
	wild, open := false, false
	for _, d := range s.Domains {
		wild = wild || strings.HasPrefix(d.Domain, "*")
		open = open || slices.Contains(openDomains, d.Domain)
	}
	odds := []string{"", "", "cloudfront", "self-hosted"}
	if open {
		odds = []string{"", "cloudfront", "cloudfront", "cloudfront", "self-hosted", "self-hosted"}
	}
	if host := rapid.SampledFrom(odds).Draw(t, "host"); host != "" && !wild {
		s.ManagedCertificateRequest = &v1alpha1.ManagedCertificateRequest{ValidationTokenHost: v1alpha1.ValidationTokenHost(host)}
		switch rapid.SampledFrom([]string{"", "", "", "primary", "kept", "named"}).Draw(t, "request") {
		case "primary":
			s.ManagedCertificateRequest.PrimaryDomainName = s.Domains[len(s.Domains)-1].Domain
		case "kept":
			no := false
			s.ManagedCertificateRequest.DeleteOnTenantDeletion = &no
		case "named":
			s.Customizations = &v1alpha1.Customizations{Certificate: &v1alpha1.CertificateCustomization{ARN: broadCertificate}}
		}
	}
}

func drawDNS(t *rapid.T, s *v1alpha1.DistributionTenantSpec) {
	s.DNS = nil
	if rapid.IntRange(0, 4).Draw(t, "dns") == 0 {
		return
	}
	s.DNS = &v1alpha1.DNS{
		Provider: v1alpha1.DNSProviderRoute53, TTL: 300,
		RecordType: rapid.SampledFrom([]v1alpha1.RecordType{
			v1alpha1.RecordTypeAuto, v1alpha1.RecordTypeAuto, v1alpha1.RecordTypeAlias, v1alpha1.RecordTypeCNAME,
		}).Draw(t, "type"),
		Takeover: rapid.SampledFrom([]bool{false, false, false, true}).Draw(t, "takeover"),
	}
	in := func(d string) bool {
		return slices.ContainsFunc(s.Domains, func(x v1alpha1.TenantDomain) bool { return x.Domain == d })
	}
	switch {
	case in("a.shop.example.com"):
		s.DNS.HostedZoneID = rapid.SampledFrom([]string{"", coveredZone, childZone}).Draw(t, "zone")
	case in("a.example.org"):
		s.DNS.AssumeRoleARN = rapid.SampledFrom([]string{awayRole, awayRole, awayRole, deniedRole, forbiddenRole}).Draw(t, "role")
	case in("a.example.net"):
		s.DNS.ZoneName = rapid.SampledFrom([]string{"", "", "example.net", "example.info"}).Draw(t, "zone name")
	}
}

func (n *names) userAbandons(t *rapid.T) {
	o := n.some(t)
	n.Edit(o.Name, func(o *v1alpha1.DistributionTenant) {
		if o.Annotations == nil {
			o.Annotations = map[string]string{}
		}
		o.Annotations[v1alpha1.AnnotationAbandonDNS] = v1alpha1.AbandonTrue
	})
	if !o.DeletionTimestamp.IsZero() {
		n.loosen(o)
	}
}

func (n *names) customersServe(t *rapid.T) {
	n.serveTokens(rapid.SliceOfNDistinct(rapid.SampledFrom(n.allDomains()), 1, 3, rapid.ID[string]).Draw(t, "domains")...)
}

// awsFailsElsewhere spoils what goes to Route 53, ACM and STS, and what CloudFront asks ACM.
func (n *names) awsFailsElsewhere(t *rapid.T) {
	fault := n.fail(t,
		"ChangeResourceRecordSets", "ChangeResourceRecordSets", "GetChange", "ListResourceRecordSets", "ListHostedZones", "GetHostedZone",
		"DescribeCertificate", "DeleteCertificate", "ListCertificates", "AssumeRole", "GetManagedCertificateDetails", "RequestCertificate",
	)
	if fault.Operation == "ChangeResourceRecordSets" && fault.Kind == sim.AfterCommit {
		n.losesAnswers = true
		n.losesChanges()
	}
	n.blows++
}

func (n *names) dnsLags(t *rapid.T) {
	lag := func(name string, upTo ...time.Duration) time.Duration {
		return rapid.SampledFrom(append([]time.Duration{0}, upTo...)).Draw(t, name)
	}
	n.Sim.ChangeSwitches(func(s *sim.Switches) {
		s.Route53SyncDelay = lag("sync", 20*time.Second, slowSync)
		s.DNSPropagationDelay = lag("propagation", 90*time.Second, 6*time.Minute)
		s.Route53ProcessingDelay = lag("processing", 5*time.Second)
		s.CertificateLag = lag("certificates", 40*time.Second)
		s.Route53NeverInSync = rapid.IntRange(0, 3).Draw(t, "never in sync") == 0
		s.RequestLost = rapid.IntRange(0, 3).Draw(t, "requests are lost") == 0
		n.patience = max(n.patience, s.DNSPropagationDelay)
		n.slow = n.slow || s.Route53NeverInSync || s.Route53SyncDelay == slowSync
	})
	if n.losesAnswers || !n.Crashed() {
		n.losesChanges()
	}
	n.blows++
}

// slowSync is longer than an operator waits for a change whose ID it does not know.
const slowSync = 100 * time.Second

// losesChanges allows for changes whose IDs the operator does not know: a process that ends takes them along, and an
// answer that is lost has one. Such a change counts as in sync after a minute, as docs/contributing/campaign.md says, so changes may
// be slow then but not be stuck.
func (n *names) losesChanges() {
	n.Sim.ChangeSwitches(func(s *sim.Switches) { s.Route53NeverInSync = false })
	if n.slow {
		n.patience = max(n.patience, slowSync)
	}
}
