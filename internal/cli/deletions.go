package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/kube/budget"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/loss"
)

func deletionsCommand(s *session) *cobra.Command {
	c := &cobra.Command{Use: "deletions", GroupID: act, Short: "List, approve or abandon held deletions",
		Long: "List, approve or abandon what the deletion budget holds: more deletions than the budget allows in its window. Until you\n" +
			"decide, nothing is changed in AWS for these objects.",
		Example: "  kubectl cfdt deletions list\n  kubectl cfdt deletions approve 5f2c1d09ab34\n  kubectl cfdt deletions abandon 5f2c1d09ab34",
	}
	list := &cobra.Command{Use: "list", Args: cobra.NoArgs, Short: "Show the deletions that wait for a person",
		Long: "Show the deletions that wait for a person, as plans: how many there are, how many the budget allows, which objects they\n" +
			"are, and the commands that answer them.",
		Example: "  kubectl cfdt deletions list\n  kubectl cfdt deletions list -o yaml",
	}
	out := outputOf(list)
	list.RunE = run(func(ctx context.Context, _ []string) error {
		held, err := s.held(ctx)
		if err != nil {
			return err
		}
		return s.print(out, "HeldDeletions", held)
	})
	c.AddCommand(list,
		s.answering(answer{
			verb: "approve", short: "Approve the deletions of a plan", annotation: v1alpha1.AnnotationApproveDeletions,
			long: "Approve the deletions of a plan: exactly those that it has now. What they stand for is deleted in AWS, which can't be\n" +
				"undone. Without --yes, you are asked.",
			question: "Delete the AWS resources of plan %s?", done: "plan %s is approved. The operator carries it out now.",
		}),
		s.answering(answer{
			verb: "abandon", aliases: []string{"rescue"}, short: "Remove the objects of a plan, and keep what they stand for in AWS", annotation: v1alpha1.AnnotationAbandonDeletions,
			long: "Remove the objects of a plan from the cluster, and keep what they stand for in AWS, which goes on serving. Objects of\n" +
				"the same names that are created within 30 days take it over again. Without --yes, you are asked.",
			question: "Remove the objects of plan %s from the cluster, and keep everything in AWS?",
			done:     "plan %s is abandoned: its objects are removed, and everything in AWS stays. Objects of the same names that are created within 30 days take it over again.",
		}),
	)
	return c
}

// heldPlan is a plan that waits for an approval.
type heldPlan struct {
	Plan      string    `json:"plan"`
	Kind      string    `json:"kind"`
	Namespace string    `json:"namespace,omitempty"`
	Count     int       `json:"count"`
	Changes   int       `json:"changes,omitempty"`
	Of        int       `json:"of"`
	Allowed   int       `json:"allowed"`
	Since     time.Time `json:"since"`
	Objects   []string  `json:"objects,omitempty"`
}

type heldPlans struct {
	Plans []heldPlan `json:"plans"`
}

// held reads the plans from the budget's memory, and their objects.
func (s *session) held(ctx context.Context) (heldPlans, error) {
	store, err := s.budget(ctx)
	if err != nil {
		return heldPlans{}, err
	}
	var memory loss.Memory
	if text := store.Data[budget.Memory]; text != "" {
		if err := json.Unmarshal([]byte(text), &memory); err != nil {
			return heldPlans{}, fmt.Errorf("the ConfigMap %s/%s has a key %s that can't be read: %w", store.Namespace, store.Name, budget.Memory, err)
		}
	}
	out := heldPlans{Plans: []heldPlan{}}
	if len(memory.Holds) == 0 {
		return out, nil
	}
	f, err := s.load(ctx)
	if err != nil {
		return heldPlans{}, err
	}
	for _, h := range memory.Holds {
		if s.cluster.chosen() != "" && h.Namespace != s.cluster.chosen() {
			continue
		}
		p := heldPlan{Plan: h.Plan, Kind: string(h.Class), Namespace: h.Namespace, Count: h.Count, Changes: h.Changes, Of: h.Of, Allowed: h.Allowed, Since: h.Since}
		for _, i := range f.All() {
			if i.Held() && strings.Contains(i.Why().Message, h.Plan) {
				p.Objects = append(p.Objects, i.Name())
			}
		}
		out.Plans = append(out.Plans, p)
	}
	return out, nil
}

