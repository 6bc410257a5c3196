package operator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws/cloudfront"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws/sts"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/config"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/rights"
)

// checkTimeout bounds a check. It has room for the retries of the SDK.
const checkTimeout = time.Minute

// Check looks once whether an installation works: its permissions in Kubernetes, its CRDs, its identity in AWS and the one
// permission that everything needs there, and whether a replica leads. It changes nothing.
func Check(ctx context.Context, c config.Config, kube *rest.Config) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	if err := rights.Check(ctx, c, kube); err != nil {
		return err
	}
	if err := kindsServed(kube); err != nil {
		return fmt.Errorf("checking the CRDs: %w", err)
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

// kindsServed fails without the CRDs, for which the operator waits.
func kindsServed(kube *rest.Config) error {
	api, err := discovery.NewDiscoveryClientForConfig(kube)
	if err != nil {
		return err
	}
	if _, err := api.ServerResourcesForGroupVersion(v1alpha1.SchemeGroupVersion.String()); err != nil {
		return fmt.Errorf("install the CRDs of this version, with the chart value crds.install or from config/crd: %w", err)
	}
	return nil
}

// ownIdentity is who the operator is in AWS. It fails if AWS does not let it list tenants, which each account is watched by.
func ownIdentity(ctx context.Context, c config.Config) (account, arn string, err error) {
	sdk, err := aws.LoadConfig(ctx, aws.SDKConfig{Region: c.AWSRegion, Version: Version, Log: ctrl.Log.WithName("aws")})
	if err != nil {
		return "", "", err
	}
	calls, err := aws.NewMetrics(prometheus.NewRegistry())
	if err != nil {
		return "", "", err
	}
	limiter := func(api string) *aws.Limiter {
		return aws.NewLimiter(aws.LimiterConfig{API: api, Rate: stsRate, Burst: stsBurst, Clock: clock.RealClock{}, Metrics: calls})
	}
	account, arn, err = sts.New(sts.Config{SDK: sdk, Limiter: limiter("sts"), Metrics: calls}).Caller(ctx)
	if err != nil {
		return "", "", err
	}
	_, _, err = cloudfront.New(cloudfront.Config{SDK: sdk, Limiter: limiter("cloudfront"), Metrics: calls}).ListTenants(ctx, "")
	if err != nil {
		err = fmt.Errorf("%w. Attach the policies of config/iam that your features need, above all tenants.json, to %s", err, arn)
	}
	return account, arn, err
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
