package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/install"
)

const (
	// platform and europe are what the samples refer to: a Distribution and a ConnectionGroup.
	platform = "platform"
	europe   = "europe"

	// deletionColumns show where a deletion is.
	deletionColumns = "custom-columns=KIND:.kind,NAME:.metadata.name,STEP:.status.deletion.step,STATUS:.status.deploymentStatus"
)

// applyPlatform lets the samples wait for what they refer to, and then applies it.
func (k *kube) applyPlatform(ctx context.Context) error {
	waiting := with(v1alpha1.ConditionReady, []string{v1alpha1.ReasonReferenceNotReady}, minimal, full, disabled, withDNS, managed, apex, crossing, hosted, atCloudflare)
	if err := k.until(ctx, "the samples wait for their distribution", waiting); err != nil {
		return err
	}
	k.w.say.paragraph("They reference a distribution that does not exist yet. It is a Kubernetes object too, and can be created later:")
	if err := k.show(ctx, "apply", "-f", "config/samples/platform"); err != nil {
		return fmt.Errorf("applying the objects that the samples reference: %w", err)
	}
	err := k.awaitParents(ctx, "the distribution and the connection group are Ready", func(p parents) bool {
		return len(p) == 2 && !slices.ContainsFunc(p, func(p parent) bool { return !meta.IsStatusConditionTrue(p.status.Conditions, v1alpha1.ConditionReady) })
	})
	if err != nil {
		return err
	}
	if err := k.show(ctx, "get", "cfd,cfcg"); err != nil {
		return fmt.Errorf("reading the objects that the samples reference: %w", err)
	}
	return nil
}

// parent is a Distribution or a ConnectionGroup.
type parent struct {
	name   string
	status v1alpha1.ResourceStatus
}

type parents []parent

func (k *kube) parents(ctx context.Context) (parents, error) {
	var distributions v1alpha1.DistributionList
	var groups v1alpha1.ConnectionGroupList
	err := errors.Join(k.client.List(ctx, &distributions, client.InNamespace(namespace)), k.client.List(ctx, &groups, client.InNamespace(namespace)))
	if err != nil {
		return nil, fmt.Errorf("listing distributions and connection groups: %w", err)
	}
	var out parents
	for _, o := range distributions.Items {
		out = append(out, parent{o.Name, o.Status.ResourceStatus})
	}
	for _, o := range groups.Items {
		out = append(out, parent{o.Name, o.Status.ResourceStatus})
	}
	return out, nil
}

// at tells at which step of their deletion they are.
func (p parents) at() string {
	steps := make([]string, len(p))
	for i, one := range p {
		steps[i] = one.name
		if one.status.Deletion != nil {
			steps[i] += " " + string(one.status.Deletion.Step)
		}
	}
	return strings.Join(steps, ", ")
}

// awaitParents waits until they are as wanted.
func (k *kube) awaitParents(ctx context.Context, what string, reached func(parents) bool) error {
	var last parents
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, patience, true, func(ctx context.Context) (done bool, err error) {
		last, err = k.parents(ctx)
		return err == nil && reached(last), err
	})
	if !wait.Interrupted(err) || ctx.Err() != nil {
		return err
	}
	k.w.say.heading(fmt.Sprintf("Timed out after %s waiting until %s", patience, what))
	for _, p := range last {
		k.w.say.line("%s:", p.name)
		k.sayConditions(p.status.Conditions)
	}
	k.w.say.line("\nLast log lines of the operator:\n%s", k.w.operator.LogTail(20))
	return fmt.Errorf("timed out after %[2]s waiting until %[1]s; use --keep-logs to keep the logs", what, patience)
}

