package convert_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/publication"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

func object(change func(*v1alpha1.DistributionTenant)) *v1alpha1.DistributionTenant {
	o := &v1alpha1.DistributionTenant{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "alpha"},
		Spec:       v1alpha1.DistributionTenantSpec{DistributionID: "E1", Domains: []v1alpha1.TenantDomain{{Domain: "a.example.com"}}},
	}
	if change != nil {
		change(o)
	}
	return o
}

func everyField(o *v1alpha1.DistributionTenant) {
	o.Spec = v1alpha1.DistributionTenantSpec{
		DistributionID: "E2", TenantName: "Alpha.Prod", Enabled: new(false), ConnectionGroupID: "cg_1",
		Domains:    []v1alpha1.TenantDomain{{Domain: "b.example.com"}, {Domain: "a.example.com"}},
		Parameters: []v1alpha1.Parameter{{Name: "tier", Value: "gold"}, {Name: "origin", Value: "app"}},
		Customizations: &v1alpha1.Customizations{
			WebACL:          &v1alpha1.WebACLCustomization{Action: "override", ARN: "arn:acl"},
			Certificate:     &v1alpha1.CertificateCustomization{ARN: "arn:cert"},
			GeoRestrictions: &v1alpha1.GeoRestrictionCustomization{RestrictionType: "whitelist", Locations: []v1alpha1.CountryCode{"CH", "AT"}},
		},
		ManagedCertificateRequest: &v1alpha1.ManagedCertificateRequest{
			ValidationTokenHost: "self-hosted", PrimaryDomainName: "a.example.com", CertificateTransparencyLoggingPreference: "disabled",
		},
		Tags: []v1alpha1.Tag{{Key: "team", Value: "web"}},
		DNS:  &v1alpha1.DNS{Provider: "route53", ZoneName: "example.com", RecordType: "Alias", TTL: 60, Takeover: true, AssumeRoleARN: "arn:role"},
	}
}

