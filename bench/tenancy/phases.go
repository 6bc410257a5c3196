package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/bench/rig"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/controlplane"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/install"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/thirdparty"
)

const phaseDelete = "delete"

// phaseNames are in their order.
var phaseNames = []string{"create", "quiet", "restart", "change", phaseDelete}

// The resources whose writes are counted. Kubernetes' own have no group in etcd.
var (
	tenants     = schema.GroupResource{Group: kleffv1.GroupName, Resource: "tenants"}
	plans       = schema.GroupResource{Group: kleffv1.GroupName, Resource: "tenantplans"}
	namespaces  = schema.GroupResource{Resource: "namespaces"}
	edges       = schema.GroupResource{Group: v1alpha1.GroupName, Resource: "distributiontenants"}
	constraints = schema.GroupResource{Group: "constraints.gatekeeper.sh", Resource: "kleffallowedregistries"}
	children    = []schema.GroupResource{
		{Resource: "resourcequotas"}, {Resource: "limitranges"}, {Resource: "networkpolicies"}, {Resource: "rolebindings"},
		{Group: "networking.istio.io", Resource: "gateways"},
		{Group: "security.istio.io", Resource: "authorizationpolicies"}, {Group: "security.istio.io", Resource: "peerauthentications"},
		edges,
	}
)

// bench is a run.
type bench struct {
	rig.Bench
	config

	flights flights
	report  report
}

// measure goes through the life of the tenants.
func (b *bench) measure(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, rig.Hang)
	defer cancel()
	defer func() { err = errors.Join(err, b.Stop()) }()
	if err := b.start(ctx); err != nil {
		return err
	}
	phases := rig.Phases{"create": b.create, "quiet": b.quiet, "restart": b.restart, "change": b.change, phaseDelete: b.remove}
	return b.Play(ctx, phaseNames, b.LastPhase, phases, b.begin)
}

func (b *bench) start(ctx context.Context) (err error) {
	if b.Kube, err = b.Host.Client(); err != nil {
		return err
	}
	if err := b.installKinds(ctx); err != nil {
		return err
	}
	if b.Host.Installation, err = b.Host.Install(ctx, install.Options{Values: []string{"tenancy.enabled=true"}}); err != nil {
		return err
	}
	if b.Writes, err = b.Host.CountWrites(ctx, b.flights.observe); err != nil {
		return err
	}
	if b.Objects, err = b.watch(ctx); err != nil {
		return err
	}
	if b.Stack, err = b.Host.Start(ctx, stack.Options{}); err != nil {
		return err
	}
	controllers := "--controllers=tenant"
	if b.Edge {
		controllers = "--controllers=tenant,distributiontenant"
		if err := b.Stack.AWS.AllowTenants(ctx, b.Tenants+1); err != nil {
			return err
		}
	}
	// AWS's limits are measured elsewhere.
	b.Replica, err = b.Stack.StartOperator(ctx, stack.OperatorOptions{Flags: []string{controllers, "--aws-rate=1000", "--aws-burst=1000"}})
	return err
}

// installKinds installs those of Istio and Gatekeeper, and that of the plan's constraint.
func (b *bench) installKinds(ctx context.Context) error {
	crds, err := thirdparty.Istio()
	if err != nil {
		return err
	}
	gatekeeper, err := thirdparty.Gatekeeper()
	if err != nil {
		return err
	}
	template, err := os.ReadFile(b.Host.Path("charts", "cloudfront-tenant-operator", "files", "constrainttemplates", "kleffallowedregistries.yaml"))
	if err != nil {
		return fmt.Errorf("reading a ConstraintTemplate: %w", err)
	}
	constraint, err := thirdparty.Constraint(ctx, template)
	if err != nil {
		return err
	}
	crds = append(append(crds, gatekeeper...), constraint)
	if _, err := controlplane.InstallCRDs(b.Host.RESTConfig(), envtest.CRDInstallOptions{CRDs: crds}); err != nil {
		return fmt.Errorf("installing CRDs: %w", err)
	}
	return nil
}

