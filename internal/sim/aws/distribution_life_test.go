package aws_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

// editDistribution reads a distribution, changes what it read and writes it back, as a client does that knows nothing
// of other clients.
func editDistribution(t *testing.T, sim *aws.Sim, id string, change configChange) (*cloudfront.UpdateDistributionOutput, error) {
	t.Helper()
	read := must[*cloudfront.GetDistributionConfigOutput](t)(client(sim).GetDistributionConfig(t.Context(), &cloudfront.GetDistributionConfigInput{Id: &id}))
	change(read.DistributionConfig)
	return client(sim).UpdateDistribution(t.Context(), &cloudfront.UpdateDistributionInput{Id: &id, IfMatch: read.ETag, DistributionConfig: read.DistributionConfig})
}

func disabled(c *types.DistributionConfig) { c.Enabled = sdk.Bool(false) }

// removeDistribution disables and deletes a distribution.
func removeDistribution(t *testing.T, sim *aws.Sim, id string) {
	t.Helper()
	out := must[*cloudfront.UpdateDistributionOutput](t)(editDistribution(t, sim, id, disabled))
	settle(sim)
	if _, err := client(sim).DeleteDistribution(t.Context(), &cloudfront.DeleteDistributionInput{Id: &id, IfMatch: out.ETag}); err != nil {
		t.Fatal(err)
	}
}

func TestCallerReferences(t *testing.T) {
	sim := newSim(t)
	again := func(client *cloudfront.Client) error {
		_, err := client.CreateDistribution(t.Context(), &cloudfront.CreateDistributionInput{DistributionConfig: distributionConfig("one", direct, func(c *types.DistributionConfig) { c.ViewerCertificate = nil })})
		return err
	}
	created := createDistribution(t, sim, distributionConfig("one"))
	wantRefusal(t, again(client(sim)), 409, "DistributionAlreadyExists")
	removeDistribution(t, sim, *created.Distribution.Id)
	t.Run("stay used when the distribution is gone", func(t *testing.T) {
		wantRefusal(t, again(client(sim)), 409, "DistributionAlreadyExists")
	})
	t.Run("are those of one account", func(t *testing.T) {
		if err := again(cloudFrontClient(sim, foreignKey)); err != nil {
			t.Error(err)
		}
	})
	t.Run("a refused create uses none", func(t *testing.T) {
		_, err := client(sim).CreateDistribution(t.Context(), &cloudfront.CreateDistributionInput{DistributionConfig: distributionConfig("two", func(c *types.DistributionConfig) { c.HttpVersion = "x" })})
		wantRefusal(t, err, 400, "MalformedXML")
		createDistribution(t, sim, distributionConfig("two"))
	})
	t.Run("a seed uses them too", func(t *testing.T) {
		err := sim.Load(aws.Seed{Distributions: []aws.SeedDistribution{{ID: "E3", CallerReference: "two"}}})
		if err == nil || !strings.Contains(err.Error(), "callerReference") {
			t.Errorf("loading a used reference: %v", err)
		}
		if err := sim.Load(aws.Seed{Distributions: []aws.SeedDistribution{{ID: "E3", CallerReference: "three"}}}); err != nil {
			t.Fatal(err)
		}
		if d, there := sim.Distribution("", "three"); !there || d.ID != "E3" {
			t.Errorf("by its reference: %+v", d)
		}
	})
}

