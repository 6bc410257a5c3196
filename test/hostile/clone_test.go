package hostile_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

// A control plane that is cloned from an etcd snapshot has the objects, the UIDs and the cluster ID of the other, and
// another issuer and CA. Here everything stays but what is stored of issuer and CA, which becomes that of another cluster.
func TestACloneChangesNothingUntilItIsAccepted(t *testing.T) {
	f := newFleet(t, "copied", "--deletion-budget=false")
	c := &clone{fleet: f, key: client.ObjectKey{Namespace: host.Installation.Namespace, Name: "cloudfront-tenant-operator-cluster"}}
	stored := c.stored()
	fingerprint := stored.Data["fingerprint"]
	if stored.Data["issuer"] == "" || stored.Data["cluster-id"] == "" || fingerprint == "" {
		t.Fatalf("at its first start the operator has stored %v", stored.Data)
	}
	// The same cluster continues, and nothing is written.
	c.restart(nil)
	if again := c.stored(); again.ResourceVersion != stored.ResourceVersion {
		t.Errorf("a start in the same cluster writes the ConfigMap")
	}

	c.restart(func(data map[string]string) { data["issuer"] = "https://oidc.example.com/production" })
	command := fmt.Sprintf("kubectl -n %s annotate configmap %s %s=%s --overwrite", c.key.Namespace, c.key.Name, v1alpha1.AnnotationAcceptCluster, fingerprint)
	c.says(v1alpha1.ConditionSynced, v1alpha1.ReasonClusterMoved, command)
	_, _, last := f.changes(0)
	before := f.tenantsInAWS()
	if err := kube.DeleteAllOf(t.Context(), &v1alpha1.DistributionTenant{}, client.InNamespace(f.namespace)); err != nil {
		t.Fatal(err)
	}
	c.says(v1alpha1.ConditionReady, v1alpha1.ReasonDeleting, command)
	// Nor does the fingerprint of any other cluster release it.
	c.accept(strings.Repeat("0", len(fingerprint)))
	c.unchanged(last, before)
	if m, err := f.operator.Metrics(t.Context()); err != nil || m.Sum("cloudfront_tenant_operator_writes_halted", "reason", "ClusterMoved") != 1 {
		t.Errorf("the metric does not say that writes are halted (%v)", err)
	}

	c.accept(fingerprint)
	f.eventually(func(g gomega.Gomega) {
		g.Expect(f.tenantsInAWS()).To(gomega.BeEmpty())
		g.Expect(c.stored().Data).To(gomega.Equal(stored.Data))
	})
}

// Under another cluster ID, every owner tag is that of someone else, and each object asks for its tags at once. The records
// of all tenants stay nevertheless, no object that is deleted is let go, and the previous ID continues as if nothing had
// been.
func TestAnotherClusterIDChangesNothingUntilItIsRestored(t *testing.T) {
	f := newFleet(t, "renamed", "--deletion-budget=false")
	c := &clone{fleet: f, key: client.ObjectKey{Namespace: host.Installation.Namespace, Name: "cloudfront-tenant-operator-cluster"}}
	stored := c.stored()
	_, _, last := f.changes(0)
	before := f.tenantsInAWS()

	if _, err := f.operator.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	renamed, err := f.StartOperator(t.Context(), stack.OperatorOptions{Flags: []string{"--cluster-id=another", "--sweep-interval=10s"}})
	if err != nil {
		t.Fatal(err)
	}
	c.says(v1alpha1.ConditionSynced, v1alpha1.ReasonClusterIDChanged, fmt.Sprintf("The cluster ID was %q and is %q.", stored.Data["cluster-id"], "another"))
	for _, o := range f.objects(gomega.NewWithT(t)) {
		if out, err := host.Kubectl(t.Context(), "-n", f.namespace, "annotate", "cfdt", o.Name, v1alpha1.AnnotationReconcileNow+"=now"); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if err := kube.Delete(t.Context(), &f.objects(gomega.NewWithT(t))[0]); err != nil {
		t.Fatal(err)
	}
	c.unchanged(last, before)
	c.says(v1alpha1.ConditionSynced, v1alpha1.ReasonClusterIDChanged, "Nothing is changed in AWS.")
	if m, err := renamed.Metrics(t.Context()); err != nil || m.Sum("cloudfront_tenant_operator_writes_halted", "reason", "ClusterIDChanged") != 1 {
		t.Errorf("the metric does not say that writes are halted (%v)", err)
	}
	if _, err := renamed.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}

	if err := f.operator.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.eventually(func(g gomega.Gomega) {
		objects := slices.DeleteFunc(f.objects(g), func(o v1alpha1.DistributionTenant) bool { return !o.DeletionTimestamp.IsZero() })
		g.Expect(objects).To(gomega.HaveLen(*size - 1))
		for i := range objects {
			g.Expect(meta.IsStatusConditionTrue(objects[i].Status.Conditions, v1alpha1.ConditionReady)).To(gomega.BeTrue(), objects[i].Name)
			g.Expect(meta.IsStatusConditionTrue(objects[i].Status.Conditions, v1alpha1.ConditionSynced)).To(gomega.BeTrue(), objects[i].Name)
		}
		g.Expect(f.tenantsInAWS()).To(gomega.HaveLen(*size - 1))
	})
}

