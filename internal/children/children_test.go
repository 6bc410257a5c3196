package children_test

import (
	"context"
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/children"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

const owner = "team.example/owner"

// quota may have additions by others; of a role binding they change the meaning.
func quota(pods string) plan.Object {
	return object(plan.KindResourceQuota, map[string]any{"pods": pods})
}

func binding() plan.Object { return object(plan.KindRoleBinding, map[string]any{"role": "edit"}) }

func object(kind plan.Kind, spec map[string]any) plan.Object {
	return plan.Object{
		Kind: kind, Namespace: "acme", Name: "plan", Labels: map[string]string{owner: "us"}, Annotations: map[string]string{},
		Body: map[string]any{"spec": spec},
	}
}

func live(o plan.Object) plan.Live { return plan.Live{Object: o, UID: "first"} }

func with(l plan.Live, change func(*plan.Live)) plan.Live {
	l.Labels, l.Body = maps.Clone(l.Labels), map[string]any{"spec": maps.Clone(l.Body["spec"].(map[string]any))}
	change(&l)
	return l
}

// cluster is an API server with at most one object of each kind. An object that is created again has another UID.
type cluster struct {
	port.Children

	objects map[plan.Kind]plan.Live
	// reverts changes back what is applied, and refuses is the answer to each write of a kind.
	reverts bool
	refuses map[plan.Kind]*fault.Error
	writes  []string
}

func (c *cluster) Create(_ context.Context, o plan.Object) (plan.Live, error) {
	if f := c.refuses[o.Kind]; f != nil {
		return plan.Live{}, f
	}
	if _, there := c.objects[o.Kind]; there {
		return plan.Live{}, &fault.Error{Kind: fault.Exists}
	}
	c.writes = append(c.writes, "create")
	c.objects[o.Kind] = plan.Live{Object: o, UID: "second"}
	return c.objects[o.Kind], nil
}

func (c *cluster) Read(_ context.Context, k plan.Kind, namespace, name string) (plan.Live, error) {
	if l, there := c.objects[k]; there && l.Namespace == namespace && l.Name == name {
		return l, nil
	}
	return plan.Live{}, &fault.Error{Kind: fault.NotFound}
}

// Apply leaves fields of others.
func (c *cluster) Apply(_ context.Context, o plan.Object, uid string, _ ...string) (plan.Live, error) {
	l, there := c.objects[o.Kind]
	if !there || l.UID != uid {
		return plan.Live{}, &fault.Error{Kind: fault.Conflict}
	}
	c.writes = append(c.writes, "apply")
	if !c.reverts {
		l = with(l, func(l *plan.Live) { maps.Copy(l.Body["spec"].(map[string]any), o.Body["spec"].(map[string]any)) })
	}
	c.objects[o.Kind] = l
	return l, nil
}

func (c *cluster) Delete(_ context.Context, l plan.Live) error {
	if c.objects[l.Kind].UID != l.UID {
		return &fault.Error{Kind: fault.Conflict}
	}
	c.writes = append(c.writes, "delete")
	delete(c.objects, l.Kind)
	return nil
}

func TestChanges(t *testing.T) {
	denied := &fault.Error{Kind: fault.Denied, Message: "no"}
	widened := with(live(binding()), func(l *plan.Live) { l.Body["spec"].(map[string]any)["more"] = "admin" })
	for sentence, c := range map[string]struct {
		there   []plan.Live
		cluster cluster
		changes plan.Changes
		// writes are all that reach the API server, told the events, and failed why the object is tried again.
		writes []string
		told   []string
		failed fault.Kind
		known  []plan.Live
	}{
		"a new object is created": {
			changes: plan.Changes{Create: []plan.Object{quota("1")}},
			writes:  []string{"create"}, told: []string{"Created ResourceQuota plan."},
			known: []plan.Live{{Object: quota("1"), UID: "second"}},
		},
		"one that is there as it should be was created by a request whose answer was lost": {
			there: []plan.Live{live(quota("1"))}, changes: plan.Changes{Create: []plan.Object{quota("1")}},
			told: []string{"Created ResourceQuota plan."}, known: []plan.Live{live(quota("1"))},
		},
		"one that is there and differs is changed": {
			there: []plan.Live{live(quota("9"))}, changes: plan.Changes{Create: []plan.Object{quota("1")}},
			writes: []string{"apply"}, told: []string{"Reverted changes made by others: ResourceQuota plan."},
			known: []plan.Live{live(quota("1"))},
		},
		"one of someone else is not touched": {
			there:   []plan.Live{with(live(quota("9")), func(l *plan.Live) { delete(l.Labels, owner) })},
			changes: plan.Changes{Create: []plan.Object{quota("1")}}, failed: fault.Exists,
		},
		"one that is being deleted is waited for": {
			there:   []plan.Live{with(live(quota("9")), func(l *plan.Live) { l.Deleting = true })},
			changes: plan.Changes{Create: []plan.Object{quota("1")}},
			known:   []plan.Live{with(live(quota("9")), func(l *plan.Live) { l.Deleting = true })},
		},
		"what others change back at once counts as failed": {
			there: []plan.Live{live(quota("9"))}, cluster: cluster{reverts: true},
			changes: plan.Changes{Update: []plan.Update{{Object: quota("1"), UID: "first"}}},
			writes:  []string{"apply"}, failed: fault.Denied, known: []plan.Live{live(quota("9"))},
		},
		"additions that change the meaning cost the object its life": {
			there:   []plan.Live{widened},
			changes: plan.Changes{Update: []plan.Update{{Object: binding(), UID: "first"}}},
			writes:  []string{"apply", "delete", "create"}, told: []string{"Changed RoleBinding plan."},
			known: []plan.Live{{Object: binding(), UID: "second"}},
		},
		"a replacement that is refused has deleted the object, and says so": {
			there: []plan.Live{live(quota("9"))}, cluster: cluster{refuses: map[plan.Kind]*fault.Error{plan.KindResourceQuota: denied}},
			changes: plan.Changes{Replace: []plan.Update{{Object: quota("1"), UID: "first"}}},
			writes:  []string{"delete"}, told: []string{"Deleted ResourceQuota plan."}, failed: fault.Denied,
		},
		"one that fails stops no other": {
			cluster: cluster{refuses: map[plan.Kind]*fault.Error{plan.KindResourceQuota: denied}},
			changes: plan.Changes{Create: []plan.Object{quota("1"), binding()}},
			writes:  []string{"create"}, told: []string{"Created RoleBinding plan."}, failed: fault.Denied,
			known: []plan.Live{{Object: binding(), UID: "second"}},
		},
		"what is deleted is known as being deleted": {
			there: []plan.Live{live(quota("9"))}, changes: plan.Changes{Prune: []plan.Live{live(quota("9"))}},
			writes: []string{"delete"}, told: []string{"Deleted ResourceQuota plan."},
			known: []plan.Live{with(live(quota("9")), func(l *plan.Live) { l.Deleting = true })},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			c.cluster.objects = map[plan.Kind]plan.Live{}
			for _, l := range c.there {
				c.cluster.objects[l.Kind] = l
			}
			var known []plan.Live
			var account plan.Account
			attempts := plan.Attempts{}
			set := children.Set{
				Children: &c.cluster, Now: time.Unix(0, 0), Owns: func(l plan.Live) bool { return l.Labels[owner] == "us" },
				Live: &known, Attempts: attempts, Account: &account,
			}
			set.Write(t.Context(), c.changes)
			set.Prune(t.Context(), c.changes.Prune)

			failed := fault.None
			for _, f := range attempts {
				failed = f.Err.Kind
			}
			var told []string
			for _, e := range account.Events() {
				told = append(told, e.Message)
			}
			for what, diff := range map[string]string{
				"writes": cmp.Diff(c.writes, c.cluster.writes), "events": cmp.Diff(c.told, told),
				"failed": cmp.Diff(c.failed, failed), "known": cmp.Diff(c.known, known),
			} {
				if diff != "" {
					t.Errorf("%s (-want +got):\n%s", what, diff)
				}
			}
		})
	}
}

// An object that could be made is no failure any more.
func TestSuccessEndsTheFailure(t *testing.T) {
	o := quota("1")
	attempts := plan.Attempts{}
	attempts.Note(o.Key(), o.Hash(), time.Unix(0, 0), &fault.Error{Kind: fault.Denied})
	set := children.Set{
		Children: &cluster{objects: map[plan.Kind]plan.Live{}}, Owns: func(plan.Live) bool { return true },
		Live: new([]plan.Live), Attempts: attempts, Account: new(plan.Account),
	}
	set.Write(t.Context(), plan.Changes{Create: []plan.Object{o}})
	if len(attempts) > 0 {
		t.Errorf("still failed: %v", attempts)
	}
}