func TestDistributionWithTenants(t *testing.T) {
	requireAnother := func(c *types.DistributionConfig) {
		c.TenantConfig.ParameterDefinitions = append(c.TenantConfig.ParameterDefinitions, types.ParameterDefinition{
			Name: sdk.String("region"), Definition: &types.ParameterDefinitionSchema{StringSchema: &types.StringSchemaConfig{Required: sdk.Bool(true)}},
		})
	}
	dropOne := func(c *types.DistributionConfig) {
		c.Origins.Items[0].DomainName = sdk.String("fixed.example.com")
		c.TenantConfig.ParameterDefinitions = c.TenantConfig.ParameterDefinitions[1:]
	}
	start := func(t *testing.T) (*aws.Sim, string) {
		t.Helper()
		sim := newSim(t)
		id := *createDistribution(t, sim, distributionConfig("one")).Distribution.Id
		mustCreate(t, sim, "acme", func(in *createInput) { in.DistributionId = &id })
		return sim, id
	}
	t.Run("it can be disabled, and not deleted", func(t *testing.T) {
		sim, id := start(t)
		out := must[*cloudfront.UpdateDistributionOutput](t)(editDistribution(t, sim, id, disabled))
		settle(sim)
		_, err := client(sim).DeleteDistribution(t.Context(), &cloudfront.DeleteDistributionInput{Id: &id, IfMatch: out.ETag})
		wantRefusal(t, err, 409, "ResourceInUse")
		if d, _ := sim.Distribution("", id); d.Enabled || d.Tenants != 1 {
			t.Errorf("the distribution: %+v", d)
		}
	})
	for name, change := range map[string]configChange{"a parameter more": requireAnother, "a parameter less": dropOne} {
		t.Run(name, func(t *testing.T) {
			sim, id := start(t)
			sim.ChangeSwitches(func(sw *aws.Switches) { sw.DefinitionsBindTenants = true })
			_, err := editDistribution(t, sim, id, change)
			wantRefusal(t, err, 400, "IllegalUpdate")
			sim.ChangeSwitches(func(sw *aws.Switches) { sw.DefinitionsBindTenants = false })
			if _, err := editDistribution(t, sim, id, change); err != nil {
				t.Fatal(err)
			}
			found := get(t, sim, "acme")
			_, err = client(sim).UpdateDistributionTenant(t.Context(), &cloudfront.UpdateDistributionTenantInput{
				Id: found.DistributionTenant.Id, IfMatch: found.ETag, Parameters: found.DistributionTenant.Parameters,
			})
			wantRefusal(t, err, 400, "InvalidArgument")
		})
	}
	t.Run("an unused one can be deleted", func(t *testing.T) {
		sim, id := start(t)
		sim.ChangeSwitches(func(sw *aws.Switches) { sw.DefinitionsBindTenants = true })
		_, err := editDistribution(t, sim, id, func(c *types.DistributionConfig) {
			c.Origins.Items[0].OriginPath = sdk.String("")
			c.TenantConfig.ParameterDefinitions = c.TenantConfig.ParameterDefinitions[:1]
		})
		if err != nil {
			t.Error(err)
		}
	})
}

func TestSwitchTenantOnlyUnnamed(t *testing.T) {
	sim := newSim(t)
	sim.ChangeSwitches(func(sw *aws.Switches) { sw.TenantOnlyUnnamed = true })
	for reference, change := range map[string]configChange{"shared": func(*types.DistributionConfig) {}, "alone": direct} {
		got := createDistribution(t, sim, distributionConfig(reference, change)).Distribution
		if named := sdk.ToString(got.DomainName) != ""; got.DomainName == nil || named != (reference == "alone") {
			t.Errorf("%s is at %q", reference, sdk.ToString(got.DomainName))
		}
	}
}

func TestSwitchFilterNeedsResource(t *testing.T) {
	sim := newSim(t)
	filters := map[string]*types.DistributionTenantAssociationFilter{
		"distribution": {DistributionId: sdk.String("ENONE")}, "connection group": {ConnectionGroupId: sdk.String("cg_none")},
	}
	for what, filter := range filters {
		in := &cloudfront.ListDistributionTenantsInput{AssociationFilter: filter}
		if got := listWith(t.Context(), t, client(sim), in); len(got) != 0 {
			t.Errorf("a %s that is not there has %d tenants", what, len(got))
		}
		sim.ChangeSwitches(func(sw *aws.Switches) { sw.FilterNeedsResource = true })
		_, err := client(sim).ListDistributionTenants(t.Context(), in)
		wantRefusal(t, err, 404, "EntityNotFound")
		sim.ChangeSwitches(func(sw *aws.Switches) { sw.FilterNeedsResource = false })
	}
}

