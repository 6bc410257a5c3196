package distributiontenant

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/rollout"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/publication"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// A service change is a difference in what the customers of a live tenant are served with. Such changes reach tenants in
// steps, whatever causes them. Until it is the turn of a tenant, the fields that change stay as they are in AWS, and
// everything else in the spec is applied.

// Turn is what the order of service changes answers.
type Turn struct {
	rollout.Answer

	// Values are those that it was asked about.
	Values []string
	// Release says how an administrator lets the rest continue at once. Empty: there is no such way.
	Release string
}

// dnsField stands for the zone in which the records of the domains are published.
const dnsField = "dns"

// parametersField stands for all parameters.
const parametersField = "parameters"

// serviceField names the field of a service change that a difference belongs to; empty for another difference.
func serviceField(field string) string {
	switch {
	case strings.HasPrefix(field, parametersField+"["):
		return parametersField
	case field == "distributionId", field == "connectionGroupId", field == dnsField, field == keyValuesField, strings.HasPrefix(field, customizationsField):
		return field
	}
	return ""
}

// live reports whether CloudFront answers for a domain of the tenant.
func (in judged) live() bool {
	t := in.World.Tenant
	return t.Enabled && slices.ContainsFunc(t.Domains, in.serves)
}

// serviceChange is what changes for the customers of a live tenant. A certificate that the operator has requested and
// attaches is not part of it.
func (in judged) serviceChange() []resource.Difference {
	t := in.World.Tenant
	if !in.Spreads || t == nil || in.Deleting || in.Unresolved() || !in.resource.Mine() || !in.live() {
		return nil
	}
	var out []resource.Difference
	if !in.resource.Applied || in.Policy.Drift == resource.DriftEnforce {
		want := in.aim.effective
		if in.World.Knowledge != resource.Whole {
			// The list does not tell them.
			want.Parameters = t.Parameters
		}
		out = slices.DeleteFunc(Diff(want, t.Tenant), func(d resource.Difference) bool {
			return serviceField(d.Field) == "" || d.Field == certificateField && in.certificate.Request != nil
		})
	}
	if d, moves := in.movedRecords(); moves {
		out = append(out, d)
	}
	if d, changes := in.changedKeys(); changes {
		out = append(out, d)
	}
	return out
}

// movedRecords is the difference between the zone that the spec names, and the one in which a domain is published.
func (in judged) movedRecords() (resource.Difference, bool) {
	spec := in.Desired.DNS
	if spec == nil {
		return resource.Difference{}, false
	}
	for _, e := range in.Memory.Ledger {
		domain := dns.Domain(e.Name)
		if e.State == dns.Published && in.serves(domain) && slices.Contains(in.Desired.Domains, domain) && in.leaves(e, domain) {
			return resource.Difference{Field: dnsField, Desired: zoneText(spec), Observed: e.ZoneID}, true
		}
	}
	return resource.Difference{}, false
}

// leaves reports whether the spec names another zone than that of the record. Which zone is the nearest one, and which
// account the only one, is not the spec's to say.
func (in judged) leaves(e dns.Entry, domain string) bool {
	spec := in.Desired.DNS
	switch {
	case e.Provider.Service != spec.Provider.Service, spec.Provider.Account != "" && spec.Provider.Account != e.Provider.Account:
		return true
	case spec.Zone == dns.Selector{}:
		return false
	case in.World.ZonesKnown:
		zone, err := spec.Zone.Match(domain, in.World.Zones)
		return err == nil && zone.Key() != e.Zone()
	}
	return spec.Zone.ID != "" && spec.Zone.ID != e.ZoneID
}

// turn is what it is about in the order of service changes.
type turn struct {
	// service is the change, and waits says that it is not the tenant's turn, as far as is known.
	service []resource.Difference
	waits   bool
}

func (in judged) judgeTurn() turn {
	t := turn{service: in.serviceChange()}
	t.waits = len(t.service) > 0 && !(in.World.TurnKnown && in.World.Turn.Go && rollout.Covers(in.World.Turn.Values, valuesOf(t.service)))
	return t
}

// valuesOf tells the new values of changes apart.
func valuesOf(changes []resource.Difference) (out []string) {
	for _, d := range changes {
		sum := sha256.Sum256([]byte(d.Field + "=" + d.Desired))
		out = append(out, hex.EncodeToString(sum[:valueBytes]))
	}
	slices.Sort(out)
	return out
}

// valueBytes is how much of a hash tells values apart.
const valueBytes = 8

