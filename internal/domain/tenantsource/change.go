package tenantsource

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

// Action is what is done to one object.
type Action string

// The actions.
const (
	Create  Action = "Create"
	Update  Action = "Update"
	Delete  Action = "Delete"
	Disable Action = "Disable"
	// Enable updates the object, and then takes back what Disable did.
	Enable Action = "Enable"
)

// Change is one object that has to be written.
type Change struct {
	Action Action
	Name   string
	// UID and Version are those of the object as it was looked at; empty for Create.
	UID, Version string
	// Row names the row, for messages.
	Row string
	// Harm says what the change takes away; empty for nothing. Approved is set where a user has approved it.
	Harm     string
	Approved bool
	// Unmark takes the mark off that the object has because its row was gone.
	Unmark bool
	// body is the object in its smallest form: there may be a change for each of a hundred thousand rows.
	body []byte
}

// Object is what the change writes.
func (c Change) Object() (mapping.Object, error) {
	var o mapping.Object
	if err := json.Unmarshal(c.body, &o); err != nil {
		return o, fmt.Errorf("reading the change of %s back: %w", c.Name, err)
	}
	return o, nil
}

// loss is what the change takes away.
func (c Change) loss() Loss { return Loss{Owned: Owned{Name: c.Name, UID: c.UID}, Harm: c.Harm} }

// Applies reports whether the change writes what a row says. Otherwise it only takes the mark off.
func (c Change) Applies() bool { return len(c.body) > 0 }

// describe tells people what the change comes from.
func (c Change) describe() string {
	if !c.Applies() && c.Unmark {
		return "its row is back, or its deletion is no longer wanted"
	}
	text := "row " + strings.TrimPrefix(c.Row, "row ")
	if o, err := c.Object(); err == nil {
		text += ", with " + strings.Join(o.Domains(), ", ")
	}
	if c.Harm != "" {
		text = c.Harm + ": " + text
	}
	return text
}

// Harvest is what a complete read came to.
type Harvest struct {
	// Rows is how many there were; Tenants how many of them are tenants.
	Rows, Tenants int
	// Changes are what has to be written, by name.
	Changes []Change
	// Rejected are the rows that are not used, by row. Nameless is how many of them can't be matched to a tenant,
	// Conflicts how many conflict with a foreign object.
	Rejected            []mapping.Rejection
	Nameless, Conflicts int
	// Returning is how many objects are being deleted although their rows exist.
	Returning int
	// Columns are those that are used and were seen, by name. Declared says that the store has told them.
	Columns  []SeenColumn
	Declared bool

	present map[string]bool
	// domains are those of all rows.
	domains map[string]int
}

// Present reports whether a row names the object, usable or not.
func (h *Harvest) Present(name string) bool { return h.present[name] }

// told is the part of it that is reported after its changes are planned.
func (h *Harvest) told() *Harvest {
	out := *h
	out.Changes, out.present, out.domains = nil, nil, nil
	return &out
}

// absent are the losses of objects whose rows are gone, unless they are kept.
func (h *Harvest) absent(owned []Owned, policy Policy) []Loss {
	if policy == PolicyRetain {
		return nil
	}
	losses := lossesOf(slices.DeleteFunc(slices.Clone(owned), func(o Owned) bool { return h.Present(o.Name) }))
	for i := range losses {
		losses[i].Replaced = slices.ContainsFunc(losses[i].Domains, func(d string) bool { _, wanted := h.domains[d]; return wanted })
	}
	return losses
}

// unmark is its changes, with those that take the marks off all objects that stay: their rows are back, or rows that are gone
// change nothing any more.
func (h *Harvest) unmark(owned []Owned, policy Policy) []Change {
	changes := slices.Clone(h.Changes)
	at := make(map[string]int, len(changes))
	for i, c := range changes {
		if c.Harm == "" { // what takes something away may be held, and the mark is not
			at[c.Name] = i
		}
	}
	for _, o := range owned {
		if o.Marked.IsZero() || policy != PolicyRetain && !h.Present(o.Name) {
			continue
		}
		if i, changed := at[o.Name]; changed {
			changes[i].Unmark = true
		} else {
			changes = append(changes, Change{Action: Enable, Name: o.Name, UID: o.UID, Row: o.Name, Unmark: true})
		}
	}
	return changes
}

// Harms implements Seen.
func (h *Harvest) Harms() []Loss {
	var out []Loss
	for _, c := range h.Changes {
		if c.Harm != "" {
			out = append(out, c.loss())
		}
	}
	return out
}
