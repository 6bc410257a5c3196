package distributiontenant

import (
	"slices"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/keyvalue"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// Harm says what the next write takes away from the customers that are served. Empty: nothing.
func (in Input) Harm() string { return in.onlyProven().view().Harm }

// LostOwnership is the harm of a tenant that is not tagged as the object's any more.
const LostOwnership = "is no longer tagged as its own"

// harm says what the next write takes away from a tenant of ours, whether the spec has changed or AWS has.
func (in Input) harm(v *resource.View) string {
	t := in.World.Tenant
	switch {
	case in.inDoubt(v):
		return LostOwnership
	case in.Deleting, t == nil, !v.Mine(), v.Applied && (in.Policy.Drift != resource.DriftEnforce || in.Unresolved()):
		return ""
	}
	var out []string
	if t.Enabled && !in.Desired.Enabled {
		out = append(out, "disables the tenant")
	}
	if dropped := slices.DeleteFunc(slices.Clone(t.Domains), func(d string) bool {
		return slices.Contains(in.Desired.Domains, d) || t.DomainStates[d] != DomainActive
	}); len(dropped) > 0 {
		out = append(out, "removes "+prose.List(dropped))
	}
	if in.Desired.DNS == nil && slices.ContainsFunc(in.Memory.Ledger, func(e dns.Entry) bool { return e.State == dns.Published }) {
		out = append(out, "removes the DNS records")
	}
	if in.Desired.KeyValues == nil && slices.ContainsFunc(in.Memory.Keys, func(e keyvalue.Entry) bool { return e.State == keyvalue.Written }) {
		out = append(out, "removes the key values")
	}
	return strings.Join(out, ", ")
}
