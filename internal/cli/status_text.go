package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli/fleet"
)

func (st fleetStatus) text(p *page) {
	where := " in all namespaces"
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
		t.add("drift", p.paint(yellow, count(st.Drifted, "tenant differs", "tenants differ")+" from the spec")+"   -> kubectl cfdt report fleet.html")
	}
	if n := st.NextExpiry; n != nil {
		t.add("certs", fmt.Sprintf("the first of %s expires in %s: %s   -> kubectl cfdt certs", number(st.Certificates), p.until(n.NotAfter.Time), n.name()))
	}
	st.others(p, &t)
	t.rows = slices.DeleteFunc(t.rows, func(row []string) bool { return row[1] == "" })
	t.colors = make([][]string, len(t.rows))
	p.table(t)
	st.objects(p)
	for kind, why := range st.Unreadable {
		p.line("\n%s", p.paint(yellow, "Not shown: "+kind+"s. "+why))
	}
}

// others are the rows of sources, parents, customers and plans.
func (st fleetStatus) others(p *page, t *table) {
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
		if s.Rollout != "" {
			text += "   rollout: " + s.Rollout
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
		plans = append(plans, o.text(p))
	}
	t.add("plans", strings.Join(plans, "   "))
	if c := st.Grants; c != nil {
		t.add("grants", fmt.Sprintf("%s   %s   %s", number(c.Total), p.paint(green, number(c.Ready)+" ready"), paintIf(p, red, c.Total-c.Ready, "not ready")))
	}
}

func (o planStatus) text(p *page) string {
	text := fmt.Sprintf("%s %s/%s", o.Name, number(o.Applied), number(o.Tenants))
	if o.Applied+o.Failed < o.Tenants {
		text += " " + cmp.Or(o.Rollout, "rolling out")
	}
	switch {
	case o.Failed > 0:
		return p.paint(red, fmt.Sprintf("%s, %d failed", text, o.Failed))
	case o.Applied < o.Tenants:
		return p.paint(yellow, text)
	}
	return text
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
