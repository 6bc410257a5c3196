package convert

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/grant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/identity"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

// Grants renders all grants. An invalid part of one grants nothing, and its status says so, but the grant still selects
// namespaces.
func Grants(list []v1alpha1.EdgeGrant) []grant.Grant {
	all := make([]grant.Grant, len(list))
	for i := range list {
		all[i], _ = Grant(&list[i])
	}
	return all
}

// Grant renders a grant. Parts that can't be understood are left out, so that they grant nothing, and are reported.
func Grant(o *v1alpha1.EdgeGrant) (g grant.Grant, invalid error) {
	s := o.Spec
	g = grant.Grant{
		Name: o.Name, Version: fmt.Sprintf("%s/%d", o.UID, o.Generation), Namespaces: grant.Namespaces{Names: s.Namespaces.Names},
		Wildcards: truth(s.Wildcards), Certificates: s.Certificates, RoleRefused: RoleRefused(o),
	}
	if s.Account != nil {
		g.Account = grant.Account{ID: s.Account.ID, RoleARN: s.Account.RoleARN}
	}
	for _, k := range s.Kinds {
		g.Kinds = append(g.Kinds, string(k))
	}
	for _, d := range s.Distributions {
		granted := grant.Distribution{Is: grantedIs(d.ID, d.Object)}
		for _, p := range d.Parameters {
			if granted.Parameters == nil {
				granted.Parameters = map[string][]string{}
			}
			granted.Parameters[p.Name] = p.Values
		}
		g.Distributions = append(g.Distributions, granted)
	}
	for _, c := range s.ConnectionGroups {
		g.Groups = append(g.Groups, grantedIs(c.ID, c.Object))
	}
	for _, d := range s.Domains {
		g.Domains = append(g.Domains, grant.Domain{Suffix: d.Suffix, Except: d.Except, Proven: d.Proof == v1alpha1.DomainProofTXT})
	}
	if w := s.WebACLs; w != nil {
		g.WebACLs, g.NoWebACL = w.ARNs, truth(w.Disable)
	}
	for _, k := range s.KeyValueStores {
		g.Stores = append(g.Stores, grant.Store{ARN: k.ARN, Keys: k.Keys, Takeover: truth(k.Takeover)})
	}
	g.GeoRestrictions = truth(s.GeoRestrictions)
	if o := s.Origins; o != nil {
		g.Origins, g.VPCOrigins, g.AccessControls = o.Domains, o.VPCOrigins, o.AccessControls
	}
	g.Functions, g.KeyGroups, g.Encryptions, g.LogBuckets = s.Functions, s.KeyGroups, s.FieldLevelEncryptions, s.LogBuckets
	if t := s.Sources; t != nil {
		g.Tables, g.WriteTables, g.Hosts, g.Logins = t.Tables, t.WriteTables, t.Hosts, t.Logins
	}
	g.DNS, g.Adoption, g.Limits = grantedDNS(s.DNS), grantedAdoption(s.Adopt), grantLimits(s.Limits)
	if s.Namespaces.Selector != nil {
		selector, err := metav1.LabelSelectorAsSelector(s.Namespaces.Selector)
		if err != nil {
			invalid = fmt.Errorf("spec.namespaces.selector: %w", err)
		} else {
			g.Namespaces.Selects = func(of map[string]string) bool { return selector.Matches(labels.Set(of)) }
		}
	}
	roles, err := identity.ParseRolePatterns(s.Roles)
	if err != nil {
		return g, fmt.Errorf("spec.roles: %w", err)
	}
	g.Roles = roles
	return g, invalid
}

// RoleRefused reports whether AWS was last seen to refuse the role of a grant.
func RoleRefused(o *v1alpha1.EdgeGrant) bool {
	c := meta.FindStatusCondition(o.Status.Conditions, v1alpha1.ConditionReady)
	return c != nil && c.Reason == v1alpha1.ReasonRoleRefused
}

// NotGranted reports whether the status of an object says that its grant refuses something.
func NotGranted(conditions []metav1.Condition) bool {
	return slices.ContainsFunc(conditions, func(c metav1.Condition) bool { return c.Reason == v1alpha1.ReasonNotGranted })
}