// TestParentLags shows distributions and connection groups through reads that lag.
func TestParentLags(t *testing.T) {
	sim := newSim(t)
	ctx, c := t.Context(), client(sim)
	reads := func(id, name string) map[string]bool {
		_, distribution := c.GetDistribution(ctx, &cloudfront.GetDistributionInput{Id: &id})
		_, group := c.GetConnectionGroup(ctx, &cloudfront.GetConnectionGroupInput{Identifier: &name})
		listed := must[*cloudfront.ListDistributionsByConnectionModeOutput](t)(c.ListDistributionsByConnectionMode(ctx, &cloudfront.ListDistributionsByConnectionModeInput{ConnectionMode: "tenant-only"}))
		return map[string]bool{
			"get": distribution == nil, "group": group == nil,
			"list": slices.ContainsFunc(listed.DistributionList.Items, func(d types.DistributionSummary) bool { return *d.Id == id }),
		}
	}
	sim.ChangeSwitches(func(sw *aws.Switches) { sw.GetLag, sw.DeleteLag = 30*time.Second, 30*time.Second })
	id := *createDistribution(t, sim, distributionConfig("one")).Distribution.Id
	group := createGroup(t, sim, &cloudfront.CreateConnectionGroupInput{Name: sdk.String("edge"), Enabled: sdk.Bool(false)})
	if diff := cmp.Diff(map[string]bool{"get": false, "group": false, "list": false}, reads(id, "edge")); diff != "" {
		t.Errorf("right after they were created (-want +got):\n%s", diff)
	}
	settle(sim)
	if diff := cmp.Diff(map[string]bool{"get": true, "group": true, "list": true}, reads(id, "edge")); diff != "" {
		t.Errorf("a while after (-want +got):\n%s", diff)
	}
	removeDistribution(t, sim, id)
	if _, err := c.DeleteConnectionGroup(ctx, &cloudfront.DeleteConnectionGroupInput{Id: group.ConnectionGroup.Id, IfMatch: group.ETag}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]bool{"get": true, "group": true, "list": false}, reads(id, "edge")); diff != "" {
		t.Errorf("right after they were deleted (-want +got):\n%s", diff)
	}
	_, err := editDistribution(t, sim, id, disabled)
	wantRefusal(t, err, 404, "NoSuchDistribution") // writes do not lag
	settle(sim)
	if diff := cmp.Diff(map[string]bool{"get": false, "group": false, "list": false}, reads(id, "edge")); diff != "" {
		t.Errorf("a while after that (-want +got):\n%s", diff)
	}
}

// parentWrite is a write of a distribution or a connection group, and how to
// see whether it was done.
type parentWrite struct {
	resource string // what a fault names
	prepare  func(t *testing.T, sim *aws.Sim)
	call     func(ctx context.Context, t *testing.T, sim *aws.Sim) error
	done     func(sim *aws.Sim) bool
}

func parentWrites() map[string]parentWrite {
	distribution := func(t *testing.T, sim *aws.Sim) {
		t.Helper()
		createDistribution(t, sim, distributionConfig("one"))
	}
	off := func(t *testing.T, sim *aws.Sim) {
		t.Helper()
		createDistribution(t, sim, distributionConfig("one", disabled))
		settle(sim)
	}
	group := func(t *testing.T, sim *aws.Sim) {
		t.Helper()
		createGroup(t, sim, &cloudfront.CreateConnectionGroupInput{Name: sdk.String("edge"), Enabled: sdk.Bool(false)})
		settle(sim)
	}
	state := func(sim *aws.Sim) aws.DistributionState { d, _ := sim.Distribution("", "one"); return d }
	groupState := func(sim *aws.Sim) aws.ConnectionGroupState { g, _ := sim.ConnectionGroup("", "edge"); return g }
	return map[string]parentWrite{
		"CreateDistributionWithTags": {
			"one", func(*testing.T, *aws.Sim) {},
			func(ctx context.Context, _ *testing.T, sim *aws.Sim) error {
				_, err := client(sim).CreateDistributionWithTags(ctx, &cloudfront.CreateDistributionWithTagsInput{DistributionConfigWithTags: &types.DistributionConfigWithTags{
					DistributionConfig: distributionConfig("one"), Tags: tagSet("uid", "1"),
				}})
				return err
			},
			func(sim *aws.Sim) bool { return state(sim).Tags["uid"] == "1" },
		},
		"UpdateDistribution": {
			"one", distribution,
			func(ctx context.Context, _ *testing.T, sim *aws.Sim) error {
				d := state(sim)
				config := distributionConfig("one", completed, disabled)
				_, err := client(sim).UpdateDistribution(ctx, &cloudfront.UpdateDistributionInput{Id: &d.ID, IfMatch: &d.ETag, DistributionConfig: config})
				return err
			},
			func(sim *aws.Sim) bool { return !state(sim).Enabled },
		},
		"DeleteDistribution": {
			"one", off,
			func(ctx context.Context, _ *testing.T, sim *aws.Sim) error {
				d := state(sim)
				_, err := client(sim).DeleteDistribution(ctx, &cloudfront.DeleteDistributionInput{Id: &d.ID, IfMatch: &d.ETag})
				return err
			},
			func(sim *aws.Sim) bool { return state(sim).ID == "" },
		},
		"CreateConnectionGroup": {
			"edge", func(*testing.T, *aws.Sim) {},
			func(ctx context.Context, _ *testing.T, sim *aws.Sim) error {
				_, err := client(sim).CreateConnectionGroup(ctx, &cloudfront.CreateConnectionGroupInput{Name: sdk.String("edge")})
				return err
			},
			func(sim *aws.Sim) bool { return groupState(sim).Enabled },
		},
		"UpdateConnectionGroup": {
			"edge", group,
			func(ctx context.Context, _ *testing.T, sim *aws.Sim) error {
				g := groupState(sim)
				_, err := client(sim).UpdateConnectionGroup(ctx, &cloudfront.UpdateConnectionGroupInput{Id: &g.ID, IfMatch: &g.ETag, Enabled: sdk.Bool(true)})
				return err
			},
			func(sim *aws.Sim) bool { return groupState(sim).Enabled },
		},
		"DeleteConnectionGroup": {
			"edge", group,
			func(ctx context.Context, _ *testing.T, sim *aws.Sim) error {
				g := groupState(sim)
				_, err := client(sim).DeleteConnectionGroup(ctx, &cloudfront.DeleteConnectionGroupInput{Id: &g.ID, IfMatch: &g.ETag})
				return err
			},
			func(sim *aws.Sim) bool { return groupState(sim).ID == "" },
		},
	}
}