func TestDesired(t *testing.T) {
	base := distributiontenant.Tenant{Name: "alpha", DistributionID: "E1", Enabled: true, Domains: []string{"a.example.com"}}
	tests := map[string]struct {
		change   func(*v1alpha1.DistributionTenant)
		defaults convert.Defaults
		want     distributiontenant.Desired
	}{
		"a minimal object": {want: distributiontenant.Desired{Tenant: base, Tags: map[string]string{}}},
		"every field": {
			change: everyField,
			want: distributiontenant.Desired{
				Tenant: distributiontenant.Tenant{
					Name: "Alpha.Prod", DistributionID: "E2", ConnectionGroupID: "cg_1",
					Domains:    []string{"b.example.com", "a.example.com"},
					Parameters: map[string]string{"tier": "gold", "origin": "app"},
					Customizations: distributiontenant.Customizations{
						WebACL: distributiontenant.WebACL{Action: "override", ARN: "arn:acl"}, CertificateARN: "arn:cert",
						Geo: distributiontenant.Geo{Type: "whitelist", Locations: []string{"AT", "CH"}},
					},
				},
				Tags:    map[string]string{"team": "web"},
				Request: &certificate.Request{ValidationTokenHost: "self-hosted", PrimaryDomainName: "a.example.com", TransparencyLoggingPref: "disabled"},
				DNS:     &publication.Spec{Zone: dns.Selector{Name: "example.com"}, Type: dns.Alias, TTL: 60, Takeover: true, RoleARN: "arn:role"},
			},
		},
		"DNS without a word about it": {
			change: func(o *v1alpha1.DistributionTenant) {
				o.Spec.DNS = &v1alpha1.DNS{Provider: "route53", HostedZoneID: "Z1"}
			},
			want: distributiontenant.Desired{Tenant: base, Tags: map[string]string{}, DNS: &publication.Spec{Zone: dns.Selector{ID: "Z1"}, TTL: 300}},
		},
		"a primary domain that is not named is not made up": {
			change: func(o *v1alpha1.DistributionTenant) {
				o.Spec.ManagedCertificateRequest = &v1alpha1.ManagedCertificateRequest{ValidationTokenHost: "cloudfront"}
			},
			want: distributiontenant.Desired{
				Tenant: base, Tags: map[string]string{},
				Request: &certificate.Request{ValidationTokenHost: "cloudfront"},
			},
		},
		"empty blocks are no blocks": {
			change: func(o *v1alpha1.DistributionTenant) {
				o.Spec.Customizations, o.Spec.Parameters = &v1alpha1.Customizations{}, []v1alpha1.Parameter{}
			},
			want: distributiontenant.Desired{Tenant: base, Tags: map[string]string{}},
		},
		"a tag of the object wins over the operator's": {
			change:   func(o *v1alpha1.DistributionTenant) { o.Spec.Tags = []v1alpha1.Tag{{Key: "team", Value: "web"}} },
			defaults: convert.Defaults{Tags: map[string]string{"team": "none", "env": "test"}},
			want:     distributiontenant.Desired{Tenant: base, Tags: map[string]string{"team": "web", "env": "test"}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(test.want, convert.Desired(object(test.change), test.defaults)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// What is written for a tenant asks for that tenant.
func TestTenantSpec(t *testing.T) {
	for name, change := range map[string]func(*v1alpha1.DistributionTenant){"a minimal object": nil, "every field": everyField} {
		t.Run(name, func(t *testing.T) {
			o := object(change)
			want := convert.Desired(o, convert.Defaults{}).Tenant
			s := convert.TenantSpec(want)
			s.TenantName, s.DistributionID, s.ConnectionGroupID = o.Spec.TenantName, o.Spec.DistributionID, o.Spec.ConnectionGroupID
			o.Spec = s
			if d := cmp.Diff(want, convert.Desired(o, convert.Defaults{}).Tenant); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestPolicy(t *testing.T) {
	defaults := convert.Defaults{DriftPolicy: resource.DriftReport}
	if d := cmp.Diff(distributiontenant.Policy{Policy: resource.Policy{Drift: resource.DriftReport, Adoption: resource.AdoptNever}}, convert.Policy(object(nil), defaults)); d != "" {
		t.Errorf("where the object is silent, the flags speak (-want +got):\n%s", d)
	}
	full := object(func(o *v1alpha1.DistributionTenant) {
		o.Spec.DriftPolicy, o.Spec.AdoptionPolicy, o.Spec.DeletionPolicy = "suspend", "Force", "Retain"
	})
	if d := cmp.Diff(distributiontenant.Policy{Policy: resource.Policy{Drift: resource.DriftSuspend, Adoption: resource.AdoptForce, Retain: true}}, convert.Policy(full, defaults)); d != "" {
		t.Errorf("the object wins over the flags (-want +got):\n%s", d)
	}
}

func TestAnnotations(t *testing.T) {
	annotated := func(key, value string) *v1alpha1.DistributionTenant {
		return object(func(o *v1alpha1.DistributionTenant) { o.Annotations = map[string]string{key: value} })
	}
	for text, want := range map[string]int64{"": 0, "7": 0, "me/7": 7, "somebody/7": 0, "me/seven": 0, "me/7.5": 0, "/7": 0} {
		o := annotated(v1alpha1.AnnotationAdoptedGeneration, text)
		o.UID = "me"
		if got := convert.AdoptedGeneration(o); got != want {
			t.Errorf("adopted generation of %q: %d, want %d", text, got, want)
		}
	}
	if got := convert.Token(annotated(v1alpha1.AnnotationReconcileNow, "now").Annotations); got != "now" {
		t.Errorf("token %q", got)
	}
	// status.reconcileToken takes 256 characters; a longer one would have the whole status refused.
	if got := convert.Token(annotated(v1alpha1.AnnotationReconcileNow, strings.Repeat("ü", 300)).Annotations); len([]rune(got)) > 256 || got == "" {
		t.Errorf("a long token keeps %d characters", len([]rune(got)))
	}
}

// An object that asks for a role that was never granted gets an error; one that published something is asked for until
// that is taken back.
func TestRoles(t *testing.T) {
	const granted, other = "arn:aws:iam::444455556666:role/dns", "arn:aws:iam::444455556666:role/other"
	defaults := convert.Defaults{Allows: func(role string) bool { return role == granted }}
	spec := func(role string) func(*v1alpha1.DistributionTenant) {
		return func(o *v1alpha1.DistributionTenant) {
			o.Spec.DNS = &v1alpha1.DNS{Provider: "route53", AssumeRoleARN: role}
		}
	}
	published := func(role string) func(*v1alpha1.DistributionTenant) {
		return func(o *v1alpha1.DistributionTenant) {
			o.Status.DNS = &v1alpha1.DNSStatus{Records: []v1alpha1.DNSRecord{{AssumeRoleARN: role}}}
		}
	}
	none := func(*v1alpha1.DistributionTenant) {}
	for name, test := range map[string]struct {
		change   func(*v1alpha1.DistributionTenant)
		defaults convert.Defaults
		denied   string
	}{
		"no role":                                         {none, convert.Defaults{}, ""},
		"the operator's own identity":                     {spec(""), convert.Defaults{}, ""},
		"a role that was granted":                         {spec(granted), defaults, ""},
		"a role that was not":                             {spec(other), defaults, other},
		"any role where none was granted":                 {spec(granted), convert.Defaults{}, granted},
		"a ledger of a role that is not granted any more": {published(other), defaults, other},
		"a ledger of the operator's own":                  {published(""), defaults, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := convert.Policy(object(test.change), test.defaults).DeniedRole; got != test.denied {
				t.Errorf("denied: %q, want %q", got, test.denied)
			}
		})
	}
}

func TestWhatStaysAfterADeletion(t *testing.T) {
	no := false
	for name, test := range map[string]struct {
		change                  func(*v1alpha1.DistributionTenant)
		certificates, abandoned bool
	}{
		"nothing, without a word": {change: func(*v1alpha1.DistributionTenant) {}},
		"certificates, on request": {certificates: true, change: func(o *v1alpha1.DistributionTenant) {
			o.Spec.ManagedCertificateRequest = &v1alpha1.ManagedCertificateRequest{DeleteOnTenantDeletion: &no}
		}},
		"records, with the annotation": {abandoned: true, change: func(o *v1alpha1.DistributionTenant) {
			o.Annotations = map[string]string{v1alpha1.AnnotationAbandonDNS: "true"}
		}},
		"not with any other value": {change: func(o *v1alpha1.DistributionTenant) {
			o.Annotations = map[string]string{v1alpha1.AnnotationAbandonDNS: "yes"}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p := convert.Policy(object(test.change), convert.Defaults{})
			if p.RetainCertificates != test.certificates || p.AbandonDNS != test.abandoned {
				t.Errorf("certificates stay: %t, records stay: %t", p.RetainCertificates, p.AbandonDNS)
			}
		})
	}
}
