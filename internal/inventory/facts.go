package inventory

import (
	"reflect"
	"slices"
	"strings"
	"unique"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/instant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
)

// facts are what is remembered of a tenant, in a fourth of the memory that edge.Observed
// takes: two maps of one element each would be more than half of it. There is one for each
// tenant of the account, for as long as the operator runs.
type facts struct {
	// id is a part of arn, where AWS builds it so.
	name, id, arn, etag string
	// distribution, group and status are shared with all that have the same.
	distribution, group, status string
	enabled                     bool
	created, modified           instant.Instant
	domains                     []domain
	// rare is nil for the many tenants that have none of it.
	rare *rare
}

type domain struct{ name, state string }

type rare struct {
	parameters texts
	// customizations is nil where the tenant has none.
	customizations *distributiontenant.Customizations
}

// factsOf takes over what was observed, but for tags. Text that equals what was known before
// is not kept twice.
func factsOf(t distributiontenant.Observed, before facts) facts {
	f := facts{
		name: either(before.name, t.Name), id: t.ID, arn: either(before.arn, t.ARN), etag: either(before.etag, t.ETag),
		distribution: interned(t.DistributionID), group: interned(t.ConnectionGroupID), status: interned(t.Status),
		enabled: t.Enabled, created: instant.Of(t.Created), modified: instant.Of(t.Modified), domains: domainsOf(t, before.domains),
	}
	if strings.HasSuffix(f.arn, f.id) {
		f.id = f.arn[len(f.arn)-len(f.id):]
	}
	f.rare = rareOf(t)
	return f
}

func rareOf(t distributiontenant.Observed) *rare {
	var r rare
	if len(t.Parameters) > 0 {
		r.parameters = textsOf(t.Parameters)
	}
	if c := t.Customizations; !reflect.ValueOf(c).IsZero() {
		r.customizations = &c
	}
	if r.parameters == nil && r.customizations == nil {
		return nil
	}
	return &r
}

func domainsOf(t distributiontenant.Observed, before []domain) []domain {
	if len(t.Domains) == 0 {
		return nil
	}
	out := make([]domain, len(t.Domains))
	for i, name := range t.Domains {
		out[i] = domain{name: name, state: interned(t.DomainStates[name])}
	}
	slices.SortFunc(out, func(a, b domain) int { return strings.Compare(a.name, b.name) })
	for i := range min(len(out), len(before)) {
		out[i].name = either(before[i].name, out[i].name)
	}
	return out
}

// observed is what the facts were made from. Its maps and lists are not shared, except for those of the
// customizations, which never change.
func (f facts) observed() distributiontenant.Observed {
	t := distributiontenant.Observed{
		Tenant: distributiontenant.Tenant{Name: f.name, DistributionID: f.distribution, ConnectionGroupID: f.group, Enabled: f.enabled},
		ID:     f.id, ARN: f.arn, ETag: f.etag, Status: f.status, Created: f.created.Time(), Modified: f.modified.Time(),
		DomainStates: make(map[string]string, len(f.domains)),
	}
	for _, d := range f.domains {
		t.Domains = append(t.Domains, d.name)
		t.DomainStates[d.name] = d.state
	}
	if f.rare != nil && f.rare.parameters != nil {
		t.Parameters = f.rare.parameters.all()
	}
	if f.rare != nil && f.rare.customizations != nil {
		t.Customizations = *f.rare.customizations
	}
	return t
}

// certificate is the ARN of the certificate that is attached, if there is one.
func (f facts) certificate() string {
	if f.rare == nil || f.rare.customizations == nil {
		return ""
	}
	return f.rare.customizations.CertificateARN
}

// moved reports whether two views of a tenant differ in anything that an object reports.
func (f facts) moved(now facts) bool {
	return f.id != now.id || f.etag != now.etag || f.status != now.status || f.enabled != now.enabled ||
		!slices.Equal(f.domains, now.domains)
}

// texts are a map, of tags or parameters, in the form of a list, for the same reason.
type texts []text

type text struct{ key, value string }

func textsOf(given map[string]string) texts {
	out := make(texts, 0, len(given))
	for key, value := range given {
		out = append(out, text{interned(key), value})
	}
	slices.SortFunc(out, func(a, b text) int { return strings.Compare(a.key, b.key) })
	return out
}

// share keeps text once that other tenants have, or that is known already.
func (t texts) share(known string) {
	for i := range t {
		switch t[i].key {
		case ownership.ClusterKey, ownership.NamespaceKey:
			t[i].value = interned(t[i].value)
		default:
			t[i].value = either(known, t[i].value)
		}
	}
}

// all is never nil, and the caller may change it.
func (t texts) all() map[string]string {
	out := make(map[string]string, len(t))
	for _, text := range t {
		out[text.key] = text.value
	}
	return out
}

// either returns the old text when it is the same, so that the new one can go.
func either(old, text string) string {
	if old == text {
		return old
	}
	return text
}

// interned returns the one copy of a text that many tenants have.
func interned(text string) string { return unique.Make(text).Value() }
