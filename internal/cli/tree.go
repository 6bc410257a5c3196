package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli/fleet"
)

// shownChildren is how many objects that are ready are shown below another.
const shownChildren = 5

func treeCommand(s *session) *cobra.Command {
	all := false
	c := &cobra.Command{
		Use: "tree [KIND/NAME]", GroupID: look, Args: cobra.MaximumNArgs(1), Short: "Show which objects belong to which",
		Long: "Show which objects belong to which: distributions, their connection groups, and the tenants of both, with the source\n" +
			"that each of them comes from. Objects that are not ready come first. Without an argument, every distribution is shown.",
		Example: "  kubectl cfdt tree -A\n  kubectl cfdt tree distribution/platform -n edge",
	}
	c.Flags().BoolVar(&all, "all", false, "show every object")
	s.cluster.addAll(c)
	out := outputOf(c)
	c.RunE = run(func(ctx context.Context, args []string) error {
		f, err := s.load(ctx, kindTenant, "Distribution", "ConnectionGroup", "TenantSource")
		if err != nil {
			return err
		}
		roots := treesOf(f)
		if len(args) == 1 {
			item, err := s.get(ctx, args[0])
			if err != nil {
				return err
			}
			found := find(roots, item.Kind, item.Name())
			if found == nil {
				found = nodeOf(item)
			}
			roots = []*node{found}
		}
		return s.print(out, "Tree", tree{Roots: roots, all: all})
	})
	return c
}

// tree is the answer of tree.
type tree struct {
	Roots []*node `json:"roots"`
	all   bool
}

type node struct {
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	Reason string `json:"reason,omitempty"`
	// Rollout is how far a change of a source's tenants has come.
	Rollout  string  `json:"rollout,omitempty"`
	Children []*node `json:"children,omitempty"`
	state    fleet.State
}

func (n *node) title() string {
	if n.Name == "" {
		return n.Kind
	}
	return n.Kind + " " + n.Name
}

// text is the node's reason, and how far a rollout has come.
func (n *node) text(p *page) string {
	text := paintState(p, n.state, n.Reason)
	if n.Rollout != "" {
		text += "   rollout: " + n.Rollout
	}
	return text
}

func nodeOf(i fleet.Item) *node {
	n := &node{Kind: i.Kind, Name: i.Name(), Reason: i.Why().Reason, state: i.State()}
	if o, ok := i.Object.(*v1alpha1.TenantSource); ok {
		n.Rollout = rolloutText(o)
	}
	return n
}

func find(nodes []*node, kind, name string) *node {
	for _, n := range nodes {
		if n.Kind == kind && n.Name == name {
			return n
		}
		if found := find(n.Children, kind, name); found != nil {
			return found
		}
	}
	return nil
}

// treesOf puts tenants below the source that they come from, and both below their distribution.
func treesOf(f *fleet.Fleet) []*node {
	var roots []*node
	byID := map[string]*node{}
	for _, i := range f.Kind("Distribution") {
		n := nodeOf(i)
		roots = append(roots, n)
		byID[i.Name()] = n
		byID[i.Object.(*v1alpha1.Distribution).Status.ID] = n //nolint:forcetypeassert // items are kept by their kind
	}
	for _, i := range f.Kind("ConnectionGroup") {
		roots = append(roots, nodeOf(i))
	}
	sources := map[string]fleet.Item{}
	for _, i := range f.Kind("TenantSource") {
		sources[string(i.Object.GetUID())] = i
	}
	placed := map[string]*node{}
	for _, i := range f.Kind(kindTenant) {
		t := i.Object.(*v1alpha1.DistributionTenant) //nolint:forcetypeassert // items are kept by their kind
		id := distributionOf(t)
		parent := byID[id]
		if parent == nil {
			parent = &node{Kind: "distribution", Name: id + " (not an object of this cluster)", state: fleet.Ready}
			byID[id] = parent
			roots = append(roots, parent)
		}
		if source, found := sources[t.Labels[v1alpha1.LabelSourceUID]]; found {
			key := id + " " + source.Name()
			if placed[key] == nil {
				placed[key] = nodeOf(source)
				parent.Children = append(parent.Children, placed[key])
			}
			parent = placed[key]
		}
		parent.Children = append(parent.Children, nodeOf(i))
	}
	sortNodes(roots)
	return roots
}

// distributionOf is the distribution of the tenant: its ID in AWS or, before that is known, the object or ID in the
// tenant's spec.
func distributionOf(t *v1alpha1.DistributionTenant) string {
	switch {
	case t.Status.DistributionID != "":
		return t.Status.DistributionID
	case t.Spec.DistributionRef != nil:
		return cmp.Or(t.Spec.DistributionRef.Namespace, t.Namespace) + "/" + t.Spec.DistributionRef.Name
	}
	return t.Spec.DistributionID
}

// sortNodes puts objects that need an action first, then those that are not ready.
func sortNodes(nodes []*node) {
	rank := map[fleet.State]int{fleet.Person: 0, fleet.Working: 1, fleet.Ready: 2}
	slices.SortStableFunc(nodes, func(a, b *node) int {
		if d := kindRank(a) - kindRank(b); d != 0 {
			return d
		}
		if d := rank[a.state] - rank[b.state]; d != 0 {
			return d
		}
		return strings.Compare(a.Name, b.Name)
	})
	for _, n := range nodes {
		sortNodes(n.Children)
	}
}

// kindRank keeps sources above the tenants next to them.
func kindRank(n *node) int {
	return slices.Index([]string{"Distribution", "ConnectionGroup", "distribution", "TenantSource", kindTenant}, n.Kind)
}

func (t tree) text(p *page) {
	if len(t.Roots) == 0 {
		p.line("there are no distributions and no tenants")
	}
	for _, n := range t.Roots {
		p.line("%s", strings.TrimSpace(p.paint(bold, n.title())+"   "+n.text(p)))
		t.children(p, n, "")
	}
}

func (t tree) children(p *page, n *node, indent string) {
	shown, hidden := n.Children, 0
	if !t.all {
		shown, hidden = worthShowing(n.Children)
	}
	for i, c := range shown {
		branch, below := "├─ ", "│  "
		if i == len(shown)-1 && hidden == 0 {
			branch, below = "└─ ", "   "
		}
		p.line("%s%s%s   %s", indent, p.paint(faint, branch), c.title(), c.text(p))
		t.children(p, c, indent+p.paint(faint, below))
	}
	if hidden > 0 {
		p.line("%s%s", indent, p.paint(faint, fmt.Sprintf("└─ ... %s more that are ready (--all shows them)", number(hidden))))
	}
}

// worthShowing are the children that are not ready, sources, and a few of the others.
func worthShowing(children []*node) (shown []*node, hidden int) {
	ready := 0
	for _, c := range children {
		if c.Kind == kindTenant && c.state == fleet.Ready {
			if ready++; ready > shownChildren {
				hidden++
				continue
			}
		}
		shown = append(shown, c)
	}
	return shown, hidden
}
