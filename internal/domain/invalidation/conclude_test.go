package invalidation_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/invalidation"
)

func TestConclude(t *testing.T) {
	t.Parallel()
	const pending, progress, done, failed = invalidation.Pending, invalidation.InProgress, invalidation.Completed, invalidation.Failed
	ended := func(in *invalidation.Input) { in.Memory.Finished, in.World.Unsaved = now, true }
	message := func(in *invalidation.Input) {
		for n := range in.Memory.Tenants {
			in.Memory.Tenants[n].Message = "Why."
		}
	}
	for name, tc := range map[string]struct {
		in   invalidation.Input
		out  invalidation.Outcome
		want string
		says string
	}{
		"nothing is requested yet":                     {fresh(started(pending, pending)), invalidation.Outcome{}, "False/Pending", "0 of 2 tenants are requested from AWS, as fast as it documents. The last is expected to be completed at 2026-03-01T13:00:00Z."},
		"nothing is requested yet for the only tenant": {fresh(started(pending)), invalidation.Outcome{}, "False/Pending", "about to be requested"},
		"the next are not chosen yet":                  {fresh(started(done, done), more(9)), invalidation.Outcome{}, "False/Pending", "2 of 9 tenants are requested"},
		"more have failed than are in the list": {fresh(started(failed, done), message, ended, func(in *invalidation.Input) {
			in.Memory.Total, in.Memory.Left = 5_000, invalidation.Totals{Requested: 4_995, Completed: 4_990, Failed: 8}
		}), invalidation.Outcome{}, "False/InvalidationFailed", "9 of 5000 tenants were not invalidated: t0, others. status.tenants says why. The first: Why."},
		"one is not requested yet":         {fresh(started(progress, pending)), invalidation.Outcome{}, "False/Pending", ""},
		"all are requested":                {fresh(started(progress, done)), invalidation.Outcome{}, "False/InProgress", "AWS is removing"},
		"all are completed":                {fresh(started(done, done), ended), invalidation.Outcome{}, "True/Completed", ""},
		"one has failed":                   {fresh(started(done, failed), message, ended), invalidation.Outcome{}, "False/InvalidationFailed", "The tenant t1 was not invalidated: Why."},
		"two have failed":                  {fresh(started(failed, done, failed), message, ended), invalidation.Outcome{}, "False/InvalidationFailed", "2 of 3 tenants were not invalidated: t0, t2."},
		"it was refused before":            {fresh(ended), invalidation.Outcome{Failed: &invalidation.Fail{Reason: "ValidationFailed", Message: "Too many."}}, "False/ValidationFailed", "Too many."},
		"it waits":                         {fresh(), invalidation.Outcome{Decision: invalidation.Decision{Problem: &chain.Problem{Reason: "PathLimitReached", Message: "Full."}}}, "False/PathLimitReached", "Full."},
		"a permission is missing":          {fresh(started(pending)), invalidation.Outcome{Err: fail(fault.Denied)}, "False/AccessDenied", "Op: Code: text"},
		"AWS does not answer":              {fresh(started(pending)), invalidation.Outcome{Err: fail(fault.Transient)}, "False/AWSUnavailable", ""},
		"the own limit is nothing to tell": {fresh(started(pending)), invalidation.Outcome{Err: fail(fault.Throttled)}, "False/Pending", ""},
		"nor is an error of the API server": {
			fresh(started(pending)), invalidation.Outcome{Err: errors.New("etcd is busy")}, "False/Pending", "",
		},
		"a permission to look is missing, and no look is due": {
			fresh(started(progress, pending), func(in *invalidation.Input) {
				in.World.Looks = map[string]invalidation.Look{"t0": {Failure: &chain.Problem{Reason: "AccessDenied", Message: "No."}}}
			}), invalidation.Outcome{}, "False/AccessDenied", "No.",
		},
		"the own limit keeps what was said before": {
			fresh(started(pending), func(in *invalidation.Input) {
				in.Memory.Ready = chain.Condition{Reason: "AccessDenied", Message: "No."}
			}),
			invalidation.Outcome{Err: fail(fault.Throttled)}, "False/AccessDenied", "No.",
		},
		"what had finished stays as it was": {
			fresh(finished(time.Minute), func(in *invalidation.Input) {
				in.Memory.Ready = chain.Condition{Reason: "InvalidationFailed", Message: "Once."}
			}),
			invalidation.Outcome{Err: errors.New("x")}, "False/InvalidationFailed", "Once.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := invalidation.Conclude(tc.in, tc.out)
			status := "False/"
			if got[0].Status {
				status = "True/"
			}
			if is := status + string(got[0].Reason); is != tc.want || !strings.Contains(got[0].Message, tc.says) || len(got) != 1 {
				t.Errorf("got %+v, want %s", got, tc.want)
			}
		})
	}
}

// Grants that are audited hold nothing, and are told until the end.
func TestConcludeAudited(t *testing.T) {
	t.Parallel()
	audited := func(in *invalidation.Input) { in.World.Audited = &chain.Halt{Reason: "NotGranted", Message: "No."} }
	if got := invalidation.Conclude(fresh(started(invalidation.Pending), audited), invalidation.Outcome{}); len(got) != 2 || got[1].Type != chain.Granted || got[1].Generation != 1 {
		t.Errorf("got %+v", got)
	}
	if got := invalidation.Conclude(fresh(finished(time.Minute), audited), invalidation.Outcome{}); len(got) != 1 {
		t.Errorf("got %+v", got)
	}
}

// An event tells each end, and what a user has to see, once.
func TestEvents(t *testing.T) {
	t.Parallel()
	normal, alarms := invalidation.Told()
	for _, r := range append(normal, alarms...) {
		c := chain.Condition{Reason: r, Status: r == invalidation.ReasonCompleted, Message: "said"}
		want := []chain.Event{{Warning: !c.Status, Reason: string(r), Message: "Said."}}
		if diff := cmp.Diff(want, invalidation.Events("Pending", c)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", r, diff)
		}
		if got := invalidation.Events(r, c); got != nil {
			t.Errorf("%s is told again: %v", r, got)
		}
	}
	for _, r := range []chain.Reason{"Pending", "InProgress", "ReferenceNotReady", "TooManyInvalidations", "Paused"} {
		if got := invalidation.Events("", chain.Condition{Reason: r}); got != nil {
			t.Errorf("%s is told: %v", r, got)
		}
	}
}