// waitsWith reports whether one of those fields waits.
func (t turn) waitsWith(fields ...string) bool {
	return t.waits && slices.ContainsFunc(t.service, func(d resource.Difference) bool { return slices.Contains(fields, d.Field) })
}

// asServed is the tenant as it should be, without the service change.
func (in judged) asServed(want Tenant) Tenant {
	have, learned := in.World.Tenant.Tenant, want.Customizations.CertificateARN
	want.DistributionID, want.ConnectionGroupID, want.Parameters = have.DistributionID, have.ConnectionGroupID, have.Parameters
	want.Customizations = have.Customizations
	if in.certificate.Request != nil {
		want.Customizations.CertificateARN = learned
	}
	return want
}

// bareUntilTurn reports whether no certificate is known to cover further domains before it is the tenant's turn: the one
// that the spec names, or that of its distribution, comes with it.
func (in judged) bareUntilTurn() bool {
	return in.turn.waitsWith(certificateField) || in.certificate.Request == nil && in.turn.waitsWith("distributionId")
}

// inTurn asks whether it is the tenant's turn, and once more where more differs than was known. Nothing is held here: without
// its turn, what is compared lacks the change.
func inTurn(in judged) (Decision, bool) {
	if !in.turn.waits || in.World.TurnKnown && !in.World.Turn.Go {
		return pass()
	}
	return do(Look{At: LookTurn})
}

// ServiceChange is the change of what customers are served with, as the order of changes is asked about it. Changes are the differences that it consists of.
func (in Input) ServiceChange() (a rollout.Ask, changes []resource.Difference) {
	changes = judge(in).turn.service
	for _, d := range changes {
		if field := serviceField(d.Field); !slices.Contains(a.Fields, field) {
			a.Fields = append(a.Fields, field)
		}
	}
	slices.Sort(a.Fields)
	a.Values = valuesOf(changes)
	was := slices.Clone(changes)
	for i := range was {
		was[i].Desired = was[i].Observed
	}
	a.Was = valuesOf(was)
	a.UID, a.Namespace, a.Name = in.Me.UID, in.Me.Namespace, in.Me.Name
	a.Uneasy = !in.Memory.Conditions[chain.Ready].Status || in.Memory.Failure != nil
	return a, changes
}

// Has reports whether an object asks for what the changes of another one lead to.
func (d Desired) Has(changes []resource.Difference) bool {
	asks := map[string]string{dnsField: zoneText(d.DNS), keyValuesField: keysText(d.KeyValues)}
	for _, field := range Diff(d.Tenant, Tenant{}) {
		asks[field.Field] = field.Desired
	}
	return !slices.ContainsFunc(changes, func(c resource.Difference) bool { return asks[c.Field] != c.Desired })
}

// zoneText says which zone the spec names.
func zoneText(spec *publication.Spec) string {
	if spec == nil {
		return ""
	}
	return fmt.Sprintf("%s %s %s %s", spec.Provider.Service, spec.Provider.Account, spec.Zone.ID, spec.Zone.Name)
}

// Told is what the order is told of a tenant after a pass.
func Told(in Input, out Outcome, r Report) rollout.Outcome {
	if out.Err != nil {
		return rollout.Outcome{}
	}
	j := judge(in)
	v, t := j.resource, j.World.Tenant
	o := rollout.Outcome{Still: in.Still() || in.Unresolved()}
	compared := in.World.Knowledge == resource.Whole || in.World.present() && j.trusted()
	o.Settled = !o.Still && len(j.turn.service) == 0 && (in.World.Knowledge == resource.Absent || v.Mine() && compared)
	updated := slices.ContainsFunc(out.Done, func(s Step) bool { _, is := s.(Update); return is })
	served := t != nil && t.Enabled
	o.Unserved = o.Settled && !served && !updated
	for _, c := range r.Conditions {
		switch {
		case c.Type == chain.Ready && c.Status:
			o.Ready = o.Settled && served && t.Status == Deployed && !updated
		case r.Failure != nil && r.Failure.Generation == in.Generation && r.Failure.Reason == c.Reason && o.Failure == "":
			o.Failure = string(c.Reason) + ": " + c.Message
		}
	}
	return o
}

// rollingOut is the condition Synced of a tenant that waits for its turn.
func (in conclusion) rollingOut() chain.Condition {
	turn := in.World.Turn
	c := resource.Pending(resource.PendingText(in.turn.service) + " The same change reaches customers in steps: the next ones when those before are Ready with it. It is not the turn of this tenant yet. This is rollout " + turn.Group + "." + turn.Release)
	c.Reason = ReasonRollingOut
	return c
}
