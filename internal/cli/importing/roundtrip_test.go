package importing_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli/importing"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/specimen"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// made is a fleet that others made with the SDK.
type made struct {
	*world.World
	t            *testing.T
	distribution string
	parameters   []v1alpha1.ParameterDefinition
	group        string
}

// make makes a generated distribution, a group, and tenants of every kind, and waits until all is deployed.
func makeFleet(t *testing.T, w *world.World, seed int) *made {
	t.Helper()
	m := &made{World: w, t: t}
	config := specimen.Distributions(v1alpha1.ConnectionModeTenantOnly, sim.DefaultCertificateARN).Example(seed)
	// Without a certificate no tenant has one, and one that is disabled serves none.
	config.Enabled, config.ViewerCertificate = nil, &v1alpha1.ViewerCertificate{ACMCertificateARN: sim.DefaultCertificateARN}
	d, err := clientOf(t, w.Sim.Transport(), unlimited).CreateDistribution(t.Context(), fmt.Sprint("by-hand-", seed),
		convert.NormalizeDistribution(config), map[string]string{"Name": "Main Shop", "team": "web"})
	if err != nil {
		t.Fatal(err)
	}
	m.distribution = d.ID
	if c := config.TenantConfig; c != nil {
		m.parameters = c.ParameterDefinitions
	}
	g, err := w.AWS().CreateConnectionGroup(t.Context(), &cloudfront.CreateConnectionGroupInput{
		Name: awssdk.String("Static_Group"), Ipv6Enabled: new(seed%2 == 0), Enabled: new(true),
		Tags: &types.Tags{Items: []types.Tag{{Key: awssdk.String("cost center"), Value: awssdk.String("7")}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	m.group = *g.ConnectionGroup.Id
	for i, name := range []string{
		"acme", "Acme", "ACME", "globex.prod", "in-default-group", "Disabled", "a.-.b", "x--y", "many-domains", "with.tags",
		"no-web-acl", "own-web-acl", "only-germany", "everywhere", "own-certificate", strings.Repeat("n", 128),
	} {
		m.tenant(i, name)
	}
	w.Advance(2 * world.DeployDelay)
	return m
}

// tenant makes one that is as its name says.
func (m *made) tenant(i int, name string) {
	m.t.Helper()
	domain := func(n int) types.DomainItem {
		return types.DomainItem{Domain: awssdk.String(fmt.Sprintf("t%d-%d.example.com", i, n))}
	}
	in := &cloudfront.CreateDistributionTenantInput{
		Name: &name, DistributionId: &m.distribution, ConnectionGroupId: &m.group, Enabled: new(name != "Disabled"),
		Domains: []types.DomainItem{domain(0)}, Customizations: &types.Customizations{},
	}
	for _, p := range m.parameters {
		if *p.Definition.StringSchema.Required || i%3 == 0 {
			in.Parameters = append(in.Parameters, types.Parameter{Name: &p.Name, Value: awssdk.String(fmt.Sprint("v", i))})
		}
	}
	switch name {
	case "in-default-group":
		in.ConnectionGroupId = nil
	case "many-domains":
		for n := range 40 {
			in.Domains = append(in.Domains, domain(n+1))
		}
	case "with.tags":
		in.Tags = &types.Tags{}
		for n := range 46 {
			in.Tags.Items = append(in.Tags.Items, types.Tag{Key: awssdk.String(fmt.Sprint("key: ", n)), Value: awssdk.String("a = b")})
		}
	case "no-web-acl":
		in.Customizations.WebAcl = &types.WebAclCustomization{Action: types.CustomizationActionTypeDisable}
	case "own-web-acl":
		in.Customizations.WebAcl = &types.WebAclCustomization{Action: types.CustomizationActionTypeOverride, Arn: awssdk.String(webACL)}
	case "only-germany":
		in.Customizations.GeoRestrictions = &types.GeoRestrictionCustomization{RestrictionType: types.GeoRestrictionTypeWhitelist, Locations: []string{"DE", "AT"}}
	case "everywhere":
		in.Customizations.GeoRestrictions = &types.GeoRestrictionCustomization{RestrictionType: types.GeoRestrictionTypeNone}
	case "own-certificate":
		in.Customizations.Certificate = &types.Certificate{Arn: awssdk.String(sim.DefaultCertificateARN)}
	}
	if *in.Customizations == (types.Customizations{}) {
		in.Customizations = nil
	}
	if _, err := m.AWS().CreateDistributionTenant(m.t.Context(), in); err != nil {
		m.t.Fatalf("creating %s: %v", name, err)
	}
}

// importing is an import of the fleet into the namespace of the world.
func (m *made) importing() importing.Options {
	m.t.Helper()
	o := options(m.t, m.Sim)
	o.DistributionID, o.Namespace = m.distribution, m.Namespace
	var err error
	if o.Cluster, err = importing.Look(m.t.Context(), m.Kube, world.ClusterID); err != nil {
		m.t.Fatal(err)
	}
	// Other worlds have the same API server, and clouds of their own.
	o.Cluster.Objects = slices.DeleteFunc(o.Cluster.Objects, func(other importing.Object) bool { return other.Namespace != m.Namespace })
	return o
}

// writes are the calls that change something, of those that AWS did not refuse.
func (m *made) writes(since uint64) map[string]int {
	writes := map[string]int{}
	for _, e := range m.Sim.JournalSince(since) {
		if e.Committed {
			writes[e.Operation]++
		}
	}
	return writes
}

// withoutTags compares states of AWS in which tags may differ.
var withoutTags = cmp.Options{
	cmpopts.IgnoreFields(sim.TenantState{}, "Tags"), cmpopts.IgnoreFields(sim.DistributionState{}, "Tags"),
	cmpopts.IgnoreFields(sim.ConnectionGroupState{}, "Tags"),
}

func TestAnImportedFleetIsAdoptedAndNotChanged(t *testing.T) {
	t.Parallel()
	for seed := range 3 {
		t.Run(fmt.Sprint("distribution ", seed), func(t *testing.T) {
			t.Parallel()
			m := makeFleet(t, world.New(t, kubeConfig, world.Options{Shared: true}), seed)
			f := imported(t, m.importing())
			entries := f.Entries()
			if tally := f.Tally(); tally != (importing.Tally{Clean: 18}) || len(entries) != 18 {
				t.Fatalf("%d entries, %+v:\n%s", len(entries), tally, f.Summary("fleet", 0))
			}
			folder := write(t, f)
			before, since := m.Sim.State(), lastSeq(m.Sim)
			objects := manifests(t, folder)
			for _, o := range objects {
				if err := m.Kube.Create(t.Context(), o); err != nil {
					t.Fatal(err)
				}
			}
			m.Advance(30 * time.Minute)

			if diff := cmp.Diff(map[string]int{"TagResource": len(objects)}, m.writes(since)); diff != "" {
				t.Errorf("calls that change something (-want +got):\n%s", diff)
			}
			after := m.Sim.State()
			if diff := cmp.Diff(before.Accounts, after.Accounts, withoutTags); diff != "" {
				t.Errorf("AWS has changed (-before +after):\n%s", diff)
			}
			m.settled()
			m.imported(t)
			m.deleted()
		})
	}
}

// settled checks that each object is Ready and Synced, and that tags are what they were and those of its owner.
func (m *made) settled() {
	m.t.Helper()
	tenants := &v1alpha1.DistributionTenantList{}
	if err := m.Kube.List(m.t.Context(), tenants); err != nil {
		m.t.Fatal(err)
	}
	for i := range tenants.Items {
		o := &tenants.Items[i]
		if o.Namespace != m.Namespace {
			continue
		}
		if ready, synced := m.Condition(o.Name, "Ready"), m.Condition(o.Name, "Synced"); ready != "Ready=True/Deployed" || synced != "Synced=True/InSync" {
			m.t.Errorf("%s: %s, %s:\n%s", o.Name, ready, synced, m.Describe(o.Name))
		}
		s, _ := m.InAWS(convert.DistributionTenantName(o))
		if owner, _ := ownership.FromTags(s.Tags); owner != m.Owner(o) {
			m.t.Errorf("%s: the owner in its tags is %s", o.Name, owner)
		}
		if len(s.Tags) != len(o.Spec.Tags)+len(ownership.Keys()) {
			m.t.Errorf("%s: the tags are %v", o.Name, slices.Sorted(maps.Keys(s.Tags)))
		}
	}
	if got := m.ParentConditions(m.Distribution("main-shop")); !strings.Contains(got, "Ready=True") || !strings.Contains(got, "Synced=True") {
		m.t.Errorf("the distribution: %s", got)
	}
	if got := m.ParentConditions(m.ConnectionGroup("static-group")); !strings.Contains(got, "Ready=True") || !strings.Contains(got, "Synced=True") {
		m.t.Errorf("the connection group: %s", got)
	}
}

// imported imports once more: everything has its object.
func (m *made) imported(t *testing.T) {
	t.Helper()
	f := imported(t, m.importing())
	if n := len(f.Entries()); n != 0 {
		t.Errorf("%d objects are written again:\n%s", n, f.Summary("fleet", 0))
	}
	has(t, f.Summary("fleet", 4), "18 managed by objects of this cluster", "1 default connection group", "nothing to apply")
}

// deleted deletes the objects: what is in AWS stays, and belongs to none of them any more.
func (m *made) deleted() {
	m.t.Helper()
	before, since := m.Sim.State(), lastSeq(m.Sim)
	m.Delete("globex.prod")
	m.Advance(10 * time.Minute)
	if _, found := m.Get("globex.prod"); found {
		m.t.Errorf("the object is still there:\n%s", m.Describe("globex.prod"))
	}
	if diff := cmp.Diff(map[string]int{"UntagResource": 1}, m.writes(since)); diff != "" {
		m.t.Errorf("calls that change something (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before.Accounts, m.Sim.State().Accounts, withoutTags); diff != "" {
		m.t.Errorf("AWS has changed (-before +after):\n%s", diff)
	}
	s, _ := m.InAWS("globex.prod")
	if _, owned := ownership.FromTags(s.Tags); owned {
		m.t.Errorf("owner tags are left: %v", s.Tags)
	}
}

func lastSeq(s *sim.Sim) uint64 {
	journal := s.Journal()
	if len(journal) == 0 {
		return 0
	}
	return journal[len(journal)-1].Seq
}
