package convert_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distribution"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantsource"
)

// personal are the reasons with which someone has to act, and why; patient those with which they don't.
var (
	personal = map[string]string{
		"DomainConflict":         "the domain has to be removed from what holds it",
		"AccessDenied":           "a permission has to be given",
		"InvalidSpec":            "AWS refuses the same request for ever",
		"AWSError":               "AWS refuses, or the spec or the drift policy has to say what becomes of what is gone",
		"ValidationFailed":       "the spec has to be changed",
		"QuotaExceeded":          "the quota has to be raised, or something deleted",
		"AdoptionRequired":       "the policy or the name has to be changed",
		"WrongAccount":           "the operator needs other credentials",
		"ClusterMoved":           "an administrator says whether this cluster goes on",
		"ClusterIDChanged":       "the cluster ID has to be restored, or an administrator accepts the new one",
		"NotGranted":             "the spec or the grant has to be changed",
		"Ambiguous":              "one of two grants has to be changed",
		"RoleRefused":            "the trust policy of the role has to be changed",
		"DomainClaimed":          "the domain has to be removed from the spec, or given to the namespace",
		"ClaimNotStored":         "the operator has to be allowed to store claims",
		"DriftNotConverging":     "the other writer has to be stopped",
		"CertificateSANMismatch": "the certificate or the domains have to be changed",
		"MissingParameters":      "the spec has to be completed",
		"DistributionDisabled":   "a person has disabled the distribution, and has to enable it",
		"MissingCertificate":     "a certificate has to be named or requested",
		"DNSError":               "the DNS service refuses the same change for ever",
		"DNSConflict":            "the record of another owner has to be removed, or its takeover allowed",
		"KeyValueConflict":       "the key of another owner has to be removed, or its takeover allowed",
		"ZoneNotFound":           "a zone has to be created or named",
		"ZoneAmbiguous":          "one of the zones has to be named",
		"RoleNotAllowed":         "the administrator has to grant the role",
		"SourceError":            "the table, the query or the rights of the user have to be changed",
		"Conflict":               "the row or the object has to be renamed",
		"InvalidConfig":          "the spec, the Secret or a grant has to be changed",
		"InvalidationFailed":     "another Invalidation has to be created, and what kept this one from its tenants corrected",
		"DeletionHeld":           "the deletion has to be approved, or the rows brought back",
		"DeletionProtected":      "the protection has to be taken off",
		"NamespaceConflict":      "the namespace has to be given to the tenant, or another one chosen",
		"InvalidName":            "the name has to be changed",
		"PlanNotFound":           "the plan has to be created, or another one named",
		"PlanInvalid":            "the plan has to be corrected",
		"CRDMissing":             "Istio or Gatekeeper has to be installed",
		"RolloutStopped":         "what keeps the tenants from the change has to be corrected",
	}
	patient = map[string]string{
		"Deployed": "all is well", "Creating": "AWS is at work", "Deploying": "AWS is at work", "Disabling": "AWS is at work",
		"Deleting": "the deletion is at work", "InUse": "mostly the tenants are on their way out, too",
		"AWSUnavailable": "services recover", "DNSUnavailable": "services recover",
		"DomainValidationPending": "DNS becomes visible, or the customer points the domain at us at a time of their own",
		"DomainNotProven":         "the customer creates the record at a time of their own",
		"DomainChangeHeld":        "the pending request ends", "ReferenceNotReady": "the object of the same manifest appears",
		"Enforced": "all is well", "Audited": "all is well", "GrantsOff": "an administrator asked for it", "NotEnforced": "nothing is held",
		"InSync": "all is well", "DriftDetected": "drift is corrected, or left as the policy asks", "UpdatePending": "what holds it up is in Ready",
		"Paused": "a person asked for it", "Frozen": "an administrator asked for it", "Validated": "all is well", "PendingValidation": "AWS or the customer is at work", "Attaching": "AWS is at work",
		"CertificateFailed": "another certificate is requested automatically", "NotConfigured": "nothing is asked for",
		"DNSReady": "all is well", "DNSNotConfigured": "nothing is asked for", "DNSRecordCreating": "records are on their way", "DNSPropagating": "records are on their way",
		"DeletionTimeout": "the deletion goes on; the condition has its own advice",
		"Disabled":        "a person asked for it",
		"PollSucceeded":   "all is well", "Listening": "all is well", "DryRunComplete": "all is well", "PollFailed": "databases recover",
		"RowsRejected":    "one customer's mistake does not fail the source; all other rows are followed",
		"DeletionPending": "the next polls confirm it", "DryRun": "a person asked for it", "NotListening": "the table is polled, and the operator tries again", "Suspended": "a person asked for it",
		"Completed": "all is well", "Pending": "its turn comes", "InProgress": "AWS is at work",
		"TooManyInvalidations": "what is in progress ends", "PathLimitReached": "the next day comes",
		"KeyValuesPending": "keys are on their way, or the store becomes ready",
		"Ready":            "all is well", "Provisioned": "all is well", "Terminating": "the namespace is on its way out", "Applied": "all is well",
		"PartiallyApplied": "the API server is asked again", "Error": "the API server is asked again",
		"UpToDate": "all is well", "WriteFailed": "databases recover, and the tenants are not affected",
		"StatesBehind":  "the database catches up",
		"StatesRefused": "one customer's row does not fail the table; all other rows are written",
		"RolledOut":     "all is well", "RollingOut": "the change is on its way", "TenantsFailed": "these tenants are tried again",
		"RolloutPaused": "a person asked for it",
	}
)