// TestParentFaults spoils every write of a distribution or a connection group
// in every way, and looks at what became of the world and of the journal.
func TestParentFaults(t *testing.T) {
	code := func(status int, code string) func(error) bool {
		return func(err error) bool { return refusalOf(err) == refusal{status, code} }
	}
	reset := func(err error) bool { return errors.Is(err, syscall.ECONNRESET) }
	for operation, write := range parentWrites() {
		for name, tc := range map[string]struct {
			fault     aws.Fault
			committed bool
			code      string // in the journal
			seen      func(error) bool
		}{
			"denied":                            {aws.Fault{Kind: aws.Instead, Error: &aws.FaultError{Status: 403, Code: "AccessDenied", Message: "no"}}, false, "AccessDenied", code(403, "AccessDenied")},
			"stale":                             {aws.Fault{Kind: aws.Instead, Error: &aws.FaultError{Status: 412, Code: "PreconditionFailed"}}, false, "PreconditionFailed", code(412, "PreconditionFailed")},
			"throttled":                         {aws.Fault{Kind: aws.Instead, Error: &aws.FaultError{Status: 400, Code: "Throttling", Message: "Rate exceeded"}}, false, "Throttling", code(400, "Throttling")},
			"down before it":                    {aws.Fault{}, false, "ServiceUnavailable", code(503, "ServiceUnavailable")},
			"the connection gone before it":     {aws.Fault{Effect: aws.EffectReset}, false, "reset", reset},
			"the answer an error":               {aws.Fault{Kind: aws.AfterCommit}, true, "ServiceUnavailable", code(503, "ServiceUnavailable")},
			"the answer lost":                   {aws.Fault{Kind: aws.AfterCommit, Effect: aws.EffectReset}, true, "reset", reset},
			"no fault, for this is another one": {aws.Fault{Resource: "another"}, true, "OK", func(err error) bool { return err == nil }},
			"only late":                         {aws.Fault{Latency: time.Millisecond}, true, "OK", func(err error) bool { return err == nil }},
			"later than the client waits":       {aws.Fault{Latency: time.Hour}, false, "ClientGone", func(err error) bool { return errors.Is(err, context.Canceled) }},
		} {
			t.Run(operation+"/"+name, func(t *testing.T) {
				sim := newSim(t)
				write.prepare(t, sim)
				calls := len(sim.Journal())
				fault := tc.fault
				fault.Operation = operation
				if fault.Resource == "" {
					fault.Resource = write.resource
				}
				addFault(t, sim, fault)
				ctx := t.Context()
				if fault.Latency > time.Second {
					ctx = untilStruck(t, sim, func() bool { return true })
				}
				if err := write.call(ctx, t, sim); !tc.seen(err) {
					t.Errorf("the client got %v", err)
				}
				if got := write.done(sim); got != tc.committed {
					t.Errorf("done: %v, want %v", got, tc.committed)
				}
				entries := sim.Journal()[calls:]
				if len(entries) != 1 {
					t.Fatalf("journal: %+v", entries)
				}
				if e := entries[0]; e.Operation != operation || e.Name != write.resource || e.Code != tc.code || e.Committed != tc.committed {
					t.Errorf("journal: %+v", e)
				}
				committed := 0
				if tc.committed {
					committed = 1
				}
				count := sim.Calls()[operation]
				before := 0
				for _, e := range sim.Journal()[:calls] {
					if e.Operation == operation {
						before++
					}
				}
				if count.Total != before+1 || count.Committed != before+committed {
					t.Errorf("counted %+v", count)
				}
			})
		}
	}
}