// clone is a fleet whose cluster is another one.
type clone struct {
	*fleet

	key client.ObjectKey
}

func (c *clone) stored() *corev1.ConfigMap {
	c.t.Helper()
	var m corev1.ConfigMap
	if err := kube.Get(c.t.Context(), c.key, &m); err != nil {
		c.t.Fatal(err)
	}
	return &m
}

// restart changes what is stored while the operator is away.
func (c *clone) restart(change func(data map[string]string)) {
	c.t.Helper()
	if _, err := c.operator.Stop(c.t.Context()); err != nil {
		c.t.Fatal(err)
	}
	if change != nil {
		m := c.stored()
		change(m.Data)
		if err := kube.Update(c.t.Context(), m); err != nil {
			c.t.Fatal(err)
		}
	}
	if err := c.operator.Start(c.t.Context()); err != nil {
		c.t.Fatal(err)
	}
}

// accept runs the command.
func (c *clone) accept(fingerprint string) {
	c.t.Helper()
	if out, err := host.Kubectl(c.t.Context(), "-n", c.key.Namespace, "annotate", "configmap", c.key.Name, v1alpha1.AnnotationAcceptCluster+"="+fingerprint, "--overwrite"); err != nil {
		c.t.Fatalf("%v: %s", err, out)
	}
}

// says waits until every object has the condition.
func (c *clone) says(condition, reason, text string) {
	c.t.Helper()
	c.eventually(func(g gomega.Gomega) {
		objects := c.objects(g)
		g.Expect(objects).To(gomega.HaveLen(*size))
		for i := range objects {
			now := meta.FindStatusCondition(objects[i].Status.Conditions, condition)
			g.Expect(now).NotTo(gomega.BeNil(), objects[i].Name)
			g.Expect(now.Reason).To(gomega.Equal(reason), "%s: %s", objects[i].Name, now.Message)
			g.Expect(now.Message).To(gomega.ContainSubstring(text), objects[i].Name)
		}
	})
}

// unchanged checks that AWS stays as it is, for longer than the operator waits between two looks at anything.
func (c *clone) unchanged(since uint64, before any) {
	c.t.Helper()
	gomega.NewWithT(c.t).Consistently(c.t.Context(), func(g gomega.Gomega) {
		changes, tags, _ := c.changes(since)
		g.Expect(changes).To(gomega.BeEmpty())
		g.Expect(tags).To(gomega.BeZero())
	}).WithTimeout(20 * time.Second).WithPolling(time.Second).Should(gomega.Succeed())
	if d := cmp.Diff(before, any(c.tenantsInAWS())); d != "" {
		c.t.Errorf("the tenants in AWS (-before +after):\n%s", d)
	}
}
