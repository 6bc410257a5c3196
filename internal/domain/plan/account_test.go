package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
)

func TestAccount(t *testing.T) {
	t.Parallel()
	quota := func(pods string) Object {
		return Object{Kind: KindResourceQuota, Namespace: "user-1", Name: "kleff-plan", Body: map[string]any{"spec": map[string]any{"hard": map[string]any{"pods": pods}}}}
	}
	binding := Object{Kind: KindRoleBinding, Namespace: "user-1", Name: "kleff-admin"}
	applied := []Live{{Object: quota("3").Marked()}}
	applied[0].Body = quota("300").Body
	cases := map[string]struct {
		do   func(a *Account)
		want []chain.Event
	}{
		"a pass that does nothing tells nothing": {do: func(*Account) {}},
		"an object that is applied again as it was applied before was changed by others": {
			do:   func(a *Account) { a.Changed(quota("3").Marked(), applied) },
			want: []chain.Event{{Warning: true, Reason: "DriftCorrected", Message: "Reverted changes made by others: ResourceQuota kleff-plan."}},
		},
		"an object in another form than before was changed by the plan": {
			do:   func(a *Account) { a.Changed(quota("5").Marked(), applied) },
			want: []chain.Event{{Reason: "Updated", Message: "Changed ResourceQuota kleff-plan."}},
		},
		"all that the plan changes is one event": {
			do: func(a *Account) {
				a.Deleted(binding)
				a.Created(quota("3"))
			},
			want: []chain.Event{{Reason: "Updated", Message: "Created ResourceQuota kleff-plan. Deleted RoleBinding kleff-admin."}},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var a Account
			c.do(&a)
			if d := cmp.Diff(c.want, a.Events()); d != "" {
				t.Errorf("events (-want +got):\n%s", d)
			}
		})
	}
}
