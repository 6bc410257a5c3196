package distributiontenant_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/claim"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/grant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/proof"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// Events tell transitions. The happy path has one act, and no poll ever repeats one.
func TestEvents(t *testing.T) {
	wasReady := func(status bool, reason chain.Reason) func(*distributiontenant.Input) {
		return func(in *distributiontenant.Input) {
			in.Memory.Conditions = map[chain.ConditionType]chain.Condition{
				chain.Ready:  {Type: chain.Ready, Status: status, Reason: reason, Generation: in.Generation},
				chain.Synced: {Type: chain.Synced, Status: true, Reason: resource.ReasonInSync, Generation: in.Generation},
			}
		}
	}
	ungranted := func(in *distributiontenant.Input) {
		in.Ungranted = &chain.Halt{Reason: grant.NotGranted, Message: "Look here."}
	}
	claimed := func(in *distributiontenant.Input) {
		in.Halt = &chain.Halt{Reason: claim.ReasonDomainClaimed, Message: "Look here.", Alone: true}
	}
	difference := []resource.Difference{{Field: "enabled", Desired: "true", Observed: "false"}}
	created := quiet()
	created.Memory.ID = ""
	tests := map[string]struct {
		in   distributiontenant.Input
		done []distributiontenant.Step
		want []chain.Event
	}{
		"nothing happened": {in: quiet()},
		"a creation that ends well is no second news": {in: with(quiet(), wasReady(false, resource.ReasonCreating))},
		"the end of a problem is": {
			in:   with(quiet(), wasReady(false, resource.ReasonAccessDenied)),
			want: []chain.Event{{Reason: "Deployed", Message: "Deployed to CloudFront's edge locations and serving every domain."}},
		},
		"a deployment is no news":         {in: with(quiet(), inProgress)},
		"a creation is":                   {in: created, done: []distributiontenant.Step{distributiontenant.Create{Tenant: spec().Tenant}}, want: []chain.Event{{ID: "dt_1", Reason: "Created", Message: `Created the distribution tenant "alpha" (dt_1).`}}},
		"a disabling is":                  {in: dying(), done: []distributiontenant.Step{distributiontenant.Disable{ID: "dt_1"}}, want: []chain.Event{{ID: "dt_1", Reason: "Disabled", Message: `Disabled the distribution tenant "alpha" (dt_1), so that it can be deleted.`}}},
		"a deletion is":                   {in: with(dying(), func(in *distributiontenant.Input) { in.Attempts.Confirmed = true }), done: []distributiontenant.Step{distributiontenant.Delete{ID: "dt_1"}}, want: []chain.Event{{ID: "dt_1", Reason: "Deleted", Message: `Deleted the distribution tenant "alpha" (dt_1).`}}},
		"one of what is not found is not": {in: dying(), done: []distributiontenant.Step{distributiontenant.Delete{ID: "dt_1"}}},
		"so is that of a certificate":     {in: dying(), done: []distributiontenant.Step{distributiontenant.DeleteCertificate{ARN: "arn:1"}}, want: []chain.Event{{ID: "arn:1", Reason: "CertificateDeleted", Message: "Deleted the managed certificate arn:1."}}},
		"a re-creation is":                {in: with(quiet(), absent), done: []distributiontenant.Step{distributiontenant.Create{Tenant: spec().Tenant}}, want: []chain.Event{{ID: "dt_1", Warning: true, Reason: "ExternalDeletion", Message: `The distribution tenant "alpha" (dt_1) was deleted outside of Kubernetes and is created again.`}}},
		"a correction is":                 {in: quiet(), done: []distributiontenant.Step{distributiontenant.Update{Drift: difference}}, want: []chain.Event{{ID: "dt_1", Warning: true, Reason: "DriftCorrected", Message: `Reverted changes made in AWS: enabled "false" instead of "true".`}}},
		"an update by the spec is, with what it replaces": {
			in: quiet(), done: []distributiontenant.Step{distributiontenant.Update{
				Seen: distributiontenant.Tenant{Domains: []string{"a.example.com"}}, Tenant: distributiontenant.Tenant{Domains: []string{"b.example.com"}},
			}},
			want: []chain.Event{{ID: "dt_1", Reason: "Updated", Message: `Updated the distribution tenant "alpha" (dt_1): domains from "a.example.com" to "b.example.com".`}},
		},
		"an adoption is":         {in: quiet(), done: []distributiontenant.Step{distributiontenant.Adopt{}}, want: []chain.Event{{ID: "dt_1", Reason: "Adopted", Message: `Adopted the distribution tenant "alpha". It had no owner.`}}},
		"with the owner before":  {in: quiet(), done: []distributiontenant.Step{distributiontenant.Adopt{Previous: ownership.Shown{Text: "shop/beta"}}}, want: []chain.Event{{ID: "dt_1", Reason: "Adopted", Message: `Adopted the distribution tenant "alpha". It belonged to shop/beta.`}}},
		"a tenant that stays is": {in: dying(), done: []distributiontenant.Step{distributiontenant.LetGo{Left: "alpha (dt_1)"}}, want: []chain.Event{{ID: "dt_1", Reason: "Retained", Message: "The distribution tenant alpha (dt_1) stays in AWS."}}},
		"drift that is only reported is, with its values": {
			in: with(quiet(), drifted, drift(resource.DriftReport)),
			want: []chain.Event{{Warning: true, Reason: "DriftDetected",
				Message: `Changed outside of Kubernetes and not reverted (driftPolicy report): parameters[tier] "lead" instead of "gold".`}},
		},
		"a lost grant is, once, where the tenant serves on": {
			in:   with(quiet(), ungranted),
			want: []chain.Event{{Warning: true, Reason: "NotGranted", Message: "Look here."}},
		},
		"so is a domain that another namespace has": {
			in:   with(quiet(), claimed),
			want: []chain.Event{{Warning: true, Reason: "DomainClaimed", Message: "Look here."}},
		},
		"a tenant that was never created for want of a grant has one event as well": {
			in:   with(unborn(), ungranted),
			want: []chain.Event{{Warning: true, Reason: "NotGranted", Message: "Look here."}},
		},
		"a domain that has to be proven is, and no warning": {
			in: with(unborn(), demanded("alpha.example.com"), sighted("alpha.example.com", proof.Missing)),
			want: []chain.Event{{Reason: "DomainNotProven", Message: `spec.domains: alpha.example.com is served once it is proven to be yours. ` +
				`Create the TXT record _cloudfront-tenant-operator.alpha.example.com with the value "cloudfront-tenant-operator=oogcxhjp6ab3r6ha3oljlb3vywkdq365". There is no such record yet.`}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			out := distributiontenant.Outcome{Decision: distributiontenant.Decide(test.in), Done: test.done}
			got := append(distributiontenant.Acts(test.in, out), distributiontenant.Events(test.in, out, distributiontenant.Conclude(test.in, out))...)
			if d := cmp.Diff(test.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// The last step is reported once the finalizer is gone: the next pass does it again.
func TestWhatWasNotReleasedIsNotToldYet(t *testing.T) {
	out := distributiontenant.Outcome{Done: []distributiontenant.Step{distributiontenant.LetGo{Left: "alpha (dt_1)"}}}
	if acts := distributiontenant.Acts(dying(), out); len(acts) != 1 || acts[0].Reason != "Retained" {
		t.Errorf("a release tells %+v", acts)
	}
	out.Err = &fault.Error{Kind: fault.Conflict}
	if acts := distributiontenant.Acts(dying(), out); len(acts) != 0 {
		t.Errorf("a release that failed tells %+v", acts)
	}
}

// A tenant that is kept from the midst of its deletion no longer serves anyone.
func TestWhatIsKeptDisabledIsSaid(t *testing.T) {
	in := dying()
	kept := *in.World.Tenant
	kept.Enabled = false
	in.World.Tenant = &kept
	acts := distributiontenant.Acts(in, distributiontenant.Outcome{Done: []distributiontenant.Step{distributiontenant.LetGo{Left: "alpha (dt_1)"}}})
	want := []chain.Event{{ID: "dt_1", Reason: "Retained", Message: "The distribution tenant alpha (dt_1) stays in AWS. It is disabled. Enable it in AWS if it should serve requests again."}}
	if d := cmp.Diff(want, acts); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
