package zone

import (
	"context"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// Providers are the DNS services that objects can name.
type Providers map[dns.Provider]port.DNS

func (p Providers) of(name dns.Provider) port.DNS {
	if d, ok := p[name]; ok {
		return d
	}
	return missing{name}
}

func (p Providers) as(access dns.Access) port.Zones { return p.of(access.Provider).As(access) }

// missing stands for a provider that this operator was built without: it refuses every call.
type missing struct{ name dns.Provider }

func (m missing) As(dns.Access) port.Zones { return m }

func (m missing) Traits() dns.Traits { return dns.Traits{PageSize: 1} }

func (m missing) refusal() error {
	return &fault.Error{Kind: fault.Invalid, Message: "this operator knows no DNS provider " + string(m.name)}
}

func (m missing) GetZone(context.Context, string) (dns.Zone, error) { return dns.Zone{}, m.refusal() }

func (m missing) ListZones(context.Context, string) ([]dns.Zone, string, error) {
	return nil, "", m.refusal()
}

func (m missing) ListRecords(context.Context, string, string) ([]dns.RecordSet, string, error) {
	return nil, "", m.refusal()
}

func (m missing) ReadName(context.Context, string, string) ([]dns.RecordSet, error) {
	return nil, m.refusal()
}

func (m missing) Change(context.Context, string, []dns.Change) (string, error) {
	return "", m.refusal()
}

func (m missing) InSync(context.Context, string) (bool, error) { return false, m.refusal() }
