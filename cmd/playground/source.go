package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

const (
	// demoCustomers and upCustomers are how many rows the table has.
	demoCustomers = 25
	upCustomers   = 5
	// sourceName is the TenantSource, its Secret and its table.
	sourceName = "customers"
	// stateSecret is the Secret with which the state table is written.
	stateSecret = "customers-state"
	// pollInterval is the shortest there is, so that one need not wait long.
	pollInterval = "10s"

	planned = `jsonpath={range .status.pendingChanges[*]}{.action} {.tenantName}: {.description}{"\n"}{end}`
)

// goldTenants selects by a label that comes from a column.
var goldTenants = []string{"-l", "plan=gold"}

// manifest is the TenantSource.
func (c *customers) manifest() string {
	return fmt.Sprintf(`apiVersion: cloudfront-tenant-operator.io/v1alpha1
kind: TenantSource
metadata:
  name: %s
spec:
  provider: %s
  pollInterval: %s
  distributionRef:
    name: %s
  deletionGuard:
    grace: 0s # in production, a tenant without a row continues to serve for 24h by default
  %s:
    connectionSecretRef:
      name: %s
%s  writeBack: # what became of each customer, for your own backend
    table: %s
    connectionSecretRef:
      name: %s
  mapping:
    - column: plan
      field: parameters[tier]
    - column: plan
      field: metadata.labels[plan]
`, sourceName, c.provider, pollInterval, platform, c.provider, sourceName, c.spec, stateTable, stateSecret)
}

// follow fills the table, and lets a TenantSource follow it until all tenants are Ready.
func (k *kube) follow(ctx context.Context, count int, shown string) error {
	c := k.w.customers
	rows, names := make([]customer, count), make([]string, count)
	for i := range rows {
		rows[i] = newCustomer(i + 1)
		names[i] = rows[i].name
	}
	if _, err := query(ctx, c.owner, c.fill(rows)); err != nil {
		return fmt.Errorf("filling the table of customers: %w", err)
	}
	return do(ctx,
		k.tell("A table in %s has %d customers. Some of them have the plan gold:", c.name, count),
		k.db(shown),
		k.tell("The operator reads the connection string from a Secret at each poll. A label offers the Secret to the source. Each row becomes a tenant:"),
		k.kubectl("create", "secret", "generic", sourceName, "--from-literal=connectionString="+c.reader),
		k.kubectl("label", "secret", sourceName, v1alpha1.LabelTenantSource+"="+sourceName),
		k.kubectl("create", "secret", "generic", stateSecret, "--from-literal=connectionString="+c.writer),
		k.kubectl("label", "secret", stateSecret, v1alpha1.LabelTenantSource+"="+sourceName),
		func(ctx context.Context) error {
			began := time.Now()
			return do(ctx, k.apply(c.manifest()), k.awaitMany(names, began))
		},
		func(context.Context) error { k.w.say.gap(); return nil },
		k.showSource,
		k.tell("The operator writes what became of each customer to a table of its own, for your backend, within a few seconds:"),
		k.awaitSource("the state table is up to date", func(o *v1alpha1.TenantSource) bool {
			return meta.IsStatusConditionTrue(o.Status.Conditions, v1alpha1.ConditionStateWritten)
		}),
		k.db(c.states),
	)
}

func (k *kube) showSource(ctx context.Context) error {
	return k.kubectl("get", "cfts", sourceName, "-o", "wide")(ctx)
}

// awaitSource waits until the source is as wanted.
func (k *kube) awaitSource(what string, reached func(*v1alpha1.TenantSource) bool) step {
	var o v1alpha1.TenantSource
	return k.await(what, func(ctx context.Context) (bool, error) {
		err := k.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: sourceName}, &o)
		return err == nil && reached(&o), err
	}, func(context.Context) { k.sayConditions(o.Status.Conditions) })
}

// fleetOfTable tells how a table of customers drives the fleet, and can't wipe it.
func (s *story) fleetOfTable(ctx context.Context) error {
	c := s.w.customers
	if c == nil {
		s.say.paragraph("This part needs a database, and none is available here (see above). Install the package postgresql to see it.")
		return nil
	}
	return do(ctx,
		func(ctx context.Context) error { return s.follow(ctx, demoCustomers, c.gold) },
		s.tell("The column plan is mapped to a parameter of the tenant and to a label:"),
		func(ctx context.Context) error { return s.showTable(ctx, goldTenants) },
		s.tell("Add one customer, change one, and remove one:"),
		s.db(c.insert), s.db(c.update), s.db(c.remove),

		s.tell("The table is read every %s here (5m by default), and a tenant without a row is deleted without a grace (24h by default). New and changed rows are applied immediately. A missing row may be a mistake, so it is not deleted yet:", pollInterval),
		s.awaitSource("the poll finds that a row is missing", func(o *v1alpha1.TenantSource) bool { return len(o.Status.PendingChanges) > 0 }),
		s.kubectl("get", "cfts", sourceName, "-o", planned),
		s.until("the new and the changed customer are deployed", both(settled(newcomer, upgraded), labelled(upgraded, "plan", "gold")), goldTenants...),
		s.console.show(upgraded, "DistributionTenant.Parameters", func(t *types.DistributionTenant) any { return t.Parameters }),

		s.tell("A second poll confirms that the row of %s is missing, and its tenant is deleted:", leaver),
		s.until("the tenant of the removed customer is deleted", deleted(leaver), leaver),
		s.console.showGone(leaver),
		s.empty,
	)
}

// labelled is the goal that an object has a label.
func labelled(name, label, value string) goal {
	return func(tenants fleet) []string {
		if o := tenants[name]; o == nil || o.Labels[label] != value {
			return []string{name}
		}
		return nil
	}
}

func (s *story) empty(ctx context.Context) error {
	var held time.Time
	return do(ctx,
		s.tell("Now the table is emptied by mistake:"),
		s.db(s.w.customers.empty),
		s.awaitSource("the empty table is noticed", func(o *v1alpha1.TenantSource) bool {
			c := meta.FindStatusCondition(o.Status.Conditions, v1alpha1.ConditionReady)
			if c == nil || c.Reason != v1alpha1.ReasonDeletionHeld {
				return false
			}
			held = o.Status.LastPollTime.Time
			return true
		}),
		s.showSource,
		s.kubectl("get", "cfts", sourceName, "-o", readyMessage),
		s.awaitSource("the table is read again", func(o *v1alpha1.TenantSource) bool { return o.Status.LastPollTime.After(held) }),
		s.tell("The next poll also finds an empty table. Still, nothing was deleted, and all tenants exist in AWS:"),
		s.console.count("customer-", demoCustomers),
		s.unharmed,
		s.tell("If the rows are restored, polling continues normally. If the deletion is intended, set that annotation to approve it."),
	)
}

// unharmed wants that the objects of all customers are as they were.
func (s *story) unharmed(ctx context.Context) error {
	tenants, err := s.fleet(ctx)
	if err != nil {
		return err
	}
	names := []string{newcomer}
	for i := range demoCustomers {
		if c := newCustomer(i + 1); c.name != leaver {
			names = append(names, c.name)
		}
	}
	if missing := settled(names...)(tenants); len(missing) > 0 {
		return errors.New("the empty table has changed " + strings.Join(missing, ", "))
	}
	return nil
}
