package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

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
	distribution, err := k.distributionID(ctx)
	if err != nil {
		return err
	}
	return do(ctx,
		k.tell("Customers can also have namespaces and, with the plan pro, a CloudFront tenant. More about them later:"),
		k.kubectl("apply", "-f", "config/samples/tenantplan/basic.yaml", "-f", "config/samples/tenant/basic.yaml"),
		k.apply(proManifest(distribution)),
	)
}

// awaitTenants waits until the customers are as wanted.
func (k *kube) awaitTenants(what string, reached func([]kleffv1.Tenant) bool) step {
	var list kleffv1.TenantList
	return k.await(what, func(ctx context.Context) (bool, error) {
		list = kleffv1.TenantList{}
		err := k.client.List(ctx, &list)
		return err == nil && reached(list.Items), err
	}, func(context.Context) {
		for i := range list.Items {
			k.w.say.line("%s:", list.Items[i].Name)
			k.sayConditions(list.Items[i].Status.Conditions)
		}
	})
}

// customersReady reports whether both customers have all that their plans say.
func customersReady(tenants []kleffv1.Tenant) bool {
	return len(tenants) == 2 && !slices.ContainsFunc(tenants, func(t kleffv1.Tenant) bool {
		return t.Status.ObservedGeneration != t.Generation || !meta.IsStatusConditionTrue(t.Status.Conditions, kleffv1.ConditionTenantReady)
	})
}

// namespaces tells what customers have, and takes it from one of them.
func (s *story) namespaces(ctx context.Context) error {
	const inNamespace = "quota,limits,netpol,rolebindings,cfdt"
	return do(ctx,
		s.awaitTenants("both customers are ready", customersReady),
		s.tell("Two customers were created with the samples. Each has a namespace according to its plan:"),
		s.kubectl("get", "tenantplans,tenants"),
		s.kubectl("get", "namespaces", "-l", "kleff.io/tenant", "-L", "kleff.io/tenant-plan,kleff.io/tenant-username,istio-injection,pod-security.kubernetes.io/enforce"),
		s.kubectl("get", inNamespace, "-n", basicNamespace),
		s.kubectl("get", inNamespace, "-n", proTenant),
		s.tell("The plan pro gives the customer's user access to this namespace only:"),
		s.canI(proTenant, true),
		s.canI(basicNamespace, false),
		s.tell("Its DistributionTenant serves the customer's domain:"),
		s.console.show(proTenant, "DistributionTenant.Domains", func(t *types.DistributionTenant) any { return t.Domains }),

		s.tell("Suspend a customer. Running pods and data are kept, but no new pods start:"),
		s.kubectl("patch", "tenant", proTenant, "--type=merge", "-p", `{"spec":{"suspended":true}}`),
		// The API server counts by what the controller manager notes in the quota's status.
		s.await(proTenant+" is suspended", func(ctx context.Context) (bool, error) {
			var quota corev1.ResourceQuota
			err := s.client.Get(ctx, client.ObjectKey{Namespace: proTenant, Name: suspendedQuota}, &quota)
			return len(quota.Status.Hard) > 0, client.IgnoreNotFound(err)
		}, s.sayTenants()),
		refused(s.kubectl("run", "web", "--image=nginx", "-n", proTenant), "a pod was started for a customer who is suspended"),
	)
}

// canI shows whether the user of the plan pro may make Deployments in a namespace.
func (k *kube) canI(in string, wanted bool) step {
	args := []string{"auth", "can-i", "create", "deployments", "--as", proUser, "-n", in}
	return k.show(typed(args), func(ctx context.Context) (string, error) {
		out, err := k.ctl(ctx, "", args...) // it fails where the answer is no
		if may := strings.TrimSpace(out) == "yes"; may != wanted {
			return out, errors.Join(fmt.Errorf("%s may create Deployments in %s: %t, which is wrong", proUser, in, may), err)
		}
		return out, nil
	})
}

// customersGone waits until nothing is left of the customers, and shows it.
func (s *story) customersGone(ctx context.Context) error {
	if err := s.client.Get(ctx, client.ObjectKey{Name: proTenant}, &kleffv1.Tenant{}); err == nil {
		s.say.paragraph("A Tenant is removed after its namespace is deleted, and this namespace waits for its DistributionTenant:")
		_ = s.kubectl("get", "tenant", proTenant, "-o", tenantReadyMessage)(ctx) // it may go while it is read
	}
	return do(ctx,
		s.awaitTenants("all customers are deleted", func(tenants []kleffv1.Tenant) bool { return len(tenants) == 0 }),
		s.await("the plans are deleted", func(ctx context.Context) (bool, error) {
			var list kleffv1.TenantPlanList
			err := s.client.List(ctx, &list)
			return len(list.Items) == 0, err
		}, s.sayTenants()),
		s.tell("Each step is recorded as an event:"),
		s.kubectl("get", "events", "--field-selector=involvedObject.name="+basicTenant, "--sort-by=.metadata.creationTimestamp", eventColumns),
		s.tell("Nothing is left of the customers:"),
		s.nothing("tenantplans,tenants"),
		s.nothing("namespaces,quota,limits,netpol,rolebindings,cfdt", "-A", "-l", "app.kubernetes.io/managed-by="+kleffv1.ManagedBy),
	)
}
