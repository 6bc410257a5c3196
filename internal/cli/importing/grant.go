package importing

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/grant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
)

// Grant is what the namespace needs before the operator adopts what is imported.
type Grant struct {
	// Object is an EdgeGrant that allows it. Nil: Existing is there, and has to allow more.
	Object *v1alpha1.EdgeGrant
	// Existing are the names of the EdgeGrants that select the namespace.
	Existing []string
	// Refusals are why the grants of the cluster do not allow it.
	Refusals []string
}

// maxRefusals bounds those that are listed: thousands of tenants are refused for the same reasons.
const maxRefusals = 20

// adoptionTime is for how long the grant that is written allows to adopt.
const adoptionTime = 30 * 24 * time.Hour

// How many names of certificates, web ACLs, functions and key groups a grant can have, and of what else distributions use.
const (
	maxGrantedCertificates = 256
	maxGrantedWebACLs      = 64
	maxGrantedFunctions    = 256
	maxGrantedOrigins      = 64
)

// grant is nil where the namespace may do all that is written, or where that is not known.
func (b *builder) grant() *Grant {
	if b.Cluster == nil || b.Cluster.Granted == nil || !b.Cluster.Granted.Enforced || b.Namespace == "" {
		return nil
	}
	standing := b.Cluster.Granted.Standing
	g := &Grant{}
	var wants []grant.Want
	for _, e := range b.fleet.Entries() {
		for _, w := range convert.Wants(e.Object) {
			wants = append(wants, w)
			refusal := standing.Judge(b.Namespace, []grant.Want{w}, b.now())
			if refusal != nil && len(g.Refusals) < maxRefusals && !slices.Contains(g.Refusals, refusal.Text) {
				g.Refusals = append(g.Refusals, refusal.Text)
			}
		}
	}
	if len(g.Refusals) == 0 {
		return nil
	}
	switch {
	case len(standing.Rivals) > 0:
		g.Existing = standing.Rivals
	case standing.Grant != nil && standing.Grant.Name != grant.Default:
		g.Existing = []string{standing.Grant.Name}
	default:
		g.Object = b.edgeGrant(wants)
	}
	return g
}

// edgeGrant allows all that is wanted, and everything of kinds without a limit: the domains and names of thousands of
// tenants.
func (b *builder) edgeGrant(wants []grant.Want) *v1alpha1.EdgeGrant {
	by := map[grant.Thing][]string{}
	for _, thing := range []grant.Thing{
		grant.AKind, grant.ADistribution, grant.AGroup, grant.ACertificate, grant.AWebACL,
		grant.AVPCOrigin, grant.AnAccessControl, grant.AFunction, grant.AKeyGroup, grant.ATrustStore, grant.AnEncryption, grant.ALogBucket, grant.ALogConfig,
	} {
		by[thing] = valuesOf(wants, thing)
	}
	wanted := func(t grant.Thing) bool {
		return slices.ContainsFunc(wants, func(w grant.Want) bool { return w.Thing == t })
	}
	g := &v1alpha1.EdgeGrant{TypeMeta: typeMeta("EdgeGrant"), ObjectMeta: metav1.ObjectMeta{Name: "import-" + b.Namespace}}
	s := &g.Spec
	s.Namespaces.Names = []string{b.Namespace}
	for _, kind := range by[grant.AKind] {
		s.Kinds = append(s.Kinds, v1alpha1.GrantedKind(kind))
	}
	for _, id := range by[grant.ADistribution] {
		s.Distributions = append(s.Distributions, v1alpha1.GrantedDistribution{ID: id})
	}
	for _, id := range by[grant.AGroup] {
		s.ConnectionGroups = append(s.ConnectionGroups, v1alpha1.GrantedConnectionGroup{ID: id})
	}
	if wanted(grant.ADomain) || wanted(grant.AnAlias) || wanted(grant.ATarget) {
		s.Domains = []v1alpha1.GrantedDomain{{Suffix: "*"}}
	}
	if slices.ContainsFunc(wants, func(w grant.Want) bool { return strings.HasPrefix(w.Value, "*.") }) {
		s.Wildcards = new(true)
	}
	s.Certificates = atMost(by[grant.ACertificate], maxGrantedCertificates)
	acls := atMost(by[grant.AWebACL], maxGrantedWebACLs)
	if without := wanted(grant.NoWebACL); len(acls) > 0 || without {
		s.WebACLs = &v1alpha1.GrantedWebACLs{ARNs: acls}
		if without {
			s.WebACLs.Disable = new(true)
		}
	}
	if wanted(grant.AGeoRestriction) {
		s.GeoRestrictions = new(true)
	}
	if vpc, controls := by[grant.AVPCOrigin], by[grant.AnAccessControl]; len(vpc)+len(controls) > 0 {
		s.Origins = &v1alpha1.GrantedOrigins{VPCOrigins: atMost(vpc, maxGrantedOrigins), AccessControls: atMost(controls, maxGrantedOrigins)}
	}
	s.Functions, s.KeyGroups = atMost(by[grant.AFunction], maxGrantedFunctions), atMost(slices.Concat(by[grant.AKeyGroup], by[grant.ATrustStore]), maxGrantedFunctions)
	s.FieldLevelEncryptions = atMost(by[grant.AnEncryption], maxGrantedOrigins)
	s.LogBuckets = atMost(slices.Concat(by[grant.ALogBucket], by[grant.ALogConfig]), maxGrantedOrigins)
	s.Adopt = &v1alpha1.GrantedAdoption{
		Policy: v1alpha1.GrantedAdoptionIfUnowned, Names: []string{"*"},
		Until: new(metav1.NewTime(b.now().UTC().Truncate(24 * time.Hour).Add(adoptionTime))),
	}
	if wanted(grant.AForcedAdoption) {
		s.Adopt.Policy, s.Adopt.FromClusters = v1alpha1.GrantedAdoptionForce, b.ownersForced()
	}
	return g
}

// ownersForced are the clusters from which something is taken.
func (b *builder) ownersForced() []string {
	clusters := map[string]bool{}
	for _, e := range b.fleet.Entries() {
		if owner, owned := ownership.FromTags(b.reader.tags[e.ARN]); owned && owner.Cluster != "" {
			clusters[owner.Cluster] = true
		}
	}
	return slices.Sorted(maps.Keys(clusters))
}

func valuesOf(wants []grant.Want, thing grant.Thing) []string {
	values := map[string]bool{}
	for _, w := range wants {
		if w.Thing == thing {
			values[w.Value] = true
		}
	}
	return slices.SortedFunc(maps.Keys(values), cmp.Compare[string])
}

// atMost is everything where a grant has no room for all.
func atMost(list []string, n int) []string {
	if len(list) > n {
		return []string{"*"}
	}
	return list
}
