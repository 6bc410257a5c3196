package publication

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// A record that was in DNS before the object, as the spec wants it, is in no ledger, so nothing deletes it with the
// object. It then leads to CloudFront without a tenant: the last thing that the object has to tell.
//
// That is told when the condition stops being DNSReady, and with it the records stop being wanted. Until then the zone is
// asked for nothing that it was not asked for while the object was Ready, so that the answer is there without a call.

// perhapsLeft are the records that stay in DNS when the tenant is deleted, if they are there. They are no part of what is
// due: a ledger never takes them up. They are the same before the tenant is looked for and once it is known to be gone,
// which no pass remembers of the one before: zones that are asked, and then not, would wake the object each time.
func (j *judge) perhapsLeft() []dns.Record {
	switch {
	case !j.Deleting, j.Retained && !j.Tenant.Unknown, !j.wasReady():
		return nil
	case j.Spec == nil, j.DeniedRole != "", !j.ZonesKnown, j.Endpoint == "":
		return nil
	case j.Tenant.Present && !j.Tenant.Ours:
		// It belongs to someone else, and stays with what leads to it.
		return nil
	}
	// The group is not asked for IPv6 any more. A record that it would not have is not there.
	as := &judge{Case: j.Case}
	as.IPv6 = j.IPv6 || !j.IPv6Known
	var out []dns.Record
	for _, d := range j.Domains {
		records, _ := as.rendered(d)
		for _, r := range records {
			if !slices.ContainsFunc(j.Ledger, func(e dns.Entry) bool { return e.Record == r }) {
				out = append(out, r)
			}
		}
	}
	return out
}

// left are those of the records that are there, once the deletion continues and the condition says so.
func (j *judge) left(perhaps []dns.Record, ready chain.Condition) []dns.Record {
	if j.rests() || ready.Reason == ReasonDNSReady {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(perhaps), func(r dns.Record) bool { return j.View.Of(r).Phase != dns.There })
}

// wasReady reports whether the condition that stands says that the records are in DNS.
func (j *judge) wasReady() bool { return j.Before != nil && j.Before.Reason == ReasonDNSReady }

// rests reports whether nothing is changed for the object for now, so that its records stay as they are.
func (j *judge) rests() bool { return j.Still || j.Held || j.InDoubt || j.Blind }

// awaits is what a deletion waits for, so that what the records lead to is there until they are gone.
func (j *judge) awaits() *chain.Problem {
	if !j.Deleting || j.Retained || len(j.ledger) == 0 {
		return nil
	}
	message := fmt.Sprintf("Waiting until %s is removed from DNS, so that no name points to CloudFront without a tenant.", recordNames(j.ledger))
	const abandon = "If the zone is no longer accessible, set the annotation cloudfront-tenant-operator.io/abandon-dns to \"true\"."
	if j.DeniedRole != "" {
		return &chain.Problem{Reason: ReasonRoleNotAllowed, Message: message + " " + RoleText(j.Spec, j.DeniedRole) + " " + abandon}
	}
	for _, e := range j.ledger {
		if s := j.View.Of(e.Record); s.Err != nil {
			return &chain.Problem{Reason: ReasonOf(s.Err.Kind), Message: fmt.Sprintf("%s %s. %s", message, strings.TrimSuffix(s.Err.Error(), "."), abandon)}
		}
	}
	return &chain.Problem{Reason: resource.ReasonDeleting, Message: message}
}

func recordNames(entries []dns.Entry) string {
	var names []string
	for _, e := range entries {
		if name := e.Type + " " + e.Name; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return prose.List(names)
}
