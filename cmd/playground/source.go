package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

const (
	// demoCustomers and upCustomers are how many rows the table has.
	demoCustomers = 25
	upCustomers   = 5
	// sourceName is the TenantSource, its Secret and its table.
	sourceName = "customers"
	// pollInterval is the shortest there is, so that one need not wait long.
	pollInterval = "10s"

	planned = `jsonpath={range .status.pendingChanges[*]}{.action} {.tenantName}: {.description}{"\n"}{end}`
)

// goldTenants selects by a label that comes from a column.
var goldTenants = []string{"-l", "plan=gold"}

// db shows a statement and what the database says to it.
func (k *kube) db(ctx context.Context, statement string) error {
	k.w.say.command(fmt.Sprintf("go run ./cmd/playground %s %s", dbCommand, quote(statement)))
	answer, err := query(ctx, k.w.customers.owner, statement)
	if err != nil {
		return err
	}
	k.w.say.output(answer)
	return nil
}

// manifest is the TenantSource.
func (c *customers) manifest(distributionID string) string {
	return fmt.Sprintf(`apiVersion: cloudfront-tenant-operator.io/v1alpha1
kind: TenantSource
metadata:
  name: %s
spec:
  provider: %s
  pollInterval: %s
  distributionId: %s
  deletionGuard:
    grace: 0s # in production, a tenant without a row continues to serve for 24h by default
  %s:
    connectionSecretRef:
      name: %s
%s  mapping:
    - column: plan
      field: parameters[tier]
    - column: plan
      field: metadata.labels[plan]
`, sourceName, c.provider, pollInterval, distributionID, c.provider, sourceName, c.spec)
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
	k.w.say.paragraph("A table in %s has %d customers. Some of them have the plan gold:", c.name, count)
	if err := k.db(ctx, shown); err != nil {
		return err
	}
	k.w.say.paragraph("The operator reads the connection string from a Secret at each poll. A label offers the Secret to the source. Each row becomes a tenant:")
	if err := k.show(ctx, "create", "secret", "generic", sourceName, "--from-literal=connectionString="+c.reader); err != nil {
		return fmt.Errorf("creating the Secret: %w", err)
	}
	if err := k.show(ctx, "label", "secret", sourceName, v1alpha1.LabelTenantSource+"="+sourceName); err != nil {
		return fmt.Errorf("offering the Secret to the source: %w", err)
	}
	began := time.Now()
	var parent v1alpha1.Distribution
	if err := k.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: platform}, &parent); err != nil {
		return fmt.Errorf("reading %s: %w", platform, err)
	}
	if err := k.apply(ctx, c.manifest(parent.Status.ID)); err != nil {
		return fmt.Errorf("applying the TenantSource: %w", err)
	}
	if err := k.awaitMany(ctx, names, began); err != nil {
		return err
	}
	k.w.say.gap()
	return k.showSource(ctx)
}

func (k *kube) showSource(ctx context.Context) error {
	if err := k.show(ctx, "get", "cfts", sourceName, "-o", "wide"); err != nil {
		return fmt.Errorf("reading the TenantSource: %w", err)
	}
	return nil
}

// awaitSource waits until the source is as wanted.
func (k *kube) awaitSource(ctx context.Context, what string, reached func(*v1alpha1.TenantSource) bool) error {
	var o v1alpha1.TenantSource
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		err := k.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: sourceName}, &o)
		return err == nil && reached(&o), err
	})
	if !wait.Interrupted(err) || ctx.Err() != nil {
		return err
	}
	k.w.say.heading(fmt.Sprintf("Timed out after %s waiting until %s", patience, what))
	k.sayConditions(o.Status.Conditions)
	k.w.say.line("\nLast log lines of the operator:\n%s", k.w.operator.LogTail(20))
	return fmt.Errorf("timed out after %[2]s waiting until %[1]s; use --keep-logs to keep the logs", what, patience)
}

