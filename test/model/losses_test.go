package model_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/budget"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/loss"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

const (
	// customers is how many there are at first, of whom most may be lost in a window.
	customers, most = 8, 2
	lossWindow      = time.Hour
	platform        = "platform"
)

// The objections.
const (
	outOfService = "customers were taken out of service"
	underway     = "tenants are getting the origin"
)

// losses is a fleet with a shared distribution and a shared connection group, and what became of its customers. Whatever is
// written to one object, and whatever happens to the fleet in AWS, the operator takes no more customers out of service in
// a window than the budget allows, and changes no more of them than have proven the change.
type losses struct {
	*world.World
	t *rapid.T
	// parents are the distribution and the group, as they were created.
	distribution *v1alpha1.Distribution
	group        *v1alpha1.ConnectionGroup
	// served says of each domain whether it answered when the operator last wrote.
	served map[string]bool
	// lost is when the operator took which domain out of service, and wrote when it last changed anything.
	lost  map[string]time.Time
	wrote time.Time
	// origins is what each tenant is served from, and moving are those that AWS is deploying with another one.
	origins map[string]string
	moving  map[string]bool
	// previous is what each was served from before that.
	previous map[string]string
	// proven are the tenants that AWS has deployed with an origin, whatever became of them, as long as any tenant has that origin.
	proven map[string]map[string]bool
	// broken is the first thing that should not have been. It is found in the middle of a call.
	broken string
}

func TestNoSingleMistakeTakesCustomersDown(t *testing.T) { checkLosses(t) }

func checkLosses(t *testing.T) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(bubbleTB{t}, func(t *rapid.T) {
			defer tick()
			l := newLosses(t)
			t.Repeat(counted(l.actions()))
			l.Advance(2 * time.Minute)
			l.check()
			played.schedules.Add(1)
		})
	})
}

func newLosses(t *rapid.T) *losses {
	l := &losses{t: t, lost: map[string]time.Time{}, origins: map[string]string{}, moving: map[string]bool{}, previous: map[string]string{}, proven: map[string]map[string]bool{}}
	one := loss.Budget{Cluster: budget.Limit{Max: most}, Namespace: &budget.Limit{Max: most, Percent: 50}}
	seed := world.Seed()
	seed.HostedZones = []sim.SeedHostedZone{{Name: "example.com"}}
	l.World = world.NewOffline(t, world.Options{
		Seed: &seed,
		BeforeAWS: func(_ *http.Request, writes bool) {
			if writes && l.World != nil {
				l.look()
				l.wrote = l.Clock.Now()
			}
		},
		Losses: &loss.Policy{
			Settle: 10 * time.Second, SettleMax: time.Minute, Window: lossWindow, Ceiling: 50,
			Budgets: map[loss.Class]loss.Budget{
				convert.ClassDistributionTenant: one, convert.ClassDistribution: one, convert.ClassOwnership: one,
				convert.ClassSharedDistribution: {}, convert.ClassConnectionGroup: {},
			},
		},
	})
	l.distribution = l.Distribution(platform, func(o *v1alpha1.Distribution) {
		o.Spec.ViewerCertificate = &v1alpha1.ViewerCertificate{ACMCertificateARN: sim.DefaultCertificateARN}
		o.Spec.TenantConfig = &v1alpha1.TenantConfig{ParameterDefinitions: []v1alpha1.ParameterDefinition{{
			Name: "origin", Definition: &v1alpha1.ParameterSchema{StringSchema: &v1alpha1.StringSchema{Required: new(false), DefaultValue: "app"}},
		}}}
	})
	l.group = l.ConnectionGroup(platform)
	l.create(l.distribution)
	l.create(l.group)
	for n := range customers {
		l.Apply(l.Tenant(fmt.Sprintf("tenant-%d", n), func(o *v1alpha1.DistributionTenant) {
			o.Spec.DistributionID, o.Spec.DistributionRef = "", &v1alpha1.ObjectReference{Name: platform}
			o.Spec.ConnectionGroupRef = &v1alpha1.ObjectReference{Name: platform}
			o.Spec.Domains = []v1alpha1.TenantDomain{{Domain: fmt.Sprintf("tenant-%d.example.com", n)}}
			give("app")(o)
			o.Spec.DNS = &v1alpha1.DNS{Provider: v1alpha1.DNSProviderRoute53}
		}))
	}
	// Customers who are younger than the process can tell are customers as well once they serve.
	l.Advance(30 * time.Minute)
	if got := l.ready(); got != customers {
		t.Fatalf("%d of %d customers are served at first\n%s\n%s", got, customers, l.Describe("tenant-0"), l.ParentConditions(l.distribution))
	}
	return l
}

