package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli/fleet"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli/reasons"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
)

func explainCommand(s *session) *cobra.Command {
	c := &cobra.Command{
		Use: "explain [KIND/]NAME", Aliases: []string{"why"}, GroupID: look, Args: cobra.ExactArgs(1),
		Short: "Explain an object's state: why, since when, and what happens next",
		Long: "Explain an object's state: why, since when, and what happens next, in the operator's own words. The schema of a kind is\n" +
			"shown by kubectl explain.\n" +
			"Without KIND, it is a DistributionTenant.",
		Example: "  kubectl cfdt explain acme -n shop\n  kubectl cfdt explain tenantsource/customers\n  kubectl cfdt explain tenant/42",
	}
	out := outputOf(c)
	c.RunE = run(func(ctx context.Context, args []string) error {
		item, err := s.get(ctx, args[0])
		if err != nil {
			return err
		}
		return s.print(out, "Explanation", s.explain(item))
	})
	return c
}

// explanation is the answer of explain.
type explanation struct {
	Kind       string      `json:"kindOfObject"`
	Name       string      `json:"name"`
	State      fleet.State `json:"state"`
	Reason     string      `json:"reason"`
	Since      metav1.Time `json:"since"`
	Deleting   bool        `json:"deleting,omitempty"`
	Generation int64       `json:"generation"`
	Applied    int64       `json:"appliedGeneration,omitempty"`
	Conditions []told      `json:"conditions"`
	// Next is when the operator tries again, where it is known.
	Next *metav1.Time `json:"nextTry,omitempty"`
	// Facts are further facts, in order.
	Facts []fact `json:"facts,omitempty"`

	again string
}

type told struct {
	Type    string      `json:"type"`
	Status  string      `json:"status"`
	Reason  string      `json:"reason"`
	Since   metav1.Time `json:"since"`
	Message string      `json:"message"`
	Fix     string      `json:"fix,omitempty"`
	person  bool
}

type fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func (s *session) explain(i fleet.Item) explanation {
	why := i.Why()
	e := explanation{
		Kind: i.Kind, Name: i.Name(), State: i.State(), Reason: why.Reason, Since: why.LastTransitionTime,
		Deleting: i.Object.GetDeletionTimestamp() != nil, Generation: i.Object.GetGeneration(), again: explainArgs(i.Kind, i.Name()),
	}
	for _, c := range ordered(i) {
		t := told{Type: c.Type, Status: string(c.Status), Reason: c.Reason, Since: c.LastTransitionTime, Message: c.Message, person: fleet.NeedsPerson(c)}
		if c.Status != metav1.ConditionTrue {
			t.Fix = reasons.Fix(i.Kind, c.Reason)
		}
		e.Conditions = append(e.Conditions, t)
	}
	switch o := i.Object.(type) {
	case *v1alpha1.DistributionTenant:
		e.tenant(o, s.Clock.Now())
	case *v1alpha1.Distribution:
		e.parent(o.Status.ID, o.Status.DomainName)
	case *v1alpha1.ConnectionGroup:
		e.parent(o.Status.ID, o.Status.RoutingEndpoint)
	case *v1alpha1.TenantSource:
		e.source(o)
	case *v1alpha1.DomainClaim:
		e.add("domain", o.Spec.Domain)
		e.add("for", "namespace "+o.Spec.Namespace)
		if o.Spec.TenantRef != nil {
			e.add("handed over to", o.Spec.Namespace+"/"+o.Spec.TenantRef.Name)
		}
	}
	return e
}

// ordered are the conditions that say something: those that need someone to act first, then those that are not True.
// Stalled repeats one of them, and a True one has nothing to explain, unless all are.
func ordered(i fleet.Item) (out []metav1.Condition) {
	for _, wanted := range []func(metav1.Condition) bool{
		fleet.NeedsPerson,
		func(c metav1.Condition) bool { return c.Status != metav1.ConditionTrue && !fleet.NeedsPerson(c) },
		func(c metav1.Condition) bool { return c.Status == metav1.ConditionTrue },
	} {
		for _, c := range i.Conditions {
			if c.Type != v1alpha1.ConditionStalled && wanted(c) {
				out = append(out, c)
			}
		}
	}
	if len(i.Conditions) == 0 {
		out = append(out, i.Why())
	}
	return out
}

