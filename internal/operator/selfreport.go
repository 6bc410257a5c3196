package operator

import (
	"context"
	"strings"
	"time"

	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	clusteradapter "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/kube/cluster"
)

const (
	// reportEvery is the pause between two reports: a permission that was added is seen soon.
	reportEvery = time.Minute
	// callerEvery is how long the identity is believed. It changes with the pod, or with a role.
	callerEvery = time.Hour
)

// selfReport says, in the ConfigMap of the cluster, with which identity this operator reaches AWS, and what AWS denies it.
// Only the replica that leads does.
type selfReport struct {
	caller func(ctx context.Context) (account, arn string, err error)
	denied func() []string
	tell   func(ctx context.Context, facts map[string]string) error
	clock  clock.WithTicker

	account, arn string
	asked        time.Time
}

// Start reports until the context ends.
func (r *selfReport) Start(ctx context.Context) error {
	ticker := r.clock.NewTicker(reportEvery)
	defer ticker.Stop()
	for {
		if err := r.tell(ctx, r.facts(ctx)); err != nil && ctx.Err() == nil {
			ctrl.Log.WithName("operator").Error(err, "Could not write the AWS identity into the ConfigMap of the cluster")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
		}
	}
}

// facts are the keys of the ConfigMap with what is so now.
func (r *selfReport) facts(ctx context.Context) map[string]string {
	failure := ""
	if r.asked.IsZero() || r.clock.Since(r.asked) >= callerEvery {
		var err error
		if r.account, r.arn, err = r.caller(ctx); err != nil {
			failure = err.Error()
		} else {
			r.asked = r.clock.Now()
		}
	}
	return map[string]string{
		clusteradapter.KeyAccount: r.account, clusteradapter.KeyIdentity: r.arn, clusteradapter.KeyError: failure,
		clusteradapter.KeyDenied: strings.Join(r.denied(), " "),
	}
}
