// Package convert translates between the Kubernetes API and the domain. It decides
// nothing.
package convert

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/keyvalue"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/publication"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// Defaults are what the administrator's flags add to every object.
type Defaults struct {
	// DriftPolicy holds where the object names none.
	DriftPolicy resource.DriftPolicy
	// Tags are set on every tenant. A tag of the object wins over one of the same key.
	Tags map[string]string
	// Allows reports whether the administrator has granted a role; nil means that none is.
	Allows func(roleARN string) bool
}

// DistributionTenantName is the effective name of the object's tenant in AWS.
func DistributionTenantName(o *v1alpha1.DistributionTenant) string {
	if o.Spec.TenantName != "" {
		return o.Spec.TenantName
	}
	return o.Name
}

// Desired renders the spec as the domain's value.
func Desired(o *v1alpha1.DistributionTenant, d Defaults) distributiontenant.Desired {
	spec := o.Spec
	out := distributiontenant.Desired{
		Tenant: distributiontenant.Tenant{
			Name: DistributionTenantName(o), DistributionID: spec.DistributionID, ConnectionGroupID: spec.ConnectionGroupID,
			Enabled: spec.Enabled == nil || *spec.Enabled, Parameters: map[string]string{},
			Customizations: customizations(spec.Customizations),
		},
		Tags: map[string]string{},
		DNS:  dnsSpec(spec.DNS),
	}
	for _, domain := range spec.Domains {
		out.Domains = append(out.Domains, domain.Domain)
	}
	for _, p := range spec.Parameters {
		out.Parameters[p.Name] = p.Value
	}
	if k := spec.KeyValues; k != nil {
		out.KeyValues = &keyvalue.Spec{StoreARN: k.StoreARN, Key: k.Key, Value: k.Value, Takeover: k.Takeover}
	}
	maps.Copy(out.Tags, d.Tags)
	for _, t := range spec.Tags {
		out.Tags[t.Key] = t.Value
	}
	if r := spec.ManagedCertificateRequest; r != nil {
		out.Request = &certificate.Request{
			ValidationTokenHost:     string(r.ValidationTokenHost),
			PrimaryDomainName:       r.PrimaryDomainName,
			TransparencyLoggingPref: string(r.CertificateTransparencyLoggingPreference),
		}
	}
	out.Tenant = out.Normalize()
	return out
}

// TenantSpec renders a tenant as the spec that asks for it, but for its names and for what it belongs to, which a spec can
// name in two ways.
func TenantSpec(t distributiontenant.Tenant) v1alpha1.DistributionTenantSpec {
	out := v1alpha1.DistributionTenantSpec{Customizations: customizationsSpec(t.Customizations)}
	for _, d := range t.Domains {
		out.Domains = append(out.Domains, v1alpha1.TenantDomain{Domain: d})
	}
	if !t.Enabled {
		out.Enabled = new(false)
	}
	for _, name := range slices.Sorted(maps.Keys(t.Parameters)) {
		out.Parameters = append(out.Parameters, v1alpha1.Parameter{Name: name, Value: t.Parameters[name]})
	}
	return out
}

func dnsSpec(d *v1alpha1.DNS) *publication.Spec {
	if d == nil {
		return nil
	}
	out := &publication.Spec{
		Provider: provider(d.Provider, d.Account),
		Zone:     dns.Selector{ID: d.HostedZoneID, Name: d.ZoneName}, Type: dns.RecordType(d.RecordType), TTL: int64(d.TTL),
		RoleARN: d.AssumeRoleARN, Takeover: d.Takeover,
	}
	if out.TTL == 0 {
		out.TTL = defaultTTL
	}
	return out
}

// provider renders the name of a DNS service and of an account there. In memory Route 53 has the empty one, which an entry
// of the ledger has that names none.
func provider(p v1alpha1.DNSProvider, account string) dns.Provider {
	if p == v1alpha1.DNSProviderRoute53 {
		return dns.Provider{}
	}
	return dns.Provider{Service: dns.Service(p), Account: account}
}

// defaultTTL is that of an object that was stored before the field had its default.
const defaultTTL = 300

