package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	"github.com/aws/smithy-go"

	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

// console is a user with access to the AWS account. It uses the official SDK, and is counted: its calls are not the
// operator's.
type console struct {
	w   *world
	sdk *cloudfront.Client
	// calls are in the words of the simulated AWS's journal.
	calls []sim.Entry
}

// get reads a tenant by its name, without showing anything.
func (c *console) get(ctx context.Context, name string) (*cloudfront.GetDistributionTenantOutput, error) {
	out, err := c.sdk.GetDistributionTenant(ctx, &cloudfront.GetDistributionTenantInput{Identifier: aws.String(name)})
	call := sim.Entry{Operation: "GetDistributionTenant", Name: name, Code: "OK"}
	if refusal, ok := errors.AsType[smithy.APIError](err); ok {
		call.Name, call.Code = "", refusal.ErrorCode() // a tenant that is not there has no name in the journal
	}
	c.calls = append(c.calls, call)
	return out, err
}

// show shows a part of a tenant as the aws command would.
func (c *console) show(name, query string, part func(*types.DistributionTenant) any) step {
	return func(ctx context.Context) error {
		c.w.say.command(fmt.Sprintf("aws cloudfront get-distribution-tenant --identifier %s --query %s", name, query))
		out, err := c.get(ctx, name)
		if err != nil {
			return fmt.Errorf("reading tenant %s: %w", name, err)
		}
		text, err := json.MarshalIndent(part(out.DistributionTenant), "", "    ")
		if err != nil {
			return fmt.Errorf("printing tenant %s: %w", name, err)
		}
		c.w.say.output(string(text))
		return nil
	}
}

// showGone shows that AWS knows no tenant of this name.
func (c *console) showGone(name string) step {
	return func(ctx context.Context) error {
		c.w.say.command("aws cloudfront get-distribution-tenant --identifier " + name)
		_, err := c.get(ctx, name)
		if err == nil {
			return fmt.Errorf("tenant %s still exists in AWS", name)
		}
		refusal, ok := errors.AsType[smithy.APIError](err)
		if !ok || refusal.ErrorCode() != "EntityNotFound" {
			return fmt.Errorf("looking up tenant %s: %w", name, err)
		}
		c.w.say.output(fmt.Sprintf("An error occurred (%s): %s", refusal.ErrorCode(), refusal.ErrorMessage()))
		return nil
	}
}

// count shows how many tenants have names that begin like this, and fails if there are not as many as wanted.
func (c *console) count(prefix string, wanted int) step {
	return func(ctx context.Context) error {
		c.w.say.command(fmt.Sprintf(`aws cloudfront list-distribution-tenants --query "length(DistributionTenantList[?starts_with(Name, '%s')])"`, prefix))
		count := 0
		pages := cloudfront.NewListDistributionTenantsPaginator(c.sdk, &cloudfront.ListDistributionTenantsInput{})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			c.calls = append(c.calls, sim.Entry{Operation: "ListDistributionTenants", Code: "OK"})
			if err != nil {
				return fmt.Errorf("listing tenants in AWS: %w", err)
			}
			for _, tenant := range page.DistributionTenantList {
				if strings.HasPrefix(aws.ToString(tenant.Name), prefix) {
					count++
				}
			}
		}
		c.w.say.output(strconv.Itoa(count))
		if count != wanted {
			return fmt.Errorf("AWS has %d tenants whose names begin with %s, want %d", count, prefix, wanted)
		}
		return nil
	}
}

// disable does what the switch in the AWS console does.
func (c *console) disable(name string) step {
	return func(ctx context.Context) error {
		tenant, err := c.get(ctx, name)
		if err != nil {
			return fmt.Errorf("reading tenant %s: %w", name, err)
		}
		c.w.say.command(fmt.Sprintf("aws cloudfront update-distribution-tenant --id %s --if-match %s --no-enabled --query DistributionTenant.Enabled",
			*tenant.DistributionTenant.Id, *tenant.ETag))
		c.calls = append(c.calls, sim.Entry{Operation: "UpdateDistributionTenant", Name: name, Code: "OK"})
		out, err := c.sdk.UpdateDistributionTenant(ctx, &cloudfront.UpdateDistributionTenantInput{
			Id: tenant.DistributionTenant.Id, IfMatch: tenant.ETag, Enabled: aws.Bool(false),
		})
		if err != nil {
			return fmt.Errorf("disabling tenant %s: %w", name, err)
		}
		c.w.say.output(fmt.Sprint(aws.ToBool(out.DistributionTenant.Enabled)))
		return nil
	}
}

// countInAWS counts the lines with one of the texts in all that AWS holds, of all accounts.
func (w *world) countInAWS(ctx context.Context, texts []string) (int, error) {
	var state string
	err := w.aws.Control(ctx, http.MethodGet, "state", nil, &state)
	return countLines(state, texts), err
}

// countLines is what grep -c says.
func countLines(text string, patterns []string) int {
	count := 0
	for line := range strings.Lines(text) {
		if slices.ContainsFunc(patterns, func(p string) bool { return strings.Contains(line, p) }) {
			count++
		}
	}
	return count
}