func (e *explanation) add(name, value string) {
	if value != "" {
		e.Facts = append(e.Facts, fact{name, value})
	}
}

func (e *explanation) parent(id, address string) {
	e.add("in AWS", id)
	e.add("address", address)
}

func (e *explanation) source(o *v1alpha1.TenantSource) {
	if o.Status.LastCompleteTime != nil {
		e.add("last read", o.Status.LastCompleteTime.UTC().Format(time.RFC3339))
	}
	for _, r := range o.Status.RejectedRows {
		e.add("rejected", r.Row+": "+r.Reason)
	}
	e.add("rollout", rolloutText(o))
	if h := o.Status.HeldDeletions; h != nil {
		e.add("held", fmt.Sprintf("plan %s: %s", h.PlanHash, strings.Join(h.Names, ", ")))
	}
}

func (e *explanation) tenant(o *v1alpha1.DistributionTenant, now time.Time) {
	st := o.Status
	if st.AppliedGeneration != nil {
		e.Applied = *st.AppliedGeneration
	}
	if f := convert.Memory(&st).Failure; f != nil {
		// The last try is not recorded; the next one is due by this time at the latest.
		next := metav1.NewTime(f.NextTry(now))
		e.Next = &next
	}
	if st.ID != "" {
		e.add("in AWS", strings.TrimSpace(fmt.Sprintf("%s, %s", st.ID, st.DistributionTenantStatus)))
	}
	for _, d := range st.Domains {
		e.add("domain", strings.TrimSpace(fmt.Sprintf("%s %s. %s", d.Domain, d.State, d.Message)))
	}
	if len(st.Domains) == 0 { // an earlier version of the operator wrote it
		for _, d := range st.DomainResults {
			e.add("domain", strings.TrimSpace(d.Domain+" "+d.Status))
		}
	}
	e.add("points at", st.DNSTarget)
	if st.DNS != nil {
		for _, r := range st.DNS.Records {
			e.add("dns", fmt.Sprintf("%s %s -> %s, %s", r.Type, r.Name, r.Value, r.State))
		}
	}
	e.add("certificate", strings.Trim(strings.Join([]string{st.CertificateARN, st.ManagedCertificateStatus}, ", "), ", "))
	for _, d := range st.Drift {
		e.add("drift", fmt.Sprintf("%s: the spec has %s, AWS has %s", d.Field, orNothing(d.Desired), orNothing(d.Observed)))
	}
}

func (e explanation) text(p *page) {
	state := map[fleet.State]string{fleet.Ready: "ready", fleet.Working: "not ready yet", fleet.Person: "needs you"}[e.State]
	p.line("%s   %s for %s: %s", p.paint(bold, e.Kind+" "+e.Name), paintState(p, e.State, state), p.ago(e.Since.Time), e.Reason)
	if e.Deleting {
		p.line("  it is being deleted")
	}
	if e.Applied > 0 && e.Applied != e.Generation {
		p.line("  generation %d of the spec is in AWS, generation %d is not yet", e.Applied, e.Generation)
	}
	for _, c := range e.Conditions {
		color := green
		switch {
		case c.person:
			color = red
		case c.Status != string(metav1.ConditionTrue):
			color = yellow
		}
		p.line("\n  %s  %s  %s", p.paint(color, c.Type+" "+c.Status), c.Reason, p.paint(faint, "for "+p.ago(c.Since.Time)))
		p.wrapped("    ", c.Message)
		if c.Fix != "" {
			p.wrapped("    ", p.paint(bold, "Fix:")+" "+c.Fix)
		}
	}
	if e.Next != nil {
		p.line("\n  next try in %s at the latest; now: kubectl cfdt reconcile %s", p.until(e.Next.Time), e.again)
	}
	if len(e.Facts) > 0 {
		p.line("")
	}
	var t table
	for n, f := range e.Facts {
		name := f.Name
		if n > 0 && e.Facts[n-1].Name == name {
			name = ""
		}
		t.addColored([]string{faint}, "  "+name, f.Value)
	}
	p.table(t)
}
