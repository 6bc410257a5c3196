package resolver

import (
	"context"
	"strings"

	wire "github.com/miekg/dns"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/proof"
)

// enough is how many servers have to show a proof: an attacker may be able to forge the answers of one server.
const enough = 2

// LookForProof implements port.Resolver. One server that does not answer has no say, and one that shows something else
// is enough to wait: its cache may be older, or the others may be deceived.
func (r *Resolver) LookForProof(ctx context.Context, record proof.Record) proof.Sight {
	if len(r.servers) < enough {
		return proof.TooFew
	}
	count := map[proof.Sight]int{}
	for sight, err := range each(r.servers, func(server string) (proof.Sight, error) { return shows(ctx, server, record) }) {
		if err != nil {
			sight = proof.Silent
		}
		count[sight]++
	}
	switch answered := len(r.servers) - count[proof.Silent]; {
	case answered < enough:
		return proof.Silent
	case count[proof.Shown] == answered:
		return proof.Shown
	case count[proof.Shown] > 0:
		return proof.Partly
	case count[proof.Other] > 0:
		return proof.Other
	}
	return proof.Missing
}

// shows is what one server shows. The CNAMEs of the domain's owner decide which name has the text.
func shows(ctx context.Context, server string, record proof.Record) (proof.Sight, error) {
	answer, err := ask(ctx, server, record.Name, wire.TypeTXT)
	if err != nil {
		return proof.Silent, err
	}
	sight := proof.Missing
	for _, text := range answer.Texts() {
		switch text = strings.TrimSpace(text); {
		case text == record.Value:
			return proof.Shown, nil
		case strings.HasPrefix(text, proof.Prefix):
			sight = proof.Other
		}
	}
	return sight, nil
}
