package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli/fleet"
)

func eventsCommand(s *session) *cobra.Command {
	c := &cobra.Command{
		Use: "events [KIND/]NAME", GroupID: look, Args: cobra.ExactArgs(1), Short: "Show what happened to an object, in order",
		Long: "Show what happened to an object, in order: its events, and when its conditions last changed. The API server keeps events\n" +
			"for an hour, unless it is configured otherwise.",
		Example: "  kubectl cfdt events acme -n shop\n  kubectl cfdt events tenantsource/customers -n shop",
	}
	out := outputOf(c)
	c.RunE = run(func(ctx context.Context, args []string) error {
		item, err := s.get(ctx, args[0])
		if err != nil {
			return err
		}
		h, err := s.history(ctx, item)
		if err != nil {
			return err
		}
		return s.print(out, "History", h)
	})
	return c
}

// history is the answer of events.
type history struct {
	Name    string     `json:"name"`
	Entries []happened `json:"entries"`
}

type happened struct {
	Time    metav1.Time `json:"time"`
	What    string      `json:"what"`
	Reason  string      `json:"reason"`
	Message string      `json:"message"`
	Warning bool        `json:"warning,omitempty"`
	Count   int32       `json:"count,omitempty"`
}

func (s *session) history(ctx context.Context, i fleet.Item) (history, error) {
	h := history{Name: i.Kind + " " + i.Name(), Entries: []happened{{Time: i.Object.GetCreationTimestamp(), What: "object", Reason: "Created", Message: "The object was created."}}}
	for _, c := range i.Conditions {
		if c.Type == v1alpha1.ConditionStalled {
			continue // it repeats another
		}
		h.Entries = append(h.Entries, happened{
			Time: c.LastTransitionTime, What: c.Type + " " + string(c.Status), Reason: c.Reason, Message: c.Message, Warning: fleet.NeedsPerson(c),
		})
	}
	c, err := s.client()
	if err != nil {
		return h, err
	}
	var list eventsv1.EventList
	options := []client.ListOption{client.MatchingFields{"regarding.uid": string(i.Object.GetUID())}}
	if n := i.Object.GetNamespace(); n != "" {
		options = append(options, client.InNamespace(n))
	}
	if err := c.List(ctx, &list, options...); err != nil {
		return h, fmt.Errorf("listing the events: %w", err)
	}
	for _, e := range list.Items {
		h.Entries = append(h.Entries, eventOf(e))
	}
	slices.SortStableFunc(h.Entries, func(a, b happened) int { return a.Time.Compare(b.Time.Time) })
	return h, nil
}

func eventOf(e eventsv1.Event) happened {
	at := metav1.NewTime(e.EventTime.Time)
	h := happened{What: "event", Reason: e.Reason, Message: e.Note, Warning: e.Type == "Warning", Count: 1}
	switch {
	case e.Series != nil:
		at, h.Count = metav1.NewTime(e.Series.LastObservedTime.Time), e.Series.Count
	case !e.DeprecatedLastTimestamp.IsZero():
		at, h.Count = e.DeprecatedLastTimestamp, e.DeprecatedCount
	}
	h.Time = at
	return h
}

func (h history) text(p *page) {
	p.line("%s", p.paint(bold, h.Name))
	t := table{head: []string{"AGO", "WHAT", "REASON", "MESSAGE"}}
	for _, e := range h.Entries {
		color := ""
		if e.Warning {
			color = red
		}
		times := ""
		if e.Count > 1 {
			times = fmt.Sprintf(" (%d times)", e.Count)
		}
		t.addColored([]string{faint, "", color}, p.ago(e.Time.Time), e.What, e.Reason, strings.TrimSpace(e.Message)+times)
	}
	p.table(t)
}
