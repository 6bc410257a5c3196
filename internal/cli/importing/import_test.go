package importing_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"
	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli/importing"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/specimen"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// Ten thousand tenants are a hundred pages, and a read of tags for each.
func TestWhatAFleetOfTenThousandCosts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tenants    int
		parameters []sim.SeedParameter
		want       map[string]int
	}{
		"ten thousand tenants of a distribution that declares no parameters": {10_000, nil, map[string]int{
			"GetDistribution": 1, "GetConnectionGroup": 1, "ListDistributionTenants": 100, "ListTagsForResource": 10_002,
		}},
		"with parameters, which the list does not have, each tenant is read": {300, []sim.SeedParameter{{Name: "tier", Default: "basic"}}, map[string]int{
			"GetDistribution": 1, "GetConnectionGroup": 1, "ListDistributionTenants": 3, "ListTagsForResource": 302, "GetDistributionTenant": 300,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var seeded []sim.SeedTenant
			for i := range c.tenants {
				seeded = append(seeded, sim.SeedTenant{Name: fmt.Sprintf("tenant-%05d", i), ConnectionGroupID: groupID})
			}
			seed := fleet(seeded...)
			seed.Distributions[0].Parameters = c.parameters
			s := newSim(t, seed)
			f := imported(t, options(t, s))
			if diff := cmp.Diff(c.want, f.Read.ByOperation); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			if got := f.Tally(); got != (importing.Tally{Clean: c.tenants + 2}) {
				t.Errorf("verified %+v", got)
			}
			folder := write(t, f)
			if got := manifests(t, folder); len(got) != c.tenants+2 {
				t.Errorf("%d objects in the files", len(got))
			}
			first := "tenants/tenant-00000.yaml"
			if c.tenants > 1000 {
				first = "tenants/0001.yaml"
			}
			has(t, read(t, folder, "kustomization.yaml"), first)
		})
	}
}

// Every distribution that AWS and the kind can have is written so that the API server takes it and nothing differs.
func TestGeneratedDistributions(t *testing.T) {
	t.Parallel()
	for _, mode := range []v1alpha1.ConnectionMode{v1alpha1.ConnectionModeTenantOnly, v1alpha1.ConnectionModeDirect} {
		generated := specimen.Distributions(mode, sim.DefaultCertificateARN)
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(r *rapid.T) {
				s := newSim(t, fleet())
				s.ChangeSwitches(func(sw *sim.Switches) {
					sw.UnsupportedEchoed = rapid.Bool().Draw(r, "AWS shows what is not supported")
					sw.SetsReordered = rapid.Bool().Draw(r, "AWS reorders sets")
				})
				client := clientOf(t, s.Transport(), unlimited)
				config := convert.NormalizeDistribution(generated.Draw(r, "distribution"))
				d, err := client.CreateDistribution(t.Context(), "by-hand", config, map[string]string{"team": "web"})
				if err != nil {
					r.Fatal(err)
				}
				o := options(t, s)
				o.DistributionID = d.ID
				f, err := importing.Import(t.Context(), o)
				if err != nil {
					r.Fatal(err)
				}
				if got := f.Tally(); got != (importing.Tally{Clean: 1}) {
					r.Fatalf("%+v, skipped %+v, entry %+v", got, f.Skipped, f.Distribution)
				}
			})
		})
	}
}

// owned are the owner tags of an object.
func owned(cluster, namespace, name, uid string) map[string]string {
	return ownership.Owner{Cluster: cluster, Namespace: namespace, Name: name, UID: uid}.Tags()
}

// here is the cluster, with objects in it.
func here(objects ...importing.Object) *importing.Cluster {
	return &importing.Cluster{ID: world.ClusterID, Objects: objects}
}