func (l *losses) create(o client.Object) {
	if err := l.Kube.Create(l.t.Context(), o); err != nil {
		l.t.Fatalf("creating %s: %v", o.GetName(), err)
	}
}

// ready is how many objects are.
func (l *losses) ready() (n int) {
	for _, o := range l.objects() {
		if meta.IsStatusConditionTrue(o.Status.Conditions, v1alpha1.ConditionReady) {
			n++
		}
	}
	return n
}

func (l *losses) objects() []v1alpha1.DistributionTenant {
	var list v1alpha1.DistributionTenantList
	if err := l.Kube.List(l.t.Context(), &list, client.InNamespace(l.Namespace)); err != nil {
		l.t.Fatalf("listing the objects: %v", err)
	}
	return list.Items
}

func (l *losses) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"the distribution is edited":      l.editDistribution,
		"the group is edited":             l.editGroup,
		"a tenant is disabled":            l.disableOne,
		"a tenant is deleted":             l.deleteOne,
		"all tenants change":              l.changeAll,
		"one tenant changes":              l.changeOne,
		"all are disabled or deleted":     l.loseAll,
		"all specs are restored":          l.restoreAll,
		"owner tags are removed":          l.removeTags,
		"domains are added in AWS":        l.addDomains,
		"the operator gets another drift": l.changeDrift,
		"the process crashes":             func(t *rapid.T) { l.CrashAt(rapid.IntRange(0, 6).Draw(t, "call"), rapid.Bool().Draw(t, "after")) },
		"time passes":                     l.passes,
		"more time passes":                l.passes,
		"":                                func(*rapid.T) { l.check() },
	}
}

func (l *losses) passes(t *rapid.T) {
	l.Advance(rapid.SampledFrom([]time.Duration{time.Second, 20 * time.Second, 2 * time.Minute, 20 * time.Minute, 70 * time.Minute}).Draw(t, "time"))
}

func (l *losses) patch(o client.Object, change func()) {
	if err := l.Kube.Get(l.t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
		l.t.Skip("it is gone")
	}
	base := o.DeepCopyObject().(client.Object)
	change()
	if err := l.Kube.Patch(l.t.Context(), o, client.MergeFrom(base)); err != nil {
		l.t.Fatalf("changing %s: %v", o.GetName(), err)
	}
}

func (l *losses) editDistribution(t *rapid.T) {
	l.patch(l.distribution, func() { l.distribution.Spec.Enabled = new(rapid.Bool().Draw(t, "enabled")) })
}

func (l *losses) editGroup(t *rapid.T) {
	l.patch(l.group, func() { l.group.Spec.Enabled = new(rapid.Bool().Draw(t, "enabled")) })
}

func (l *losses) some(t *rapid.T) string {
	all := l.objects()
	if len(all) == 0 {
		t.Skip("no object")
	}
	return all[rapid.IntRange(0, len(all)-1).Draw(t, "object")].Name
}

func (l *losses) disableOne(t *rapid.T) {
	l.Edit(l.some(t), func(o *v1alpha1.DistributionTenant) { o.Spec.Enabled = new(false) })
}
func (l *losses) deleteOne(t *rapid.T) { l.Delete(l.some(t)) }

