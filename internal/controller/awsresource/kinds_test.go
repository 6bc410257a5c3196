package awsresource_test

import (
	"slices"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// mark is what the tests change of a distribution. Of a connection group it is IPv6 that they turn off.
const mark = "marked"

// resource is a distribution or connection group as AWS has it.
type thing struct {
	ID, ARN, Name, Status, ETag, Endpoint string
	Enabled, Default                      bool
	// Marked is a part of the configuration that the spec has, and that a user can change.
	Marked  bool
	Tags    map[string]string
	Tenants int
}

// policies changes what both kinds have in their spec.
type policies = func(*v1alpha1.ResourcePolicies)

// kind is one of the two kinds: what a test has to know to treat both alike.
type kind struct {
	name string
	// object builds an object.
	object func(w *world.World, name string, change ...policies) client.Object
	// The operations in AWS.
	create, read, update, delete string
	// field is that part of the spec that mark and person change.
	field string
	// setMark changes it in the spec, setEnabled the switch next to it.
	setMark, setEnabled func(o client.Object, on bool)
	// all are the resources of the default account, but for those that no test has made.
	all func(w *world.World) []thing
	// change changes a resource as a user would.
	change func(t *testing.T, w *world.World, id string, change func(*thing))
	// remove deletes a disabled and deployed one as a user would.
	remove func(t *testing.T, w *world.World, r thing)
	// tenantOf names the resource in a tenant.
	tenantOf func(in *cloudfront.CreateDistributionTenantInput, id string)
}

func kinds() []kind { return []kind{distributions(), groups()} }

// eachKind runs a test for both kinds.
func eachKind(t *testing.T, test func(t *testing.T, k kind)) {
	t.Helper()
	t.Parallel()
	for _, k := range kinds() {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			test(t, k)
		})
	}
}

func distributions() kind {
	return kind{
		name: "distribution",
		object: func(w *world.World, name string, change ...policies) client.Object {
			return w.Distribution(name, func(o *v1alpha1.Distribution) {
				for _, c := range change {
					c(&o.Spec.ResourcePolicies)
				}
			})
		},
		create: "CreateDistributionWithTags", read: "GetDistribution", update: "UpdateDistribution", delete: "DeleteDistribution",
		field: "comment",
		setMark: func(o client.Object, on bool) {
			o.(*v1alpha1.Distribution).Spec.Comment = map[bool]string{true: mark}[on]
		},
		setEnabled: func(o client.Object, on bool) { o.(*v1alpha1.Distribution).Spec.Enabled = &on },
		all: func(w *world.World) (all []thing) {
			for _, d := range w.Sim.Distributions("") {
				if d.ID != world.DistributionID {
					all = append(all, distributionResource(d))
				}
			}
			return all
		},
		change: func(t *testing.T, w *world.World, id string, change func(*thing)) {
			t.Helper()
			s, _ := w.Sim.Distribution("", id)
			r := distributionResource(s)
			change(&r)
			got, err := w.AWS().GetDistributionConfig(t.Context(), &cloudfront.GetDistributionConfigInput{Id: &id})
			if err != nil {
				t.Fatalf("reading %s as a person: %v", id, err)
			}
			c := got.DistributionConfig
			c.Enabled, c.Comment = &r.Enabled, awssdk.String(map[bool]string{true: mark}[r.Marked])
			_, err = w.AWS().UpdateDistribution(t.Context(), &cloudfront.UpdateDistributionInput{Id: &id, IfMatch: &s.ETag, DistributionConfig: c})
			if err != nil {
				t.Fatalf("changing %s as a person: %v", id, err)
			}
		},
		remove: func(t *testing.T, w *world.World, r thing) {
			t.Helper()
			if _, err := w.AWS().DeleteDistribution(t.Context(), &cloudfront.DeleteDistributionInput{Id: &r.ID, IfMatch: &r.ETag}); err != nil {
				t.Fatalf("deleting %s as a person: %v", r.ID, err)
			}
		},
		tenantOf: func(in *cloudfront.CreateDistributionTenantInput, id string) { in.DistributionId = &id },
	}
}