func TestWhatIsNotWritten(t *testing.T) {
	t.Parallel()
	living := importing.Object{Kind: "DistributionTenant", Namespace: "shop", Name: "acme", UID: "u-1", Subject: "acme"}
	for name, c := range map[string]struct {
		tenant  sim.SeedTenant
		change  func(*importing.Options)
		cause   importing.Cause // empty: it is written
		says    []string
		policy  v1alpha1.AdoptionPolicy
		written string
	}{
		"a tenant without owner tags is adopted": {
			sim.SeedTenant{Name: "acme", Tags: map[string]string{"team": "web"}}, nil, "", nil, v1alpha1.AdoptionPolicyIfUnowned, "acme"},
		"a tenant of another cluster is left to it": {
			sim.SeedTenant{Name: "acme", Tags: owned("staging", "shop", "acme", "u-9")}, nil, importing.OtherCluster,
			[]string{"1 owned by cluster staging (--force-owner to include)", "shop/acme of the cluster staging"}, "", ""},
		"a tenant of another cluster is taken over if that is wanted": {
			sim.SeedTenant{Name: "acme", Tags: owned("staging", "shop", "acme", "u-9")}, func(o *importing.Options) { o.ForceOwner = true },
			"", nil, v1alpha1.AdoptionPolicyForce, "acme"},
		"a tenant with a part of the owner tags has an owner": {
			sim.SeedTenant{Name: "acme", Tags: map[string]string{ownership.NamespaceKey: "shop"}}, nil, importing.OtherCluster,
			[]string{"owned by cluster unknown"}, "", ""},
		"where the cluster is not known every owner is another one": {
			sim.SeedTenant{Name: "acme", Tags: owned(world.ClusterID, "shop", "acme", "u-1")}, func(o *importing.Options) { o.Cluster = nil },
			importing.OtherCluster, []string{"owned by cluster " + world.ClusterID}, "", ""},
		"a tenant of a living object is managed already": {
			sim.SeedTenant{Name: "acme", Tags: owned(world.ClusterID, "shop", "acme", "u-1")},
			func(o *importing.Options) { o.Cluster = here(living) }, importing.Managed,
			[]string{"1 managed by objects of this cluster", "Already managed by the DistributionTenant shop/acme"}, "", ""},
		"a tenant of a living object of another name is managed already, and is never taken from it": {
			sim.SeedTenant{Name: "acme", Tags: owned(world.ClusterID, "shop", "other", "u-2")},
			func(o *importing.Options) {
				o.ForceOwner = true
				o.Cluster = here(importing.Object{Kind: "DistributionTenant", Namespace: "shop", Name: "other", UID: "u-2", Subject: "renamed"})
			}, importing.Managed, []string{"DistributionTenant shop/other owns it"}, "", ""},
		"a tenant for which there is an object that has not adopted it yet is managed already": {
			sim.SeedTenant{Name: "acme"}, func(o *importing.Options) { o.Cluster = here(living) }, importing.Managed,
			[]string{"Already managed by"}, "", ""},
		"an object for a tenant of that name in another account is none for this one": {
			sim.SeedTenant{Name: "acme"}, func(o *importing.Options) {
				elsewhere := living
				elsewhere.Account, elsewhere.Namespace = "999988887777", "other"
				o.Cluster = here(elsewhere)
			}, "", nil, v1alpha1.AdoptionPolicyIfUnowned, "acme"},
		"a tenant of an object that is gone is given back to its name": {
			sim.SeedTenant{Name: "acme", Tags: owned(world.ClusterID, "shop", "first-customer", "u-0")},
			nil, "", nil, v1alpha1.AdoptionPolicyIfUnowned, "first-customer"},
		"a tenant of an object that is gone from another namespace needs a decision": {
			sim.SeedTenant{Name: "acme", Tags: owned(world.ClusterID, "elsewhere", "acme", "u-0")},
			nil, importing.Former, []string{"owned by objects that are gone (--force-owner to include)", "elsewhere/acme"}, "", ""},
		"a tenant of an object that is gone from another namespace is taken over if that is wanted": {
			sim.SeedTenant{Name: "acme", Tags: owned(world.ClusterID, "elsewhere", "acme", "u-0")},
			func(o *importing.Options) { o.ForceOwner = true }, "", nil, v1alpha1.AdoptionPolicyForce, "acme"},
		"a tenant with more tags than leave room for owner tags is not valid": {
			sim.SeedTenant{Name: "acme", Tags: manyTags(47)}, nil, importing.Invalid,
			[]string{"that the API server would refuse", "spec.tags", "46"}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(t, newSim(t, fleet(c.tenant)))
			o.Cluster = here()
			if c.change != nil {
				c.change(&o)
			}
			f := imported(t, o)
			if c.cause == "" {
				if len(f.Tenants) != 1 || !f.Tenants[0].Clean() || f.Tenants[0].Problem != nil {
					t.Fatalf("entries %+v, skipped %+v", f.Tenants, f.Skipped)
				}
				tenant, _ := f.Tenants[0].Object.(*v1alpha1.DistributionTenant)
				if tenant.Spec.AdoptionPolicy != c.policy || tenant.Name != c.written || tenant.Spec.DeletionPolicy != v1alpha1.DeletionPolicyRetain {
					t.Errorf("%s has adoptionPolicy %s and deletionPolicy %s", tenant.Name, tenant.Spec.AdoptionPolicy, tenant.Spec.DeletionPolicy)
				}
				if len(tenant.Spec.Tags) != len(c.tenant.Tags)-ownerTags(c.tenant.Tags) {
					t.Errorf("tags %v", tenant.Spec.Tags)
				}
				return
			}
			var causes []importing.Cause
			for _, s := range f.Skipped {
				if s.Kind == "DistributionTenant" {
					causes = append(causes, s.Cause)
				}
			}
			if diff := cmp.Diff([]importing.Cause{c.cause}, causes); diff != "" || len(f.Tenants) != 0 {
				t.Fatalf("%d written, causes (-want +got):\n%s", len(f.Tenants), diff)
			}
			folder := write(t, f)
			has(t, f.Summary("fleet", 5)+read(t, folder, "DIFFERENCES.md"), c.says...)
		})
	}
}

