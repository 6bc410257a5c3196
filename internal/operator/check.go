package operator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws/sts"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/config"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/rights"
)

// checkTimeout bounds a check. It has room for the retries of the SDK.
const checkTimeout = time.Minute

// Check looks once whether an installation works: its permissions in Kubernetes, its identity in AWS, and whether a
// replica leads. It changes nothing.
func Check(ctx context.Context, c config.Config, kube *rest.Config) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	if err := rights.Check(ctx, c, kube); err != nil {
		return err
	}
	account, identity, err := ownIdentity(ctx, c)
	if err != nil {
		return fmt.Errorf("checking the AWS identity: %w", err)
	}
	holder, err := leader(ctx, c, kube)
	if err != nil {
		return fmt.Errorf("checking the lease: %w", err)
	}
	ctrl.Log.WithName("operator").Info("The installation works", "version", Version, "account", account, "identity", identity, "leader", holder)
	return nil
}

func ownIdentity(ctx context.Context, c config.Config) (account, arn string, err error) {
	sdk, err := aws.LoadConfig(ctx, aws.SDKConfig{Region: c.AWSRegion, Version: Version, Log: ctrl.Log.WithName("aws")})
	if err != nil {
		return "", "", err
	}
	calls, err := aws.NewMetrics(prometheus.NewRegistry())
	if err != nil {
		return "", "", err
	}
	limiter := aws.NewLimiter(aws.LimiterConfig{API: "sts", Rate: stsRate, Burst: stsBurst, Clock: clock.RealClock{}, Metrics: calls})
	return sts.New(sts.Config{SDK: sdk, Limiter: limiter, Metrics: calls}).Caller(ctx)
}

// leader is the replica that leads, empty without an election.
func leader(ctx context.Context, c config.Config, kube *rest.Config) (string, error) {
	if !c.LeaderElect {
		return "", nil
	}
	leases, err := coordinationclient.NewForConfig(kube)
	if err != nil {
		return "", err
	}
	lease, err := leases.Leases(c.LeaseNamespace()).Get(ctx, leaderElectionID, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	held := time.Duration(ptr.Deref(lease.Spec.LeaseDurationSeconds, 0)) * time.Second
	holder, renewed := ptr.Deref(lease.Spec.HolderIdentity, ""), ptr.Deref(lease.Spec.RenewTime, metav1.MicroTime{})
	if holder == "" || !renewed.Add(held).After(clock.RealClock{}.Now()) {
		return "", errors.New("no replica leads: see the pods of the operator and their logs, and try again")
	}
	return holder, nil
}