func distributionResource(d sim.DistributionState) thing {
	return thing{
		ID: d.ID, ARN: d.ARN, Name: d.CallerReference, Status: d.Status, ETag: d.ETag, Endpoint: d.DomainName,
		Enabled: d.Enabled, Marked: d.Comment == mark, Tags: d.Tags, Tenants: d.Tenants,
	}
}

func groups() kind {
	return kind{
		name: "connection group",
		object: func(w *world.World, name string, change ...policies) client.Object {
			return w.ConnectionGroup(name, func(o *v1alpha1.ConnectionGroup) {
				for _, c := range change {
					c(&o.Spec.ResourcePolicies)
				}
			})
		},
		create: "CreateConnectionGroup", read: "GetConnectionGroup", update: "UpdateConnectionGroup", delete: "DeleteConnectionGroup",
		field: "ipv6Enabled",
		setMark: func(o client.Object, on bool) {
			ipv6 := !on
			o.(*v1alpha1.ConnectionGroup).Spec.IPv6Enabled = &ipv6
		},
		setEnabled: func(o client.Object, on bool) { o.(*v1alpha1.ConnectionGroup).Spec.Enabled = &on },
		all: func(w *world.World) (all []thing) {
			for _, g := range w.Sim.ConnectionGroups("") {
				if !g.Default {
					all = append(all, groupResource(g))
				}
			}
			return all
		},
		change: func(t *testing.T, w *world.World, id string, change func(*thing)) {
			t.Helper()
			s, _ := w.Sim.ConnectionGroup("", id)
			r := groupResource(s)
			change(&r)
			_, err := w.AWS().UpdateConnectionGroup(t.Context(), &cloudfront.UpdateConnectionGroupInput{
				Id: &s.ID, IfMatch: &s.ETag, Enabled: &r.Enabled, Ipv6Enabled: awssdk.Bool(!r.Marked),
			})
			if err != nil {
				t.Fatalf("changing %s as a person: %v", id, err)
			}
		},
		remove: func(t *testing.T, w *world.World, r thing) {
			t.Helper()
			if _, err := w.AWS().DeleteConnectionGroup(t.Context(), &cloudfront.DeleteConnectionGroupInput{Id: &r.ID, IfMatch: &r.ETag}); err != nil {
				t.Fatalf("deleting %s as a person: %v", r.ID, err)
			}
		},
		tenantOf: func(in *cloudfront.CreateDistributionTenantInput, id string) { in.ConnectionGroupId = &id },
	}
}

func groupResource(g sim.ConnectionGroupState) thing {
	return thing{
		ID: g.ID, ARN: g.ARN, Name: g.Name, Status: g.Status, ETag: g.ETag, Endpoint: g.RoutingEndpoint,
		Enabled: g.Enabled, Default: g.Default, Marked: !g.IPv6, Tags: g.Tags, Tenants: g.Tenants,
	}
}

// find is the resource of that ID or name.
func (k kind) find(w *world.World, id string) (thing, bool) {
	all := k.all(w)
	n := slices.IndexFunc(all, func(r thing) bool { return r.ID == id || r.Name == id })
	if n < 0 {
		return thing{}, false
	}
	return all[n], true
}

// only is the one resource there is.
func (k kind) only(t *testing.T, w *world.World) thing {
	t.Helper()
	all := k.all(w)
	if len(all) != 1 {
		t.Fatalf("there is not one %s, but %d: %+v", k.name, len(all), all)
	}
	return all[0]
}

// none checks that no resource is left.
func (k kind) none(t *testing.T, w *world.World) {
	t.Helper()
	if all := k.all(w); len(all) > 0 {
		t.Errorf("%d are left in AWS: %+v", len(all), all)
	}
}

// The changes that a user makes.
func disable(r *thing) { r.Enabled = false }
func enable(r *thing)  { r.Enabled = true }
func marking(r *thing) { r.Marked = true }

// destroy takes a resource away past the operator. Time passes by only for AWS.
func (k kind) destroy(t *testing.T, w *world.World, id string) {
	t.Helper()
	r, found := k.find(w, id)
	if !found {
		return
	}
	if r.Enabled {
		k.change(t, w, id, disable)
	}
	w.Clock.Step(2 * world.DeployDelay)
	r, _ = k.find(w, id)
	k.remove(t, w, r)
}

