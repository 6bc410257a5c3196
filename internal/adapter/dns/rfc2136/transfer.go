package rfc2136

import (
	"context"

	wire "github.com/miekg/dns"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/calls"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
)

// transfer has the server send all records of a zone and passes them on. Without an error those were all, each once: a
// transfer begins and ends with the zone's SOA.
func (d *DNS) transfer(ctx context.Context, zone string, take func(wire.RR)) error {
	return d.config.Gate.Do(ctx, calls.Call{Operation: opTransfer}, func(ctx context.Context) error {
		s, err := d.open(ctx, opTransfer)
		if err != nil {
			return err
		}
		defer s.close()
		if err := s.send(new(wire.Msg).SetAxfr(wire.Fqdn(zone))); err != nil {
			return err
		}
		for t := (incoming{zone: zone, take: take}); !t.complete; {
			a, err := s.receive()
			if err == nil {
				err = refused(opTransfer, a)
			}
			if err == nil {
				err = t.add(a.Answer)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// incoming is a transfer on its way.
type incoming struct {
	zone     string
	take     func(wire.RR)
	first    *wire.SOA
	complete bool
}

// add takes over one message of the transfer.
func (t *incoming) add(records []wire.RR) error {
	broken := func(text string) error { return unreadable(opTransfer, codeUnreadable, text, nil) }
	for _, rr := range records {
		soa, isSOA := rr.(*wire.SOA)
		switch {
		case t.complete:
			return broken("the transfer of the zone has records after its end")
		case !dns.Within(dns.Lower(rr.Header().Name), t.zone), isSOA && dns.Lower(soa.Hdr.Name) != t.zone:
			return broken("the transfer of the zone has a record of another zone")
		case t.first == nil && !isSOA:
			return broken("the transfer of the zone does not begin with its SOA record")
		case t.first == nil:
			t.first = soa
			t.take(rr)
		case isSOA && soa.Serial != t.first.Serial:
			return broken("the transfer of the zone has two SOA records")
		case isSOA:
			t.complete = true
		default:
			t.take(rr)
		}
	}
	return nil
}
