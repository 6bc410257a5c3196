package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/kube/budget"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli/fleet"
)

// shownObjects is how many objects that need a person are shown on the first screen.
const shownObjects = 10

func statusCommand(s *session) *cobra.Command {
	c := &cobra.Command{
		Use: "status", GroupID: look, Args: cobra.NoArgs, Short: "Show the fleet on one screen",
		Long: "Show the fleet on one screen: how many tenants are ready, what the others wait for, and what needs a person.\n" +
			"Without --namespace, it is the whole cluster.",
		Example: "  kubectl cfdt status\n  kubectl cfdt status -n shop -o yaml",
	}
	out := outputOf(c)
	c.RunE = run(func(ctx context.Context, _ []string) error {
		f, err := s.load(ctx)
		if err != nil {
			return err
		}
		return s.print(out, "FleetStatus", s.statusOf(ctx, f))
	})
	return c
}

// fleetStatus is the answer of status.
type fleetStatus struct {
	Namespace   string         `json:"namespace,omitempty"`
	Operators   []installation `json:"operators,omitempty"`
	Frozen      bool           `json:"frozen,omitempty"`
	Tenants     fleet.Census   `json:"tenants"`
	NeedsPerson []fleet.Group  `json:"needsPerson,omitempty"`
	Working     []fleet.Group  `json:"working,omitempty"`
	Drifted     int            `json:"drifted,omitempty"`
	// Certificates counts those that are known, and NextExpiry is the first of them that expires.
	Certificates int               `json:"certificates,omitempty"`
	NextExpiry   *certificateUse   `json:"nextExpiry,omitempty"`
	Sources      []sourceStatus    `json:"sources,omitempty"`
	Parents      []parentStatus    `json:"parents,omitempty"`
	Customers    *fleet.Census     `json:"customers,omitempty"`
	Plans        []planStatus      `json:"plans,omitempty"`
	Grants       *fleet.Census     `json:"grants,omitempty"`
	Objects      []objectStatus    `json:"objectsThatNeedAPerson,omitempty"`
	More         int               `json:"more,omitempty"`
	Unreadable   map[string]string `json:"unreadable,omitempty"`
}

type sourceStatus struct {
	Name     string `json:"name"`
	Rows     int32  `json:"rows"`
	Rejected int32  `json:"rejected"`
	Held     int32  `json:"held"`
	Reason   string `json:"reason"`
	state    fleet.State
}

type parentStatus struct {
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	Reason  string `json:"reason"`
	Tenants int    `json:"tenants"`
	state   fleet.State
}

type planStatus struct {
	Name    string `json:"name"`
	Tenants int32  `json:"tenants"`
	Applied int32  `json:"applied"`
	Failed  int32  `json:"failed"`
}

type objectStatus struct {
	Kind    string      `json:"kind"`
	Name    string      `json:"name"`
	Reason  string      `json:"reason"`
	Since   metav1.Time `json:"since"`
	Message string      `json:"message"`
}

func (s *session) statusOf(ctx context.Context, f *fleet.Fleet) fleetStatus {
	tenants := f.Kind(kindTenant)
	st := fleetStatus{
		Namespace: s.cluster.chosen(), Tenants: fleet.Count(tenants), NeedsPerson: fleet.ByReason(tenants, fleet.Person),
		Working: fleet.ByReason(tenants, fleet.Working), Drifted: len(f.Drifted()),
	}
	// A user who may not see Deployments sees the rest.
	st.Operators, _ = s.operators(ctx)
	st.Frozen = s.frozen(ctx, st.Operators)
	st.Sources, st.Parents, st.Plans = sourcesOf(f), parentsOf(f), plansOf(f)
	if s.cluster.chosen() == "" {
		st.Customers, st.Grants = censusOf(f, "Tenant"), censusOf(f, "EdgeGrant")
	}
	if certs := certificatesOf(f, s.Clock.Now(), 0).Certificates; len(certs) > 0 {
		st.Certificates, st.NextExpiry = len(certs), &certs[0]
	}
	st.Objects, st.More = objectsOf(f, shownObjects)
	for _, gap := range f.Gaps {
		if !gap.Missing {
			if st.Unreadable == nil {
				st.Unreadable = map[string]string{}
			}
			st.Unreadable[gap.Kind] = gap.Err.Error()
		}
	}
	return st
}