// clear deletes what tenants refer to before the tenants, and ends with an empty account.
func (s *story) clear(ctx context.Context) error {
	s.say.paragraph("Delete the distribution and the connection group first. This would take every customer offline:")
	if err := s.kube.show(ctx, "delete", "cfd,cfcg", "--all", "--wait=false"); err != nil {
		return fmt.Errorf("deleting the distribution and the connection group: %w", err)
	}
	err := s.kube.awaitParents(ctx, "both report that they are in use", func(p parents) bool {
		return p.at() == platform+" InUse, "+europe+" InUse"
	})
	if err != nil {
		return err
	}
	if err := s.kube.show(ctx, "get", "cfd", platform, "-o", readyMessage); err != nil {
		return fmt.Errorf("reading %s: %w", platform, err)
	}
	s.say.paragraph("Nothing was changed in AWS. Now delete the tenants and the source:")
	if err := s.kube.count(ctx, "delete", "cfts,cfdt", "--all", "--wait=false"); err != nil {
		return fmt.Errorf("deleting the tenants: %w", err)
	}
	if err := s.approve(ctx); err != nil {
		return err
	}
	s.say.paragraph("Delete the customers as well. A plan is kept until no customer uses it:")
	if err := s.kube.show(ctx, "delete", "tenantplans,tenants", "--all", "--wait=false"); err != nil {
		return fmt.Errorf("deleting the customers: %w", err)
	}
	s.say.paragraph("When the last tenant is deleted from AWS, the operator deletes the rest automatically. CloudFront only deletes resources that are disabled at every edge location, so this takes a while.")
	shown := ""
	err = s.kube.awaitParents(ctx, "the distribution and the connection group are deleted", func(p parents) bool {
		if at := p.at(); at != shown && len(p) > 0 {
			shown = at
			_ = s.kube.show(ctx, "get", "cfd,cfcg", "-o", deletionColumns) // one may go while it is read
		}
		return len(p) == 0
	})
	if err != nil {
		return err
	}
	s.say.paragraph("Each step is also recorded as an event:")
	err = s.kube.show(ctx, "get", "events", "--field-selector=involvedObject.kind=Distribution", "--sort-by=.metadata.creationTimestamp",
		"-o=custom-columns=REASON:.reason,MESSAGE:.message")
	if err != nil {
		return fmt.Errorf("reading events: %w", err)
	}
	if err := s.nothingLeft(ctx); err != nil {
		return err
	}
	return s.customersGone(ctx)
}

// approve shows that so many deletions at once wait for a person, and lets them go on.
func (s *story) approve(ctx context.Context) error {
	s.say.paragraph("A mistake looks the same. More than the deletion budget allows is therefore not deleted until a person approves it:")
	plan, name, err := s.kube.held(ctx)
	if err != nil {
		return err
	}
	if err := s.kube.show(ctx, "get", "cfdt", name, "-o", readyMessage); err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	s.say.paragraph("Approve it with the first of these commands:")
	err = s.kube.show(ctx, "-n", install.Namespace, "annotate", "configmap", "cloudfront-tenant-operator-deletion-budget",
		v1alpha1.AnnotationApproveDeletions+"="+plan)
	if err != nil {
		return fmt.Errorf("approving the deletions: %w", err)
	}
	return nil
}

// held waits until all tenants that are left are held, and returns the plan and one of them.
func (k *kube) held(ctx context.Context) (plan, name string, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		tenants, err := k.fleet(ctx)
		if err != nil {
			return "", "", err
		}
		waiting := 0
		for n, o := range tenants {
			switch ready := meta.FindStatusCondition(o.Status.Conditions, v1alpha1.ConditionReady); {
			case !o.DeletionTimestamp.IsZero() && ready != nil && ready.Reason == v1alpha1.ReasonDeletionHeld:
				_, rest, _ := strings.Cut(ready.Message, "This is plan ")
				plan, _, _ = strings.Cut(rest, ".")
				name = n
			default:
				waiting++
			}
		}
		if plan != "" && waiting == 0 {
			return plan, name, nil
		}
		select {
		case <-k.changed:
		case <-ctx.Done():
			return "", "", fmt.Errorf("waiting until the tenants are held: %w", context.Cause(ctx))
		}
	}
}

// count runs kubectl, and shows only how many lines it printed.
func (k *kube) count(ctx context.Context, args ...string) error {
	k.w.say.command(typed(args) + " | wc -l")
	out, err := k.ctl(ctx, "", args...)
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	k.w.say.output(strconv.Itoa(strings.Count(out, "\n")))
	return nil
}

// nothingLeft shows that the account holds no more than in the beginning.
func (s *story) nothingLeft(ctx context.Context) error {
	held, err := s.w.held(ctx)
	if err != nil {
		return err
	}
	s.say.paragraph("The account is empty again: no tenants, no distributions, and only the default connection group, which can't be deleted.")
	s.say.command(`curl -s $AWS_ENDPOINT_URL/_sim/state | jq -c '.accounts[0] | [.tenants[].name, .distributions[].id, .connectionGroups[].name]'`)
	s.say.output(held)
	if held != `["default"]` {
		return fmt.Errorf("the account still has %s", held)
	}
	return s.nothingAtCloudflare()
}

// held lists the names of what the first account holds.
func (w *world) held(ctx context.Context) (string, error) {
	type named struct{ Name, ID string }
	var state struct {
		Accounts []struct{ Tenants, Distributions, ConnectionGroups []named }
	}
	if err := w.sim(ctx, "state", &state); err != nil {
		return "", fmt.Errorf("reading the state of AWS: %w", err)
	}
	first, names := state.Accounts[0], []string{}
	for _, n := range slices.Concat(first.Tenants, first.Distributions, first.ConnectionGroups) {
		names = append(names, cmp.Or(n.Name, n.ID))
	}
	text, err := json.Marshal(names)
	if err != nil {
		return "", fmt.Errorf("listing the resources in AWS: %w", err)
	}
	return string(text), nil
}
