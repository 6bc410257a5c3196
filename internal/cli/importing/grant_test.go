package importing_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	clifleet "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli/fleet"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli/importing"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/grant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/grants"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/kubectl"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// usual is what the default grant of the chart allows: everything but adoption.
func usual(name string) *grant.Grant {
	return &grant.Grant{
		Name: name, Kinds: []string{"DistributionTenant", "Distribution", "ConnectionGroup"},
		Distributions: []grant.Distribution{{Is: "*"}}, Groups: []string{"*"}, Domains: []grant.Domain{{Suffix: "*"}}, Wildcards: true,
		Certificates: []string{"*"}, WebACLs: []string{"*"}, NoWebACL: true, GeoRestrictions: true,
		VPCOrigins: []string{"*"}, AccessControls: []string{"*"}, Functions: []string{"*"}, KeyGroups: []string{"*"}, Encryptions: []string{"*"}, LogBuckets: []string{"*"},
	}
}

func TestGrantsThatAreNeeded(t *testing.T) {
	t.Parallel()
	adopting := usual(grant.Default)
	adopting.Adoption = &grant.Adoption{Names: []string{"*"}}
	for name, c := range map[string]struct {
		granted *importing.Granted
		written bool
		says    []string
	}{
		"none where grants are only audited": {&importing.Granted{Standing: grant.Standing{Grant: usual(grant.Default)}}, false, nil},
		"none where nothing is known":        {nil, false, nil},
		"none where adoption is granted":     {&importing.Granted{Standing: grant.Standing{Grant: adopting}, Enforced: true}, false, nil},
		"one where the default grant does not allow to adopt": {
			&importing.Granted{Standing: grant.Standing{Grant: usual(grant.Default)}, Enforced: true}, true,
			[]string{"does not allow adopting acme", "kubectl apply -f fleet/grants.yaml (an administrator of the platform)"},
		},
		"one where there is no grant at all": {
			&importing.Granted{Enforced: true}, true, []string{"no EdgeGrant selects the namespace shop"},
		},
		"more in the one that there is": {
			&importing.Granted{Standing: grant.Standing{Grant: usual("team-shop")}, Enforced: true}, false,
			[]string{"The EdgeGrant team-shop has to allow more", "does not allow adopting acme", "extend the EdgeGrant team-shop: fleet/DIFFERENCES.md"},
		},
		"a decision between two": {
			&importing.Granted{Standing: grant.Standing{Rivals: []string{"a", "b"}}, Enforced: true}, false,
			[]string{"select the namespace shop equally", "extend the EdgeGrant a or b"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(t, newSim(t, fleet(customers("acme")...)))
			o.Cluster = here()
			o.Cluster.Granted = c.granted
			f := imported(t, o)
			folder := write(t, f)
			if got := strings.Contains(strings.Join(files(t, folder), " "), "grants.yaml"); got != c.written {
				t.Errorf("grants.yaml is written: %v", got)
			}
			has(t, f.Summary("fleet", 0)+read(t, folder, "DIFFERENCES.md"), c.says...)
		})
	}
}

// The grant that is written is valid, and allows all that is imported.
func TestTheGrantThatIsWrittenIsEnough(t *testing.T) {
	t.Parallel()
	seed := fleet(
		sim.SeedTenant{Name: "acme", ConnectionGroupID: groupID, CertificateARN: sim.DefaultCertificateARN, Domains: []string{"*.example.com"}},
		sim.SeedTenant{Name: "taken", Tags: owned("staging", "shop", "x", "u")},
	)
	w := world.New(t, kubeConfig, world.Options{Shared: true})
	o := options(t, newSim(t, seed))
	o.Namespace, o.ByID, o.ForceOwner = w.Namespace, true, true
	o.Cluster = here()
	o.Cluster.Granted = &importing.Granted{Enforced: true}
	f := imported(t, o)
	folder := write(t, f)
	for _, u := range kubectl.Read(t, folder+"/grants.yaml") {
		if err := w.Kube.Create(t.Context(), u); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if o.Cluster.Granted, err = importing.GrantedTo(t.Context(), clifleet.Grants(w.Kube, grants.Enforce, nil), w.Namespace); err != nil {
		t.Fatal(err)
	}
	if again := imported(t, o); again.Grant != nil {
		t.Errorf("it is not enough: %+v", again.Grant.Refusals)
	}
	g, err := convert.Grant(f.Grant.Object)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"staging"}, g.Adoption.FromClusters); diff != "" || !g.Adoption.Force {
		t.Errorf("adoption %+v (-want +got):\n%s", g.Adoption, diff)
	}
	if left := g.Adoption.Until.Sub(o.Clock.Now()); left < 28*24*time.Hour || left > 31*24*time.Hour {
		t.Errorf("it ends in %s", left)
	}
	if diff := cmp.Diff([]v1alpha1.GrantedDistribution{{ID: world.DistributionID}}, f.Grant.Object.Spec.Distributions); diff != "" {
		t.Errorf("distributions (-want +got):\n%s", diff)
	}
}