func customizations(c *v1alpha1.Customizations) distributiontenant.Customizations {
	var out distributiontenant.Customizations
	if c == nil {
		return out
	}
	if c.WebACL != nil {
		out.WebACL = distributiontenant.WebACL{Action: string(c.WebACL.Action), ARN: c.WebACL.ARN}
	}
	if c.Certificate != nil {
		out.CertificateARN = c.Certificate.ARN
	}
	if g := c.GeoRestrictions; g != nil {
		out.Geo.Type = string(g.RestrictionType)
		for _, l := range g.Locations {
			out.Geo.Locations = append(out.Geo.Locations, string(l))
		}
	}
	return out
}

// customizationsSpec is nil where the tenant has everything from its distribution.
func customizationsSpec(c distributiontenant.Customizations) *v1alpha1.Customizations {
	if c.Equals(distributiontenant.Customizations{}) {
		return nil
	}
	out := &v1alpha1.Customizations{}
	if c.WebACL != (distributiontenant.WebACL{}) {
		out.WebACL = &v1alpha1.WebACLCustomization{Action: v1alpha1.WebACLAction(c.WebACL.Action), ARN: c.WebACL.ARN}
	}
	if c.CertificateARN != "" {
		out.Certificate = &v1alpha1.CertificateCustomization{ARN: c.CertificateARN}
	}
	if c.Geo.Type != "" {
		out.GeoRestrictions = &v1alpha1.GeoRestrictionCustomization{RestrictionType: v1alpha1.GeoRestrictionType(c.Geo.Type)}
		for _, l := range c.Geo.Locations {
			out.GeoRestrictions.Locations = append(out.GeoRestrictions.Locations, v1alpha1.CountryCode(l))
		}
	}
	return out
}

// Policy renders what the user allows.
func Policy(o *v1alpha1.DistributionTenant, d Defaults) distributiontenant.Policy {
	p := distributiontenant.Policy{
		Policy: resource.Policy{
			Drift:    resource.DriftPolicy(o.Spec.DriftPolicy),
			Adoption: resource.AdoptionPolicy(o.Spec.AdoptionPolicy),
			Retain:   o.Spec.DeletionPolicy == v1alpha1.DeletionPolicyRetain,
		},
	}
	if p.Drift == "" {
		p.Drift = d.DriftPolicy
	}
	if p.Adoption == "" {
		p.Adoption = resource.AdoptNever
	}
	if r := o.Spec.ManagedCertificateRequest; r != nil && r.DeleteOnTenantDeletion != nil {
		p.RetainCertificates = !*r.DeleteOnTenantDeletion
	}
	p.AbandonDNS = o.Annotations[v1alpha1.AnnotationAbandonDNS] == v1alpha1.AbandonTrue
	var role string
	var published []v1alpha1.DNSRecord
	if o.Spec.DNS != nil {
		role = o.Spec.DNS.AssumeRoleARN
	}
	if o.Status.DNS != nil {
		published = o.Status.DNS.Records
	}
	p.DeniedRole = d.DeniedRole(role, published)
	return p
}

