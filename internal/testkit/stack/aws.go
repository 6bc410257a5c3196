package stack

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"

	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/process"
)

const controlPath = "/_sim/"

// controlTimeout is far above what the journal of thousands of tenants takes on a busy machine.
const controlTimeout = time.Minute

// AWS is the simulated AWS, with a view of what it really holds.
type AWS struct {
	// Child is the process, once it was started.
	Child *process.Child

	address string
	http    *http.Client
}

// NewAWS sees the one that serves at an address.
func NewAWS(address string) *AWS {
	return &AWS{address: address, http: &http.Client{Timeout: controlTimeout, Transport: &http.Transport{DisableKeepAlives: true}}}
}

// URL is what AWS_ENDPOINT_URL has to be.
func (a *AWS) URL() string { return "http://" + a.address }

// Env leads clients to it.
func (a *AWS) Env() []string {
	return []string{
		"AWS_ENDPOINT_URL=" + a.URL(), "AWS_ACCESS_KEY_ID=" + accessKey, "AWS_SECRET_ACCESS_KEY=" + secretKey,
		"AWS_REGION=" + region, "AWS_DEFAULT_REGION=" + region, // version 1 of the aws command knows no other
	}
}

// Calls counts the calls since the start, by operation.
func (a *AWS) Calls(ctx context.Context) (Calls, error) {
	var out Calls
	return out, a.Control(ctx, http.MethodGet, "calls", nil, &out)
}

// Journal returns the calls after a sequence number.
func (a *AWS) Journal(ctx context.Context, since uint64) ([]sim.Entry, error) {
	var out []sim.Entry
	return out, a.Control(ctx, http.MethodGet, "journal?since="+strconv.FormatUint(since, 10), nil, &out)
}

// Tenants returns the tenants of the operator's account, oldest first.
func (a *AWS) Tenants(ctx context.Context) ([]sim.TenantState, error) {
	state, err := a.State(ctx)
	return state.Tenants, err
}

// AddFault makes calls fail, or only wait.
func (a *AWS) AddFault(ctx context.Context, f sim.Fault) error {
	return a.Control(ctx, http.MethodPost, "faults", f, nil)
}

// Faults lists the faults that can still strike.
func (a *AWS) Faults(ctx context.Context) ([]json.RawMessage, error) {
	var out []json.RawMessage
	return out, a.Control(ctx, http.MethodGet, "faults", nil, &out)
}

// ClearFaults removes all faults.
func (a *AWS) ClearFaults(ctx context.Context) error {
	return a.Control(ctx, http.MethodDelete, "faults", nil, nil)
}

// Limit refuses calls above a rate.
func (a *AWS) Limit(ctx context.Context, l sim.Limit) error {
	return a.Control(ctx, http.MethodPost, "limits", l, nil)
}

// Seed adds to what AWS holds.
func (a *AWS) Seed(ctx context.Context, seed sim.Seed) error {
	return a.Control(ctx, http.MethodPost, "seed", seed, nil)
}

// AllowTenants raises the quotas, which are 10,000 tenants, 10,000 records in a zone and 100 tenants of a web ACL in a new
// account. A zone has some records of its own.
func (a *AWS) AllowTenants(ctx context.Context, n int) error {
	return a.Control(ctx, http.MethodPost, "quotas", sim.Quotas{Tenants: n, RecordsPerZone: n + 1000, WebACLAssociations: n}, nil)
}

// Control calls the control API, and reads what it answers, as a text or as JSON.
func (a *AWS) Control(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("writing the request for %s: %w", path, err)
		}
		body = bytes.NewReader(data)
	}
	request, err := http.NewRequestWithContext(ctx, method, a.URL()+controlPath+path, body)
	if err != nil {
		return err
	}
	response, err := a.http.Do(request)
	if err != nil {
		return fmt.Errorf("asking the simulated AWS for %s: %w", path, err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	switch {
	case err != nil:
		return fmt.Errorf("asking the simulated AWS for %s: %w", path, err)
	case response.StatusCode != http.StatusOK:
		return fmt.Errorf("the simulated AWS refuses %s: %s", path, answer)
	case out == nil:
		return nil
	}
	if text, ok := out.(*string); ok {
		*text = string(answer)
		return nil
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("reading the simulated AWS's answer to %s: %w", path, err)
	}
	return nil
}

// Calls are counts of calls by operation.
type Calls map[string]sim.OperationCalls

// Since returns the numbers of the calls that were made after before, without operations
// that were not called.
func (c Calls) Since(before Calls) map[string]int {
	out := map[string]int{}
	for name, n := range c {
		if more := n.Total - before[name].Total; more != 0 {
			out[name] = more
		}
	}
	return out
}

// Throttled is how many calls were refused for their rate.
func (c Calls) Throttled() int {
	total := 0
	for _, n := range c {
		total += n.Throttled
	}
	return total
}

// Sum adds counts up.
func Sum(counts map[string]int) int {
	total := 0
	for _, n := range counts {
		total += n
	}
	return total
}

// CloudFront returns a client for other users of the account.
func (a *AWS) CloudFront() *cloudfront.Client { return cloudfront.NewFromConfig(a.sdk()) }

func (a *AWS) sdk() awssdk.Config {
	return awssdk.Config{
		Region: region, BaseEndpoint: awssdk.String(a.URL()),
		Credentials: credentials.NewStaticCredentialsProvider(accessKey, secretKey, ""),
	}
}

// Disable changes a tenant as a user does who knows nothing of the operator.
func (a *AWS) Disable(ctx context.Context, name string) error {
	return a.update(ctx, "disabling "+name+" behind the operator's back", name, func(in *cloudfront.UpdateDistributionTenantInput) { in.Enabled = awssdk.Bool(false) })
}

// AddDomain gives a tenant one more domain, as another tool does.
func (a *AWS) AddDomain(ctx context.Context, t sim.TenantState, domain string) error {
	return a.update(ctx, "adding "+domain+" to "+t.Name, t.ID, func(in *cloudfront.UpdateDistributionTenantInput) {
		for _, d := range append(slices.Sorted(maps.Keys(t.Domains)), domain) {
			in.Domains = append(in.Domains, types.DomainItem{Domain: awssdk.String(d)})
		}
	})
}

func (a *AWS) update(ctx context.Context, doing, tenant string, change func(*cloudfront.UpdateDistributionTenantInput)) error {
	c := a.CloudFront()
	now, err := c.GetDistributionTenant(ctx, &cloudfront.GetDistributionTenantInput{Identifier: awssdk.String(tenant)})
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	in := &cloudfront.UpdateDistributionTenantInput{Id: now.DistributionTenant.Id, IfMatch: now.ETag}
	change(in)
	if _, err := c.UpdateDistributionTenant(ctx, in); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

// RemoveTags takes all tags from a tenant, as a clean-up script does.
func (a *AWS) RemoveTags(ctx context.Context, t sim.TenantState) error {
	keys := slices.Sorted(maps.Keys(t.Tags))
	if _, err := a.CloudFront().UntagResource(ctx, &cloudfront.UntagResourceInput{Resource: awssdk.String(t.ARN), TagKeys: &types.TagKeys{Items: keys}}); err != nil {
		return fmt.Errorf("removing the tags of %s: %w", t.Name, err)
	}
	return nil
}