// create goes from the plan and the first tenant to the last that is ready, and continues until nothing moves any more.
func (b *bench) create(ctx context.Context) error {
	p, err := b.plan()
	if err != nil {
		return err
	}
	if err := b.Kube.Create(ctx, p); err != nil {
		return fmt.Errorf("creating the plan: %w", err)
	}
	begun := time.Now()
	if err := b.Objects.Create(ctx); err != nil {
		return err
	}
	b.Objects.Expect(1)
	rig.Say("all %d tenants exist", b.Tenants)
	if err := b.allReady(ctx); err != nil {
		return err
	}
	b.report.AllReadySeconds, b.report.Ready = time.Since(begun).Seconds(), rig.DistributionOf(b.Objects.Took())
	return b.Settle(ctx, b.work)
}

func (b *bench) allReady(ctx context.Context) error {
	told := time.Now()
	return rig.Until(ctx, func(context.Context) (bool, error) {
		seen, ready, err := b.Objects.Counts()
		if time.Since(told) > 30*time.Second {
			told = time.Now()
			rig.Say("%d of %d are ready", ready, seen)
		}
		return ready == b.Tenants, err
	})
}

func (b *bench) quiet(ctx context.Context) error { return rig.Quiet(ctx, b.Quiet) }

func (b *bench) restart(ctx context.Context) (err error) {
	b.report.RestartSeconds, err = b.Restart(ctx, b.work)
	return err
}

// change gives the plan another quota, and waits until every tenant has it.
func (b *bench) change(ctx context.Context) error {
	p := &kleffv1.TenantPlan{}
	if err := b.Kube.Get(ctx, client.ObjectKey{Name: planName}, p); err != nil {
		return fmt.Errorf("reading the plan: %w", err)
	}
	b.flights.reset()
	b.Objects.Expect(p.Generation + 1)
	base := p.DeepCopy()
	p.Spec.ResourceQuota.Hard[corev1.ResourcePods] = resource.MustParse("40")
	begun := time.Now()
	if err := b.Kube.Patch(ctx, p, client.MergeFrom(base)); err != nil {
		return fmt.Errorf("changing the plan: %w", err)
	}
	if err := b.allReady(ctx); err != nil {
		return err
	}
	b.report.AllChangedSeconds, b.report.MostInFlight = time.Since(begun).Seconds(), b.flights.peak()
	return b.Settle(ctx, b.work)
}

// remove deletes the plan, which waits for its tenants, and all tenants, and waits until they are gone.
func (b *bench) remove(ctx context.Context) error {
	begun := time.Now()
	p, err := b.plan()
	if err != nil {
		return err
	}
	if err := b.Kube.Delete(ctx, p); err != nil {
		return fmt.Errorf("deleting the plan: %w", err)
	}
	if err := b.Objects.Delete(ctx); err != nil {
		return err
	}
	rig.Say("all %d tenants are deleted", b.Tenants)
	told := time.Now()
	err = rig.Until(ctx, func(ctx context.Context) (bool, error) {
		seen, _, err := b.Objects.Counts()
		if time.Since(told) > 30*time.Second {
			told = time.Now()
			rig.Say("%d are left", seen)
		}
		if err != nil || seen > 0 {
			return false, err
		}
		return b.planGone(ctx)
	})
	if err != nil {
		return err
	}
	b.report.AllGoneSeconds = time.Since(begun).Seconds()
	if err := b.Settle(ctx, b.work); err != nil {
		return err
	}
	b.report.Left, err = b.left(ctx)
	return err
}

// left is how many objects of the tenants and their plan were created, and are still there.
func (b *bench) left(ctx context.Context) (int, error) {
	left := 0
	for _, kind := range append([]schema.GroupResource{tenants, plans, namespaces, constraints}, children...) {
		tally, err := b.Writes.Kind(ctx, kind)
		if err != nil {
			return 0, err
		}
		left += tally.Created - tally.Gone
	}
	return left, nil
}