func ownerTags(tags map[string]string) (n int) {
	for key := range tags {
		if strings.HasPrefix(key, ownership.Prefix) {
			n++
		}
	}
	return n
}

func manyTags(n int) map[string]string {
	out := map[string]string{}
	for i := range n {
		out[fmt.Sprint("key-", i)] = "value"
	}
	return out
}

func TestHowTenantsNameTheirParents(t *testing.T) {
	t.Parallel()
	live := func(kind, name, subject string) importing.Object {
		return importing.Object{Kind: kind, Namespace: "shop", Name: name, UID: name, Subject: subject}
	}
	foreign := owned("staging", "shop", "main", "u-9")
	for name, c := range map[string]struct {
		seed                func(*sim.Seed)
		change              func(*importing.Options)
		distribution, group string
	}{
		"by the objects that are imported with them": {nil, nil, "ref e2example1", "ref static"},
		"by the name that is wished":                 {nil, func(o *importing.Options) { o.Name = "main" }, "ref main", "ref static"},
		"by the tag Name": {func(s *sim.Seed) { s.Distributions[0].Tags = map[string]string{"Name": "Our Shop"} }, nil,
			"ref our-shop", "ref static"},
		"by their IDs if that is wished": {nil, func(o *importing.Options) { o.ByID = true }, "id E2EXAMPLE1", "id cg_static"},
		"by their IDs where they belong to another cluster": {func(s *sim.Seed) {
			s.Distributions[0].Tags, s.ConnectionGroups[0].Tags = foreign, foreign
		}, nil, "id E2EXAMPLE1", "id cg_static"},
		"by the objects that there are": {nil, func(o *importing.Options) {
			o.Cluster = here(live("Distribution", "main", world.DistributionID), live("ConnectionGroup", "fixed", "static"))
		}, "ref main", "ref fixed"},
		"by their IDs where the objects are in another namespace": {nil, func(o *importing.Options) {
			main, fixed := live("Distribution", "main", world.DistributionID), live("ConnectionGroup", "fixed", "static")
			main.Namespace, fixed.Namespace = "platform", "platform"
			o.Cluster = here(main, fixed)
		}, "id E2EXAMPLE1", "id cg_static"},
		"by the ID where the kind can't express the distribution": {nil, func(o *importing.Options) {
			o.AWS = odd{AWS: o.AWS, change: func(d *port.Distribution) { d.Config.WebACLID = "473e64fd-f30b-4765-81a0-62ad96dd167a" }}
		}, "id E2EXAMPLE1", "ref static"},
		"by the ID where the group is disabled, because no tenant may join one": {nil, func(o *importing.Options) {
			o.AWS = odd{AWS: o.AWS, change: func(*port.Distribution) {}, group: func(g *port.Group) { g.Enabled, g.Config.Enabled = false, new(false) }}
		}, "ref e2example1", "id cg_static"},
		"not at all where the group is the default one": {func(s *sim.Seed) { s.Tenants[0].ConnectionGroupID = "" }, nil, "ref e2example1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seed := fleet(sim.SeedTenant{Name: "acme", ConnectionGroupID: groupID})
			if c.seed != nil {
				c.seed(&seed)
			}
			o := options(t, newSim(t, seed))
			o.Cluster = here()
			if c.change != nil {
				c.change(&o)
			}
			f := imported(t, o)
			if len(f.Tenants) != 1 || !f.Tenants[0].Clean() || f.Tenants[0].Problem != nil {
				t.Fatalf("entries %+v, skipped %+v", f.Tenants, f.Skipped)
			}
			spec := f.Tenants[0].Object.(*v1alpha1.DistributionTenant).Spec
			if got := named(spec.DistributionRef, spec.DistributionID); got != c.distribution {
				t.Errorf("the distribution: %q, want %q", got, c.distribution)
			}
			if got := named(spec.ConnectionGroupRef, spec.ConnectionGroupID); got != c.group {
				t.Errorf("the group: %q, want %q", got, c.group)
			}
		})
	}
}

