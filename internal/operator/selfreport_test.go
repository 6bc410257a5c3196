package operator

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"
)

// The identity is asked for until it is known, and then once an hour. Permissions are reported each minute.
func TestTheOperatorReportsItsIdentity(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		now := clocktesting.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
		var told map[string]string
		asked, fails, denied := 0, true, []string{"GetConnectionGroup", "ListCertificates"}
		r := &selfReport{
			caller: func(context.Context) (string, string, error) {
				if asked++; fails {
					return "", "", errors.New("no credentials")
				}
				return "111122223333", "arn:aws:iam::111122223333:role/operator", nil
			},
			denied: func() []string { return denied },
			tell:   func(_ context.Context, facts map[string]string) error { told = facts; return nil },
			clock:  now,
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- r.Start(ctx) }()
		says := func(when string, account, arn, failure, refused string) {
			t.Helper()
			synctest.Wait()
			want := map[string]string{"aws-account": account, "aws-identity": arn, "aws-error": failure, "aws-denied": refused}
			if d := cmp.Diff(want, told); d != "" {
				t.Errorf("%s (-want +got):\n%s", when, d)
			}
		}
		says("at first", "", "", "no credentials", "GetConnectionGroup ListCertificates")
		fails, denied = false, nil
		now.Step(time.Minute)
		says("a minute later", "111122223333", "arn:aws:iam::111122223333:role/operator", "", "")
		now.Step(59*time.Minute - time.Second)
		synctest.Wait()
		if asked != 2 {
			t.Errorf("within an hour, it has asked %d times", asked)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
