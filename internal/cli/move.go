package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli/moving"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/claim"
)

// moveFlags are the flags of move-domain.
type moveFlags struct {
	from, to, patches string
	plan, yes         bool
	timeout           time.Duration
}

func moveDomainCommand(s *session) *cobra.Command {
	var f moveFlags
	c := &cobra.Command{
		Use: "move-domain DOMAIN --to [NAMESPACE/]NAME", GroupID: act, Args: cobra.ExactArgs(1), Short: "Move a domain to another tenant without a gap",
		Long: "Move a domain from one DistributionTenant to another, so that it is served at every moment. A DomainClaim hands it over,\n" +
			"the operator moves it, and the claim is deleted at the end. You are asked before anything is changed. If the command is\n" +
			"interrupted, run it again: it continues where the move stands. Objects whose manifests are in Git are not changed: with\n" +
			"--patches, the changes are written to files.",
		Example: "  kubectl cfdt move-domain www.example.com --from acme --to globex -n shop --plan\n" +
			"  kubectl cfdt move-domain www.example.com --to globex -n shop\n" +
			"  kubectl cfdt move-domain www.example.com --from team-a/acme --to team-b/globex --patches move/",
	}
	c.Flags().StringVar(&f.from, "from", "", "object that has the domain; may be omitted if only one has")
	c.Flags().StringVar(&f.to, "to", "", "object that gets the domain")
	c.Flags().StringVar(&f.patches, "patches", "", "new folder for the changes, to be merged in Git instead of being made here")
	c.Flags().BoolVar(&f.plan, "plan", false, "show what would be done, and what stands in the way")
	c.Flags().BoolVarP(&f.yes, "yes", "y", false, "skip the confirmation prompt")
	c.Flags().DurationVar(&f.timeout, "timeout", 30*time.Minute, "how long to wait for the operator")
	_ = c.MarkFlagRequired("to")
	c.MarkFlagsMutuallyExclusive("plan", "patches")
	out := outputOf(c)
	c.RunE = run(func(ctx context.Context, args []string) error {
		if out.format != "" && !f.plan {
			return fmt.Errorf("--output is for the plan: use it with --plan")
		}
		return s.moveDomain(ctx, claim.Canonical(args[0]), f, out)
	})
	return c
}

func (s *session) moveDomain(ctx context.Context, domain string, f moveFlags, out *output) error {
	k, err := s.client()
	if err != nil {
		return err
	}
	m := mover{session: s, k: k}
	facts, err := m.facts(ctx, domain, f)
	if err != nil {
		return err
	}
	if facts.From == nil {
		s.page().line("%s has %s already, and no other object does: nothing is left to do", moving.Name(facts.To), domain)
		return nil
	}
	plan := movePlan{moving.Make(facts)}
	if f.plan || len(plan.Refusals) > 0 {
		if err := s.print(out, "MovePlan", plan); err != nil {
			return err
		}
	}
	switch {
	case len(plan.Refusals) > 0:
		return fmt.Errorf("%s can't be moved yet: %s", domain, count(len(plan.Refusals), "thing stands in the way", "things stand in the way"))
	case f.plan:
		return nil
	case f.patches != "":
		return m.write(f.patches, facts)
	case plan.Next() == "":
		s.page().line("%s has been moved to %s: nothing is left to do", domain, plan.To)
		return nil
	}
	if !f.yes {
		plan.text(s.page())
		if err := s.ask(fmt.Sprintf("\nMove %s?", domain)); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	return m.move(ctx, facts)
}

// movePlan is the answer of move-domain --plan.
type movePlan struct {
	moving.Plan
}

func (v movePlan) text(p *page) {
	p.line("%s   from %s to %s", p.paint(bold, v.Domain), v.From, v.To)
	t := table{}
	for n, step := range v.Steps {
		state, color := "", ""
		if step.Done {
			state, color = "done", faint
		}
		t.addColored([]string{color, color, color}, fmt.Sprintf("  %d", n+1), step.What, state)
	}
	p.table(t)
	v.findings(p, "Stands in the way:", red, v.Refusals)
	v.findings(p, "To know:", yellow, v.Notes)
}

func (movePlan) findings(p *page, title, color string, list []moving.Finding) {
	if len(list) == 0 {
		return
	}
	p.line("\n%s", p.paint(color, title))
	for _, f := range list {
		p.wrapped("  ", sentence(f.What)+" "+sentence(f.Why)+" "+sentence(f.Fix))
	}
}

// sentence makes one of a part of one. Names of objects stay as they are.
func sentence(text string) string {
	first, _, _ := strings.Cut(text, " ")
	if !strings.ContainsAny(first, "/.:") {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	return strings.TrimSuffix(text, ".") + "."
}
