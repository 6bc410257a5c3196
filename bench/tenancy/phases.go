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
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/controlplane"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/install"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/process"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/thirdparty"
)

const (
	poll = 250 * time.Millisecond
	// hang ends a run in which nothing moves any more.
	hang = 2 * time.Hour
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
	config

	host     *stack.Host
	kube     client.Client
	stack    *stack.Stack
	operator *stack.Operator
	fleet    *fleet
	flights  flights
	writes   *stack.Writes
}

// measure goes through the life of the tenants.
func (b *bench) measure(ctx context.Context) (_ *report, err error) {
	ctx, cancel := context.WithTimeout(ctx, hang)
	defer cancel()
	r := &report{Config: b.config}
	defer func() { err = errors.Join(err, b.stop()) }()
	if err := b.start(ctx); err != nil {
		return r, err
	}
	phases := map[string]func(context.Context, *report) error{
		"create": b.create, "quiet": b.quiet, "restart": b.restart, "change": b.change, phaseDelete: b.remove,
	}
	for _, name := range phaseNames {
		say("%s", name)
		process.ForgetPeak(b.operator.PID())
		before, err := b.markAll(ctx)
		if err != nil {
			return r, err
		}
		if err := phases[name](ctx, r); err != nil {
			return r, fmt.Errorf("%s: %w", name, err)
		}
		s, err := b.since(ctx, name, before)
		if err != nil {
			return r, err
		}
		r.Phases = append(r.Phases, s)
		if name == b.LastPhase {
			break
		}
	}
	return r, nil
}

func (b *bench) start(ctx context.Context) (err error) {
	if b.kube, err = b.host.Client(); err != nil {
		return err
	}
	if err := b.installKinds(ctx); err != nil {
		return err
	}
	if b.host.Installation, err = b.host.Install(ctx, install.Options{Values: []string{"tenancy.enabled=true"}}); err != nil {
		return err
	}
	if b.writes, err = b.host.CountWrites(ctx, b.flights.observe); err != nil {
		return err
	}
	if b.fleet, err = b.watchTenants(ctx); err != nil {
		return err
	}
	if b.stack, err = b.host.Start(ctx, stack.Options{}); err != nil {
		return err
	}
	controllers := "--controllers=tenant"
	if b.Edge {
		controllers = "--controllers=tenant,distributiontenant"
		if err := b.stack.AWS.AllowTenants(ctx, b.Tenants+1); err != nil {
			return err
		}
	}
	// AWS's limits are measured elsewhere.
	b.operator, err = b.stack.StartOperator(ctx, stack.OperatorOptions{Flags: []string{controllers, "--aws-rate=1000", "--aws-burst=1000"}})
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
	template, err := os.ReadFile(b.host.Path("charts", "cloudfront-tenant-operator", "files", "constrainttemplates", "kleffallowedregistries.yaml"))
	if err != nil {
		return fmt.Errorf("reading a ConstraintTemplate: %w", err)
	}
	constraint, err := thirdparty.Constraint(ctx, template)
	if err != nil {
		return err
	}
	crds = append(append(crds, gatekeeper...), constraint)
	if _, err := controlplane.InstallCRDs(b.host.RESTConfig(), envtest.CRDInstallOptions{CRDs: crds}); err != nil {
		return fmt.Errorf("installing CRDs: %w", err)
	}
	return nil
}

func (b *bench) stop() (err error) {
	if b.fleet != nil {
		b.fleet.stop()
	}
	if b.writes != nil {
		b.writes.Stop()
	}
	if b.stack != nil {
		err = b.stack.Stop()
	}
	return err
}

// create goes from the plan and the first tenant to the last that is ready, and on until all is still.
func (b *bench) create(ctx context.Context, r *report) error {
	p, err := b.plan()
	if err != nil {
		return err
	}
	if err := b.kube.Create(ctx, p); err != nil {
		return fmt.Errorf("creating the plan: %w", err)
	}
	begun := time.Now()
	err = b.each(ctx, func(ctx context.Context, o *kleffv1.Tenant) error {
		b.fleet.begin(o.Name)
		return b.kube.Create(ctx, o)
	})
	if err != nil {
		return err
	}
	say("all %d tenants exist", b.Tenants)
	if err := b.allReady(ctx); err != nil {
		return err
	}
	r.AllReadySeconds, r.Ready = time.Since(begun).Seconds(), distributionOf(b.fleet.took())
	return b.settle(ctx)
}