// give sets the origin of a tenant, which is what its customers are served with.
func give(origin string) func(*v1alpha1.DistributionTenant) {
	return func(o *v1alpha1.DistributionTenant) {
		o.Spec.Parameters = []v1alpha1.Parameter{{Name: "origin", Value: origin}}
	}
}

func (l *losses) changeOne(t *rapid.T) {
	l.Edit(l.some(t), give(rapid.StringMatching(`own-[a-e]`).Draw(t, "origin")))
}

func (l *losses) changeAll(t *rapid.T) {
	origin := rapid.StringMatching(`all-[a-c]`).Draw(t, "origin")
	for _, o := range l.objects() {
		l.Edit(o.Name, give(origin))
	}
}

func (l *losses) loseAll(t *rapid.T) {
	deleted := rapid.Bool().Draw(t, "deleted")
	for _, o := range l.objects() {
		if deleted {
			l.Delete(o.Name)
		} else {
			l.Edit(o.Name, func(o *v1alpha1.DistributionTenant) { o.Spec.Enabled = new(false) })
		}
	}
}

// restoreAll puts back the specs that there were at first, as a restored snapshot does.
func (l *losses) restoreAll(*rapid.T) {
	for _, o := range l.objects() {
		l.Edit(o.Name, func(o *v1alpha1.DistributionTenant) {
			o.Spec.Enabled = nil
			give("app")(o)
			o.Spec.Domains = []v1alpha1.TenantDomain{{Domain: o.Name + ".example.com"}}
		})
	}
}

// someone lets someone else change AWS: what serves no longer is not the operator's doing.
func (l *losses) someone(change func()) {
	l.look()
	change()
	l.served, _ = l.state()
}

func (l *losses) removeTags(*rapid.T) {
	for _, s := range l.AllInAWS() {
		keys := slices.Sorted(maps.Keys(s.Tags))
		if len(keys) == 0 {
			continue
		}
		if _, err := l.AWS().UntagResource(l.t.Context(), &cloudfront.UntagResourceInput{Resource: &s.ARN, TagKeys: &types.TagKeys{Items: keys}}); err != nil {
			l.t.Fatalf("removing the tags of %s: %v", s.Name, err)
		}
	}
	for _, o := range l.objects() {
		l.Edit(o.Name, func(o *v1alpha1.DistributionTenant) {
			o.Annotations = map[string]string{v1alpha1.AnnotationReconcileNow: l.Clock.Now().String()}
		})
	}
}

func (l *losses) addDomains(*rapid.T) {
	l.someone(func() {
		for _, s := range l.AllInAWS() {
			domains := []types.DomainItem{{Domain: awssdk.String("more-" + s.Name + ".example.com")}}
			for d := range s.Domains {
				if !strings.HasPrefix(d, "more-") {
					domains = append(domains, types.DomainItem{Domain: &d})
				}
			}
			// A tenant that is being deployed, or on its way out, may refuse it.
			_, _ = l.AWS().UpdateDistributionTenant(l.t.Context(), &cloudfront.UpdateDistributionTenantInput{Id: &s.ID, IfMatch: &s.ETag, Domains: domains})
		}
	})
}

func (l *losses) changeDrift(t *rapid.T) {
	l.SetDriftPolicy(rapid.SampledFrom([]resource.DriftPolicy{resource.DriftEnforce, resource.DriftReport}).Draw(t, "drift"))
	l.Restart()
}

