package hostile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

// neighbor creates tenants in another namespace of the same operator.
func (f *fleet) neighbor(namespace string, tenants int) *fleet {
	f.t.Helper()
	n := &fleet{t: f.t, Stack: f.Stack, operator: f.operator, namespace: namespace}
	if err := kube.Create(f.t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		f.t.Fatal(err)
	}
	var err error
	if n.tenants, err = stack.NewFleet(f.t.Context(), kube, namespace, namespace+"-", tenants); err != nil {
		f.t.Fatal(err)
	}
	defer n.tenants.Close()
	if err := n.tenants.Create(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
	if err := n.tenants.WaitReady(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
	return n
}

// deletes deletes the first tenants of the namespace.
func (f *fleet) deletes(n int) {
	f.t.Helper()
	args := []string{"delete", "cfdt", "--wait=false"}
	for i := range n {
		args = append(args, f.tenants.Name(i))
	}
	f.kubectl(args...)
}

// holds waits until that many deleted objects of the namespace say that they are held, with the text.
func (f *fleet) holds(n int, text string) {
	f.t.Helper()
	f.eventually(func(g gomega.Gomega) {
		waiting := 0
		for _, o := range f.objects(g) {
			c := meta.FindStatusCondition(o.Status.Conditions, v1alpha1.ConditionReady)
			if !o.DeletionTimestamp.IsZero() && c.Reason == v1alpha1.ReasonDeletionHeld {
				g.Expect(c.Message).To(gomega.ContainSubstring(text))
				waiting++
			}
		}
		g.Expect(waiting).To(gomega.Equal(n))
	})
}

// serving is how many tenants of the namespace AWS has.
func (f *fleet) serving() int {
	n := 0
	for name := range f.tenantsInAWS() {
		if strings.HasPrefix(name, f.tenants.Name(0)[:len(f.tenants.Name(0))-5]) {
			n++
		}
	}
	return n
}

// Five teams that lose all of their customers in a window are one mistake, however small each of them is: a wrong selector,
// a deleted folder in Git.
func TestFiveSmallNamespacesAreOneMistake(t *testing.T) {
	teams := []string{"small-0", "small-1", "small-2", "small-3", "small-4"}
	forget(t, teams...)
	f := newFleet(t, "large")
	var small []*fleet
	for _, team := range teams {
		small = append(small, f.neighbor(team, 2))
	}
	for _, s := range small {
		s.deletes(2)
	}
	for _, s := range small {
		s.holds(2, fmt.Sprintf("10 deletions of %d distribution tenants in the cluster, with which several namespaces lose all they have", *size+10))
		if got := s.serving(); got != 2 {
			t.Errorf("%d customers of %s are served, want 2", got, s.namespace)
		}
	}
}

// A team that deletes more than its share is held alone: the others continue to delete what they have to.
func TestARivalDoesNotUseUpTheBudget(t *testing.T) {
	forget(t, "rival")
	f := newFleet(t, "honest")
	theirs := max(22, *size/2)
	rival := f.neighbor("rival", theirs)
	rival.deletes(theirs / 2)
	rival.holds(theirs/2, "in namespace rival")
	f.deletes(1)
	f.eventually(func(g gomega.Gomega) { g.Expect(f.serving()).To(gomega.Equal(*size - 1)) })
	if got := rival.serving(); got != theirs {
		t.Errorf("%d customers of the rival are served, want %d", got, theirs)
	}
}
