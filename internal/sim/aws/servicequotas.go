package aws

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// serviceQuotas shows the limits that the simulator keeps, in JSON 1.1 as ACM speaks it.
type serviceQuotas struct{ acm }

const quotaTarget = "ServiceQuotasV20190624."

// maxQuotaPage is the largest MaxResults that is taken.
const maxQuotaPage = 100

var quotaOperations = []*operation{
	{name: "ListServiceQuotas", handle: (*Sim).listServiceQuotas},
	{name: "ListAWSDefaultServiceQuotas", handle: (*Sim).listDefaultQuotas},
}

func (serviceQuotas) accepts(r *http.Request) bool {
	return strings.HasPrefix(r.Header.Get("X-Amz-Target"), quotaTarget)
}

func (serviceQuotas) decode(r *http.Request, body []byte) (*call, error) {
	return decodeJSON(r, body, "Service Quotas", quotaTarget, quotaOperations)
}

// listedQuota is a limit as Service Quotas names it. The names are those of the quotas page. The code of ACM's is the real
// one; those of CloudFront's are not known here, and made up.
type listedQuota struct {
	service, name, code string
	of                  func(Quotas) int
}

var listedQuotas = []listedQuota{
	{"cloudfront", "Distributions per AWS account", "L-24B04930", func(q Quotas) int { return q.Distributions }},
	{"cloudfront", "Maximum number of distribution tenants per AWS account", "L-51A00001", func(q Quotas) int { return q.Tenants }},
	{"cloudfront", "Maximum number of multi-tenant distributions per AWS account", "L-51A00002", func(q Quotas) int { return q.MultiTenantDistributions }},
	{"cloudfront", "Maximum number of connection groups per AWS account", "L-51A00003", func(q Quotas) int { return q.ConnectionGroups }},
	{"cloudfront", "Maximum number of aliases per distribution tenant", "L-51A00004", func(q Quotas) int { return q.DomainsPerTenant }},
	{"cloudfront", "File invalidation: maximum number of files allowed in active invalidation requests, excluding wildcard invalidations", "L-51A00005", func(q Quotas) int { return q.InvalidationPaths }},
	{"cloudfront", "File invalidation: maximum number of active wildcard invalidations allowed", "L-51A00006", func(q Quotas) int { return q.WildcardInvalidations }},
	{"acm", "ACM certificates", "L-F141DD1D", func(q Quotas) int { return q.Certificates }},
	{"acm", "Domain names per ACM certificate", "L-FB94F0B0", func(q Quotas) int { return q.NamesPerCertificate }},
}

// listServiceQuotas shows the quotas that were changed. The real service leaves out those whose applied value it does not
// have, and does not say which these are; here they are all that have their default.
func (s *Sim) listServiceQuotas(c *call) (reply, error) {
	return s.quotaList(c, s.quotas, func(q listedQuota) bool { return q.of(s.quotas) != q.of(DefaultQuotas()) })
}

func (s *Sim) listDefaultQuotas(c *call) (reply, error) {
	return s.quotaList(c, DefaultQuotas(), func(listedQuota) bool { return true })
}

// quotaList renders one page of the quotas of a service.
func (s *Sim) quotaList(c *call, values Quotas, shows func(listedQuota) bool) (reply, error) {
	service, _ := c.input["ServiceCode"].(string)
	if !slices.ContainsFunc(listedQuotas, func(q listedQuota) bool { return q.service == service }) {
		return reply{}, acmRefusal("NoSuchResourceException", "The request failed because the specified service does not exist: %q.", service)
	}
	size := float64(maxQuotaPage)
	if given, ok := c.input["MaxResults"].(float64); ok {
		size = given
	}
	if size < 1 || size > maxQuotaPage || size != float64(int(size)) {
		return reply{}, acmRefusal("IllegalArgumentException", "MaxResults must be a whole number from 1 to %d.", maxQuotaPage)
	}
	from := 0
	if token, ok := c.input["NextToken"].(string); ok {
		n, err := strconv.Atoi(token)
		if err != nil || n < 1 || n >= len(listedQuotas) {
			return reply{}, acmRefusal("InvalidPaginationTokenException", "Invalid pagination token was provided.")
		}
		from = n
	}
	items, next := []map[string]any{}, ""
	for i, q := range listedQuotas[from:] {
		if q.service != service || !shows(q) {
			continue
		}
		if len(items) == min(int(size), s.options.PageSize) {
			next = strconv.Itoa(from + i)
			break
		}
		items = append(items, map[string]any{
			"ServiceCode": service, "ServiceName": service, "QuotaName": q.name, "QuotaCode": q.code, "Value": float64(q.of(values)),
			"Unit": "None", "Adjustable": true, "GlobalQuota": service == "cloudfront",
		})
	}
	out := map[string]any{"Quotas": items}
	if next != "" {
		out["NextToken"] = next
	}
	return reply{status: http.StatusOK, json: out}, nil
}
