package importing

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// The calls as they are counted.
const (
	callDistribution = "GetDistribution"
	callList         = "ListDistributionTenants"
	callGroup        = "GetConnectionGroup"
	callTenant       = "GetDistributionTenant"
	callTags         = "ListTagsForResource"
	callCertificate  = "GetManagedCertificateDetails"
)

// Read counts what was read, and the calls that it took.
type Read struct {
	Tenants, Groups int
	// Calls are all but those for tags.
	Calls, TagCalls int
	// ByOperation are all calls.
	ByOperation map[string]int
	// Whole means that each tenant was read on its own: the list does not have their parameters.
	Whole bool
}

// reader reads a fleet from AWS.
type reader struct {
	Options
	calls calls

	distribution port.Distribution
	unmanaged    []string
	groups       []port.Group
	tenants      []distributiontenant.Observed
	// tags are those of each resource by its ARN.
	tags map[string]map[string]string
	// pending are managed certificates that are not issued, by the ARN of their tenant.
	pending map[string]certificate.Managed
	// gone are the names of tenants that were deleted after the list had them.
	gone []string
}

func (r *reader) readAll(ctx context.Context) error {
	r.calls.since = r.now()
	if err := r.readDistribution(ctx); err != nil {
		return err
	}
	for _, read := range []func(context.Context) error{r.listTenants, r.readGroups, r.readTenants, r.readTags, r.readCertificates} {
		if err := read(ctx); err != nil {
			return err
		}
	}
	r.forgetGone()
	return nil
}

func (r *reader) readDistribution(ctx context.Context) error {
	err := r.call(ctx, callDistribution, r.DistributionID, func(ctx context.Context) (err error) {
		r.distribution, err = r.AWS.ReadDistribution(ctx, r.DistributionID)
		return err
	})
	if fault.Is(err, fault.NotFound) {
		return fmt.Errorf("the AWS account of these credentials has no distribution %q: use the ID of one, and credentials of its account", r.DistributionID)
	}
	if err != nil {
		return fmt.Errorf("reading the distribution %s: %w", r.DistributionID, err)
	}
	r.unmanaged = r.AWS.Unmanaged(r.distribution)
	return nil
}

// listTenants walks the list. A tenant that moves from one page to another meanwhile is in it twice.
func (r *reader) listTenants(ctx context.Context) error {
	if r.distribution.Config.ConnectionMode == v1alpha1.ConnectionModeDirect {
		return nil
	}
	byID, walked := map[string]distributiontenant.Observed{}, map[string]bool{}
	for marker := ""; ; {
		var page []distributiontenant.Observed
		var next string
		err := r.call(ctx, callList, marker, func(ctx context.Context) (err error) {
			page, next, err = r.AWS.ListTenantsOf(ctx, r.DistributionID, marker)
			return err
		})
		if err != nil {
			return fmt.Errorf("listing the tenants: %w", err)
		}
		for _, t := range page {
			byID[t.ID] = t
		}
		r.progress("the list of tenants", len(byID), 0)
		if next == "" {
			break
		}
		if walked[next] {
			return fmt.Errorf("listing the tenants: the list of AWS comes back to an earlier page; try again")
		}
		walked[next], marker = true, next
	}
	r.tenants = slices.SortedFunc(maps.Values(byID), func(a, b distributiontenant.Observed) int {
		return strings.Compare(a.Name, b.Name)
	})
	return nil
}

// readGroups reads those that the tenants use: no other one belongs to the distribution.
func (r *reader) readGroups(ctx context.Context) error {
	used := map[string]bool{}
	for _, t := range r.tenants {
		if t.ConnectionGroupID != "" {
			used[t.ConnectionGroupID] = true
		}
	}
	ids := slices.Sorted(maps.Keys(used))
	r.groups = make([]port.Group, len(ids))
	err := r.forEach(ctx, "connection groups", len(ids), func(ctx context.Context, i int) error {
		err := r.call(ctx, callGroup, ids[i], func(ctx context.Context) (err error) {
			r.groups[i], err = r.AWS.ReadGroup(ctx, ids[i])
			return err
		})
		if err != nil {
			return fmt.Errorf("reading the connection group %s: %w", ids[i], err)
		}
		return nil
	})
	slices.SortFunc(r.groups, func(a, b port.Group) int { return strings.Compare(a.Name, b.Name) })
	return err
}