// tenant creates a tenant of the resource out of band.
func (k kind) tenant(t *testing.T, w *world.World, id, name string) {
	t.Helper()
	in := &cloudfront.CreateDistributionTenantInput{
		Name: &name, DistributionId: awssdk.String(world.DistributionID), Enabled: awssdk.Bool(true),
		Domains:        []types.DomainItem{{Domain: awssdk.String(name + ".example.com")}},
		Customizations: &types.Customizations{Certificate: &types.Certificate{Arn: awssdk.String(sim.DefaultCertificateARN)}},
	}
	k.tenantOf(in, id)
	if _, err := w.AWS().CreateDistributionTenant(t.Context(), in); err != nil {
		t.Fatalf("creating the tenant %s: %v", name, err)
	}
}

// noTenant takes a tenant away.
func noTenant(t *testing.T, w *world.World, name string) {
	t.Helper()
	s, found := w.InAWS(name)
	if !found {
		t.Fatalf("there is no tenant %s", name)
	}
	_, err := w.AWS().UpdateDistributionTenant(t.Context(), &cloudfront.UpdateDistributionTenantInput{
		Id: &s.ID, IfMatch: &s.ETag, DistributionId: &s.DistributionID, Enabled: awssdk.Bool(false),
	})
	if err != nil {
		t.Fatalf("disabling the tenant %s: %v", name, err)
	}
	w.Advance(2 * world.DeployDelay)
	s, _ = w.InAWS(name)
	if _, err := w.AWS().DeleteDistributionTenant(t.Context(), &cloudfront.DeleteDistributionTenantInput{Id: &s.ID, IfMatch: &s.ETag}); err != nil {
		t.Fatalf("deleting the tenant %s: %v", name, err)
	}
}

// foreign creates a resource out of band, deployed, and lets the object adopt it. Its mark differs from the object's
// spec.
func (k kind) foreign(t *testing.T, w *world.World, o client.Object, tags map[string]string) thing {
	t.Helper()
	var id string
	switch o := o.(type) {
	case *v1alpha1.Distribution:
		out, err := w.AWS().CreateDistributionWithTags(t.Context(), &cloudfront.CreateDistributionWithTagsInput{
			DistributionConfigWithTags: &types.DistributionConfigWithTags{Tags: wireTags(tags), DistributionConfig: &types.DistributionConfig{
				CallerReference: awssdk.String("somebody"), Comment: awssdk.String(mark), Enabled: awssdk.Bool(true),
				ConnectionMode: types.ConnectionModeTenantOnly,
				Origins: &types.Origins{Quantity: awssdk.Int32(1), Items: []types.Origin{{
					Id: awssdk.String("app"), DomainName: awssdk.String("origin.example.com"),
					CustomOriginConfig: &types.CustomOriginConfig{
						HTTPPort: awssdk.Int32(80), HTTPSPort: awssdk.Int32(443), OriginProtocolPolicy: types.OriginProtocolPolicyHttpsOnly,
						OriginSslProtocols: &types.OriginSslProtocols{Quantity: awssdk.Int32(1), Items: []types.SslProtocol{types.SslProtocolTLSv12}},
					},
				}}},
				DefaultCacheBehavior: &types.DefaultCacheBehavior{
					TargetOriginId: awssdk.String("app"), ViewerProtocolPolicy: types.ViewerProtocolPolicyRedirectToHttps,
					CachePolicyId: awssdk.String(world.CachePolicyID),
				},
				ViewerCertificate: &types.ViewerCertificate{CloudFrontDefaultCertificate: awssdk.Bool(true)},
			}},
		})
		if err != nil {
			t.Fatalf("creating a foreign distribution: %v", err)
		}
		id, o.Spec.DistributionID = *out.Distribution.Id, *out.Distribution.Id
	case *v1alpha1.ConnectionGroup:
		out, err := w.AWS().CreateConnectionGroup(t.Context(), &cloudfront.CreateConnectionGroupInput{
			Name: awssdk.String(o.Name), Enabled: awssdk.Bool(true), Ipv6Enabled: awssdk.Bool(false), Tags: wireTags(tags),
		})
		if err != nil {
			t.Fatalf("creating a foreign connection group: %v", err)
		}
		id = *out.ConnectionGroup.Id
	}
	w.Clock.Step(2 * world.DeployDelay)
	r, _ := k.find(w, id)
	return r
}