// budget is the ConfigMap of the deletion budget.
func (s *session) budget(ctx context.Context) (*corev1.ConfigMap, error) {
	c, err := s.client()
	if err != nil {
		return nil, err
	}
	operators, err := s.operators(ctx)
	if err != nil {
		return nil, fmt.Errorf("looking for the operator's namespace: %w", err)
	}
	for _, o := range operators {
		var m corev1.ConfigMap
		switch err := c.Get(ctx, client.ObjectKey{Namespace: o.Namespace, Name: budget.Name}, &m); {
		case err == nil:
			return &m, nil
		case client.IgnoreNotFound(err) != nil:
			return nil, fmt.Errorf("reading the deletion budget: %w", err)
		}
	}
	if len(operators) == 0 {
		return nil, fmt.Errorf("no operator was found: no Deployment has the label %s=%s", labelName, operatorName)
	}
	return nil, fmt.Errorf("the operator in namespace %s has no deletion budget: set the chart value deletionBudget.enabled", operators[0].Namespace)
}

// answer is one that a plan can have.
type answer struct {
	verb, short, long, annotation string
	aliases                       []string
	// question and done have the plan at %s.
	question, done string
}

// answering makes a verb that answers a plan.
func (s *session) answering(a answer) *cobra.Command {
	yes := false
	c := &cobra.Command{
		Use: a.verb + " PLAN", Aliases: a.aliases, Args: cobra.ExactArgs(1), Short: a.short, Long: a.long,
		Example: "  kubectl cfdt deletions " + a.verb + " 5f2c1d09ab34\n  kubectl cfdt deletions " + a.verb + " 5f2c1d09ab34 --yes",
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "skip the confirmation prompt")
	c.RunE = run(func(ctx context.Context, args []string) error {
		plan := args[0]
		held, err := s.held(ctx)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(held.Plans, func(p heldPlan) bool { return p.Plan == plan }) {
			return fmt.Errorf("no plan %s is waiting: look at those that are with `kubectl cfdt deletions list`", plan)
		}
		if !yes {
			held.Plans = slices.DeleteFunc(held.Plans, func(p heldPlan) bool { return p.Plan != plan })
			held.text(s.page())
			if err := s.ask(fmt.Sprintf("\n"+a.question, plan)); err != nil {
				return err
			}
		}
		store, err := s.budget(ctx)
		if err != nil {
			return err
		}
		value := plan
		if before := store.Annotations[a.annotation]; before != "" {
			value = before + "," + plan
		}
		if err := s.annotate(ctx, store, map[string]*string{a.annotation: &value}); err != nil {
			return err
		}
		s.page().line(a.done, plan)
		return nil
	})
	return c
}

// shownNames is how many objects of a plan are shown.
const shownNames = 20

func (h heldPlans) text(p *page) {
	if len(h.Plans) == 0 {
		p.line("no deletion waits for a person")
		return
	}
	for n, plan := range h.Plans {
		if n > 0 {
			p.line("")
		}
		where := "in the cluster"
		if plan.Namespace != "" {
			where = "in namespace " + plan.Namespace
		}
		p.line("%s   %s of %s %s, since %s", p.paint(bold, "plan "+plan.Plan), p.paint(red, count(plan.Count, "deletion", "deletions")),
			count(plan.Of, plan.Kind, plan.Kind+"s"), where, p.ago(plan.Since))
		p.line("  the budget allows %d; nothing was changed in AWS", plan.Allowed)
		p.wrapped("  ", strings.Join(plan.Objects[:min(shownNames, len(plan.Objects))], ", "))
		if more := len(plan.Objects) - shownNames; more > 0 {
			p.line("  ... and %s more", number(more))
		}
		p.line("  to delete them:             kubectl cfdt deletions approve %s", plan.Plan)
		p.line("  to keep what is in AWS:     kubectl cfdt deletions abandon %s", plan.Plan)
	}
}
