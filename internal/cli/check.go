package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// Unwell ends a check in which something failed. It is not a failure of the command.
type Unwell struct{}

// Error implements error.
func (Unwell) Error() string { return "a check failed" }

// ExitCode is that of check.
func (Unwell) ExitCode() int { return 1 }

func checkCommand(s *session) *cobra.Command {
	c := &cobra.Command{
		Use: "check", GroupID: look, Args: cobra.NoArgs, Short: "Check the installation, from the API server to a distribution for tenants",
		Long: "Check the installation: the API server, the CRDs, the operator's replicas and lease, its identity in AWS, the IAM\n" +
			"permissions that AWS denies it, the objects of the current namespace and what its grant allows, and whether there is a\n" +
			"distribution for tenants. With -A, the objects are those of all namespaces. It reads the cluster only, and needs no AWS\n" +
			"credentials. Checks that you have no right for are warnings. The exit code is 0 if no check failed, and 1 otherwise.",
		Example: "  kubectl cfdt check\n  kubectl cfdt check -n shop -o yaml",
	}
	s.cluster.addAll(c)
	out := outputOf(c)
	c.RunE = run(func(ctx context.Context, _ []string) error {
		answer, err := s.check(ctx)
		if err != nil {
			return err
		}
		if err := s.print(out, "Check", answer); err != nil {
			return err
		}
		if answer.Failed > 0 {
			return Unwell{}
		}
		return nil
	})
	return c
}

// checked is the answer of check.
type checked struct {
	Failed   int       `json:"failed"`
	Warnings int       `json:"warnings"`
	Checks   []finding `json:"checks"`
}

// finding is what one check has found.
type finding struct {
	Check   string `json:"check"`
	State   string `json:"state"`
	Message string `json:"message"`
	// Fix is what to do, empty if the check is ok.
	Fix string `json:"fix,omitempty"`
}

// The states of a check.
const (
	checkOK      = "ok"
	checkWarning = "warning"
	checkFailed  = "failed"
)

func well(format string, args ...any) finding {
	return finding{State: checkOK, Message: fmt.Sprintf(format, args...)}
}

func warning(fix, format string, args ...any) finding {
	return finding{State: checkWarning, Message: fmt.Sprintf(format, args...), Fix: fix}
}

func failed(fix, format string, args ...any) finding {
	return finding{State: checkFailed, Message: fmt.Sprintf(format, args...), Fix: fix}
}

// check makes all checks. Those of a cluster that is not reached, or that has no CRDs, would only say so again.
func (s *session) check(ctx context.Context) (out checked, err error) {
	if _, err := s.client(); err != nil {
		return out, err
	}
	add := func(name string, f finding) bool {
		f.Check = name
		out.Checks = append(out.Checks, f)
		switch f.State {
		case checkFailed:
			out.Failed++
		case checkWarning:
			out.Warnings++
		}
		return f.State != checkFailed
	}
	if !add("API server", s.checkServer(ctx)) {
		return out, nil
	}
	kinds := add("CRDs", s.checkCRDs(ctx))
	operators, found := s.checkOperators(ctx)
	add("operator", found)
	for _, o := range operators {
		suffix := ""
		if len(operators) > 1 {
			suffix = " of " + o.Namespace + "/" + o.Name
		}
		run := o.settings
		add("lease"+suffix, s.checkLease(ctx, cmp.Or(run["leader-election-namespace"], o.Namespace), run["leader-elect"]))
		said := s.said(ctx, cmp.Or(run["leader-election-namespace"], o.Namespace))
		add("AWS identity"+suffix, said.identity())
		add("AWS permissions"+suffix, said.permissions())
	}
	if kinds {
		add("objects", s.checkObjects(ctx))
		if s.cluster.chosen() != "" {
			add("grant", s.checkGrant(ctx))
		}
		add("distribution", s.checkDistributions(ctx))
	}
	return out, nil
}

func (c checked) text(p *page) {
	name := 0
	for _, f := range c.Checks {
		name = max(name, len(f.Check))
	}
	for _, f := range c.Checks {
		color := map[string]string{checkOK: green, checkWarning: yellow, checkFailed: red}[f.State]
		state := p.paint(color, f.State) + strings.Repeat(" ", len(checkWarning)-len(f.State))
		lines := strings.Split(strings.TrimSpace(f.Message), "\n")
		p.line("%s   %-*s   %s", state, name, f.Check, lines[0])
		for _, line := range lines[1:] {
			p.wrapped(strings.Repeat(" ", len(checkWarning)+name+6), line)
		}
		if f.Fix != "" {
			p.wrapped(strings.Repeat(" ", len(checkWarning)+3), p.paint(bold, "Fix:")+" "+f.Fix)
		}
	}
	p.line("")
	if c.Failed == 0 && c.Warnings == 0 {
		p.line("%s", p.paint(green, "everything is well"))
		return
	}
	warnings := "warnings"
	if c.Warnings == 1 {
		warnings = "warning"
	}
	p.line("%s, %s", paintIf(p, red, c.Failed, "failed"), paintIf(p, yellow, c.Warnings, warnings))
}

// firstFew are some names of a longer list.
func firstFew(names []string) string {
	const few = 5
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(slices.Clone(names[:few]), ", "), len(names)-few)
}