// Memory reads back from status the values that only status remembers.
func Memory(s *v1alpha1.DistributionTenantStatus) distributiontenant.Memory {
	m := distributiontenant.Memory{
		Memory: resource.Memory{
			ID: s.ID, Account: resource.AccountOf(s.ARN), AppliedGeneration: appliedGeneration(s.ObservedGeneration, s.AppliedGeneration),
			AppliedTagKeys: s.AppliedTagKeys, Failure: failureMemory(s.Failure), Conditions: conditionMemory(s.Conditions),
		},
		ETag: s.ETag, RoutingEndpoint: s.DNSTarget,
		Parents: distributiontenant.Parents{DistributionID: s.DistributionID, ConnectionGroupID: s.ConnectionGroupID},
	}
	m.Certificates, m.Served = slices.Clone(s.ManagedCertificates), served(s.Certificate)
	if m.Served != nil {
		m.Served.Inherited = m.Served.ARN != s.CertificateARN
	}
	if s.ManagedCertificateStatus != "" {
		m.Certificate = managed(s)
	}
	if r := s.CertificateRequest; r != nil {
		m.Requested = &certificate.Sent{At: r.Time.Time, Request: certificate.Request{
			ValidationTokenHost: string(r.ValidationTokenHost), PrimaryDomainName: r.PrimaryDomainName,
			TransparencyLoggingPref: string(r.CertificateTransparencyLoggingPreference),
		}}
	}
	if s.DNS != nil {
		m.Ledger = ledger(s.DNS.Records)
	}
	for _, k := range s.KeyValues {
		m.Keys = append(m.Keys, keyvalue.Entry{
			Key: keyvalue.Key{StoreARN: k.StoreARN, Name: k.Key}, Digest: k.Digest, Before: k.Before, State: keyvalue.State(k.State),
		})
	}
	if s.LastModifiedTime != nil {
		m.Modified = s.LastModifiedTime.Time
	}
	domainMemory(&m, s.Domains)
	for _, r := range s.DomainResults {
		if m.DomainStates == nil {
			m.DomainStates = make(map[string]string, len(s.DomainResults))
		}
		m.DomainStates[r.Domain] = r.Status
	}
	return m
}

// managed is the managed certificate as status reports it. Where status was written before it
// listed them, the certificate that it shows is the one.
func managed(s *v1alpha1.DistributionTenantStatus) *certificate.Managed {
	m := &certificate.Managed{ARN: s.CertificateARN, State: certificate.State(s.ManagedCertificateStatus)}
	if n := len(s.ManagedCertificates); n > 0 {
		m.ARN = s.ManagedCertificates[n-1]
	}
	// Redirects are only listed where the user's own web server has to answer.
	if m.Tokens = redirects(s.Domains); len(m.Tokens) > 0 {
		m.Host = certificate.SelfHosted
	}
	return m
}

// ledger leaves out entries that the operator never writes: they come from someone else.
func ledger(records []v1alpha1.DNSRecord) []dns.Entry {
	out := make([]dns.Entry, 0, len(records))
	for _, r := range records {
		record := dns.Record{Provider: provider(r.Provider, r.Account), ZoneID: r.ZoneID, Name: r.Name, Type: r.Type, Value: r.Value, TTL: r.TTL}
		if record.Plausible() {
			out = append(out, dns.Entry{Record: record, State: dns.State(r.State), RoleARN: r.AssumeRoleARN, Replaced: replaced(record, r.Replaced)})
		}
	}
	return out
}

// replaced leaves out what the operator never replaces: it comes from someone else.
func replaced(ours dns.Record, records []v1alpha1.ReplacedRecord) dns.Replaced {
	var sets []dns.RecordSet
	for _, r := range records {
		s := dns.RecordSet{Key: dns.Key{Name: ours.Name, Type: r.Type}, Values: r.Values, Exact: r.ExactValues, Alias: r.AliasTarget}
		if r.TTL != nil {
			s.TTL = *r.TTL
		}
		if s.Plausible(ours) {
			sets = append(sets, s)
		}
	}
	return dns.Replacing(sets)
}

// maxToken is how much of a token status can repeat.
const maxToken = 256

// Token reads the annotation with which a user asks to look at once, cut to what status can repeat: a token that can't
// be repeated would count as unheard forever.
func Token(annotations map[string]string) string {
	return prose.Fit(annotations[v1alpha1.AnnotationReconcileNow], maxToken)
}

// AdoptedMark is what AnnotationAdoptedGeneration holds after an adoption. It carries the
// UID: an annotation that was copied to another object, or restored from a backup, must not
// keep that one's drift from being noticed.
func AdoptedMark(o metav1.Object) string {
	return string(o.GetUID()) + "/" + strconv.FormatInt(o.GetGeneration(), 10)
}

// AdoptedGeneration reads back for which generation of this very object a resource was
// adopted. Zero: none.
func AdoptedGeneration(o metav1.Object) int64 {
	uid, text, _ := strings.Cut(o.GetAnnotations()[v1alpha1.AnnotationAdoptedGeneration], "/")
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || uid != string(o.GetUID()) {
		return 0
	}
	return n
}