func (b *bench) allReady(ctx context.Context) error {
	told := time.Now()
	return poller(ctx, func(context.Context) (bool, error) {
		seen, ready := b.fleet.counts()
		if time.Since(told) > 30*time.Second {
			told = time.Now()
			say("%d of %d are ready", ready, seen)
		}
		return ready == b.Tenants, nil
	})
}

// quiet waits where there is nothing to do.
func (b *bench) quiet(ctx context.Context, _ *report) error {
	end := time.Now().Add(b.Quiet)
	return poller(ctx, func(context.Context) (bool, error) { return time.Now().After(end), nil })
}

// restart kills the operator and waits until a new one has come to rest.
func (b *bench) restart(ctx context.Context, r *report) error {
	if err := b.operator.Kill(ctx); err != nil {
		return err
	}
	begun := time.Now()
	if err := b.operator.Start(ctx); err != nil {
		return err
	}
	err := b.settle(ctx)
	r.RestartSeconds = time.Since(begun).Seconds() - stillFor.Seconds()
	return err
}

// change gives the plan another quota, and waits until every tenant has it.
func (b *bench) change(ctx context.Context, r *report) error {
	p := &kleffv1.TenantPlan{}
	if err := b.kube.Get(ctx, client.ObjectKey{Name: planName}, p); err != nil {
		return fmt.Errorf("reading the plan: %w", err)
	}
	b.flights.reset()
	b.fleet.expect(p.Generation + 1)
	base := p.DeepCopy()
	p.Spec.ResourceQuota.Hard[corev1.ResourcePods] = resource.MustParse("40")
	begun := time.Now()
	if err := b.kube.Patch(ctx, p, client.MergeFrom(base)); err != nil {
		return fmt.Errorf("changing the plan: %w", err)
	}
	if err := b.allReady(ctx); err != nil {
		return err
	}
	r.AllChangedSeconds, r.MostInFlight = time.Since(begun).Seconds(), b.flights.peak()
	return b.settle(ctx)
}

// remove deletes the plan, which waits for its tenants, and all tenants, and waits until they are gone.
func (b *bench) remove(ctx context.Context, r *report) error {
	begun := time.Now()
	p, err := b.plan()
	if err != nil {
		return err
	}
	if err := b.kube.Delete(ctx, p); err != nil {
		return fmt.Errorf("deleting the plan: %w", err)
	}
	if err := b.each(ctx, func(ctx context.Context, o *kleffv1.Tenant) error { return b.kube.Delete(ctx, o) }); err != nil {
		return err
	}
	say("all %d tenants are deleted", b.Tenants)
	told := time.Now()
	err = poller(ctx, func(ctx context.Context) (bool, error) {
		seen, _ := b.fleet.counts()
		if time.Since(told) > 30*time.Second {
			told = time.Now()
			say("%d are left", seen)
		}
		if seen > 0 {
			return false, nil
		}
		return b.planGone(ctx)
	})
	if err != nil {
		return err
	}
	r.AllGoneSeconds = time.Since(begun).Seconds()
	if err := b.settle(ctx); err != nil {
		return err
	}
	r.Left, err = b.left(ctx)
	return err
}

// left is how many objects of the tenants and their plan were created, and are still there.
func (b *bench) left(ctx context.Context) (int, error) {
	left := 0
	for _, kind := range append([]schema.GroupResource{tenants, plans, namespaces, constraints}, children...) {
		tally, err := b.writes.Kind(ctx, kind)
		if err != nil {
			return 0, err
		}
		left += tally.Created - tally.Gone
	}
	return left, nil
}

// What counts as rest: for so long no write, and next to no CPU time.
const (
	stillFor   = 8 * time.Second
	stillCPU   = 0.1
	impatience = 3 * time.Minute
)

// settle waits until the operator rests.
func (b *bench) settle(ctx context.Context) error {
	begun := time.Now()
	last, err := b.mark(ctx)
	if err != nil {
		return err
	}
	since, busy := last.at, last
	return poller(ctx, func(ctx context.Context) (bool, error) {
		now, err := b.mark(ctx)
		if err != nil {
			return false, err
		}
		cpu := (now.cpu[operatorCPU] - last.cpu[operatorCPU]) / max(now.at.Sub(last.at).Seconds(), 0.001)
		if now.writes != busy.writes || cpu > stillCPU {
			since, busy = now.at, now
		}
		last = now
		return now.at.Sub(since) > stillFor || now.at.Sub(begun) > impatience, nil
	})
}

func poller(ctx context.Context, done wait.ConditionWithContextFunc) error {
	return wait.PollUntilContextTimeout(ctx, poll, hang, true, done)
}
