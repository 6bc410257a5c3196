package importing

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// State knows the addresses of resources in Terraform by their IDs in AWS.
type State struct {
	byID map[string]address
	// instances counts those of each resource.
	instances map[string]int
}

// address is that of one instance of a resource.
type address struct {
	// whole has the keys of modules and instances. resource has none, as a removed block names it.
	whole, resource string
}

// ReadState reads a state file of Terraform or OpenTofu, or what their "show -json" writes.
func ReadState(data []byte) (*State, error) {
	var file struct {
		// A state file has these.
		Version   int             `json:"version"`
		Resources []stateResource `json:"resources"`
		// The output of "show -json" has these, that of a plan its prior_state.
		FormatVersion string      `json:"format_version"`
		Values        *shownState `json:"values"`
		PriorState    *struct {
			Values *shownState `json:"values"`
		} `json:"prior_state"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("the state of Terraform is not JSON: give a state file, or the output of terraform show -json: %w", err)
	}
	s := &State{byID: map[string]address{}, instances: map[string]int{}}
	switch {
	case file.FormatVersion != "":
		if file.Values == nil && file.PriorState != nil {
			file.Values = file.PriorState.Values
		}
		if file.Values != nil {
			s.module(file.Values.RootModule)
		}
	case file.Version == stateVersion:
		for _, r := range file.Resources {
			s.resource(r)
		}
	default:
		return nil, fmt.Errorf("the state of Terraform has neither version %d nor a format_version: give a state file of Terraform 0.12 or later, or the output of terraform show -json", stateVersion)
	}
	return s, nil
}

// stateVersion is that of state files since Terraform 0.12.
const stateVersion = 4

// importable are the types of the resources. Others may have the same IDs, such as the subscription to metrics of a
// distribution.
var importable = []string{
	"aws_cloudfront_distribution", "aws_cloudfront_multitenant_distribution", "aws_cloudfront_distribution_tenant", "aws_cloudfront_connection_group",
}

type stateResource struct {
	Module    string `json:"module"`
	Mode      string `json:"mode"`
	Type      string `json:"type"`
	Name      string `json:"name"`
	Instances []struct {
		IndexKey   any `json:"index_key"`
		Attributes struct {
			ID string `json:"id"`
		} `json:"attributes"`
	} `json:"instances"`
}

type shownState struct {
	RootModule shownModule `json:"root_module"`
}

type shownModule struct {
	Resources []struct {
		Address string `json:"address"`
		Mode    string `json:"mode"`
		Type    string `json:"type"`
		Values  struct {
			ID string `json:"id"`
		} `json:"values"`
	} `json:"resources"`
	ChildModules []shownModule `json:"child_modules"`
}

func (s *State) resource(r stateResource) {
	if r.Mode != "managed" || !slices.Contains(importable, r.Type) {
		return
	}
	base := r.Type + "." + r.Name
	if r.Module != "" {
		base = r.Module + "." + base
	}
	for _, i := range r.Instances {
		whole := base
		switch key := i.IndexKey.(type) {
		case string:
			whole += "[" + strconv.Quote(key) + "]"
		case float64:
			whole += fmt.Sprintf("[%d]", int(key))
		}
		s.add(i.Attributes.ID, whole)
	}
}

func (s *State) module(m shownModule) {
	for _, r := range m.Resources {
		if r.Mode == "managed" && slices.Contains(importable, r.Type) {
			s.add(r.Values.ID, r.Address)
		}
	}
	for _, child := range m.ChildModules {
		s.module(child)
	}
}

func (s *State) add(id, whole string) {
	a := address{whole: whole, resource: withoutKeys(whole)}
	s.instances[a.resource]++
	if id != "" {
		s.byID[id] = a
	}
}

// withoutKeys takes the keys of instances out of an address. A key may have brackets and dots in its quotes.
func withoutKeys(whole string) string {
	var b strings.Builder
	quoted, escaped, depth := false, false, 0
	for _, c := range whole {
		switch {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case !quoted && c == '[':
			depth++
		case !quoted && c == ']':
			depth--
			continue
		}
		if depth == 0 {
			b.WriteRune(c)
		}
	}
	return b.String()
}

const removedHead = `# Terraform has to forget what the operator adopts, without destroying it. Copy these blocks into the configuration in
# place of the resources, look at the plan, and apply it: it has to say that it removes them from the state, and destroys
# nothing. Blocks like these need Terraform 1.7 or OpenTofu 1.7.
`

const removedTemplate = `#
# Without a state, the addresses of the resources are not known. Import again with --terraform-state, or write a block for
# each resource:
#
# removed {
#   from = aws_cloudfront_distribution_tenant.acme
#
#   lifecycle {
#     destroy = false
#   }
# }
#
# The IDs by which to find them are in AWS:
#
`

// removed are the blocks with which Terraform forgets what is written.
func (f *Fleet) removed(s *State) string {
	var b strings.Builder
	b.WriteString(removedHead)
	if s == nil {
		b.WriteString(removedTemplate)
		for _, e := range f.Entries() {
			fmt.Fprintf(&b, "#   %s  %s\n", e.ID, e.Subject)
		}
		return b.String()
	}
	imported, unknown := map[string][]string{}, []*Entry(nil)
	for _, e := range f.Entries() {
		a, known := s.byID[e.ID]
		if !known {
			unknown = append(unknown, e)
			continue
		}
		imported[a.resource] = append(imported[a.resource], a.whole)
	}
	for _, resource := range slices.Sorted(maps.Keys(imported)) {
		b.WriteString(forget(resource, imported[resource], s.instances[resource]))
	}
	if len(unknown) > 0 {
		b.WriteString("\n# The state does not have these. Nothing has to be done for them here:\n#\n")
		for _, e := range unknown {
			fmt.Fprintf(&b, "#   %s  %s\n", e.ID, e.Subject)
		}
	}
	return b.String()
}

// forget is a block, which is for all instances of a resource, or else a command for each.
func forget(resource string, imported []string, instances int) string {
	if len(imported) == instances {
		return fmt.Sprintf("\nremoved {\n  from = %s\n\n  lifecycle {\n    destroy = false\n  }\n}\n", resource)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n# %s of the %d instances of %s are imported, and a block would remove all of them. Remove these from the state\n# by hand, and from the for_each or count of the resource:\n#\n",
		number(len(imported)), instances, resource)
	slices.Sort(imported)
	for _, whole := range imported {
		fmt.Fprintf(&b, "#   terraform state rm '%s'\n", strings.ReplaceAll(whole, "'", `'\''`))
	}
	return b.String()
}
