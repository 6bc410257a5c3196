package cloudfront

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

const (
	opCreateDist = "CreateDistributionWithTags"
	opUpdateDist = "UpdateDistribution"
	opDeleteDist = "DeleteDistribution"
	opListDists  = "ListDistributionsByConnectionMode"
)

// clockAllowance is how much AWS's clock may be behind ours. AWS refuses the signatures of a
// clock that is off by more.
const clockAllowance = 15 * time.Minute

// ReadDistribution implements port.Distributions.
func (c *Client) ReadDistribution(ctx context.Context, id string) (port.Distribution, error) {
	out, err := c.api.GetDistribution(ctx, &sdk.GetDistributionInput{Id: &id}, c.read)
	if err != nil {
		return port.Distribution{}, classify(opGetDist, err)
	}
	return wholeDistribution(opGetDist, out.Distribution, out.ETag)
}

// CreateDistribution implements port.Distributions. Without tags it makes no call: there would be no proof later of
// whose distribution it is.
func (c *Client) CreateDistribution(
	ctx context.Context, reference string, config v1alpha1.DistributionConfig, tags map[string]string,
) (port.Distribution, error) {
	sent := wireDistribution(types.DistributionConfig{CallerReference: &reference}, config)
	out, err := c.api.CreateDistributionWithTags(ctx, &sdk.CreateDistributionWithTagsInput{
		DistributionConfigWithTags: &types.DistributionConfigWithTags{DistributionConfig: sent, Tags: wireTags(tags)},
	}, c.write)
	if err != nil {
		return port.Distribution{}, classify(opCreateDist, err)
	}
	return wholeDistribution(opCreateDist, out.Distribution, out.ETag)
}

// UpdateDistribution implements port.Distributions. CloudFront replaces the whole configuration: members without a
// field in the kind are sent as they were seen.
func (c *Client) UpdateDistribution(
	ctx context.Context, seen port.Distribution, config v1alpha1.DistributionConfig,
) (port.Distribution, error) {
	raw, err := rawConfig(seen)
	if err != nil {
		return port.Distribution{}, err
	}
	return c.replaceDistribution(ctx, seen, wireDistribution(*raw, config))
}

// DisableDistribution implements port.Distributions.
func (c *Client) DisableDistribution(ctx context.Context, seen port.Distribution) (port.Distribution, error) {
	raw, err := rawConfig(seen)
	if err != nil {
		return port.Distribution{}, err
	}
	disabled := *raw
	disabled.Enabled = new(false)
	return c.replaceDistribution(ctx, seen, &disabled)
}

func (c *Client) replaceDistribution(
	ctx context.Context, seen port.Distribution, config *types.DistributionConfig,
) (port.Distribution, error) {
	out, err := c.api.UpdateDistribution(ctx, &sdk.UpdateDistributionInput{
		Id: &seen.ID, IfMatch: &seen.ETag, DistributionConfig: config,
	}, c.write)
	if err != nil {
		return port.Distribution{}, classify(opUpdateDist, err)
	}
	return wholeDistribution(opUpdateDist, out.Distribution, out.ETag)
}

// rawConfig refuses what this client has not read: an update without it would remove all members without a field in the
// kind.
func rawConfig(seen port.Distribution) (*types.DistributionConfig, error) {
	raw, ok := seen.Raw.(*types.DistributionConfig)
	if !ok || raw == nil || seen.ETag == "" {
		return nil, &fault.Error{
			Kind: fault.Invalid, Operation: opUpdateDist, Message: "the distribution must be read before it is changed",
		}
	}
	return raw, nil
}

// DeleteDistribution implements port.Distributions.
func (c *Client) DeleteDistribution(ctx context.Context, id, etag string) error {
	_, err := c.api.DeleteDistribution(ctx, &sdk.DeleteDistributionInput{Id: &id, IfMatch: &etag}, c.write)
	return classify(opDeleteDist, err)
}

