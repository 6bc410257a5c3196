package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"
)

func sourceCommand(s *session) *cobra.Command {
	c := &cobra.Command{Use: "source", GroupID: act, Short: "Show and approve what a TenantSource holds back, and define its state table",
		Long: "Show and approve what a TenantSource holds back: deletions that are more than its guard allows, and changes that would\n" +
			"harm tenants that serve. Print the definition of its state table.",
		Example: "  kubectl cfdt source plan customers -n shop\n  kubectl cfdt source approve customers -n shop",
	}
	c.AddCommand(sourcePlanCommand(s), sourceApproveCommand(s), sourceDDLCommand(s))
	return c
}

func sourceDDLCommand(s *session) *cobra.Command {
	provider, table := "", "edge_state"
	c := &cobra.Command{
		Use: "ddl [NAME]", Args: cobra.MaximumNArgs(1), Short: "Print the definition of a source's state table",
		Long: "Print what creates the state table of a source with spec.writeBack, and the rights that the operator needs on it, in\n" +
			"the words of the database's own client. With --provider, the source need not exist yet.",
		Example: "  kubectl cfdt source ddl customers -n shop\n  kubectl cfdt source ddl --provider postgres --table edge_state | psql",
	}
	c.Flags().StringVar(&provider, "provider", "", "print it for this kind of database, without a source: postgres, mysql, mongodb, dynamodb or redis")
	c.Flags().StringVar(&table, "table", table, "the name of the table, with --provider")
	c.RunE = run(func(ctx context.Context, args []string) error {
		if (len(args) == 1) == (provider != "") {
			return errors.New("name a source, or set --provider")
		}
		if provider == "" {
			o, err := s.source(ctx, args[0])
			if err != nil {
				return err
			}
			if o.Spec.WriteBack == nil {
				return fmt.Errorf("TenantSource %s has no spec.writeBack: set it, or use --provider %s", args[0], o.Spec.Provider)
			}
			provider, table = string(o.Spec.Provider), o.Spec.WriteBack.Table
		}
		definition := statetable.Definition(mapping.Provider(provider), table)
		if definition == "" {
			return fmt.Errorf("--provider %s: use postgres, mysql, mongodb, dynamodb or redis", provider)
		}
		for line := range strings.SplitSeq(definition, "\n") {
			s.page().line("%s", line)
		}
		return nil
	})
	return c
}

func sourcePlanCommand(s *session) *cobra.Command {
	c := &cobra.Command{
		Use: "plan NAME", Args: cobra.ExactArgs(1), Short: "Show what a source would change, and what waits for approval",
		Long: "Show what a source would change, what waits for approval, and which rows it rejects. The plan has a name, by which\n" +
			"kubectl cfdt source approve approves exactly what is shown.",
		Example: "  kubectl cfdt source plan customers -n shop",
	}
	out := outputOf(c)
	c.RunE = run(func(ctx context.Context, args []string) error {
		o, err := s.source(ctx, args[0])
		if err != nil {
			return err
		}
		return s.print(out, "SourcePlan", planOf(o))
	})
	return c
}

func sourceApproveCommand(s *session) *cobra.Command {
	plan, yes := "", false
	c := &cobra.Command{
		Use: "approve NAME", Args: cobra.ExactArgs(1), Short: "Approve the deletions that a source holds back",
		Long: "Approve the deletions and harmful changes that a source holds back: exactly those that it holds now. If rows change\n" +
			"in the meantime, the approval has no effect.",
		Example: "  kubectl cfdt source approve customers -n shop\n  kubectl cfdt source approve customers -n shop --plan 5f2c1d09ab34",
	}
	c.Flags().StringVar(&plan, "plan", "", "the plan to approve, as kubectl cfdt source plan shows it; without it, you are asked")
	c.Flags().BoolVarP(&yes, "yes", "y", false, "approve the current plan without confirmation")
	c.RunE = run(func(ctx context.Context, args []string) error {
		o, err := s.source(ctx, args[0])
		if err != nil {
			return err
		}
		view := planOf(o)
		switch {
		case view.Plan == "":
			return fmt.Errorf("TenantSource %s holds nothing back", view.Name)
		case plan != "" && plan != view.Plan:
			return fmt.Errorf("the plan is %s by now, and not %s: look at it with `kubectl cfdt source plan %s`", view.Plan, plan, args[0])
		case plan == "" && !yes:
			view.text(s.page())
			if err := s.ask(fmt.Sprintf("\nDelete or change these %d tenants?", view.Held)); err != nil {
				return err
			}
		}
		if err := s.annotate(ctx, o, map[string]*string{v1alpha1.AnnotationApproveDeletions: &view.Plan}); err != nil {
			return err
		}
		s.page().line("TenantSource %s: plan %s is approved. The next poll carries it out.", view.Name, view.Plan)
		return nil
	})
	return c
}

