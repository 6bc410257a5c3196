package publication

import (
	"slices"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
)

// boundDomains are those that the spec has dropped, and that have to stay as long as AWS is
// at work on a certificate for them: it would never be issued without.
func (j *judge) boundDomains() []string {
	if !j.Tenant.Ours || j.Deleting || !j.Requests || !j.Underway {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(j.Tenant.Domains), func(d string) bool { return slices.Contains(j.Domains, d) })
}

// waitingDomains are the domains that can't be added yet, and those that can't be removed yet.
func (j *judge) waitingDomains() (waiting, leaving []string) {
	if !j.Tenant.Present {
		return nil, nil
	}
	have := j.Tenant.Domains
	gone := func(d string) bool { return !slices.Contains(j.Domains, d) }
	if leaving = slices.Clone(j.bound); len(leaving) == 0 && slices.ContainsFunc(have, gone) {
		for _, d := range have {
			if gone(d) && slices.ContainsFunc(j.ledger, func(e dns.Entry) bool { return ofDomain(e, d) }) {
				leaving = append(leaving, d)
			}
		}
	}
	for _, d := range j.Domains {
		if !slices.Contains(have, d) && !j.addable(d, leaving) {
			waiting = append(waiting, d)
		}
	}
	return waiting, leaving
}

// addable reports whether AWS would take the domain now, with the certificate request that it
// needs: one for what the tenant has then, and only while none is underway.
func (j *judge) addable(domain string, leaving []string) bool {
	switch {
	case !j.Requests:
		return true
	case j.Underway || len(leaving) > 0:
		return false
	}
	return !j.First || j.published([]string{domain})
}

func (j *judge) nextLedger() []dns.Entry {
	have := j.Ledger
	switch {
	case j.Still, j.Held, j.InDoubt, len(have) == 0 && j.Spec == nil:
		return j.withoutHandedOver()
	case j.Deleting && j.Abandoned:
		return nil
	case j.Blind, j.DeniedRole != "", j.Deleting && j.Retained:
		return have
	}
	policy := dns.Policy{}
	if spec := j.Spec; spec != nil {
		policy = dns.Policy{Reclaims: j.Reclaims, Takeover: spec.Takeover, Inherits: j.Inherits, RoleARN: spec.RoleARN}
	}
	next := dns.Advance(have, j.wants, j.View, policy)
	for i, e := range next {
		// A record that is about to be replaced is reported once it is.
		if e.State != dns.Intended && j.Tenant.has(dns.Domain(e.Name)) {
			next[i].Replaced = e.Replaced.WithoutCloudFront(e.Name)
		}
	}
	if j.HasFinalizer {
		return next
	}
	// An object without our finalizer could go without being asked, and its ledger with it.
	return slices.DeleteFunc(next, func(e dns.Entry) bool {
		return !slices.ContainsFunc(have, func(h dns.Entry) bool { return h.Record == e.Record })
	})
}

// withoutHandedOver leaves out what is another object's for good: its ledger has it, and keeping it in two would make it a
// matter of age whose it is.
func (j *judge) withoutHandedOver() []dns.Entry {
	return slices.DeleteFunc(slices.Clone(j.Ledger), func(e dns.Entry) bool { return j.View.Of(e.Record).HandedOver })
}

// placed reports whether it is known where the records belong and lead, as far as that matters now.
func (j *judge) placed() bool {
	if j.Unresolved {
		return true
	}
	known := j.lacks() == LacksNothing || j.allRefused()
	// The domains that the tenant serves, and with them the records that are due, may be about to be read.
	return known && !(j.Publishes && !j.ledgerSuffices() && j.Tenant.Unknown && j.Tenant.Remembered)
}

// allRefused reports whether nothing is due before the next try of what AWS has refused, wherever the records belong: it
// is not looked up until then, and their places are for others meanwhile.
func (j *judge) allRefused() bool {
	return j.Refused && !slices.ContainsFunc(slices.Concat(j.bound, j.Domains), j.Tenant.has)
}
