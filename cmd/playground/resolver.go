package main

import (
	"context"

	"github.com/miekg/dns"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/dnsserver"
)

// resolverVariable has the address of the public resolver.
const resolverVariable = "PLAYGROUND_RESOLVER"

// startResolver starts what the operator asks for the domains of customers. The simulated AWS answers for names elsewhere
// as if they were its own, so it is asked last.
func (w *world) startResolver(ctx context.Context) (err error) {
	w.resolver, err = dnsserver.Start(ctx, "127.0.0.1:0", resolve(w.cloudflare.dns, w.azure.dns, w.dnsAddress))
	if err == nil {
		w.say.line("%-14s %s, public resolver for all of them", "DNS", w.resolver.Address)
	}
	return err
}

// resolve asks each server that those before it refused. A name that is in none of their zones does not exist.
func resolve(servers ...string) dns.Handler {
	return dns.HandlerFunc(func(writer dns.ResponseWriter, question *dns.Msg) {
		ctx, cancel := context.WithTimeout(context.Background(), lookupTimeout)
		defer cancel()
		answer := new(dns.Msg).SetRcode(question, dns.RcodeNameError)
		for _, server := range servers {
			got, _, err := new(dns.Client).ExchangeContext(ctx, question, server)
			if err != nil {
				answer.Rcode = dns.RcodeServerFailure
				break
			}
			if got.Rcode != dns.RcodeRefused || len(got.Answer) > 0 {
				answer = got
				break
			}
		}
		answer.RecursionAvailable = true
		_ = writer.WriteMsg(answer) // a client that went away is no concern of ours
	})
}