// declares reports whether tenants can have parameters, the one thing besides tags that the list does not tell.
func (r *reader) declares() bool {
	config := r.distribution.Config.TenantConfig
	return config != nil && len(config.ParameterDefinitions) > 0
}

// readTenants reads each tenant on its own where the list does not tell all.
func (r *reader) readTenants(ctx context.Context) error {
	if !r.declares() {
		return nil
	}
	return r.forEach(ctx, "tenants", len(r.tenants), func(ctx context.Context, i int) error {
		listed := r.tenants[i]
		err := r.call(ctx, callTenant, listed.ID, func(ctx context.Context) (err error) {
			r.tenants[i], err = r.AWS.GetTenant(ctx, listed.ID)
			return err
		})
		if fault.Is(err, fault.NotFound) {
			// Without an ID it is taken for gone.
			r.tenants[i] = distributiontenant.Observed{Tenant: distributiontenant.Tenant{Name: listed.Name}}
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the tenant %s: %w", listed.Name, err)
		}
		return nil
	})
}

// readTags reads those that no read above has told.
func (r *reader) readTags(ctx context.Context) error {
	arns := []string{r.distribution.ARN}
	for _, g := range r.groups {
		arns = append(arns, g.ARN)
	}
	r.tags = map[string]map[string]string{}
	for _, t := range r.tenants {
		switch {
		case t.Tags != nil:
			r.tags[t.ARN] = t.Tags
		case t.ID != "":
			arns = append(arns, t.ARN)
		}
	}
	found := make([]map[string]string, len(arns))
	err := r.forEach(ctx, "tags", len(arns), func(ctx context.Context, i int) error {
		err := r.call(ctx, callTags, arns[i], func(ctx context.Context) (err error) {
			found[i], err = r.AWS.ListTags(ctx, arns[i])
			return err
		})
		if fault.Is(err, fault.NotFound) && i > len(r.groups) {
			return nil // a tenant that was deleted meanwhile
		}
		if err != nil {
			return fmt.Errorf("reading the tags of %s: %w", arns[i], err)
		}
		return nil
	})
	for i, arn := range arns {
		if found[i] != nil {
			r.tags[arn] = found[i]
		}
	}
	return err
}

// readCertificates asks only where a domain is not served: a certificate that is issued and attached is in the list.
func (r *reader) readCertificates(ctx context.Context) error {
	var waiting []distributiontenant.Observed
	for _, t := range r.tenants {
		if t.ID != "" && t.Enabled && len(unserved(t)) > 0 {
			waiting = append(waiting, t)
		}
	}
	found := make([]certificate.Managed, len(waiting))
	err := r.forEach(ctx, "certificates", len(waiting), func(ctx context.Context, i int) error {
		err := r.call(ctx, callCertificate, waiting[i].ID, func(ctx context.Context) (err error) {
			found[i], err = r.AWS.GetManagedCertificate(ctx, waiting[i].ID)
			return err
		})
		if err != nil && !fault.Is(err, fault.NotFound) {
			return fmt.Errorf("reading the managed certificate of the tenant %s: %w", waiting[i].Name, err)
		}
		return nil
	})
	r.pending = map[string]certificate.Managed{}
	for i, t := range waiting {
		if m := found[i]; m.State != "" && (m.ARN == "" || m.ARN != t.Customizations.CertificateARN) {
			r.pending[t.ARN] = m
		}
	}
	return err
}

// unserved are the domains that CloudFront does not answer for.
func unserved(t distributiontenant.Observed) []string {
	return slices.DeleteFunc(slices.Clone(t.Domains), func(d string) bool { return t.DomainStates[d] == distributiontenant.DomainActive })
}

// forgetGone leaves out the tenants that were deleted meanwhile: their tags were not found, or they themselves.
func (r *reader) forgetGone() {
	r.tenants = slices.DeleteFunc(r.tenants, func(t distributiontenant.Observed) bool {
		_, there := r.tags[t.ARN]
		if there {
			return false
		}
		r.gone = append(r.gone, t.Name)
		return true
	})
}

func (r *reader) counts() Read {
	by := maps.Clone(r.calls.byName)
	return Read{
		Tenants: len(r.tenants), Groups: len(r.groups), Whole: r.declares(),
		Calls: r.calls.total - by[callTags], TagCalls: by[callTags], ByOperation: by,
	}
}