// grantedNamespace is what the CRD accepts as a name of a namespace.
var grantedNamespace = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]*[a-z0-9])?|[a-z0-9][a-z0-9-]*[*]|[*])$`)

// checkDefaultNamespaces refuses restrictions that have no effect, or that no namespace meets.
func checkDefaultNamespaces(text string, n v1alpha1.GrantedNamespaces) error {
	var given struct{ Namespaces json.RawMessage }
	if err := json.Unmarshal([]byte(text), &given); err != nil {
		return err
	}
	if given.Namespaces != nil && len(n.Names) == 0 && n.Selector == nil {
		return errors.New("namespaces: it selects none. Set names, selector or both, or remove the field for every namespace that no EdgeGrant selects")
	}
	for _, name := range n.Names {
		if !grantedNamespace.MatchString(name) {
			return fmt.Errorf("namespaces.names: %q is neither the name of a namespace nor a prefix followed by a star, such as shop-*", name)
		}
	}
	return nil
}

// DefaultGrant renders the grant of the namespaces that no EdgeGrant selects, from the JSON of a spec. Nil: there is none.
func DefaultGrant(text string) (*grant.Grant, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	o := &v1alpha1.EdgeGrant{ObjectMeta: metav1.ObjectMeta{Name: grant.Default}}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&o.Spec); err != nil {
		return nil, err
	}
	if err := checkDefaultNamespaces(text, o.Spec.Namespaces); err != nil {
		return nil, err
	}
	if o.Spec.Account != nil {
		return nil, errors.New("account: only an EdgeGrant can put namespaces into another AWS account, so remove this field")
	}
	g, err := Grant(o)
	return &g, err
}

func truth(b *bool) bool { return b != nil && *b }

func grantedIs(id string, o *v1alpha1.GrantedObject) string {
	if o != nil {
		return objectOf(o.Namespace, o.Name)
	}
	return id
}

func objectOf(namespace, name string) string { return namespace + "/" + name }

func grantedDNS(d *v1alpha1.GrantedDNS) *grant.DNS {
	if d == nil {
		return nil
	}
	out := &grant.DNS{Takeover: grant.Takeover(d.Takeover)}
	for _, z := range d.Zones {
		out.Zones = append(out.Zones, grant.Zone{Provider: provider(cmp.Or(z.Provider, v1alpha1.DNSProviderRoute53), z.Account), ID: z.ID})
	}
	return out
}

func grantedAdoption(a *v1alpha1.GrantedAdoption) *grant.Adoption {
	if a == nil {
		return nil
	}
	out := &grant.Adoption{Force: a.Policy == v1alpha1.GrantedAdoptionForce, Names: a.Names, FromClusters: a.FromClusters}
	if a.Until != nil {
		out.Until = a.Until.Time
	}
	return out
}

func grantLimits(l *v1alpha1.GrantLimits) (out grant.Limits) {
	if l == nil {
		return out
	}
	number := func(n *int32) *int {
		if n == nil {
			return nil
		}
		return new(int(*n))
	}
	return grant.Limits{Tenants: number(l.Tenants), Domains: number(l.Domains), Sources: number(l.Sources)}
}

// wants gathers what an object wants.
type wants []grant.Want

func (w *wants) add(thing grant.Thing, field, value string) {
	*w = append(*w, grant.Want{Thing: thing, Field: field, Value: value})
}

// given adds a want if it has a value.
func (w *wants) given(thing grant.Thing, field, value string) {
	if value != "" {
		w.add(thing, field, value)
	}
}

// adoption adds what an object wants that has nothing in AWS yet. An adopted resource stays its own.
func (w *wants) adoption(policy v1alpha1.AdoptionPolicy, name, has string) {
	switch {
	case has != "":
	case policy == v1alpha1.AdoptionPolicyForce:
		w.add(grant.AForcedAdoption, "spec.adoptionPolicy", name)
	case policy == v1alpha1.AdoptionPolicyIfUnowned:
		w.add(grant.AnAdoption, "spec.adoptionPolicy", name)
	}
}

// Wants is what an object asks for, whatever its kind. Kinds that ask for nothing have none.
func Wants(object any) []grant.Want {
	switch o := object.(type) {
	case *v1alpha1.DistributionTenant:
		return TenantWants(o)
	case *v1alpha1.Distribution:
		return DistributionWants(o)
	case *v1alpha1.ConnectionGroup:
		return GroupWants(o)
	case *v1alpha1.TenantSource:
		return SourceWants(o)
	}
	return nil
}

// TenantWants is what a tenant wants to use.
func TenantWants(o *v1alpha1.DistributionTenant) []grant.Want {
	s, w := o.Spec, wants{}
	w.add(grant.AKind, "", string(v1alpha1.GrantedDistributionTenants))
	distribution := s.DistributionID
	w.given(grant.ADistribution, "spec.distributionId", distribution)
	if r := s.DistributionRef; r != nil && r.Namespace != "" && r.Namespace != o.Namespace {
		distribution = objectOf(r.Namespace, r.Name)
		w.add(grant.ADistribution, "spec.distributionRef", distribution)
	}
	w.given(grant.AGroup, "spec.connectionGroupId", s.ConnectionGroupID)
	if r := s.ConnectionGroupRef; r != nil && r.Namespace != "" && r.Namespace != o.Namespace {
		w.add(grant.AGroup, "spec.connectionGroupRef", objectOf(r.Namespace, r.Name))
	}
	for i, d := range s.Domains {
		w.add(grant.ADomain, fmt.Sprintf("spec.domains[%d].domain", i), d.Domain)
	}
	// A namespace may do with a distribution of its own what it likes.
	for i, p := range s.Parameters {
		if distribution != "" {
			w = append(w, grant.Want{Thing: grant.AParameter, Field: fmt.Sprintf("spec.parameters[%d].value", i), Value: p.Value, Name: p.Name, Of: distribution})
		}
	}
	w.customizations(s.Customizations)
	w.dns("spec.dns", s.DNS)
	w.keyValues(s.KeyValues)
	w.adoption(s.AdoptionPolicy, DistributionTenantName(o), o.Status.ID)
	return w
}

func (w *wants) customizations(c *v1alpha1.Customizations) {
	if c == nil {
		return
	}
	if c.Certificate != nil {
		w.given(grant.ACertificate, "spec.customizations.certificate.arn", c.Certificate.ARN)
	}
	switch acl := c.WebACL; {
	case acl == nil:
	case acl.Action == v1alpha1.WebACLActionDisable:
		w.add(grant.NoWebACL, "spec.customizations.webAcl.action", "")
	default:
		w.given(grant.AWebACL, "spec.customizations.webAcl.arn", acl.ARN)
	}
	if c.GeoRestrictions != nil {
		w.add(grant.AGeoRestriction, "spec.customizations.geoRestrictions", "")
	}
}

// keyValues are the wants for keys. Keys that are the domains are granted with the domains.
func (w *wants) keyValues(k *v1alpha1.KeyValues) {
	if k == nil {
		return
	}
	w.add(grant.AKeyValueStore, "spec.keyValues.storeArn", k.StoreARN)
	if k.Key != "" {
		*w = append(*w, grant.Want{Thing: grant.AKey, Field: "spec.keyValues.key", Value: k.Key, Of: k.StoreARN})
	}
	if k.Takeover {
		*w = append(*w, grant.Want{Thing: grant.AKeyTakeover, Field: "spec.keyValues.takeover", Name: k.Key, Of: k.StoreARN})
	}
}

// dns are the wants of a block of that name.
func (w *wants) dns(field string, d *v1alpha1.DNS) {
	if d == nil {
		return
	}
	switch at := provider(d.Provider, d.Account); {
	case at != dns.Provider{}:
		*w = append(*w, grant.Want{Thing: grant.RecordsAt, Field: field + ".provider", Value: at.String(), Provider: at})
	case d.HostedZoneID != "":
		w.add(grant.Records, field+".hostedZoneId", d.HostedZoneID)
	default:
		w.add(grant.Records, field, "")
	}
	w.given(grant.ARole, field+".assumeRoleArn", d.AssumeRoleARN)
	if d.Takeover {
		w.add(grant.ATakeover, field+".takeover", "")
	}
}

// DistributionWants is what a distribution wants to use.
func DistributionWants(o *v1alpha1.Distribution) []grant.Want {
	s, w := o.Spec, wants{}
	w.add(grant.AKind, "", string(v1alpha1.GrantedDistributionObjects))
	w.adoptedDistribution(o)
	for i, alias := range s.Aliases {
		w.add(grant.AnAlias, fmt.Sprintf("spec.aliases[%d]", i), strings.ToLower(alias))
	}
	if v := s.ViewerCertificate; v != nil {
		w.given(grant.ACertificate, "spec.viewerCertificate.acmCertificateArn", v.ACMCertificateARN)
		w.given(grant.ACertificate, "spec.viewerCertificate.iamCertificateId", v.IAMCertificateID)
	}
	w.given(grant.AWebACL, "spec.webACLId", s.WebACLID)
	for i, o := range s.Origins {
		w.origin(fmt.Sprintf("spec.origins[%d].", i), o)
	}
	if b := s.DefaultCacheBehavior; b != nil {
		w.behavior("spec.defaultCacheBehavior.", *b)
	}
	for i, b := range s.CacheBehaviors {
		w.behavior(fmt.Sprintf("spec.cacheBehaviors[%d].", i), b.CacheBehaviorSettings)
	}
	if m := s.ViewerMTLSConfig; m != nil && m.TrustStoreConfig != nil {
		w.add(grant.ATrustStore, "spec.viewerMtlsConfig.trustStoreConfig.trustStoreId", m.TrustStoreConfig.TrustStoreID)
	}
	if f := s.ConnectionFunctionAssociation; f != nil {
		w.given(grant.AFunction, "spec.connectionFunctionAssociation.id", f.ID)
	}
	if l := s.Logging; l != nil {
		w.add(grant.ALogBucket, "spec.logging.bucket", strings.ToLower(l.Bucket))
	}
	return w
}

func (w *wants) origin(field string, o v1alpha1.Origin) {
	w.add(grant.AnOrigin, field+"domainName", strings.ToLower(o.DomainName))
	if v := o.VPCOriginConfig; v != nil {
		w.add(grant.AVPCOrigin, field+"vpcOriginConfig.vpcOriginId", v.VPCOriginID)
	}
	if c := o.CustomOriginConfig; c != nil && c.OriginMTLSConfig != nil {
		w.given(grant.ACertificate, field+"customOriginConfig.originMtlsConfig.clientCertificateArn", c.OriginMTLSConfig.ClientCertificateARN)
	}
	w.given(grant.AnAccessControl, field+"originAccessControlId", o.OriginAccessControlID)
}

func (w *wants) behavior(field string, b v1alpha1.CacheBehaviorSettings) {
	for i, f := range b.FunctionAssociations {
		w.add(grant.AFunction, fmt.Sprintf("%sfunctionAssociations[%d].functionArn", field, i), f.FunctionARN)
	}
	for i, f := range b.LambdaFunctionAssociations {
		w.add(grant.AFunction, fmt.Sprintf("%slambdaFunctionAssociations[%d].lambdaFunctionArn", field, i), f.LambdaFunctionARN)
	}
	for i, group := range b.TrustedKeyGroups {
		w.add(grant.AKeyGroup, fmt.Sprintf("%strustedKeyGroups[%d]", field, i), group)
	}
	w.given(grant.AnEncryption, field+"fieldLevelEncryptionId", b.FieldLevelEncryptionID)
	w.given(grant.ALogConfig, field+"realtimeLogConfigArn", ptr.Deref(b.RealtimeLogConfigARN, ""))
}

func (w *wants) adoptedDistribution(o *v1alpha1.Distribution) {
	id := o.Spec.DistributionID
	if id == "" || o.Status.ID == id {
		return
	}
	*w = append(*w, grant.Want{Thing: grant.ADistribution, Field: "spec.distributionId", Value: id, Fixed: true})
	w.adoption(o.Spec.AdoptionPolicy, id, "")
}

// GroupWants is what a connection group wants to use.
func GroupWants(o *v1alpha1.ConnectionGroup) []grant.Want {
	w := wants{}
	w.add(grant.AKind, "", string(v1alpha1.GrantedConnectionGroups))
	for i, t := range o.Spec.CustomerTargets {
		field := fmt.Sprintf("spec.customerTargets[%d].", i)
		w.add(grant.ATarget, field+"name", t.Name)
		w.dns(field+"dns", t.DNS)
	}
	w.adoption(o.Spec.AdoptionPolicy, GroupName(o), o.Status.ID)
	return w
}

// SourceWants is what a source wants to use, apart from what its rows do.
func SourceWants(o *v1alpha1.TenantSource) []grant.Want {
	w := wants{}
	w.add(grant.AKind, "", string(v1alpha1.GrantedTenantSources))
	for _, r := range SourceReferences(o) {
		thing := grant.ADistribution
		if r.Field == distributiontenant.ConnectionGroupRef {
			thing = grant.AGroup
		}
		if r.Namespace != o.Namespace {
			w.add(thing, "spec."+r.Block+string(r.Field), objectOf(r.Namespace, r.Name))
		}
	}
	if d := o.Spec.DynamoDB; d != nil {
		w.add(grant.ATable, "spec.dynamodb.tableName", d.TableName)
		w.given(grant.ARole, "spec.dynamodb.assumeRoleArn", d.AssumeRoleARN)
	}
	w.login(o.Spec.Provider, "spec."+string(o.Spec.Provider)+".iam", sourceIAM(o))
	if b := o.Spec.WriteBack; b != nil {
		w.login(o.Spec.Provider, "spec.writeBack.iam", b.IAM)
		w.add(grant.AStateTable, "spec.writeBack.table", b.Table)
		if o.Spec.DynamoDB != nil { // the operator's own identity writes it, and no connection string of the namespace
			w.add(grant.ATable, "spec.writeBack.table", b.Table)
		}
		w.given(grant.ARole, "spec.writeBack.assumeRoleArn", b.AssumeRoleARN)
	}
	return w
}

// login is a login with the operator's identity.
func (w *wants) login(p v1alpha1.SourceProvider, field string, iam *v1alpha1.IAMLogin) {
	if l := loginOf(p, iam); l != nil {
		w.add(grant.ALogin, field, l.String())
		w.add(grant.AHost, field+".host", l.Host)
		w.given(grant.ARole, field+".assumeRoleArn", l.AssumeRoleARN)
	}
}

// RowWants is what the object of a row wants to use. Whether it may adopt anything is asked when it does.
func RowWants(row mapping.Object, namespace string) ([]grant.Want, error) {
	text, err := json.Marshal(row.Spec)
	if err != nil {
		return nil, err
	}
	o := &v1alpha1.DistributionTenant{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: row.Name}}
	if err := json.Unmarshal(text, &o.Spec); err != nil {
		return nil, err
	}
	o.Spec.AdoptionPolicy = v1alpha1.AdoptionPolicyNever
	return TenantWants(o), nil
}

// InAWS reports whether the tenant has something in AWS, or may have.
func InAWS(o *v1alpha1.DistributionTenant) bool {
	_, marked := o.Annotations[v1alpha1.AnnotationCreatePending]
	return o.Status.ID != "" || marked
}

// ParentInAWS is InAWS for a distribution or connection group.
func ParentInAWS(o metav1.Object, s *v1alpha1.ResourceStatus) bool {
	_, marked := o.GetAnnotations()[v1alpha1.AnnotationCreatePending]
	return s.ID != "" || marked
}

// TenantUsage is what a tenant takes of the limits.
func TenantUsage(o *v1alpha1.DistributionTenant) grant.Usage {
	return grant.Usage{Tenants: 1, Domains: len(o.Spec.Domains)}
}

// GrantCounts writes figures into the status of a grant.
func GrantCounts(s *v1alpha1.EdgeGrantStatus, namespaces, tenants, violations int) {
	s.Namespaces, s.Tenants, s.Violations = new(int32(namespaces)), new(int32(tenants)), new(int32(violations))
}

// GrantStatus writes the condition of a grant into its status.
func GrantStatus(s *v1alpha1.EdgeGrantStatus, generation int64, ready chain.Condition, now time.Time) {
	ready.Generation = generation
	s.ObservedGeneration = generation
	setConditions(&s.Conditions, chain.Sentences([]chain.Condition{ready}), now)
}
