package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	"github.com/aws/smithy-go"
)

// console is a person with access to the AWS account. They use the official SDK, and are counted: their calls are not
// the operator's.
type console struct {
	w   *world
	sdk *cloudfront.Client
	// calls are in the words of the simulated AWS's journal.
	calls []journalEntry
}

func newConsole(w *world) *console {
	c := &console{w: w}
	c.sdk = cloudfront.NewFromConfig(w.awsConfig()) //nolint:forbidigo // not the operator, without its limits
	return c
}

// get reads a tenant by its name, without showing anything.
func (c *console) get(ctx context.Context, name string) (*cloudfront.GetDistributionTenantOutput, error) {
	out, err := c.sdk.GetDistributionTenant(ctx, &cloudfront.GetDistributionTenantInput{Identifier: aws.String(name)})
	call := journalEntry{Operation: "GetDistributionTenant", Name: name, Code: "OK"}
	if refusal, ok := errors.AsType[smithy.APIError](err); ok {
		call.Name, call.Code = "", refusal.ErrorCode() // who is not there has no name in the journal
	}
	c.calls = append(c.calls, call)
	return out, err
}

// show shows a part of a tenant as the aws command would.
func (c *console) show(ctx context.Context, name, query string, part func(*types.DistributionTenant) any) error {
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

// showGone shows that AWS knows no tenant of this name.
func (c *console) showGone(ctx context.Context, name string) error {
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

// count shows how many tenants have names that begin like this, and wants so many.
func (c *console) count(ctx context.Context, prefix string, wanted int) error {
	c.w.say.command(fmt.Sprintf(`aws cloudfront list-distribution-tenants --query "length(DistributionTenantList[?starts_with(Name, '%s')])"`, prefix))
	count := 0
	pages := cloudfront.NewListDistributionTenantsPaginator(c.sdk, &cloudfront.ListDistributionTenantsInput{})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		c.calls = append(c.calls, journalEntry{Operation: "ListDistributionTenants", Code: "OK"})
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

// disable does what the switch in the AWS console does.
func (c *console) disable(ctx context.Context, name string) error {
	tenant, err := c.get(ctx, name)
	if err != nil {
		return fmt.Errorf("reading tenant %s: %w", name, err)
	}
	c.w.say.command(fmt.Sprintf("aws cloudfront update-distribution-tenant --id %s --if-match %s --no-enabled --query DistributionTenant.Enabled",
		*tenant.DistributionTenant.Id, *tenant.ETag))
	c.calls = append(c.calls, journalEntry{Operation: "UpdateDistributionTenant", Name: name, Code: "OK"})
	out, err := c.sdk.UpdateDistributionTenant(ctx, &cloudfront.UpdateDistributionTenantInput{
		Id: tenant.DistributionTenant.Id, IfMatch: tenant.ETag, Enabled: aws.Bool(false),
	})
	if err != nil {
		return fmt.Errorf("disabling tenant %s: %w", name, err)
	}
	c.w.say.output(fmt.Sprint(aws.ToBool(out.DistributionTenant.Enabled)))
	return nil
}

// get reads from a server of ours and returns its status. The answer is JSON, unless it is
// wanted as a text.
func get(ctx context.Context, client *http.Client, url string, into any) (int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, fmt.Errorf("calling %s: %w", url, err)
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, fmt.Errorf("calling %s: %w", url, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, fmt.Errorf("reading the response of %s: %w", url, err)
	}
	switch into := into.(type) {
	case nil:
	case *string:
		*into = string(body)
	default:
		if err := json.Unmarshal(body, into); err != nil {
			return 0, fmt.Errorf("parsing the response of %s: %w", url, err)
		}
	}
	return response.StatusCode, nil
}

// sim asks the control API of the simulated AWS, which does not count as a call.
func (w *world) sim(ctx context.Context, path string, into any) error {
	status, err := get(ctx, &http.Client{Timeout: 10 * time.Second}, w.awsURL+"/_sim/"+path, into)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("calling %s: status %d", path, status)
	}
	return err
}

// countInAWS counts the lines with one of the texts in all that AWS holds, of all accounts.
func (w *world) countInAWS(ctx context.Context, texts []string) (int, error) {
	var state string
	if err := w.sim(ctx, "state", &state); err != nil {
		return 0, fmt.Errorf("reading the state of AWS: %w", err)
	}
	return countLines(state, texts), nil
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