// odd shows another distribution than there is.
type odd struct {
	importing.AWS
	change    func(*port.Distribution)
	group     func(*port.Group)
	unmanaged []string
}

func (o odd) ReadGroup(ctx context.Context, id string) (port.Group, error) {
	g, err := o.AWS.ReadGroup(ctx, id)
	if o.group != nil {
		o.group(&g)
	}
	return g, err
}

func (o odd) ReadDistribution(ctx context.Context, id string) (port.Distribution, error) {
	d, err := o.AWS.ReadDistribution(ctx, id)
	o.change(&d)
	return d, err
}

func (o odd) Unmanaged(port.Distribution) []string { return o.unmanaged }

func TestWhatTheManifestOfADistributionDoesNotSay(t *testing.T) {
	t.Parallel()
	o := options(t, newSim(t, fleet()))
	o.AWS = odd{AWS: o.AWS, unmanaged: []string{"DefaultCacheBehavior.RealtimeLogConfigArn"}, change: func(d *port.Distribution) {
		d.Config.Origins[0].CustomHeaders = []v1alpha1.CustomHeader{{Name: "X-Secret", Value: "hunter2"}}
	}}
	folder := write(t, imported(t, o))
	text := read(t, folder, "DIFFERENCES.md")
	has(t, text, "DefaultCacheBehavior.RealtimeLogConfigArn: the kind has no field for it", "custom headers of the origins")
	if strings.Contains(text, "hunter2") {
		t.Errorf("the value of a header is in:\n%s", text)
	}
	has(t, read(t, folder, "distribution-e2example1.yaml"), "hunter2")
}

// marked shows tags that users can't set.
type marked struct {
	importing.AWS
	tags map[string]string
}

func (m marked) ListTags(context.Context, string) (map[string]string, error) { return m.tags, nil }

func TestOtherToolsAreNamed(t *testing.T) {
	t.Parallel()
	o := options(t, newSim(t, fleet(customers("acme")...)))
	o.AWS = marked{o.AWS, map[string]string{
		"aws:cloudformation:stack-name": "edge", "services.k8s.aws/controller-version": "cloudfront-v1.2.3",
		"services.k8s.aws/namespace": "shop", "team": "web",
	}}
	f := imported(t, o)
	folder := write(t, f)
	has(t, read(t, folder, "DIFFERENCES.md"), "the CloudFormation stack edge manages the resources of 3 objects", "DeletionPolicy: Retain",
		"the ACK controller for CloudFront manages the resources of 3 objects", "services.k8s.aws/deletion-policy=retain")
	has(t, f.Summary("fleet", 1), "make the CloudFormation stack edge let go: fleet/DIFFERENCES.md")
	tenant := f.Tenants[0].Object.(*v1alpha1.DistributionTenant)
	if diff := cmp.Diff([]v1alpha1.Tag{{Key: "team", Value: "web"}}, tenant.Spec.Tags); diff != "" || !f.Tenants[0].Clean() {
		t.Errorf("tags (-want +got):\n%s", diff)
	}
}