// frozen reports whether an administrator has stopped all writes to AWS.
func (s *session) frozen(ctx context.Context, operators []installation) bool {
	c, err := s.client()
	if err != nil {
		return false
	}
	return slices.ContainsFunc(operators, func(i installation) bool {
		var m corev1.ConfigMap
		err := c.Get(ctx, client.ObjectKey{Namespace: i.Namespace, Name: budget.Name}, &m)
		return err == nil && budget.Frozen(&m)
	})
}

func censusOf(f *fleet.Fleet, kind string) *fleet.Census {
	items := f.Kind(kind)
	if len(items) == 0 {
		return nil
	}
	c := fleet.Count(items)
	return &c
}

func sourcesOf(f *fleet.Fleet) (out []sourceStatus) {
	for _, i := range f.Kind("TenantSource") {
		o := i.Object.(*v1alpha1.TenantSource) //nolint:forcetypeassert // items are kept by their kind
		s := sourceStatus{Name: i.Name(), Rejected: o.Status.RejectedRowsTotal, Reason: i.Why().Reason, state: i.State()}
		if n := o.Status.TenantsDiscovered; n != nil {
			s.Rows = *n
		}
		if h := o.Status.HeldDeletions; h != nil {
			s.Held = h.Count
		}
		out = append(out, s)
	}
	return out
}

func parentsOf(f *fleet.Fleet) (out []parentStatus) {
	users := f.Users()
	for _, kind := range []string{"Distribution", "ConnectionGroup"} {
		for _, i := range f.Kind(kind) {
			p := parentStatus{Kind: kind, Name: i.Name(), Reason: i.Why().Reason, state: i.State()}
			switch o := i.Object.(type) {
			case *v1alpha1.Distribution:
				p.Tenants = users[o.Status.ID]
			case *v1alpha1.ConnectionGroup:
				p.Tenants = users[o.Status.ID]
			}
			out = append(out, p)
		}
	}
	return out
}

func plansOf(f *fleet.Fleet) (out []planStatus) {
	for _, o := range f.Plans() {
		p := planStatus{Name: o.Name}
		for _, n := range []struct {
			to   *int32
			from *int32
		}{{&p.Tenants, o.Status.Tenants}, {&p.Applied, o.Status.Applied}, {&p.Failed, o.Status.Failed}} {
			if n.from != nil {
				*n.to = *n.from
			}
		}
		out = append(out, p)
	}
	return out
}

// objectsOf are the objects of all kinds that need a person, the oldest first, and how many more there are.
func objectsOf(f *fleet.Fleet, most int) (out []objectStatus, more int) {
	items := fleet.In(f.All(), fleet.Person)
	for _, i := range items[:min(most, len(items))] {
		why := i.Why()
		out = append(out, objectStatus{Kind: i.Kind, Name: i.Name(), Reason: why.Reason, Since: why.LastTransitionTime, Message: why.Message})
	}
	return out, len(items) - len(out)
}

func (st fleetStatus) text(p *page) {
	where := ""
	if st.Namespace != "" {
		where = " in namespace " + st.Namespace
	}
	var t table
	t.add("fleet", fmt.Sprintf("%s%s   %s   %s   %s", count(st.Tenants.Total, "tenant", "tenants"), where,
		p.paint(green, number(st.Tenants.Ready)+" ready"), paintIf(p, yellow, st.Tenants.Working, "working"), paintIf(p, red, st.Tenants.NeedsPerson, needs(st.Tenants.NeedsPerson))))
	for _, o := range st.Operators {
		t.add("operator", fmt.Sprintf("%s   %s/%s, %d of %d replicas available", o.Version, o.Namespace, o.Name, o.Available, o.Replicas))
	}
	if st.Frozen {
		t.add("frozen", p.paint(red, "an administrator has stopped all writes to AWS"))
	}
	t.add("need you", groupsText(p, st.NeedsPerson, false))
	t.add("working", groupsText(p, st.Working, true))
	if st.Drifted > 0 {
		t.add("drift", p.paint(yellow, count(st.Drifted, "tenant differs", "tenants differ")+" from the spec")+"   -> kubectl cfdt report --html")
	}
	if n := st.NextExpiry; n != nil {
		t.add("certs", fmt.Sprintf("the first of %s expires in %s: %s   -> kubectl cfdt certs", number(st.Certificates), p.until(n.NotAfter.Time), n.First))
	}
	st.rows(p, &t)
	t.rows = slices.DeleteFunc(t.rows, func(row []string) bool { return row[1] == "" })
	t.colors = make([][]string, len(t.rows))
	p.table(t)
	st.objects(p)
	for kind, why := range st.Unreadable {
		p.line("\n%s", p.paint(yellow, "Not shown: "+kind+"s. "+why))
	}
}

