package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
)

const (
	// basicTenant is that of config/samples/tenant/basic.yaml, and basicNamespace its namespace.
	basicTenant    = "example-tenant"
	basicNamespace = "user-12345"
	// proTenant is the customer of the plan pro, and has a namespace of that name; proUser is their user.
	proTenant = "acme"
	proUser   = "jane@acme.example"
	// suspendedQuota is what keeps the pods of a suspended customer from starting.
	suspendedQuota = "kleff-suspended"

	tenantReadyMessage = `jsonpath={.status.conditions[?(@.type=="TenantReady")].message}{"\n"}`
)

// proManifest is a plan with rights for the customer's user and an edge tenant, and a customer who has it.
func proManifest(distributionID string) string {
	return fmt.Sprintf(`apiVersion: kleff.kleff.io/v1
kind: TenantPlan
metadata:
  name: pro
spec:
  resourceQuota:
    hard:
      pods: "100"
      requests.storage: 500Gi
  podSecurity:
    enforce: baseline
  networkIsolation: NamespaceAndIngress
  owner:
    clusterRole: edit
  distributionTenant:
    template:
      spec:
        distributionId: %s
    mapping:
      - column: plan
        field: parameters[tier]
    expressions:
      - field: domains
        expression: row.username + ".example.com"
---
apiVersion: kleff.kleff.io/v1
kind: Tenant
metadata:
  name: %s
spec:
  plan: pro
  userId: %s
  username: %[2]s
  namespace: %[2]s
`, distributionID, proTenant, proUser)
}

// applyCustomers applies two plans, and a customer of each.
func (k *kube) applyCustomers(ctx context.Context) error {
	k.w.say.paragraph("Customers can also have namespaces and, with the plan pro, a CloudFront tenant. More about them later:")
	if err := k.show(ctx, "apply", "-f", "config/samples/tenantplan/basic.yaml", "-f", "config/samples/tenant/basic.yaml"); err != nil {
		return fmt.Errorf("applying the customer of the plan basic: %w", err)
	}
	var parent v1alpha1.Distribution
	if err := k.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: platform}, &parent); err != nil {
		return fmt.Errorf("reading %s: %w", platform, err)
	}
	if err := k.apply(ctx, proManifest(parent.Status.ID)); err != nil {
		return fmt.Errorf("applying the customer of the plan pro: %w", err)
	}
	return nil
}

// awaitTenants waits until the customers are as wanted.
func (k *kube) awaitTenants(ctx context.Context, what string, reached func([]kleffv1.Tenant) bool) error {
	var list kleffv1.TenantList
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		list = kleffv1.TenantList{}
		err := k.client.List(ctx, &list)
		return err == nil && reached(list.Items), err
	})
	if !wait.Interrupted(err) || ctx.Err() != nil {
		return err
	}
	k.w.say.heading(fmt.Sprintf("Timed out after %s waiting until %s", patience, what))
	for i := range list.Items {
		k.w.say.line("%s:", list.Items[i].Name)
		k.sayConditions(list.Items[i].Status.Conditions)
	}
	k.w.say.line("\nLast log lines of the operator:\n%s", k.w.operator.LogTail(20))
	return fmt.Errorf("timed out after %[2]s waiting until %[1]s; use --keep-logs to keep the logs", what, patience)
}

// customersReady reports whether both customers have all that their plans say.
func customersReady(tenants []kleffv1.Tenant) bool {
	return len(tenants) == 2 && !slices.ContainsFunc(tenants, func(t kleffv1.Tenant) bool {
		return t.Status.ObservedGeneration != t.Generation || !meta.IsStatusConditionTrue(t.Status.Conditions, kleffv1.ConditionTenantReady)
	})
}

// namespaces tells what customers have, and takes it from one of them.
func (s *story) namespaces(ctx context.Context) error {
	if err := s.kube.awaitTenants(ctx, "both customers are ready", customersReady); err != nil {
		return err
	}
	s.say.paragraph("Two customers were created with the samples. Each has a namespace according to its plan:")
	for _, args := range [][]string{
		{"get", "tenantplans,tenants"},
		{"get", "namespaces", "-l", "kleff.io/tenant", "-L", "kleff.io/tenant-plan,kleff.io/tenant-username,istio-injection,pod-security.kubernetes.io/enforce"},
		{"get", "quota,limits,netpol,rolebindings,cfdt", "-n", basicNamespace},
		{"get", "quota,limits,netpol,rolebindings,cfdt", "-n", proTenant},
	} {
		if err := s.kube.show(ctx, args...); err != nil {
			return fmt.Errorf("reading what customers have: %w", err)
		}
	}
	s.say.paragraph("The plan pro gives the customer's user access to this namespace only:")
	if err := s.kube.canI(ctx, proTenant, true); err != nil {
		return err
	}
	if err := s.kube.canI(ctx, basicNamespace, false); err != nil {
		return err
	}
	s.say.paragraph("Its DistributionTenant serves the customer's domain:")
	domains := func(t *types.DistributionTenant) any { return t.Domains }
	if err := s.console.show(ctx, proTenant, "DistributionTenant.Domains", domains); err != nil {
		return err
	}
	return s.suspend(ctx)
}

