package aws_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

func batch(ref string, paths ...string) *types.InvalidationBatch {
	return &types.InvalidationBatch{CallerReference: &ref, Paths: &types.Paths{Quantity: sdk.Int32(int32(len(paths))), Items: paths}}
}

func invalidate(t *testing.T, sim *aws.Sim, id *string, b *types.InvalidationBatch) (*cloudfront.CreateInvalidationForDistributionTenantOutput, error) {
	t.Helper()
	return client(sim).CreateInvalidationForDistributionTenant(t.Context(), &cloudfront.CreateInvalidationForDistributionTenantInput{Id: id, InvalidationBatch: b})
}

func TestInvalidations(t *testing.T) {
	sim := newSim(t)
	ctx, c := t.Context(), client(sim)
	tenant, _ := mustCreate(t, sim, "acme")
	first, err := invalidate(t, sim, tenant.Id, batch("one", "/b", "/a"))
	if err != nil {
		t.Fatal(err)
	}
	if *first.Invalidation.Status != "InProgress" {
		t.Errorf("a new invalidation is %s", *first.Invalidation.Status)
	}
	if want := fmt.Sprintf("https://cloudfront.amazonaws.com/2020-05-31/distribution-tenant/%s/invalidation/%s", *tenant.Id, *first.Invalidation.Id); *first.Location != want {
		t.Errorf("Location = %s, want %s", *first.Location, want)
	}
	again, err := invalidate(t, sim, tenant.Id, batch("one", "/a", "/b"))
	if err != nil || *again.Invalidation.Id != *first.Invalidation.Id {
		t.Errorf("the same reference with the same paths is another invalidation: %v, %v", again, err)
	}
	settle(sim)
	got, err := c.GetInvalidationForDistributionTenant(ctx, &cloudfront.GetInvalidationForDistributionTenantInput{DistributionTenantId: tenant.Id, Id: first.Invalidation.Id})
	if err != nil || *got.Invalidation.Status != "Completed" {
		t.Errorf("after a while: %v, %v", got, err)
	}
	if _, err := invalidate(t, sim, tenant.Id, batch("two", "/*")); err != nil {
		t.Fatal(err)
	}
	if _, err := invalidate(t, sim, tenant.Id, batch("three", "/x")); err != nil {
		t.Fatal(err)
	}
	var status []string
	pages := cloudfront.NewListInvalidationsForDistributionTenantPaginator(c, &cloudfront.ListInvalidationsForDistributionTenantInput{Id: tenant.Id, MaxItems: sdk.Int32(2)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range page.InvalidationList.Items {
			status = append(status, *i.Status)
		}
	}
	if diff := cmp.Diff([]string{"InProgress", "InProgress", "Completed"}, status); diff != "" {
		t.Errorf("newest first (-want +got):\n%s", diff)
	}
}

func TestInvalidationRefusals(t *testing.T) {
	paths := func(n int, pattern string) []string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf(pattern, i))
		}
		return list
	}
	inconsistent := batch("x", "/a")
	inconsistent.Paths.Quantity = sdk.Int32(2)
	for name, tc := range map[string]struct {
		batch  *types.InvalidationBatch
		status int
		code   string
	}{
		"a reference that belongs to other paths": {batch("used", "/other"), 400, "InvalidationBatchAlreadyExists"},
		"quantity and items disagree":             {inconsistent, 400, "InconsistentQuantities"},
		"a path without a slash":                  {batch("x", "a"), 400, "InvalidArgument"},
		"a star before the end of a path":         {batch("x", "/*/a"), 400, "InvalidArgument"},
		"a tag":                                   {batch("x", "#product:7"), 400, "InvalidArgument"},
		"two stars":                               {batch("x", "/a/**"), 400, "InvalidArgument"},
		"a path that is too long":                 {batch("x", "/"+strings.Repeat("a", 4000)), 400, "InvalidArgument"},
		"no path":                                 {batch("x"), 400, "InvalidArgument"},
		"an empty reference":                      {batch("", "/a"), 400, "InvalidArgument"},
		"more paths than a batch takes":           {batch("x", paths(3001, "/%d")...), 413, "BatchTooLarge"},
		"more paths than can be in progress":      {batch("x", paths(3000, "/%d")...), 400, "TooManyInvalidationsInProgress"},
		"more wildcards than can be in progress":  {batch("x", paths(16, "/%d/*")...), 400, "TooManyInvalidationsInProgress"},
	} {
		t.Run(name, func(t *testing.T) {
			sim := newSim(t)
			tenant, _ := mustCreate(t, sim, "acme")
			if _, err := invalidate(t, sim, tenant.Id, batch("used", "/used")); err != nil {
				t.Fatal(err)
			}
			_, err := invalidate(t, sim, tenant.Id, tc.batch)
			wantRefusal(t, err, tc.status, tc.code)
		})
	}
	sim := newSim(t)
	tenant, _ := mustCreate(t, sim, "acme")
	_, err := invalidate(t, sim, sdk.String("dt_none"), batch("x", "/a"))
	wantRefusal(t, err, 404, "EntityNotFound")
	_, err = client(sim).GetInvalidationForDistributionTenant(t.Context(), &cloudfront.GetInvalidationForDistributionTenantInput{DistributionTenantId: tenant.Id, Id: sdk.String("INONE")})
	wantRefusal(t, err, 404, "NoSuchInvalidation")
	if status, body := raw(t, sim, "POST", "/2020-05-31/distribution-tenant/"+*tenant.Id+"/invalidation", ""); status != 400 || !strings.Contains(body, "MissingBody") {
		t.Errorf("without a body: %d %s", status, body)
	}
}