// state is which domains answer, and which tenants there are.
func (l *losses) state() (served map[string]bool, tenants []sim.TenantState) {
	served, tenants = map[string]bool{}, l.AllInAWS()
	off, routed := map[string]bool{}, l.Sim.PublicRouting()
	for _, d := range l.Sim.Distributions(sim.DefaultAccount) {
		off[d.ID] = !d.Enabled
	}
	for _, g := range l.Sim.ConnectionGroups(sim.DefaultAccount) {
		off[g.ID] = !g.Enabled
	}
	for _, s := range tenants {
		for domain := range s.Domains {
			// Domains that users have added in AWS have no records.
			resolves := routed[domain] != "" || strings.HasPrefix(domain, "more-")
			served[domain] = resolves && s.Enabled && !off[s.DistributionID] && !off[s.ConnectionGroupID]
		}
	}
	return served, tenants
}

// look finds out what the last call of the operator has done. It comes before each of its writes.
func (l *losses) look() {
	now, tenants := l.state()
	for domain, did := range l.served {
		if did && !now[domain] {
			l.lost[domain] = l.wrote
		}
	}
	l.served = now
	maps.DeleteFunc(l.lost, func(domain string, at time.Time) bool { return now[domain] || l.wrote.Sub(at) >= lossWindow })
	gone := map[string]bool{}
	for domain := range l.lost {
		gone[strings.TrimPrefix(domain, "more-")] = true
	}
	if len(gone) > most && l.broken == "" {
		l.broken = fmt.Sprintf("at %s: %d %s within %s, %d are allowed: %v", l.Clock.Now(), len(gone), outOfService, lossWindow, most, l.lost)
	}
	l.spread(tenants)
}

// spread counts the tenants that were given an origin and that AWS is still deploying: they are at most one more than those that it
// has deployed with the very value.
func (l *losses) spread(tenants []sim.TenantState) {
	moving, given := map[string][]string{}, map[string]bool{}
	for _, s := range tenants {
		origin := s.Parameters["origin"]
		given[origin] = true
		if !s.Enabled { // it has no customers to be careful with
			delete(l.origins, s.Name)
			delete(l.moving, s.Name)
			continue
		}
		if before, known := l.origins[s.Name]; known && before != origin {
			// To go back is never a risk.
			l.moving[s.Name] = l.previous[s.Name] != origin
			l.previous[s.Name] = before
		}
		l.origins[s.Name] = origin
		switch {
		case s.Status == "Deployed":
			delete(l.moving, s.Name)
			if l.proven[origin] == nil {
				l.proven[origin] = map[string]bool{}
			}
			l.proven[origin][s.Name] = true
		case l.moving[s.Name] && !l.proven[origin][s.Name]:
			moving[origin] = append(moving[origin], s.Name)
		}
	}
	maps.DeleteFunc(l.proven, func(origin string, _ map[string]bool) bool { return !given[origin] })
	for origin, names := range moving {
		proven := len(l.proven[origin])
		if len(names) <= proven+1 || l.broken != "" {
			continue
		}
		// Nothing waits for one whose object is deleted, or disabled: it is out of service in a moment, as its owner wants.
		if n := len(slices.DeleteFunc(names, l.leaves)); n > proven+1 {
			l.broken = fmt.Sprintf("at %s: %d %s %q, and %d have proven it: %s", l.Clock.Now(), n, underway, origin, proven, l.origin(tenants))
		}
	}
}

// leaves reports whether an object asks for no service.
func (l *losses) leaves(name string) bool {
	o, found := l.Get(name)
	return !found || !o.DeletionTimestamp.IsZero() || !ptr.Deref(o.Spec.Enabled, true)
}

// origin tells which tenant is served from where.
func (l *losses) origin(tenants []sim.TenantState) string {
	var text strings.Builder
	for _, s := range tenants {
		fmt.Fprintf(&text, "\n%s enabled=%t %s origin=%q moving=%t modified %s", s.Name, s.Enabled, s.Status, s.Parameters["origin"], l.moving[s.Name], s.LastModifiedTime.Format(time.TimeOnly))
	}
	return text.String()
}

func (l *losses) check() {
	l.look()
	if l.broken != "" {
		l.t.Fatalf("%s\n%s", l.broken, l.Describe("tenant-0"))
	}
}