// rows are those of sources, parents, customers and plans.
func (st fleetStatus) rows(p *page, t *table) {
	head := func(name string, first bool) string {
		if first {
			return name
		}
		return ""
	}
	for n, s := range st.Sources {
		text := fmt.Sprintf("%s   %s   %d rejected   %s", s.Name, count(s.Rows, "row", "rows"), s.Rejected, paintState(p, s.state, s.Reason))
		if s.Held > 0 {
			namespace, name, _ := strings.Cut(s.Name, "/")
			text += fmt.Sprintf(": %s for approval   -> kubectl cfdt source plan %s -n %s", count(s.Held, "waits", "wait"), name, namespace)
		}
		t.add(head("sources", n == 0), text)
	}
	for n, o := range st.Parents {
		t.add(head("parents", n == 0), fmt.Sprintf("%s %s   %s   %s", o.Kind, o.Name, paintState(p, o.state, o.Reason), count(o.Tenants, "tenant", "tenants")))
	}
	if c := st.Customers; c != nil {
		t.add("customers", fmt.Sprintf("%s   %s   %s   %s", number(c.Total), p.paint(green, number(c.Ready)+" ready"), paintIf(p, yellow, c.Working, "working"), paintIf(p, red, c.NeedsPerson, needs(c.NeedsPerson))))
	}
	var plans []string
	for _, o := range st.Plans {
		text := fmt.Sprintf("%s %s/%s", o.Name, number(o.Applied), number(o.Tenants))
		switch {
		case o.Failed > 0:
			text = p.paint(red, fmt.Sprintf("%s, %d failed", text, o.Failed))
		case o.Applied < o.Tenants:
			text = p.paint(yellow, text+" rolling out")
		}
		plans = append(plans, text)
	}
	t.add("plans", strings.Join(plans, "   "))
	if c := st.Grants; c != nil {
		t.add("grants", fmt.Sprintf("%s   %s   %s", number(c.Total), p.paint(green, number(c.Ready)+" ready"), paintIf(p, red, c.Total-c.Ready, "not ready")))
	}
}

func (st fleetStatus) objects(p *page) {
	if len(st.Objects) == 0 {
		return
	}
	p.line("")
	t := table{head: []string{"NEEDS YOU", "REASON", "SINCE", "MESSAGE"}}
	for _, o := range st.Objects {
		name := o.Name
		if o.Kind != kindTenant {
			name = o.Kind + " " + name
		}
		t.addColored([]string{"", red}, name, o.Reason, p.ago(o.Since.Time), o.Message)
	}
	last := len(t.rows)
	widths := 0
	for i := range 3 {
		w := 0
		for _, row := range t.rows[:last] {
			w = max(w, len(row[i]))
		}
		widths += w + 3
	}
	for _, row := range t.rows {
		row[3] = short(row[3], max(40, p.width-widths))
	}
	p.table(t)
	if st.More > 0 {
		p.line("... and %s more", number(st.More))
	}
	first := st.Objects[0]
	p.line("\n%s", p.paint(faint, "-> kubectl cfdt explain "+explainArgs(first.Kind, first.Name)))
}

// explainArgs are the arguments of explain for an object.
func explainArgs(kind, name string) string {
	namespace, bare, found := strings.Cut(name, "/")
	if !found {
		bare, namespace = name, ""
	}
	if kind != kindTenant {
		bare = strings.ToLower(kind) + "/" + bare
	}
	if namespace != "" {
		bare += " -n " + namespace
	}
	return bare
}

func needs(n int) string {
	if n == 1 {
		return "needs you"
	}
	return "need you"
}

// paintIf colors a count that is not zero.
func paintIf(p *page, color string, n int, text string) string {
	text = number(n) + " " + text
	if n == 0 {
		return p.paint(faint, text)
	}
	return p.paint(color, text)
}

func paintState(p *page, state fleet.State, text string) string {
	return p.paint(stateColor(state), text)
}

func stateColor(state fleet.State) string {
	switch state {
	case fleet.Ready:
		return green
	case fleet.Working:
		return yellow
	case fleet.Person:
		return red
	}
	return ""
}

func groupsText(p *page, groups []fleet.Group, oldest bool) string {
	var parts []string
	for _, g := range groups {
		text := g.Reason + " " + number(g.Count)
		if oldest {
			text += fmt.Sprintf(" (oldest %s: %s)", p.ago(g.Since), g.Oldest)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "   ")
}