// errNotConfirmed ends a verb that was not confirmed.
var errNotConfirmed = errors.New("nothing was changed")

// ask has the user confirm with the word yes.
func (s *session) ask(question string) error {
	fmt.Fprintf(s.Streams.Out, "%s Type yes: ", question)
	line, err := bufio.NewReader(s.Streams.In).ReadString('\n')
	if strings.TrimSpace(line) != "yes" {
		if err != nil {
			fmt.Fprintln(s.Streams.Out)
		}
		return errNotConfirmed
	}
	return nil
}

func (s *session) source(ctx context.Context, name string) (*v1alpha1.TenantSource, error) {
	item, err := s.get(ctx, "tenantsource/"+name)
	if err != nil {
		return nil, err
	}
	o, ok := item.Object.(*v1alpha1.TenantSource)
	if !ok {
		return nil, fmt.Errorf("%s is not a TenantSource", name)
	}
	return o, nil
}

// sourcePlan is the answer of source plan.
type sourcePlan struct {
	Name     string                   `json:"name"`
	Plan     string                   `json:"plan,omitempty"`
	Held     int32                    `json:"held,omitempty"`
	Harmful  int32                    `json:"harmfulChanges,omitempty"`
	Names    []string                 `json:"names,omitempty"`
	Pending  []v1alpha1.PendingChange `json:"pendingChanges,omitempty"`
	Total    int32                    `json:"pendingChangesTotal,omitempty"`
	Rejected []v1alpha1.RejectedRow   `json:"rejectedRows,omitempty"`
}

func planOf(o *v1alpha1.TenantSource) sourcePlan {
	st := o.Status
	p := sourcePlan{Name: o.Namespace + "/" + o.Name, Pending: st.PendingChanges, Total: st.PendingChangesTotal, Rejected: st.RejectedRows}
	if h := st.HeldDeletions; h != nil {
		p.Plan, p.Held, p.Harmful, p.Names = h.PlanHash, h.Count, h.Changes, h.Names
	}
	return p
}

func (v sourcePlan) text(p *page) {
	if v.Plan == "" && v.Total == 0 && len(v.Rejected) == 0 {
		p.line("TenantSource %s: nothing is planned or held back, and every row is valid", v.Name)
		return
	}
	if v.Plan != "" {
		p.line("%s   plan %s", p.paint(red, fmt.Sprintf("TenantSource %s holds back %s", v.Name, count(v.Held, "tenant", "tenants"))), p.paint(bold, v.Plan))
		if v.Harmful > 0 {
			p.line("%s a row that takes something away; the others have no row any more", count(v.Harmful, "of them has", "of them have"))
		}
		p.wrapped("  ", strings.Join(v.Names, ", "))
		if more := int(v.Held) - len(v.Names); more > 0 {
			p.line("  ... and %s more", number(more))
		}
		p.line("")
	}
	t := table{head: []string{"ACTION", "TENANT", "WHAT"}}
	for _, c := range v.Pending {
		t.add(string(c.Action), c.TenantName, c.Description)
	}
	if len(v.Pending) > 0 {
		p.table(t)
	}
	if more := int(v.Total) - len(v.Pending); more > 0 {
		p.line("... and %s more", number(more))
	}
	for _, r := range v.Rejected {
		p.line("%s %s: %s", p.paint(yellow, "rejected"), r.Row, r.Reason)
	}
	if v.Plan != "" {
		namespace, name, _ := strings.Cut(v.Name, "/")
		p.line("\nIf the rows come back, nothing is deleted. To approve: kubectl cfdt source approve %s -n %s --plan %s", name, namespace, v.Plan)
	}
}