// A distribution that serves tenants can't be invalidated as a whole: to that call it does not exist.
func TestInvalidationsOfDistributions(t *testing.T) {
	seed := aws.DefaultSeed()
	seed.Distributions = []aws.SeedDistribution{{ID: "E2TENANTS"}, {ID: "E2DIRECT", ConnectionMode: "direct"}}
	sim := aws.New(aws.Options{Seed: &seed})
	create := func(id string) (*cloudfront.CreateInvalidationOutput, error) {
		return client(sim).CreateInvalidation(t.Context(), &cloudfront.CreateInvalidationInput{DistributionId: &id, InvalidationBatch: batch("one", "/a")})
	}
	for _, id := range []string{"E2TENANTS", "ENONE"} {
		_, err := create(id)
		wantRefusal(t, err, 404, "NoSuchDistribution")
	}
	tagged := func(tag string) error {
		_, err := client(sim).CreateInvalidation(t.Context(), &cloudfront.CreateInvalidationInput{
			DistributionId: sdk.String("E2DIRECT"), InvalidationBatch: batch("tag"+tag, "/a", "#"+tag),
		})
		return err
	}
	if err := tagged("product:7"); err != nil {
		t.Error(err)
	}
	for _, tag := range []string{"", "a,b", "product-*", "a b", strings.Repeat("t", 257)} {
		wantRefusal(t, tagged(tag), 400, "InvalidArgument")
	}
	got, err := create("E2DIRECT")
	if err != nil {
		t.Fatal(err)
	}
	if want := "https://cloudfront.amazonaws.com/2020-05-31/distribution/E2DIRECT/invalidation/" + *got.Invalidation.Id; *got.Location != want {
		t.Errorf("Location = %s, want %s", *got.Location, want)
	}
}

// The state shows whose invalidations there are, and how far they are. AWS accepts one in two seconds, if a test wants that.
func TestInvalidationsAreShownAndLimited(t *testing.T) {
	sim := newSim(t)
	if err := sim.SetLimits(aws.Limit{Operation: "CreateInvalidationForDistributionTenant", Rate: 0.5, Burst: 1}); err != nil {
		t.Fatal(err)
	}
	tenant, _ := mustCreate(t, sim, "acme")
	first, err := invalidate(t, sim, tenant.Id, batch("one", "/b", "/a"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = invalidate(t, sim, tenant.Id, batch("two", "/c"))
	wantRefusal(t, err, 400, "Throttling")
	want := aws.InvalidationState{
		ID: *first.Invalidation.Id, Of: *tenant.Id, CallerReference: "one", Paths: []string{"/a", "/b"}, Status: "InProgress", CreatedTime: *first.Invalidation.CreateTime,
	}
	if diff := cmp.Diff([]aws.InvalidationState{want}, sim.Invalidations(""), cmpopts.EquateApproxTime(time.Second)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	settle(sim)
	want.Status = "Completed"
	if diff := cmp.Diff([]aws.InvalidationState{want}, sim.State().Accounts[0].Invalidations, cmpopts.EquateApproxTime(time.Second)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