func TestADistributionThatTheKindCanNotExpress(t *testing.T) {
	t.Parallel()
	o := options(t, newSim(t, fleet()))
	o.AWS = odd{AWS: o.AWS, change: func(d *port.Distribution) { d.Config.DefaultCacheBehavior.CachePolicyID = "" }}
	f := imported(t, o)
	if len(f.Entries()) != 0 {
		t.Errorf("%d objects", len(f.Entries()))
	}
	has(t, read(t, write(t, f), "DIFFERENCES.md"), "Distribution `E2EXAMPLE1`, not valid: spec.defaultCacheBehavior.cachePolicyId: Required value")
}

func named(ref *v1alpha1.ObjectReference, id string) string {
	switch {
	case ref != nil:
		return "ref " + ref.Name
	case id != "":
		return "id " + id
	}
	return ""
}

func TestNamesOfObjects(t *testing.T) {
	t.Parallel()
	seed := fleet()
	for i, name := range []string{"acme", "Acme", "ACME", "Shop.Example", "a.-.b", "x--y", "Under-", "taken"} {
		seed.Tenants = append(seed.Tenants, sim.SeedTenant{
			Name: strings.TrimSuffix(name, "-"), DistributionID: world.DistributionID, Domains: []string{fmt.Sprintf("t%d.example.com", i)},
		})
	}
	o := options(t, newSim(t, seed))
	o.Cluster = here(importing.Object{Kind: "DistributionTenant", Namespace: "shop", Name: "taken", UID: "u", Subject: "quite-another"})
	names := map[string]string{}
	for _, e := range imported(t, o).Tenants {
		tenant := e.Object.(*v1alpha1.DistributionTenant)
		if convert.DistributionTenantName(tenant) != e.Subject {
			t.Errorf("%s is for %s, not for %s", tenant.Name, convert.DistributionTenantName(tenant), e.Subject)
		}
		names[e.Subject] = tenant.Name
	}
	want := map[string]string{
		"acme": "acme", "Acme": "acme-d75b87b0", "ACME": "acme-46f88850", "Shop.Example": "shop.example", "a.-.b": "a.b",
		"x--y": "x--y", "Under": "under", "taken": "taken-76f0ec6f",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

func TestWhatDiffers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		seed   sim.Seed
		change func(*importing.Options)
		tally  importing.Tally
		says   []string
	}{
		"a default tag of the operator is set at once": {
			fleet(sim.SeedTenant{Name: "acme"}), func(o *importing.Options) {
				o.Defaults = convert.Defaults{DriftPolicy: resource.DriftEnforce, Tags: map[string]string{"managed-by": "operator"}}
			}, importing.Tally{Different: 2}, []string{"when the object is applied", "| `tags[managed-by]` | `operator` | - |", "2 differ: fleet/DIFFERENCES.md"},
		},
		"a tenant that is not served is not Ready": {
			fleet(sim.SeedTenant{Name: "acme", Domains: []string{"shop.customer.com"}, ManagedCertificate: &sim.SeedManagedCertificate{Status: "PENDING_VALIDATION"}}), nil,
			importing.Tally{Clean: 2, Troubled: 1},
			[]string{"`DomainValidationPending`", "1 would not become Ready", "A managed certificate was requested and is not attached"},
		},
		"a managed certificate that is attached stays attached": {
			fleet(sim.SeedTenant{Name: "acme", ManagedCertificate: &sim.SeedManagedCertificate{Attached: true}}), nil,
			importing.Tally{Clean: 2}, []string{"Nothing differs, and nothing was left out."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// The default group would be one thing that is left out.
			for i := range c.seed.Tenants {
				c.seed.Tenants[i].ConnectionGroupID = groupID
			}
			c.seed.ConnectionGroups[0].Tags = owned(world.ClusterID, "shop", "static", "u-1")
			o := options(t, newSim(t, c.seed))
			o.Cluster = here()
			if c.change != nil {
				c.change(&o)
			}
			f := imported(t, o)
			c.tally.Clean++
			if c.tally.Different > 0 {
				c.tally.Clean, c.tally.Different = 0, 3
				c.says[2] = "3 differ: fleet/DIFFERENCES.md"
			}
			if got := f.Tally(); got != c.tally {
				t.Errorf("verified %+v, want %+v", got, c.tally)
			}
			folder := write(t, f)
			has(t, f.Summary("fleet", 5)+read(t, folder, "DIFFERENCES.md"), c.says...)
		})
	}
}

