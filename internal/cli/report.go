package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli/fleet"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli/reasons"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli/report"
)

// The bounds of the report's lists, so that a browser shows it at once.
const (
	reportedObjects = 200
	reportedDrift   = 200
	reportedWeeks   = 27
)

func reportCommand(s *session) *cobra.Command {
	title := ""
	c := &cobra.Command{
		Use: "report [FILE]", GroupID: look, Args: cobra.MaximumNArgs(1), Short: "Write the fleet as one page of HTML, with pictures",
		Long: "Write the fleet as one static page of HTML: the fleet by reason, what needs a person, certificates by weeks to expiry,\n" +
			"drift, roll-outs and sources. The page loads nothing: mail it, or have a nightly job publish it.",
		Example: "  kubectl cfdt report -A fleet.html\n  kubectl cfdt report -n shop --title Shop > shop.html",
	}
	s.cluster.addAll(c)
	c.Flags().StringVar(&title, "title", "", "title of the page")
	c.RunE = run(func(ctx context.Context, args []string) error {
		if len(args) == 0 && terminal(s.Streams.Out) {
			return fmt.Errorf("this would fill the terminal with HTML: name a file, as in kubectl cfdt report fleet.html")
		}
		f, err := s.load(ctx)
		if err != nil {
			return err
		}
		var page bytes.Buffer
		if err := report.Write(&page, s.reportOf(ctx, f, title)); err != nil {
			return err
		}
		text := Plain(page.String())
		if len(args) == 1 {
			return os.WriteFile(args[0], []byte(text), 0o600)
		}
		_, err = io.WriteString(s.Streams.Out, text)
		return err
	})
	return c
}

func (s *session) reportOf(ctx context.Context, f *fleet.Fleet, title string) report.Data {
	if title == "" {
		title = "Fleet"
		if n := s.cluster.chosen(); n != "" {
			title += " of namespace " + n
		}
	}
	tenants, now := f.Kind(kindTenant), s.Clock.Now()
	d := report.Data{Title: title, Made: now, Fleet: countsOf(fleet.Count(tenants)), Drifted: len(f.Drifted())}
	if operators, err := s.operators(ctx); err == nil && len(operators) > 0 {
		d.Operator = operators[0].Version
	}
	for _, state := range []fleet.State{fleet.Person, fleet.Working, fleet.Ready} {
		for _, g := range fleet.ByReason(tenants, state) {
			d.Reasons = append(d.Reasons, report.Bar{Reason: g.Reason, Count: g.Count, State: stateClass(state)})
		}
	}
	objects, more := objectsOf(f, reportedObjects)
	d.More = more
	for _, o := range objects {
		d.Objects = append(d.Objects, report.Object{Kind: o.Kind, Name: o.Name, Reason: o.Reason, Since: o.Since.UTC().Format("2006-01-02 15:04"), Message: o.Message, Fix: reasons.Fix(o.Kind, o.Reason)})
	}
	certs := certificatesOf(f, now, 0)
	d.Weeks, d.Unknown = weeksOf(certs, now), certs.Unknown
	for _, t := range f.Drifted() {
		for _, field := range t.Status.Drift {
			if len(d.Drift) < reportedDrift {
				d.Drift = append(d.Drift, report.Drift{Tenant: t.Namespace + "/" + t.Name, Field: field.Field, Spec: orNothing(field.Desired), AWS: orNothing(field.Observed)})
			}
		}
	}
	for _, p := range plansOf(f) {
		d.Plans = append(d.Plans, report.Progress{Name: p.Name, Tenants: int(p.Tenants), Done: int(p.Applied), Failed: int(p.Failed)})
	}
	for _, o := range sourcesOf(f) {
		d.Sources = append(d.Sources, report.Source{Name: o.Name, Reason: o.Reason, State: stateClass(o.state), Rows: int(o.Rows), Rejected: int(o.Rejected), Held: int(o.Held)})
	}
	if c := censusOf(f, "Tenant"); c != nil && s.cluster.chosen() == "" {
		counts := countsOf(*c)
		d.Customers = &counts
	}
	return d
}

func countsOf(c fleet.Census) report.Counts {
	return report.Counts{Total: c.Total, Ready: c.Ready, Working: c.Working, Person: c.NeedsPerson}
}

// stateClass is the state as the page's style sheet calls it.
func stateClass(s fleet.State) string {
	return map[fleet.State]string{fleet.Ready: "ready", fleet.Working: "working", fleet.Person: "person"}[s]
}

// weeksOf counts certificates by the week in which they expire. The first counts those that have expired, the last
// those that expire later.
func weeksOf(c certificates, now time.Time) []report.Week {
	weeks := make([]report.Week, reportedWeeks+1)
	for i := range weeks {
		weeks[i].Label, weeks[i].State = fmt.Sprint(i-1), "calm"
	}
	weeks[0].Label, weeks[reportedWeeks].Label = "past", fmt.Sprintf("%d+", reportedWeeks-1)
	names := make([][]string, len(weeks))
	for _, u := range c.Certificates {
		left := u.NotAfter.Sub(now)
		n := 0
		if left > 0 {
			n = min(1+int(left/(7*24*time.Hour)), reportedWeeks)
		}
		weeks[n].Certificates++
		weeks[n].Tenants += u.Tenants
		names[n] = append(names[n], u.name())
		switch {
		case left < verySoon:
			weeks[n].State = "person"
		case left < soon:
			weeks[n].State = "working"
		}
	}
	for i, list := range names {
		weeks[i].Names = strings.Join(list[:min(len(list), 10)], ", ")
	}
	return weeks
}

// terminal reports whether the output goes to a terminal.
func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && isTerminal(f)
}
