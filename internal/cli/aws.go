package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli/patience"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cloud"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/inventory"
)

// awsFlags are those of the verbs that read AWS.
type awsFlags struct {
	region, clusterID string
	rate              float64
}

// The rate at which AWS is read, in calls a second. It leaves room for the operator, which shares the account's rate.
const (
	awsRate  = 5
	awsBurst = 20
)

func awsFlagsOf(c *cobra.Command) *awsFlags {
	f := &awsFlags{}
	c.Flags().StringVar(&f.region, "aws-region", "", "AWS region in which to get the credentials, if they need one; CloudFront itself has none")
	c.Flags().StringVar(&f.clusterID, "cluster-id", "", "ID of the cluster in owner tags; by default that of the operator, which is read from its Deployment")
	c.Flags().Float64Var(&f.rate, "aws-rate", awsRate, "calls to AWS a second, at most; the operator shares the rate of the account")
	return f
}

// cloud reaches AWS with the user's own credentials. It refuses every change.
func (s *session) cloud(ctx context.Context, f *awsFlags, clusterID string) (*cloud.Cloud, error) {
	sdk, err := aws.LoadConfig(ctx, aws.SDKConfig{Region: f.region, Version: s.Version})
	if err != nil {
		return nil, fmt.Errorf("reading the AWS configuration: %w", err)
	}
	// A call without credentials counts as one that had no answer, and would be tried again for half a minute.
	if _, err := sdk.Credentials.Retrieve(ctx); err != nil {
		return nil, fmt.Errorf("finding your AWS credentials: %w. Log in as you do for the AWS CLI, or choose a profile with AWS_PROFILE", err)
	}
	metrics, err := aws.NewMetrics(prometheus.NewRegistry())
	if err != nil {
		return nil, err
	}
	limit := cloud.Limit{Rate: f.rate, Burst: awsBurst}
	return cloud.New(cloud.Options{
		SDK: sdk, Metrics: metrics, Clock: clock.RealClock{}, ClusterID: clusterID,
		CloudFront: limit, Invalidations: limit, ACM: limit, Route53: limit, STS: limit, Halted: readOnly,
		Sweep: inventory.Options{Interval: time.Hour, OnChange: func([]string) {}, Random: func() float64 { return 0.5 }},
	}), nil
}

// readOnly halts every change.
func readOnly() *chain.Halt {
	return &chain.Halt{Reason: "ReadOnly", Message: "kubectl cfdt changes nothing in AWS."}
}

// settings are the flags of the operator, by name, as its Deployment has them.
type settings map[string]string

// settings reads how the operator runs. Without the right to see its Deployment there are none.
func (s *session) settings(ctx context.Context) (settings, error) {
	c, err := s.client()
	if err != nil {
		return nil, err
	}
	var list appsv1.DeploymentList
	if err := c.List(ctx, &list, client.MatchingLabels{labelName: operatorName}); err != nil {
		return nil, fmt.Errorf("reading the operator's Deployment: %w", err)
	}
	if len(list.Items) == 0 {
		return nil, fmt.Errorf("no operator was found: no Deployment has the label %s=%s", labelName, operatorName)
	}
	return settingsOf(&list.Items[0]), nil
}

func settingsOf(d *appsv1.Deployment) settings {
	out := settings{}
	for _, container := range d.Spec.Template.Spec.Containers {
		for _, arg := range container.Args {
			if name, value, found := strings.Cut(strings.TrimPrefix(arg, "--"), "="); found {
				out[name] = value
			}
		}
	}
	return out
}

// clusterID is the first of the operator's owner tags.
func (s *session) clusterID(ctx context.Context, f *awsFlags, run settings) (string, error) {
	if f.clusterID != "" {
		return f.clusterID, nil
	}
	if id := run["cluster-id"]; id != "" {
		return id, nil
	}
	c, err := s.client()
	if err != nil {
		return "", err
	}
	var ns corev1.Namespace
	if err := c.Get(ctx, client.ObjectKey{Name: "kube-system"}, &ns); err != nil {
		return "", fmt.Errorf("reading the kube-system namespace to get the cluster ID (alternatively, set --cluster-id): %w", err)
	}
	return string(ns.UID), nil
}

// patiently makes a read that may have to wait for the rate limit, or may have no answer.
func (s *session) patiently(ctx context.Context, name, key string, read func(context.Context) error) error {
	caller := patience.Caller{Clock: clock.RealClock{}}
	return plainly(caller.Call(ctx, name, key, read))
}

// plainly says of a refusal whose it is.
func plainly(err error) error {
	if refusal, ok := errors.AsType[*fault.Error](err); ok && refusal.Kind == fault.Denied {
		return fmt.Errorf("AWS refuses your credentials: %w", err)
	}
	return err
}
