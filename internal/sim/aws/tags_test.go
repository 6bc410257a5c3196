package aws_test

import (
	"fmt"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	"github.com/google/go-cmp/cmp"
)

func tagSet(pairs ...string) *types.Tags {
	set := &types.Tags{Items: []types.Tag{}}
	for i := 0; i < len(pairs); i += 2 {
		set.Items = append(set.Items, types.Tag{Key: sdk.String(pairs[i]), Value: sdk.String(pairs[i+1])})
	}
	return set
}

func TestTagging(t *testing.T) {
	sim := newSim(t)
	tenant, _ := mustCreate(t, sim, "acme")
	ctx, c := t.Context(), client(sim)
	for kind, arn := range map[string]string{
		"tenant":           *tenant.Arn,
		"connection group": "arn:aws:cloudfront::111122223333:connection-group/" + homeGroup,
		"distribution":     "arn:aws:cloudfront::111122223333:distribution/" + multiTenant,
	} {
		t.Run(kind, func(t *testing.T) {
			read := func() map[string]string {
				out, err := c.ListTagsForResource(ctx, &cloudfront.ListTagsForResourceInput{Resource: &arn})
				if err != nil {
					t.Fatal(err)
				}
				got := map[string]string{}
				for _, tag := range out.Tags.Items {
					got[*tag.Key] = sdk.ToString(tag.Value)
				}
				return got
			}
			if _, err := c.TagResource(ctx, &cloudfront.TagResourceInput{Resource: &arn, Tags: tagSet("a", "1", "b", "2")}); err != nil {
				t.Fatal(err)
			}
			if _, err := c.TagResource(ctx, &cloudfront.TagResourceInput{Resource: &arn, Tags: tagSet("b", "3", "c", "")}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(map[string]string{"a": "1", "b": "3", "c": ""}, read()); diff != "" {
				t.Errorf("tags after tagging twice (-want +got):\n%s", diff)
			}
			if _, err := c.UntagResource(ctx, &cloudfront.UntagResourceInput{Resource: &arn, TagKeys: &types.TagKeys{Items: []string{"a", "never"}}}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(map[string]string{"b": "3", "c": ""}, read()); diff != "" {
				t.Errorf("tags after untagging (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTaggingRefusals(t *testing.T) {
	sim := newSim(t)
	tenant, _ := mustCreate(t, sim, "acme")
	ctx, c := t.Context(), client(sim)
	many := tagSet()
	for i := range 50 {
		many.Items = append(many.Items, tagSet(fmt.Sprintf("k%d", i), "v").Items...)
	}
	if _, err := c.TagResource(ctx, &cloudfront.TagResourceInput{Resource: tenant.Arn, Tags: many}); err != nil {
		t.Fatalf("50 tags: %v", err)
	}
	missing := "arn:aws:cloudfront::111122223333:distribution-tenant/dt_missing"
	foreign := "arn:aws:cloudfront::999988887777:distribution-tenant/dt_foreign"
	for name, tc := range map[string]struct {
		arn    string
		tags   *types.Tags
		status int
		code   string
	}{
		"a 51st tag":                     {*tenant.Arn, tagSet("one-more", "v"), 400, "InvalidTagging"},
		"a reserved key":                 {*tenant.Arn, tagSet("aws:owner", "v"), 400, "InvalidTagging"},
		"an ARN that does not exist":     {missing, tagSet("a", "b"), 404, "NoSuchResource"},
		"an ARN of another account":      {foreign, tagSet("a", "b"), 404, "NoSuchResource"},
		"an id instead of an ARN":        {*tenant.Id, tagSet("a", "b"), 400, "InvalidArgument"},
		"an ARN of another service":      {"arn:aws:s3:::bucket", tagSet("a", "b"), 400, "InvalidArgument"},
		"the right id under a wrong ARN": {"arn:aws:cloudfront::111122223333:distribution/" + *tenant.Id, tagSet("a", "b"), 404, "NoSuchResource"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.TagResource(ctx, &cloudfront.TagResourceInput{Resource: &tc.arn, Tags: tc.tags})
			wantRefusal(t, err, tc.status, tc.code)
		})
	}
	_, err := c.ListTagsForResource(ctx, &cloudfront.ListTagsForResourceInput{Resource: &missing})
	wantRefusal(t, err, 404, "NoSuchResource")
	_, err = c.UntagResource(ctx, &cloudfront.UntagResourceInput{Resource: &missing, TagKeys: &types.TagKeys{Items: []string{"a"}}})
	wantRefusal(t, err, 404, "NoSuchResource")
}