// canI shows whether the user of the plan pro may make Deployments in a namespace.
func (k *kube) canI(ctx context.Context, in string, wanted bool) error {
	args := []string{"auth", "can-i", "create", "deployments", "--as", proUser, "-n", in}
	k.w.say.command(typed(args))
	out, err := k.ctl(ctx, "", args...) // it fails where the answer is no
	k.w.say.output(out)
	if may := strings.TrimSpace(out) == "yes"; may != wanted {
		return errors.Join(fmt.Errorf("%s may create Deployments in %s: %t, which is wrong", proUser, in, may), err)
	}
	return nil
}

// suspend lets a customer start no more pods.
func (s *story) suspend(ctx context.Context) error {
	s.say.paragraph("Suspend a customer. Running pods and data are kept, but no new pods start:")
	if err := s.kube.show(ctx, "patch", "tenant", proTenant, "--type=merge", "-p", `{"spec":{"suspended":true}}`); err != nil {
		return fmt.Errorf("suspending %s: %w", proTenant, err)
	}
	// The API server counts by what the controller manager notes in the quota's status.
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		var quota corev1.ResourceQuota
		err := s.kube.client.Get(ctx, client.ObjectKey{Namespace: proTenant, Name: suspendedQuota}, &quota)
		return len(quota.Status.Hard) > 0, client.IgnoreNotFound(err)
	})
	if err != nil {
		return fmt.Errorf("waiting for the suspension of %s: %w", proTenant, err)
	}
	if err := s.kube.show(ctx, "run", "web", "--image=nginx", "-n", proTenant); err == nil {
		return errors.New("a pod was started for a customer who is suspended")
	}
	return nil
}

// customersGone waits until nothing is left of the customers, and shows it.
func (s *story) customersGone(ctx context.Context) error {
	var last kleffv1.Tenant
	if err := s.kube.client.Get(ctx, client.ObjectKey{Name: proTenant}, &last); err == nil {
		s.say.paragraph("A Tenant is removed after its namespace is deleted, and this namespace waits for its DistributionTenant:")
		_ = s.kube.show(ctx, "get", "tenant", proTenant, "-o", tenantReadyMessage) // it may go while it is read
	}
	if err := s.kube.awaitTenants(ctx, "all customers are deleted", func(tenants []kleffv1.Tenant) bool { return len(tenants) == 0 }); err != nil {
		return err
	}
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		var list kleffv1.TenantPlanList
		err := s.kube.client.List(ctx, &list)
		return len(list.Items) == 0, err
	})
	if err != nil {
		return fmt.Errorf("waiting until the plans are deleted: %w", err)
	}
	s.say.paragraph("Each step is recorded as an event:")
	err = s.kube.show(ctx, "get", "events", "--field-selector=involvedObject.name="+basicTenant, "--sort-by=.metadata.creationTimestamp",
		"-o=custom-columns=REASON:.reason,MESSAGE:.message")
	if err != nil {
		return fmt.Errorf("reading events: %w", err)
	}
	s.say.paragraph("Nothing is left of the customers:")
	if err := s.kube.showNone(ctx, "tenantplans,tenants"); err != nil {
		return err
	}
	return s.kube.showNone(ctx, "namespaces,quota,limits,netpol,rolebindings,cfdt", "-A", "-l", "app.kubernetes.io/managed-by="+kleffv1.ManagedBy)
}

// showNone shows that there are no such objects.
func (k *kube) showNone(ctx context.Context, args ...string) error {
	args = append([]string{"get"}, args...)
	k.w.say.command(typed(args))
	out, err := k.ctl(ctx, "", args...)
	k.w.say.output(out)
	if err == nil && !strings.HasPrefix(out, "No resources found") {
		err = errors.New("something is left")
	}
	return err
}