// deaf lets through every second call, and is deaf to the others.
type deaf struct {
	next  http.RoundTripper
	calls atomic.Int64
}

func (d *deaf) RoundTrip(r *http.Request) (*http.Response, error) {
	if n := d.calls.Add(1); n%3 == 0 {
		return nil, fmt.Errorf("connection reset")
	}
	return d.next.RoundTrip(r)
}

// hasty waits a hundredth of the time.
type hasty struct{ clock.RealClock }

func (h hasty) After(d time.Duration) <-chan time.Time { return h.RealClock.After(d / 100) }

func TestLostAnswersAndTheRateLimitAreWaitedFor(t *testing.T) {
	t.Parallel()
	s := newSim(t, fleet(sim.SeedTenant{Name: "acme"}, sim.SeedTenant{Name: "globex"}))
	o := options(t, s)
	o.AWS = clientOf(t, &deaf{next: s.Transport()}, limit{rate: 50, burst: 2})
	o.Clock = hasty{}
	var seen []importing.Progress
	o.Progress = func(p importing.Progress) { seen = append(seen, p) }
	f := imported(t, o)
	if len(f.Tenants) != 2 {
		t.Errorf("%d tenants", len(f.Tenants))
	}
	if last := seen[len(seen)-1]; last.What != "tags" || last.Done != 4 || last.Total != 4 || last.Rate <= 0 {
		t.Errorf("the last progress is %+v", last)
	}
}

func TestWhatEndsAnImport(t *testing.T) {
	t.Parallel()
	s := newSim(t, fleet(sim.SeedTenant{Name: "acme"}))
	for name, c := range map[string]struct {
		change func(*importing.Options)
		says   string
	}{
		"no distribution":                  {func(o *importing.Options) { o.DistributionID = "" }, "no distribution is given"},
		"a distribution that there is not": {func(o *importing.Options) { o.DistributionID = "E0NOTHERE" }, `no distribution "E0NOTHERE"`},
		"a name that is none":              {func(o *importing.Options) { o.Name = "Main" }, `"Main" can't be that of an object`},
		"tags that may not be read": {func(o *importing.Options) {
			o.AWS = clientOf(t, denied{s.Transport()}, unlimited)
		}, "reading the tags of arn:"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(t, s)
			c.change(&o)
			if _, err := importing.Import(t.Context(), o); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %q", err, c.says)
			}
		})
	}
}

// denied refuses to read tags.
type denied struct{ next http.RoundTripper }

func (d denied) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.Contains(r.URL.Path, "/tagging") {
		return &http.Response{
			StatusCode: http.StatusForbidden, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{}, Request: r,
			Body: io.NopCloser(strings.NewReader("<ErrorResponse><Error><Code>AccessDenied</Code><Message>no</Message></Error></ErrorResponse>")),
		}, nil
	}
	return d.next.RoundTrip(r)
}

func TestAnImportCanBeInterrupted(t *testing.T) {
	t.Parallel()
	o := options(t, newSim(t, fleet(sim.SeedTenant{Name: "acme"})))
	ctx, cancel := context.WithCancel(t.Context())
	o.Progress = func(importing.Progress) { cancel() }
	if _, err := importing.Import(ctx, o); err == nil {
		t.Error("it went on")
	}
}
