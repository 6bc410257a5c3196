package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli/fleet"
)

// Options are what the command is made from.
type Options struct {
	Streams genericiooptions.IOStreams
	// Kubeconfig is used unless a flag names another. Empty: that of kubectl.
	Kubeconfig string
	Clock      clock.PassiveClock
	// Version is the plugin's own.
	Version string
}

// session is one run of the command.
type session struct {
	Options
	cluster *cluster
	kube    client.WithWatch
}

// The rate of the requests to the API server. The usual five a second are meant for controllers that never end.
const (
	qps   = 100
	burst = 200
)

// client reaches the API server.
func (s *session) client() (client.WithWatch, error) {
	if s.kube != nil {
		return s.kube, nil
	}
	config, err := s.cluster.config()
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst = qps, burst
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme, kleffv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	s.kube, err = client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("reaching the API server: %w", err)
	}
	return s.kube, nil
}

// load reads the fleet of the chosen namespace, or of all.
func (s *session) load(ctx context.Context, kinds ...string) (*fleet.Fleet, error) {
	c, err := s.client()
	if err != nil {
		return nil, err
	}
	f, err := fleet.Load(ctx, c, s.cluster.chosen(), kinds...)
	if err != nil {
		return nil, err
	}
	for _, gap := range f.Gaps {
		if gap.Kind == kindTenant && gap.Missing {
			return nil, errNotInstalled
		}
		if gap.Kind == kindTenant && s.cluster.chosen() == "" {
			return nil, fmt.Errorf("%w. To see one namespace, use --namespace instead of -A", gap.Err)
		}
		if gap.Kind == kindTenant {
			return nil, gap.Err
		}
	}
	return f, nil
}

// kindTenant is the kind without which there is no operator.
const kindTenant = "DistributionTenant"

// errNotInstalled says that there is no operator.
var errNotInstalled = fmt.Errorf("this cluster has no DistributionTenants: install the operator first, or choose another cluster with --context")

// run makes the function of a cobra command from one that gets a context.
func run(do func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error { return do(c.Context(), args) }
}

// Answer is an error that ends a verb whose exit code is part of its answer. It is not a failure.
type Answer interface {
	error
	ExitCode() int
}

// ExitCode is how a verb ends, and whether it has failed. In diff, 1 says that there are differences, as in kubectl diff.
func ExitCode(verb *cobra.Command, err error) (code int, failed bool) {
	answer, is := errors.AsType[Answer](err)
	switch {
	case err == nil:
		return 0, false
	case is:
		return answer.ExitCode(), false
	case verb.Name() == "diff":
		return 2, true
	}
	return 1, true
}

// The groups of verbs.
const (
	look    = "look"
	act     = "act"
	withAWS = "aws"
)
