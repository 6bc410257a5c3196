package edgegrant_test

import (
	"strings"
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/edgegrant"
)

func TestAGrant(t *testing.T) {
	for name, test := range map[string]struct {
		in     edgegrant.Input
		step   edgegrant.Step
		reason chain.Reason
		says   string
	}{
		"a new one gets the finalizer":         {edgegrant.Input{InForce: edgegrant.Enforced}, edgegrant.EnsureFinalizer, edgegrant.Enforced, "is enforced"},
		"one that has it is enforced":          {edgegrant.Input{InForce: edgegrant.Enforced, HasFinalizer: true}, edgegrant.Rest, edgegrant.Enforced, "is enforced"},
		"or audited":                           {edgegrant.Input{InForce: edgegrant.Audited, HasFinalizer: true}, edgegrant.Rest, edgegrant.Audited, "nothing is held"},
		"without grants it is nothing":         {edgegrant.Input{InForce: edgegrant.Off}, edgegrant.Rest, edgegrant.Off, "may use everything"},
		"what is not understood is told":       {edgegrant.Input{InForce: edgegrant.Enforced, HasFinalizer: true, Invalid: "spec.roles: no"}, edgegrant.Rest, edgegrant.InvalidSpec, "spec.roles: no. This field grants nothing until it is corrected. The rest of the grant is in force."},
		"a rival is named":                     {edgegrant.Input{InForce: edgegrant.Enforced, HasFinalizer: true, Rivals: []string{"other"}, Contested: []string{"shop"}}, edgegrant.Rest, edgegrant.Ambiguous, "The namespace shop has no grant, because other and this one select it equally. Change spec.namespaces of one of the two grants."},
		"and so are all, with the namespaces":  {edgegrant.Input{InForce: edgegrant.Enforced, HasFinalizer: true, Rivals: []string{"a", "b"}, Contested: []string{"shop", "web"}}, edgegrant.Rest, edgegrant.Ambiguous, "The namespaces shop, web have no grant, because a, b and this one select them equally. Change spec.namespaces of all of these grants but one."},
		"a role that is refused is told":       {edgegrant.Input{InForce: edgegrant.Enforced, HasFinalizer: true, Refused: "AssumeRole: no"}, edgegrant.Rest, edgegrant.RoleRefused, "AssumeRole: no."},
		"in audit, too: accounts are in force": {edgegrant.Input{InForce: edgegrant.Audited, HasFinalizer: true, Refused: "AssumeRole: no"}, edgegrant.Rest, edgegrant.RoleRefused, "AssumeRole: no."},
		"one that is needed stays":             {edgegrant.Input{InForce: edgegrant.Enforced, HasFinalizer: true, Deleting: true, Needed: 2, NeededBy: []string{"shop", "web"}}, edgegrant.Rest, edgegrant.InUse, "without it 2 objects with something in AWS would have no grant or no access to their AWS account (namespaces: shop, web). Delete them"},
		"so does one that refuses more than what comes after it": {edgegrant.Input{InForce: edgegrant.Enforced, HasFinalizer: true, Deleting: true, Open: true, Widened: []string{"Distribution shop/main", "DistributionTenant shop/acme"}, Instead: []string{"the default grant"}}, edgegrant.Rest, edgegrant.InUse,
			"because it refuses something that the default grant would allow in its place: Distribution shop/main, DistributionTenant shop/acme. Delete or change these objects, or create another grant for their namespaces, or restrict the default grant to the namespaces that need it (grants.default.namespaces)."},
		"an open default grant is told":         {edgegrant.Input{InForce: edgegrant.Enforced, HasFinalizer: true, Open: true}, edgegrant.Rest, edgegrant.Enforced, "The grant is enforced. Every namespace that no EdgeGrant selects has the default grant"},
		"one that is not is deleted":            {edgegrant.Input{InForce: edgegrant.Enforced, HasFinalizer: true, Deleting: true}, edgegrant.LetGo, edgegrant.InUse, ""},
		"and any one where grants are not used": {edgegrant.Input{InForce: edgegrant.Off, HasFinalizer: true, Deleting: true, Needed: 2}, edgegrant.LetGo, edgegrant.InUse, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if step := edgegrant.Decide(test.in); step != test.step {
				t.Errorf("step %d, want %d", step, test.step)
			}
			c := edgegrant.Conclude(test.in)
			good := test.reason == edgegrant.Enforced || test.reason == edgegrant.Audited
			if c.Type != chain.Ready || c.Status != good || c.Reason != test.reason || !strings.Contains(c.Message, test.says) {
				t.Errorf("the condition is %+v", c)
			}
		})
	}
}

func TestEvents(t *testing.T) {
	for name, test := range map[string]struct {
		in     edgegrant.Input
		before chain.Reason
		want   chain.Reason
	}{
		"a deletion that waits is told":               {edgegrant.Input{InForce: edgegrant.Enforced, Deleting: true, Needed: 2}, edgegrant.Enforced, edgegrant.InUse},
		"once":                                        {edgegrant.Input{InForce: edgegrant.Enforced, Deleting: true, Needed: 1}, edgegrant.InUse, ""},
		"one that does not is not":                    {edgegrant.Input{InForce: edgegrant.Enforced, Deleting: true}, edgegrant.Enforced, ""},
		"rivals are told":                             {edgegrant.Input{InForce: edgegrant.Audited, Rivals: []string{"other"}}, "", edgegrant.Ambiguous},
		"so is what can't be understood":              {edgegrant.Input{InForce: edgegrant.Enforced, Invalid: "spec.roles: no"}, edgegrant.Enforced, edgegrant.InvalidSpec},
		"and a role that is refused":                  {edgegrant.Input{InForce: edgegrant.Enforced, Refused: "AssumeRole: no"}, edgegrant.Enforced, edgegrant.RoleRefused},
		"that all is well is no news":                 {edgegrant.Input{InForce: edgegrant.Enforced}, edgegrant.Ambiguous, ""},
		"nor is that an administrator uses no grants": {edgegrant.Input{InForce: edgegrant.Off}, edgegrant.Enforced, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := edgegrant.Events(test.in, test.before, edgegrant.Conclude(test.in))
			if len(got) == 0 && test.want == "" {
				return
			}
			if len(got) != 1 || !got[0].Warning || got[0].Reason != string(test.want) || got[0].Message == "" {
				t.Errorf("got %+v, want %q", got, test.want)
			}
		})
	}
}