// fleetOfTable tells how a table of customers drives the fleet, and can't wipe it.
func (s *story) fleetOfTable(ctx context.Context) error {
	if s.w.customers == nil {
		s.say.paragraph("This part needs a database, and none is available here (see above). Install the package postgresql to see it.")
		return nil
	}
	if err := s.kube.follow(ctx, demoCustomers, s.w.customers.gold); err != nil {
		return err
	}
	s.say.paragraph("The column plan is mapped to a parameter of the tenant and to a label:")
	if err := s.kube.showTable(ctx, goldTenants); err != nil {
		return err
	}
	s.say.paragraph("Add one customer, change one, and remove one:")
	for _, statement := range []string{s.w.customers.insert, s.w.customers.update, s.w.customers.remove} {
		if err := s.kube.db(ctx, statement); err != nil {
			return err
		}
	}
	if err := s.comeAndChange(ctx); err != nil {
		return err
	}
	if err := s.leave(ctx); err != nil {
		return err
	}
	return s.empty(ctx)
}

func (s *story) comeAndChange(ctx context.Context) error {
	s.say.paragraph("The table is read every %s here (5m by default), and a tenant without a row is deleted without a grace (24h by default). New and changed rows are applied immediately. A missing row may be a mistake, so it is not deleted yet:", pollInterval)
	err := s.kube.awaitSource(ctx, "the poll finds that a row is missing", func(o *v1alpha1.TenantSource) bool {
		return len(o.Status.PendingChanges) > 0
	})
	if err != nil {
		return err
	}
	if err := s.kube.show(ctx, "get", "cfts", sourceName, "-o", planned); err != nil {
		return fmt.Errorf("reading the plan: %w", err)
	}
	changed := both(settled(newcomer, upgraded), labelled(upgraded, "plan", "gold"))
	if err := s.kube.until(ctx, "the new and the changed customer are deployed", changed, goldTenants...); err != nil {
		return err
	}
	return s.console.show(ctx, upgraded, "DistributionTenant.Parameters", func(t *types.DistributionTenant) any { return t.Parameters })
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

func (s *story) leave(ctx context.Context) error {
	s.say.paragraph("A second poll confirms that the row of %s is missing, and its tenant is deleted:", leaver)
	if err := s.kube.until(ctx, "the tenant of the removed customer is deleted", deleted(leaver), leaver); err != nil {
		return err
	}
	return s.console.showGone(ctx, leaver)
}

func (s *story) empty(ctx context.Context) error {
	s.say.paragraph("Now the table is emptied by mistake:")
	if err := s.kube.db(ctx, s.w.customers.empty); err != nil {
		return err
	}
	var held time.Time
	err := s.kube.awaitSource(ctx, "the empty table is noticed", func(o *v1alpha1.TenantSource) bool {
		c := meta.FindStatusCondition(o.Status.Conditions, v1alpha1.ConditionReady)
		if c == nil || c.Reason != v1alpha1.ReasonDeletionHeld {
			return false
		}
		held = o.Status.LastPollTime.Time
		return true
	})
	if err != nil {
		return err
	}
	if err := s.kube.showSource(ctx); err != nil {
		return err
	}
	if err := s.kube.show(ctx, "get", "cfts", sourceName, "-o", readyMessage); err != nil {
		return fmt.Errorf("reading the TenantSource: %w", err)
	}
	err = s.kube.awaitSource(ctx, "the table is read again", func(o *v1alpha1.TenantSource) bool {
		return o.Status.LastPollTime.After(held)
	})
	if err != nil {
		return err
	}
	s.say.paragraph("The next poll also finds an empty table. Still, nothing was deleted, and all tenants exist in AWS:")
	if err := s.unharmed(ctx); err != nil {
		return err
	}
	s.say.paragraph("If the rows are restored, polling continues normally. If the deletion is intended, set that annotation to approve it.")
	return nil
}

// unharmed shows that AWS has all tenants, and wants that their objects are as they were.
func (s *story) unharmed(ctx context.Context) error {
	if err := s.console.count(ctx, "customer-", demoCustomers); err != nil {
		return err
	}
	tenants, err := s.kube.fleet(ctx)
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
