package zone

import (
	"context"
	"maps"
	"slices"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// Providers are the accounts at DNS services that objects can name, each with its client.
type Providers map[dns.Provider]port.DNS

// Always returns the same providers at all times.
func (p Providers) Always() func() Providers { return func() Providers { return p } }

func (p Providers) of(name dns.Provider) port.DNS {
	if d, ok := p[name]; ok {
		return d
	}
	return Refusing(p.missing(name))
}

func (p Providers) as(access dns.Access) port.Zones { return p.of(access.Provider).As(access) }

// refusal says why a provider can't be used at all, nil if it can.
func (p Providers) refusal(name dns.Provider) *fault.Error {
	if r, refuses := p.of(name).(refusing); refuses {
		return r.err
	}
	return nil
}

// withAccount adds the account that a spec leaves out: of a service with one account, that one.
func (p Providers) withAccount(name dns.Provider) dns.Provider {
	if accounts := p.accounts(name.Service); name.Account == "" && len(accounts) == 1 {
		return accounts[0]
	}
	return name
}

// accounts are those of a service, sorted.
func (p Providers) accounts(s dns.Service) []dns.Provider {
	return slices.SortedFunc(func(yield func(dns.Provider) bool) {
		for name := range maps.Keys(p) {
			if name.Service == s && !yield(name) {
				return
			}
		}
	}, dns.Provider.Compare)
}

// missing says why there is no such provider, and what to do about it. It does not list the accounts, which not every
// user may know.
func (p Providers) missing(name dns.Provider) *fault.Error {
	refuse := func(format string, args ...any) *fault.Error {
		return fault.New(fault.Invalid, "spec.dns", format, args...)
	}
	switch {
	case len(p.accounts(name.Service)) == 0:
		return refuse("the operator has no account for the DNS provider %s: ask the administrator to add one to dns.accounts", name.Service)
	case name.Account == "":
		return refuse("the operator has several accounts for the DNS provider %s: set spec.dns.account to the name of one, which the administrator knows", name.Service)
	}
	return refuse("the operator has no account %q for the DNS provider %s: correct spec.dns.account, or ask the administrator to add it to dns.accounts", name.Account, name.Service)
}

// Refusing stands for a provider that can't be used: it refuses every call.
func Refusing(err *fault.Error) port.DNS { return refusing{err} }

type refusing struct{ err *fault.Error }

func (r refusing) As(dns.Access) port.Zones { return r }

func (r refusing) Traits() dns.Traits {
	return dns.Traits{PageSize: 1, Batch: dns.Limits{Records: 1}}
}

func (r refusing) GetZone(context.Context, string) (dns.Zone, error) { return dns.Zone{}, r.err }

func (r refusing) ListZones(context.Context, string) ([]dns.Zone, string, error) {
	return nil, "", r.err
}

func (r refusing) ListRecords(context.Context, string, string) ([]dns.RecordSet, string, error) {
	return nil, "", r.err
}

func (r refusing) ReadName(context.Context, string, string) ([]dns.RecordSet, error) {
	return nil, r.err
}

func (r refusing) Change(context.Context, string, []dns.Change) (string, error) { return "", r.err }

func (r refusing) InSync(context.Context, string, dns.Sent) (bool, error) { return false, r.err }
