package stack

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/install"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/process"
)

// DistributionID is the distribution that the simulated AWS starts with; a certificate
// for *.example.com belongs to it.
const DistributionID = "E2EXAMPLE1"

// The simulated AWS takes any access key for its only account.
const (
	region    = "us-east-1"
	accessKey = "test"
	secretKey = "test"
)

// Options say how a stack differs from the usual one.
type Options struct {
	// DeployDelay is how long AWS deploys a change.
	DeployDelay time.Duration
	// PageSize is how many items AWS lists in one call; 100 if zero.
	PageSize int
	// WithoutAWS leaves AWS down until StartAWS.
	WithoutAWS bool
}

// Stack is a simulated AWS and the operators that talk to it.
type Stack struct {
	// AWS is the control API of the simulated AWS.
	AWS *AWS

	host      *Host
	options   Options
	dir       string
	processes *process.Group
	operators []*Operator
}

// Start starts a stack without an operator. Stop ends it.
func (h *Host) Start(ctx context.Context, o Options) (*Stack, error) {
	dir, err := os.MkdirTemp(h.dir, "stack-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for logs: %w", err)
	}
	s := &Stack{host: h, options: o, dir: dir, processes: process.NewGroup(nil)}
	return s, process.RetryInUse(func() error {
		ports, err := s.processes.Ports(ctx, 1)
		if err != nil {
			return err
		}
		s.AWS = newAWS(ports.Address(0))
		if o.WithoutAWS {
			return nil
		}
		return s.StartAWS(ctx)
	})
}

// StartAWS starts the simulated AWS, with an account that holds what a platform prepares
// before it has tenants.
func (s *Stack) StartAWS(ctx context.Context) error {
	child, err := s.processes.Start(process.Command{
		Path: s.host.Binary("awssim"),
		Args: []string{
			"--listen", s.AWS.address, "--deploy-delay", s.options.DeployDelay.String(), "--page-size", strconv.Itoa(cmp.Or(s.options.PageSize, 100)),
			"--seed", s.host.Path("config", "samples", "awssim", "seed.yaml"),
		},
		LogFile: filepath.Join(s.dir, "awssim.log"),
	})
	if err != nil {
		return err
	}
	return await(ctx, child, s.AWS.URL()+controlPath+"health")
}

// Stop ends every process of the stack.
func (s *Stack) Stop() error { return s.processes.Stop() }

// Operators lists the operators that were started, running or not.
func (s *Stack) Operators() []*Operator { return slices.Clone(s.operators) }

// Env is the environment of an operator: the caller's, cleaned, with the chart's, the service
// account's way to this control plane, and the way to this AWS. What is given wins; an empty value
// removes.
func (s *Stack) Env(given map[string]string) []string {
	return s.env(s.host.Installation, given)
}

func (s *Stack) env(i *install.Installation, given map[string]string) []string {
	ours := i.Env()
	maps.Copy(ours, map[string]string{
		"KUBECONFIG":       i.Kubeconfig,
		"AWS_ENDPOINT_URL": s.AWS.URL(), "AWS_REGION": region,
		"AWS_ACCESS_KEY_ID": accessKey, "AWS_SECRET_ACCESS_KEY": secretKey,
	})
	maps.Copy(ours, given)
	env := s.host.env()
	for _, name := range slices.Sorted(maps.Keys(ours)) {
		if ours[name] != "" {
			env = append(env, name+"="+ours[name])
		}
	}
	return env
}
