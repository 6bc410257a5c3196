package convert

import (
	"slices"
	"strings"
	"time"

	"golang.org/x/net/publicsuffix"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/onboarding"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/proof"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

// The bounds of status.domains. domainsBudget bounds the text of all of them, so that an object with many long names still
// fits into the store: those at the end lose what was seen and their messages, and never a record.
const (
	maxDomains    = 200
	maxRecords    = 8
	maxSeenName   = 253
	domainsBudget = 300_000
)

// domainStatus is what is told of each domain. Since stands while the state does.
func domainStatus(before []v1alpha1.DomainStatus, told []onboarding.Domain, now time.Time) (out []v1alpha1.DomainStatus) {
	left := domainsBudget
	for _, d := range told[:min(len(told), maxDomains)] {
		s := v1alpha1.DomainStatus{
			Domain: d.Domain, State: v1alpha1.DomainState(d.State), Since: metav1.NewTime(now.Truncate(time.Second)),
			WaitsFor: v1alpha1.Party(d.WaitsFor), Message: prose.Fit(prose.Sentence(d.Message), maxMessage), Records: domainRecords(d.Records),
		}
		if i := slices.IndexFunc(before, func(b v1alpha1.DomainStatus) bool { return b.Domain == d.Domain && b.State == s.State }); i >= 0 {
			s.Since = before[i].Since
		}
		if left -= weigh(s); left < 0 {
			s.Message = ""
			for i := range s.Records {
				s.Records[i].Seen = nil
			}
		}
		out = append(out, s)
	}
	return out
}

// weigh is about how much text a domain has.
func weigh(s v1alpha1.DomainStatus) int {
	n := len(s.Domain) + len(s.Message)
	for _, r := range s.Records {
		n += len(r.Name) + len(r.Value)
		for _, seen := range r.Seen {
			n += len(seen)
		}
	}
	return n
}

func domainRecords(records []onboarding.Record) (out []v1alpha1.DomainRecord) {
	for _, r := range records[:min(len(records), maxRecords)] {
		record := v1alpha1.DomainRecord{
			Purpose: v1alpha1.RecordPurpose(r.Purpose), Type: r.Type, Name: prose.Fit(r.Name, maxValue), Value: prose.Fit(r.Value, maxValue),
			PublishedBy: v1alpha1.Party(r.By), State: v1alpha1.SeenState(r.State),
		}
		for _, seen := range r.Seen[:min(len(r.Seen), onboarding.MaxSeen)] {
			record.Seen = append(record.Seen, prose.Fit(seen, maxSeenName))
		}
		out = append(out, record)
	}
	return out
}

// domainMemory reads back what was told of the domains, and which of them are proven.
func domainMemory(m *distributiontenant.Memory, domains []v1alpha1.DomainStatus) {
	for _, d := range domains {
		told := distributiontenant.DomainMemory{Since: d.Since.Time, Domain: onboarding.Domain{
			Domain: d.Domain, State: onboarding.State(d.State), WaitsFor: onboarding.Party(d.WaitsFor), Message: d.Message,
		}}
		for _, r := range d.Records {
			told.Records = append(told.Records, onboarding.Record{
				Purpose: onboarding.Purpose(r.Purpose), Type: r.Type, Name: r.Name, Value: r.Value,
				By: onboarding.Party(r.PublishedBy), State: onboarding.RecordState(r.State), Seen: r.Seen,
			})
			if r.Purpose == v1alpha1.PurposeProof {
				m.Proofs = append(m.Proofs, proof.Entry{
					Domain: d.Domain, Record: proof.Record{Name: r.Name, Value: r.Value}, Found: r.State == v1alpha1.RecordPresent,
				})
			}
		}
		if m.Domains == nil {
			m.Domains = make(map[string]distributiontenant.DomainMemory, len(domains))
		}
		m.Domains[d.Domain] = told
	}
}

// redirects are the challenges that the web servers of the domains have to answer.
func redirects(domains []v1alpha1.DomainStatus) (out []certificate.Token) {
	for _, d := range domains {
		for _, r := range d.Records {
			if r.Purpose == v1alpha1.PurposeHTTP {
				out = append(out, certificate.Token{Domain: d.Domain, RedirectFrom: r.Name, RedirectTo: r.Value})
			}
		}
	}
	return out
}

// Unproven are the domains of a tenant that have to be proven before it is given them.
func Unproven(o *v1alpha1.DistributionTenant) (out []string) {
	for _, d := range o.Status.Domains {
		if slices.ContainsFunc(d.Records, func(r v1alpha1.DomainRecord) bool {
			return r.Purpose == v1alpha1.PurposeProof && r.State != v1alpha1.RecordPresent
		}) {
			out = append(out, d.Domain)
		}
	}
	return out
}

// Place is where a domain stands among those that are registered.
func Place(domain string) onboarding.Place {
	host := strings.TrimPrefix(domain, "*.")
	suffix, icann := publicsuffix.PublicSuffix(host)
	for !icann && strings.Contains(suffix, ".") {
		// It belongs to a company that lets others have names below it. The zone is the company's.
		_, above, _ := strings.Cut(suffix, ".")
		suffix, icann = publicsuffix.PublicSuffix(above)
	}
	zone := host
	for below := len(strings.Split(host, ".")) - len(strings.Split(suffix, ".")); below > 1; below-- {
		_, zone, _ = strings.Cut(zone, ".")
	}
	return onboarding.Place{Zone: zone, Apex: domain == zone && domain != suffix, Suffix: host == suffix}
}