// TestParentState looks at the world as tests and people do.
func TestParentState(t *testing.T) {
	deleted := map[string]bool{} // id -> was enabled or unsettled right before
	var before map[string]aws.DistributionState
	sim := newSim(t, func(o *aws.Options) {
		o.Watch = func(v aws.View) {
			now := map[string]aws.DistributionState{}
			for _, d := range v.Distributions() {
				now[d.ID] = d
			}
			if !v.After {
				before = now
				return
			}
			for id, d := range before {
				if _, there := now[id]; !there {
					deleted[id] = d.Enabled || d.Status != "Deployed"
				}
			}
			if len(v.ConnectionGroups()) < 3 {
				t.Errorf("the watch sees %d groups", len(v.ConnectionGroups()))
			}
		}
	})
	created, err := client(sim).CreateDistributionWithTags(t.Context(), &cloudfront.CreateDistributionWithTagsInput{DistributionConfigWithTags: &types.DistributionConfigWithTags{
		DistributionConfig: distributionConfig("one"), Tags: tagSet("uid", "1"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	id := *created.Distribution.Id
	mustCreate(t, sim, "acme", func(in *createInput) { in.DistributionId, in.ConnectionGroupId = &id, sdk.String(homeGroup) })

	got := ask[aws.DistributionState](t, sim, "GET", "state?distribution=one", "")
	config := got.Config
	got.Config = nil
	want := aws.DistributionState{
		ID: id, ARN: *created.Distribution.ARN, CallerReference: "one", Comment: "shared", ConnectionMode: "tenant-only", Enabled: true, Status: "InProgress",
		ETag: *created.ETag, DomainName: *created.Distribution.DomainName, CertificateARN: wildcardARN, Tags: map[string]string{"uid": "1"}, Tenants: 1,
		Parameters: []aws.SeedParameter{{Name: "tenantId", Required: true}, {Name: "tier", Default: "basic"}}, CreatedTime: startTime, LastModifiedTime: startTime,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
	text := string(must[[]byte](t)(json.Marshal(config)))
	for _, part := range []string{
		`"Origins":{"Items":[{`, `"DomainName":"{{tenantId}}.origin.example.com"`, `"CachedMethods":{"Items":["HEAD","GET"],"Quantity":"2"}`,
		`"TenantConfig":{"ParameterDefinitions":[{"Definition":{"StringSchema":{"Required":"true"}},"Name":"tenantId"}`, `"Enabled":"true"`,
	} {
		if !strings.Contains(text, part) {
			t.Errorf("the configuration has no %s: %s", part, text)
		}
	}
	if g := ask[aws.ConnectionGroupState](t, sim, "GET", "state?connectionGroup=home", ""); g.ID != homeGroup || g.Tenants != 1 || !g.CreatedTime.Equal(startTime) {
		t.Errorf("connection group: %+v", g)
	}
	for kind, name := range map[string]string{"distribution": "nope", "connectionGroup": "nope"} {
		if status, body := raw(t, sim, "GET", fmt.Sprintf("/_sim/state?%s=%s", kind, name), ""); status != 400 || !strings.Contains(body, "nope") {
			t.Errorf("%s %s: %d %s", kind, name, status, body)
		}
	}
	removeTenant(t, sim, "acme")
	removeDistribution(t, sim, id)
	if diff := cmp.Diff(map[string]bool{id: false}, deleted); diff != "" {
		t.Errorf("the watch saw deletions (-want +got):\n%s", diff)
	}
}

// TestAccessDeniedOnDisable shows a deletion that may not disable: a user does it, and the deletion continues.
func TestAccessDeniedOnDisable(t *testing.T) {
	sim := newSim(t)
	id := *createDistribution(t, sim, distributionConfig("one")).Distribution.Id
	addFault(t, sim, aws.Fault{Operation: "UpdateDistribution", Resource: id, Kind: aws.Instead, Times: -1, Error: &aws.FaultError{Status: 403, Code: "AccessDenied"}})
	for range 3 {
		_, err := editDistribution(t, sim, id, disabled)
		wantRefusal(t, err, 403, "AccessDenied")
	}
	sim.ClearFaults()
	removeDistribution(t, sim, id)
	if got := sim.Calls()["UpdateDistribution"]; got.Errors["AccessDenied"] != 3 || got.Committed != 1 {
		t.Errorf("calls: %+v", got)
	}
}
