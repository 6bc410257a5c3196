package cli

import (
	"context"
	"slices"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/kube/budget"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli/fleet"
)

// shownObjects is how many objects that need an action are shown on the first screen.
const shownObjects = 10

func statusCommand(s *session) *cobra.Command {
	c := &cobra.Command{
		Use: "status", GroupID: look, Args: cobra.NoArgs, Short: "Show the fleet on one screen",
		Long: "Show the fleet on one screen: how many tenants are ready, what the others wait for, and what needs a person.\n" +
			"With -A, it is the whole cluster, with customers, plans and grants.",
		Example: "  kubectl cfdt status -A\n  kubectl cfdt status -n shop -o yaml",
	}
	s.cluster.addAll(c)
	out := outputOf(c)
	c.RunE = run(func(ctx context.Context, _ []string) error {
		f, err := s.load(ctx)
		if err != nil {
			return err
		}
		return s.print(out, "FleetStatus", s.statusOf(ctx, f))
	})
	return c
}

// fleetStatus is the answer of status.
type fleetStatus struct {
	Namespace   string         `json:"namespace,omitempty"`
	Operators   []installation `json:"operators,omitempty"`
	Frozen      bool           `json:"frozen,omitempty"`
	Tenants     fleet.Census   `json:"tenants"`
	NeedsPerson []fleet.Group  `json:"needsPerson,omitempty"`
	Working     []fleet.Group  `json:"working,omitempty"`
	Drifted     int            `json:"drifted,omitempty"`
	// Certificates counts those that are known, and NextExpiry is the first of them that expires.
	Certificates int               `json:"certificates,omitempty"`
	NextExpiry   *certificateUse   `json:"nextExpiry,omitempty"`
	Sources      []sourceStatus    `json:"sources,omitempty"`
	Parents      []parentStatus    `json:"parents,omitempty"`
	Customers    *fleet.Census     `json:"customers,omitempty"`
	Plans        []planStatus      `json:"plans,omitempty"`
	Grants       *fleet.Census     `json:"grants,omitempty"`
	Objects      []objectStatus    `json:"objectsThatNeedAPerson,omitempty"`
	More         int               `json:"more,omitempty"`
	Unreadable   map[string]string `json:"unreadable,omitempty"`
}

type sourceStatus struct {
	Name     string `json:"name"`
	Rows     int32  `json:"rows"`
	Rejected int32  `json:"rejected"`
	Held     int32  `json:"held"`
	Reason   string `json:"reason"`
	// Rollout is how far a change of the tenants has come.
	Rollout string `json:"rollout,omitempty"`
	state   fleet.State
}

type parentStatus struct {
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	Reason  string `json:"reason"`
	Tenants int    `json:"tenants"`
	state   fleet.State
}

type planStatus struct {
	Name    string `json:"name"`
	Tenants int32  `json:"tenants"`
	Applied int32  `json:"applied"`
	Failed  int32  `json:"failed"`
	// Rollout is the state of a rollout that is not simply in progress.
	Rollout string `json:"rollout,omitempty"`
}

type objectStatus struct {
	Kind    string      `json:"kind"`
	Name    string      `json:"name"`
	Reason  string      `json:"reason"`
	Since   metav1.Time `json:"since"`
	Message string      `json:"message"`
}

func (s *session) statusOf(ctx context.Context, f *fleet.Fleet) fleetStatus {
	tenants := f.Kind(kindTenant)
	st := fleetStatus{
		Namespace: s.cluster.chosen(), Tenants: fleet.Count(tenants), NeedsPerson: fleet.ByReason(tenants, fleet.Person),
		Working: fleet.ByReason(tenants, fleet.Working), Drifted: len(f.Drifted()),
	}
	// A user who may not see Deployments sees the rest.
	st.Operators, _ = s.operators(ctx)
	st.Frozen = s.frozen(ctx, st.Operators)
	st.Sources, st.Parents, st.Plans = sourcesOf(f), parentsOf(f), plansOf(f)
	if s.cluster.chosen() == "" {
		st.Customers, st.Grants = censusOf(f, "Tenant"), censusOf(f, "EdgeGrant")
	}
	if certs := certificatesOf(f, s.Clock.Now(), 0).Certificates; len(certs) > 0 {
		st.Certificates, st.NextExpiry = len(certs), &certs[0]
	}
	st.Objects, st.More = objectsOf(f, shownObjects)
	for _, gap := range f.Gaps {
		if !gap.Missing {
			if st.Unreadable == nil {
				st.Unreadable = map[string]string{}
			}
			st.Unreadable[gap.Kind] = gap.Err.Error()
		}
	}
	return st
}

// frozen reports whether an administrator has stopped all writes to AWS.
func (s *session) frozen(ctx context.Context, operators []installation) bool {
	c, err := s.client()
	if err != nil {
		return false
	}
	return slices.ContainsFunc(operators, func(i installation) bool {
		var m corev1.ConfigMap
		err := c.Get(ctx, client.ObjectKey{Namespace: i.Namespace, Name: budget.Name}, &m)
		return err == nil && budget.Frozen(&m)
	})
}

func censusOf(f *fleet.Fleet, kind string) *fleet.Census {
	items := f.Kind(kind)
	if len(items) == 0 {
		return nil
	}
	c := fleet.Count(items)
	return &c
}

func sourcesOf(f *fleet.Fleet) (out []sourceStatus) {
	for _, i := range f.Kind("TenantSource") {
		o := i.Object.(*v1alpha1.TenantSource) //nolint:forcetypeassert // items are kept by their kind
		s := sourceStatus{Name: i.Name(), Rows: amount(o.Status.TenantsDiscovered), Rejected: o.Status.RejectedRowsTotal, Reason: i.Why().Reason, state: i.State()}
		if h := o.Status.HeldDeletions; h != nil {
			s.Held = h.Count
		}
		s.Rollout = rolloutText(o)
		out = append(out, s)
	}
	return out
}

func parentsOf(f *fleet.Fleet) (out []parentStatus) {
	users := f.Users()
	for _, kind := range []string{"Distribution", "ConnectionGroup"} {
		for _, i := range f.Kind(kind) {
			p := parentStatus{Kind: kind, Name: i.Name(), Reason: i.Why().Reason, state: i.State()}
			switch o := i.Object.(type) {
			case *v1alpha1.Distribution:
				p.Tenants = users[o.Status.ID]
			case *v1alpha1.ConnectionGroup:
				p.Tenants = users[o.Status.ID]
			}
			out = append(out, p)
		}
	}
	return out
}

func plansOf(f *fleet.Fleet) (out []planStatus) {
	for _, o := range f.Plans() {
		out = append(out, planStatus{
			Name: o.Name, Tenants: amount(o.Status.Tenants), Applied: amount(o.Status.Applied), Failed: amount(o.Status.Failed),
			Rollout: rolloutState(o.Status.Conditions),
		})
	}
	return out
}

// objectsOf are the objects of all kinds that need an action, the oldest first, and how many more there are.
func objectsOf(f *fleet.Fleet, most int) (out []objectStatus, more int) {
	items := fleet.In(f.All(), fleet.Person)
	for _, i := range items[:min(most, len(items))] {
		why := i.Why()
		out = append(out, objectStatus{Kind: i.Kind, Name: i.Name(), Reason: why.Reason, Since: why.LastTransitionTime, Message: why.Message})
	}
	return out, len(items) - len(out)
}
