package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
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
	// eventColumns show what events say.
	eventColumns = "-o=custom-columns=REASON:.reason,MESSAGE:.message"
)

// applyPlatform lets the samples wait for what they refer to, and then applies it.
func (k *kube) applyPlatform(ctx context.Context) error {
	return do(ctx,
		k.until("the samples wait for their distribution",
			with(v1alpha1.ConditionReady, []string{v1alpha1.ReasonReferenceNotReady}, minimal, full, disabled, withDNS, managed, apex, crossing, hosted, atCloudflare)),
		k.tell("They reference a distribution that does not exist yet. It is a Kubernetes object too, and can be created later:"),
		k.kubectl("apply", "-f", "config/samples/platform"),
		k.awaitParents("the distribution and the connection group are Ready", func(p parents) bool {
			return len(p) == 2 && !slices.ContainsFunc(p, func(p parent) bool { return !meta.IsStatusConditionTrue(p.status.Conditions, v1alpha1.ConditionReady) })
		}),
		k.kubectl("get", "cfd,cfcg"),
	)
}

// distributionID is the platform's.
func (k *kube) distributionID(ctx context.Context) (string, error) {
	var o v1alpha1.Distribution
	if err := k.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: platform}, &o); err != nil {
		return "", fmt.Errorf("reading %s: %w", platform, err)
	}
	return o.Status.ID, nil
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
func (k *kube) awaitParents(what string, reached func(parents) bool) step {
	var last parents
	return k.await(what, func(ctx context.Context) (done bool, err error) {
		last, err = k.parents(ctx)
		return err == nil && reached(last), err
	}, func(context.Context) {
		for _, p := range last {
			k.w.say.line("%s:", p.name)
			k.sayConditions(p.status.Conditions)
		}
	})
}

// clear deletes the resources that tenants refer to before the tenants, and ends with an empty account.
func (s *story) clear(ctx context.Context) error {
	shown := ""
	return do(ctx,
		s.tell("Delete the distribution and the connection group first. This would take every customer offline:"),
		s.kubectl("delete", "cfd,cfcg", "--all", "--wait=false"),
		s.awaitParents("both report that they are in use", func(p parents) bool {
			return p.at() == platform+" InUse, "+europe+" InUse"
		}),
		s.kubectl("get", "cfd", platform, "-o", readyMessage),
		s.tell("Nothing was changed in AWS. Now delete the tenants and the source:"),
		s.lines("delete", "cfts,cfdt", "--all", "--wait=false"),
		s.approve,
		s.tell("Delete the customers as well. A plan is kept until no customer uses it:"),
		s.kubectl("delete", "tenantplans,tenants", "--all", "--wait=false"),
		s.tell("When the last tenant is deleted from AWS, the operator deletes the rest automatically. CloudFront only deletes resources that are disabled at every edge location, so this takes a while."),
		s.awaitParents("the distribution and the connection group are deleted", func(p parents) bool {
			if at := p.at(); at != shown && len(p) > 0 {
				shown = at
				_ = s.kubectl("get", "cfd,cfcg", "-o", deletionColumns)(ctx) // one may go while it is read
			}
			return len(p) == 0
		}),
		s.tell("Each step is also recorded as an event:"),
		s.kubectl("get", "events", "--field-selector=involvedObject.kind=Distribution", "--sort-by=.metadata.creationTimestamp", eventColumns),
		s.nothingLeft,
		s.nothingAtCloudflare,
		s.customersGone,
	)
}

// approve shows that a large number of deletions waits for an approval, and approves them.
func (s *story) approve(ctx context.Context) error {
	s.say.paragraph("A mistake looks the same. More than the deletion budget allows is therefore not deleted until a person approves it:")
	plan, name := "", ""
	held := func(ctx context.Context) (all bool, err error) {
		plan, name, err = s.held(ctx)
		return plan != "", err
	}
	if err := s.await("the tenants are held", held, s.sayTenants())(ctx); err != nil {
		return err
	}
	return do(ctx,
		s.kubectl("get", "cfdt", name, "-o", readyMessage),
		s.tell("Approve it with the first of these commands:"),
		s.kubectl("-n", install.Namespace, "annotate", "configmap", "cloudfront-tenant-operator-deletion-budget", v1alpha1.AnnotationApproveDeletions+"="+plan),
	)
}

// held returns the plan and one of the tenants if all tenants that are left are held.
func (k *kube) held(ctx context.Context) (plan, name string, err error) {
	tenants, err := k.fleet(ctx)
	for n, o := range tenants {
		ready := meta.FindStatusCondition(o.Status.Conditions, v1alpha1.ConditionReady)
		if o.DeletionTimestamp.IsZero() || ready == nil || ready.Reason != v1alpha1.ReasonDeletionHeld {
			return "", "", err
		}
		_, rest, _ := strings.Cut(ready.Message, "This is plan ")
		plan, _, _ = strings.Cut(rest, ".")
		name = n
	}
	return plan, name, err
}

// nothingLeft shows that the account holds no more than in the beginning.
func (s *story) nothingLeft(ctx context.Context) error {
	state, err := s.w.aws.State(ctx)
	if err != nil {
		return err
	}
	names := []string{}
	for _, t := range state.Tenants {
		names = append(names, t.Name)
	}
	for _, d := range state.Distributions {
		names = append(names, d.ID)
	}
	for _, g := range state.ConnectionGroups {
		names = append(names, g.Name)
	}
	s.say.paragraph("The account is empty again: no tenants, no distributions, and only the default connection group, which can't be deleted.")
	s.say.command(`curl -s $AWS_ENDPOINT_URL/_sim/state | jq -c '.accounts[0] | [.tenants[].name, .distributions[].id, .connectionGroups[].name]'`)
	if err := s.outputJSON(names); err != nil {
		return err
	}
	if !slices.Equal(names, []string{"default"}) {
		return fmt.Errorf("the account still has %v", names)
	}
	return nil
}