func TestEachReasonSaysWhetherAPersonHasToAct(t *testing.T) {
	t.Parallel()
	all := map[string]bool{}
	for _, folder := range []string{"../../api/cloudfront/v1alpha1", "../../api/kleff/v1"} {
		for _, reason := range constants(t, folder, "Reason") {
			all[reason] = true
		}
	}
	for _, reason := range slices.Sorted(maps.Keys(all)) {
		_, acts := personal[reason]
		_, waits := patient[reason]
		if acts == waits {
			t.Errorf("%s is in both tables or in none: decide", reason)
		}
		if got := chain.NeedsPerson(chain.Reason(reason)); got != acts {
			t.Errorf("%s: needs a person %v, want %v", reason, got, acts)
		}
	}
	for _, table := range []map[string]string{personal, patient} {
		for reason := range table {
			if !all[reason] {
				t.Errorf("%s is no reason of the API", reason)
			}
		}
	}
}

// yes and no are conditions of a generation.
func yes(kind, reason string) chain.Condition {
	return chain.Condition{Type: chain.ConditionType(kind), Status: true, Reason: chain.Reason(reason), Message: "about " + reason, Generation: 3}
}

func no(kind, reason string) chain.Condition {
	c := yes(kind, reason)
	c.Status = false
	return c
}

func TestStalledFollowsFromTheOtherConditions(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		conditions []chain.Condition
		want       string
	}{
		"where all is well there is none":            {[]chain.Condition{yes("Ready", "Deployed"), yes("Synced", "InSync")}, ""},
		"nor where it is only waited":                {[]chain.Condition{no("Ready", "Deploying"), no("Synced", "UpdatePending")}, ""},
		"what Ready says is repeated":                {[]chain.Condition{no("Synced", "UpdatePending"), no("Ready", "AccessDenied")}, "AccessDenied"},
		"Ready comes before Synced":                  {[]chain.Condition{no("Synced", "DriftNotConverging"), no("Ready", "QuotaExceeded")}, "QuotaExceeded"},
		"Synced alone is enough":                     {[]chain.Condition{no("Synced", "DriftNotConverging"), yes("Ready", "Deployed")}, "DriftNotConverging"},
		"and so is DNS, whatever is waited for":      {[]chain.Condition{no("DNSReady", "ZoneNotFound"), no("Ready", "Deploying")}, "ZoneNotFound"},
		"a reason of a condition that is True is no": {[]chain.Condition{yes("DeletionStalled", "Conflict"), yes("Ready", "Deployed")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status := v1alpha1.ResourceStatus{Conditions: []metav1.Condition{{Type: "Stalled", Status: metav1.ConditionTrue, Reason: "Former"}}}
			convert.ResourceReport(&status, distribution.Report{Conditions: tt.conditions}, now)
			got := meta.FindStatusCondition(status.Conditions, "Stalled")
			if tt.want == "" {
				if got != nil {
					t.Errorf("%s stands there", got.Reason)
				}
				return
			}
			want := &metav1.Condition{
				Type: "Stalled", Status: metav1.ConditionTrue, Reason: tt.want, Message: "about " + tt.want, ObservedGeneration: 3,
			}
			if d := cmp.Diff(want, got, cmpopts.IgnoreFields(metav1.Condition{}, "LastTransitionTime")); d != "" {
				t.Errorf("Stalled (-want +got):\n%s", d)
			}
		})
	}
}

func TestStalledOfASourceStaysUntilItsReasonIsOver(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	var status v1alpha1.TenantSourceStatus
	for _, step := range []struct {
		about      string
		conditions []chain.Condition
		want       bool
	}{
		{"a table that is gone needs a person", []chain.Condition{no("Ready", "SourceError"), no("Synced", "SourceError")}, true},
		{"a pass that has nothing new to say leaves it", nil, true},
		{"and so does one that only speaks of Synced", []chain.Condition{no("Synced", "Suspended")}, true},
		{"a poll that succeeds ends it in the same write", []chain.Condition{yes("Ready", "PollSucceeded"), yes("Synced", "InSync")}, false},
	} {
		convert.SourceStatus(&status, 1, tenantsource.Report{Conditions: step.conditions}, now)
		if got := meta.FindStatusCondition(status.Conditions, "Stalled") != nil; got != step.want {
			t.Errorf("%s: %v", step.about, got)
		}
	}
}

func TestStalledIsNoMemory(t *testing.T) {
	t.Parallel()
	status := v1alpha1.ResourceStatus{Conditions: []metav1.Condition{{Type: "Ready"}, {Type: "Stalled"}}}
	var types []string
	for kind := range convert.ResourceMemory(&status).Conditions {
		types = append(types, string(kind))
	}
	if d := cmp.Diff([]string{string(chain.Ready)}, types); d != "" {
		t.Errorf("remembered (-want +got):\n%s", d)
	}
}