// FindDistribution implements port.Distributions. Each read is a call of its own for the
// rate.
func (c *Client) FindDistribution(
	ctx context.Context, mode v1alpha1.ConnectionMode, prefix string, since time.Time,
) (port.Distribution, error) {
	listed, err := c.listDistributions(ctx, mode)
	if err != nil {
		return port.Distribution{}, err
	}
	known := c.references.among(mode, listed)
	var found port.Distribution
	for _, id := range youngerThan(listed, since.Add(-clockAllowance)) {
		if reference, read := known[id]; read && !refersTo(reference, prefix) {
			continue
		}
		d, err := c.ReadDistribution(ctx, id)
		if fault.Is(err, fault.NotFound) {
			continue // deleted since the list was made
		}
		if err != nil {
			return port.Distribution{}, err
		}
		c.references.note(mode, id, d.CallerReference)
		if refersTo(d.CallerReference, prefix) && (found.ID == "" || d.Modified.After(found.Modified)) {
			found = d
		}
	}
	if found.ID == "" {
		return port.Distribution{}, &fault.Error{
			Kind: fault.NotFound, Operation: opListDists, Message: fmt.Sprintf("there is no distribution with the caller reference %q", prefix),
		}
	}
	return found, nil
}

// listDistributions tells by ID when the distributions of a connection mode were last modified.
func (c *Client) listDistributions(ctx context.Context, mode v1alpha1.ConnectionMode) (map[string]*time.Time, error) {
	modified := map[string]*time.Time{}
	err := everyPage(opListDists, func(marker *string) (*string, error) {
		out, err := c.api.ListDistributionsByConnectionMode(ctx, &sdk.ListDistributionsByConnectionModeInput{
			ConnectionMode: types.ConnectionMode(mode), Marker: marker, MaxItems: awssdk.Int32(pageSize),
		}, c.read)
		if err != nil {
			return nil, classify(opListDists, err)
		}
		page := out.DistributionList
		if err := completePage(page); err != nil {
			return nil, err
		}
		for _, summary := range page.Items {
			if awssdk.ToString(summary.Id) == "" {
				return nil, aws.Unreadable(opListDists, "a distribution's id")
			}
			modified[*summary.Id] = summary.LastModifiedTime
		}
		return page.NextMarker, nil
	})
	return modified, err
}

// youngerThan keeps the distributions that may have been changed at that time or later, in a fixed order.
func youngerThan(modified map[string]*time.Time, since time.Time) []string {
	var ids []string
	for _, id := range slices.Sorted(maps.Keys(modified)) {
		// A distribution without a time may be as young as any.
		if at := modified[id]; at == nil || !at.Before(since) {
			ids = append(ids, id)
		}
	}
	return ids
}

// completePage refuses a page of which a part is missing: the wanted distribution could be in that part.
func completePage(page *types.DistributionList) error {
	switch {
	case page == nil:
		return aws.Unreadable(opListDists, "the list")
	case page.Quantity == nil || int(*page.Quantity) != len(page.Items):
		return aws.Unreadable(opListDists, "some of the distributions that it counts")
	case awssdk.ToBool(page.IsTruncated) && awssdk.ToString(page.NextMarker) == "":
		return aws.Unreadable(opListDists, "the marker of the next page")
	}
	return nil
}

// refersTo reports whether a caller reference is the prefix, or the prefix with a number.
func refersTo(reference, prefix string) bool {
	number, numbered := strings.CutPrefix(reference, prefix+"-")
	if !numbered {
		return reference == prefix
	}
	_, err := strconv.ParseUint(number, 10, 32)
	return err == nil
}

// everyPage walks a list to its end, and refuses to walk in circles: a list that comes back
// to an earlier page has no end.
func everyPage(operation string, fetch func(marker *string) (next *string, err error)) error {
	walked := map[string]bool{}
	for marker := ""; ; {
		next, err := fetch(optional(marker))
		if err != nil {
			return err
		}
		walked[marker] = true
		if marker = awssdk.ToString(next); marker == "" {
			return nil
		}
		if walked[marker] {
			return aws.Unreadable(operation, "a new marker for the next page")
		}
	}
}
