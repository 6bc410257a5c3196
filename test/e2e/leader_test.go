package e2e_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

// Of two replicas one works. When it is stopped it gives the lease back, so that the other
// need not wait until the lease expires.
func TestLeaderElection(t *testing.T) {
	t.Parallel()
	s := newScene(t, stack.Options{})
	options := stack.OperatorOptions{Flags: []string{"--leader-elect"}}
	first := s.operator(options)
	s.eventually(func(g gomega.Gomega) { g.Expect(s.leads(first)).To(gomega.BeTrue()) })
	second := s.operator(options)
	s.apply(s.tenant("before"))
	s.ready("before")
	s.eventually(func(g gomega.Gomega) {
		g.Expect(s.kubectl("-n", host.Installation.Namespace, "get", "configmap", "cloudfront-tenant-operator-cluster", "-o", "jsonpath={.data.aws-account}")).
			To(gomega.Equal(sim.DefaultAccount))
	})
	if s.leads(second) || s.awsCalls(second) > 0 {
		t.Errorf("the second replica leads: %t, and has made %g AWS calls in addition to the first", s.leads(second), s.awsCalls(second))
	}

	holder := s.leaseHolder()
	s.stop(first)
	if now := s.leaseHolder(); now == holder {
		t.Errorf("the lease is still held by %q after its holder was stopped", now)
	}
	stopped := time.Now()
	s.eventually(func(g gomega.Gomega) { g.Expect(s.leads(second)).To(gomega.BeTrue()) })
	t.Logf("the second replica led after %s", time.Since(stopped))
	s.apply(s.tenant("after"))
	s.ready("before", "after")
	if n := len(s.inAWS()); n != 2 {
		t.Errorf("there are %d tenants in AWS, want 2", n)
	}

	s.checks("The installation works", nil, "--leader-elect")
	s.takeLease("another replica")
	if status, err := second.Wait(t.Context()); err != nil || status != 1 {
		t.Errorf("an operator that has lost its lease ends with status %d (%v), want 1", status, err)
	}
	s.takeLease("")
	s.checks("no replica leads", nil, "--leader-elect")
}

// takeLease gives the lease to another holder, to none with an empty name.
func (s *scene) takeLease(holder string) {
	s.t.Helper()
	s.kubectl("-n", host.Installation.Namespace, "patch", "lease", "cloudfront-tenant-operator", "--type=merge", "-p", `{"spec":{"holderIdentity":"`+holder+`"}}`)
}

func (s *scene) leads(op *stack.Operator) bool {
	s.t.Helper()
	return s.metrics(op).Sum("leader_election_master_status") == 1
}

func (s *scene) awsCalls(op *stack.Operator) float64 {
	s.t.Helper()
	return s.metrics(op).Sum("cloudfront_tenant_operator_aws_api_calls_total")
}

func (s *scene) leaseHolder() string {
	s.t.Helper()
	var lease coordinationv1.Lease
	if err := kube.Get(s.t.Context(), client.ObjectKey{Namespace: host.Installation.Namespace, Name: "cloudfront-tenant-operator"}, &lease); err != nil {
		s.t.Fatalf("reading the lease: %v", err)
	}
	if lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}

// A create that is on its way when the operator is stopped is waited for, and what came
// of it is stored.
func TestStopFinishesTheCallInFlight(t *testing.T) {
	t.Parallel()
	s := newScene(t, stack.Options{})
	op := s.operator(stack.OperatorOptions{})
	s.fault(sim.Fault{Operation: "CreateDistributionTenant", Kind: sim.BeforeCommit, Effect: sim.EffectNone, Latency: 5 * time.Second, Nth: 1})
	s.apply(s.tenant("acme"))
	s.eventually(func(g gomega.Gomega) {
		// A fault that has struck is gone, and its call waits.
		g.Expect(s.AWS.Faults(t.Context())).To(gomega.BeEmpty())
	})
	if n := len(s.inAWS()); n != 0 {
		t.Fatalf("there are %d tenants already: the call was not in flight", n)
	}

	s.stop(op)
	tenant, created := s.inAWS()["acme"]
	if !created || len(s.inAWS()) != 1 {
		t.Fatalf("after the stop AWS has %d tenants, want the one that was being created", len(s.inAWS()))
	}
	if id := s.get("acme").Status.ID; id != tenant.ID {
		t.Errorf("after the stop status.id is %q, want %q", id, tenant.ID)
	}

	s.start(op)
	s.ready("acme")
	if n := s.calls()["CreateDistributionTenant"].Total; n != 1 {
		t.Errorf("%d creates were sent, want 1", n)
	}
}

// Whatever a power cut interrupts, the next process finds it.
func TestKill(t *testing.T) {
	t.Parallel()
	s := newScene(t, stack.Options{DeployDelay: time.Second})
	op := s.operator(stack.OperatorOptions{})
	// The answers are late, so that there are committed creates whose answers are lost; and not all creates arrive.
	s.fault(sim.Fault{Operation: "CreateDistributionTenant", Kind: sim.AfterCommit, Effect: sim.EffectNone, Latency: time.Second, Nth: 1, Times: 10})
	s.fault(sim.Fault{Operation: "CreateDistributionTenant", Effect: sim.EffectHang, Nth: 11, Times: -1})
	f, err := stack.NewFleet(t.Context(), kube, s.namespace, "kill-", 20)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	if err := f.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.eventually(func(g gomega.Gomega) { g.Expect(len(s.inAWS())).To(gomega.BeNumerically(">=", 5)) })
	if err := op.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if status, err := op.Wait(t.Context()); err != nil || status != -1 {
		t.Fatalf("after SIGKILL: status %d, %v", status, err)
	}
	t.Logf("%d of 20 tenants existed after the kill", len(s.inAWS()))
	if err := s.AWS.ClearFaults(t.Context()); err != nil {
		t.Fatal(err)
	}

	s.start(op)
	if err := f.WaitReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	tenants := s.inAWS()
	for n := range 20 {
		name := f.Name(n)
		o, tenant := s.get(name), tenants[name]
		if o.Status.ID != tenant.ID || tenant.Tags["cloudfront-tenant-operator.io/uid"] != string(o.UID) {
			t.Errorf("%s: status.id %q, the tenant's id %q and tags %v", name, o.Status.ID, tenant.ID, tenant.Tags)
		}
	}
	if committed := s.calls()["CreateDistributionTenant"].Committed; len(tenants) != 20 || committed != 20 {
		t.Errorf("%d tenants, %d committed creates, want 20 of each", len(tenants), committed)
	}

	if err := f.Delete(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.eventually(func(g gomega.Gomega) { g.Expect(s.inAWS()).To(gomega.BeEmpty()) })
	// Until a list confirms that it is gone, the object says what it waits for.
	s.eventually(func(g gomega.Gomega) {
		o := &v1alpha1.DistributionTenant{}
		err := kube.Get(t.Context(), client.ObjectKey{Namespace: s.namespace, Name: f.Name(0)}, o)
		if apierrors.IsNotFound(err) {
			return
		}
		ready := meta.FindStatusCondition(o.Status.Conditions, v1alpha1.ConditionReady)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(ready).NotTo(gomega.BeNil())
		g.Expect(ready.Reason).To(gomega.Equal(v1alpha1.ReasonDeleting))
	})
}
