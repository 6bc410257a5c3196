package distributiontenant

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// retracted keeps what is being torn down until no name leads to it any more.
func retracted(in Input) (Decision, bool) {
	if in.keepsTenant() {
		return pass()
	}
	left := in.nextLedger()
	if len(left) == 0 {
		return pass()
	}
	reason, message := resource.ReasonDeleting, fmt.Sprintf("Waiting until %s is out of DNS: a name that leads to CloudFront must never be without a tenant.", recordNames(left))
	const abandon = "If nobody can reach the zone any more, set the annotation cloudfront-tenant-operator.io/abandon-dns to \"true\"."
	if in.Policy.DeniedRole != "" {
		return rest(chain.Problem{Reason: ReasonRoleNotAllowed, Message: message + " " + in.roleText() + " " + abandon}, 0)
	}
	for _, e := range left {
		if s := in.World.DNS.Of(e.Record); s.Err != nil {
			return rest(chain.Problem{Reason: ReasonDNSError, Message: fmt.Sprintf("%s %s. %s", message, strings.TrimSuffix(s.Err.Error(), "."), abandon)}, 0)
		}
	}
	return rest(chain.Problem{Reason: reason, Message: message}, 0)
}

func recordNames(entries []dns.Entry) string {
	var names []string
	for _, e := range entries {
		if name := e.Type + " " + e.Name; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return resource.JoinSome(names)
}

// keepsTenant reports whether the tenant outlives the object, and its records with it. One that
// is gone or somebody else's does not count; one without an owner was just released.
func (in Input) keepsTenant() bool {
	theirs := in.World.present() && in.facts.resource.Relation() == ownership.Foreign
	return in.Policy.Retain && in.World.Knowledge != resource.Absent && !theirs
}

// oriented reports whether enough is known of the tenant to change what leads to it: where it is
// not known yet, or the credentials are of another account, nothing is concluded.
func (in Input) oriented() bool {
	caller := in.World.Account
	switch {
	case in.World.present():
		caller = resource.AccountOf(in.World.Tenant.ARN)
	case in.World.Knowledge == resource.Nothing:
		return in.Memory.ID == ""
	}
	return in.Memory.Account == "" || caller == in.Memory.Account
}

// NextLedger is the ledger as it should be stored next. It alone decides what is published and
// what is deleted: the worker does what the stored ledger says.
func (in Input) NextLedger() []dns.Entry { return in.judged().nextLedger() }

func (in Input) nextLedger() []dns.Entry {
	have := in.Memory.Ledger
	switch {
	case in.Paused, len(have) == 0 && in.Desired.DNS == nil:
		return have
	case in.Deleting && in.Policy.AbandonDNS:
		return nil
	case in.World.Unreadable != nil, in.Policy.DeniedRole != "", !in.oriented(), in.Deleting && in.keepsTenant():
		return have
	}
	policy := dns.Policy{}
	if spec := in.Desired.DNS; spec != nil {
		policy = dns.Policy{Takeover: spec.Takeover, RoleARN: spec.RoleARN}
	}
	next := dns.Advance(have, in.wants(), in.World.DNS, policy)
	if in.Held {
		return next
	}
	// An object without our finalizer could go without being asked, and its ledger with it.
	return slices.DeleteFunc(next, func(e dns.Entry) bool {
		return !slices.ContainsFunc(have, func(h dns.Entry) bool { return h.Record == e.Record })
	})
}
