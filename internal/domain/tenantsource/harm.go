package tenantsource

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

// HarmOf says what a tenant would lose if an object with that spec, in the form of its JSON, became what its row and
// the template want. Empty: nothing. changed is set where the row or the template is not what was applied last: what
// they no longer set is removed then. Who else has set it is not known, so it counts as theirs.
func HarmOf(live map[string]any, want mapping.Object, changed bool, parents Parents) string {
	h := harm{live: live, want: want.Spec, changed: changed, led: parents}
	var out []string
	add := func(text string) {
		if text != "" {
			out = append(out, text)
		}
	}
	if h.live["enabled"] != false && h.want["enabled"] == false {
		add("disables the tenant")
	}
	add(h.domains(want.Domains()))
	add(h.dns())
	add(h.keyValues())
	add(h.moves("distribution", "distributionId", "distributionRef", parents.DistributionID))
	add(h.moves("connection group", "connectionGroupId", "connectionGroupRef", parents.ConnectionGroupID))
	if policy := h.becomes("deletionPolicy"); textOf(h.live, "deletionPolicy") == retainsTenant && policy != retainsTenant {
		add("no longer retains the tenant in AWS")
	}
	return strings.Join(out, ", ")
}

// retainsTenant is the deletionPolicy of an object whose tenant stays in AWS without it.
const retainsTenant = "Retain"

// Parents are the IDs in AWS that objects lead to.
type Parents struct {
	// DistributionID and ConnectionGroupID are those that the tenant was last given.
	DistributionID, ConnectionGroupID string
	// Lead is the ID of the object that a field names, empty while it has none. Nil: nothing is known of any.
	Lead func(field, namespace, name string) string
}

// harm is one comparison.
type harm struct {
	live, want map[string]any
	changed    bool
	led        Parents
}

// becomes is the text that the field will have.
func (h harm) becomes(field string) string {
	if to := textOf(h.want, field); to != "" || h.changed {
		return to
	}
	return textOf(h.live, field)
}

func (h harm) domains(want []string) string {
	if !h.changed {
		return ""
	}
	list, _ := h.live["domains"].([]any)
	var dropped []string
	for _, element := range list {
		if d, ok := element.(map[string]any); ok && !slices.Contains(want, textOf(d, "domain")) {
			dropped = append(dropped, textOf(d, "domain"))
		}
	}
	if len(dropped) == 0 {
		return ""
	}
	slices.Sort(dropped)
	return "removes " + strings.Join(dropped, ", ")
}

func (h harm) dns() string {
	live, has := h.live["dns"].(map[string]any)
	want, wants := h.want["dns"].(map[string]any)
	switch {
	case !has, !wants && !h.changed:
		return ""
	case !wants:
		return "removes the DNS records"
	}
	records := harm{live: live, want: want, changed: h.changed}
	if from, to := textOf(live, "provider"), records.becomes("provider"); from != "" && from != to {
		return "moves the DNS records to " + to
	}
	if to := records.becomes("account"); to != textOf(live, "account") {
		return "moves the DNS records to another account"
	}
	for _, field := range []string{"hostedZoneId", "zoneName"} {
		switch to := records.becomes(field); {
		case to == textOf(live, field):
		case to == "":
			return "moves the DNS records to whichever zone has the names"
		default:
			return "moves the DNS records to the zone " + to
		}
	}
	if records.becomes("assumeRoleArn") != textOf(live, "assumeRoleArn") {
		return "moves the DNS records to the zones of another role"
	}
	return ""
}

func (h harm) keyValues() string {
	live, has := h.live["keyValues"].(map[string]any)
	want, wants := h.want["keyValues"].(map[string]any)
	switch {
	case !has, !wants && !h.changed:
		return ""
	case !wants:
		return "removes the key values"
	}
	values := harm{live: live, want: want, changed: h.changed}
	if values.becomes("storeArn") != textOf(live, "storeArn") {
		return "moves the key values to another store"
	}
	if values.becomes("key") != textOf(live, "key") {
		return "moves the key values to other keys"
	}
	return ""
}

// moves compares the parents of a kind, whichever way they are named: a parent by its ID is the same as by its object. A
// tenant that has waited for an object since it was created is moved nowhere.
func (h harm) moves(noun, id, ref, applied string) string {
	live, was := h.live[ref].(map[string]any)
	want, is := h.want[ref].(map[string]any)
	if is && was && textOf(live, "name") == textOf(want, "name") && textOf(live, "namespace") == textOf(want, "namespace") {
		return ""
	}
	from, to := textOf(h.live, id), h.becomes(id)
	if was {
		from = cmp.Or(applied, h.leadsTo(ref, live))
	}
	if was && !is && to == "" && !h.changed {
		return ""
	}
	if is {
		to = h.lead(ref, want)
	}
	if was && to != "" && to == h.leadsTo(ref, live) {
		return "" // a tenant that waits for its turn keeps what it had before
	}
	if from == to || from == "" && (was || id == "distributionId") {
		return ""
	}
	if to == "" {
		return "moves the tenant to the default " + noun
	}
	return "moves the tenant to the " + noun + " " + to
}

// leadsTo is the ID of an object; empty while it has none.
func (h harm) leadsTo(field string, ref map[string]any) string {
	if h.led.Lead == nil {
		return ""
	}
	return h.led.Lead(field, textOf(ref, "namespace"), textOf(ref, "name"))
}

// lead is the ID of an object. One without an ID stands for itself.
func (h harm) lead(field string, ref map[string]any) string {
	return cmp.Or(h.leadsTo(field, ref), strings.TrimPrefix(textOf(ref, "namespace")+"/"+textOf(ref, "name"), "/"))
}

// textOf is a text of a tree; empty where there is none.
func textOf(tree map[string]any, field string) string {
	s, _ := tree[field].(string)
	return s
}
