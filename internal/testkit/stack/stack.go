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
	"strings"
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
	// Seed is a file with what AWS holds; what a platform prepares before it has tenants if empty.
	Seed string
	// Switches change how AWS behaves, as NAME=VALUE.
	Switches []string
	// LogDir takes the logs; a folder of the host if empty.
	LogDir string
}

// Stack is a simulated AWS and the operators that talk to it.
type Stack struct {
	// AWS is the control API of the simulated AWS.
	AWS *AWS
	// DNS is the address of the simulated public DNS.
	DNS string

	host      *Host
	options   Options
	processes *process.Group
	operators []*Operator
}

// Start starts a stack without an operator. Stop ends it.
func (h *Host) Start(ctx context.Context, o Options) (*Stack, error) {
	if o.LogDir == "" {
		var err error
		if o.LogDir, err = os.MkdirTemp(h.dir, "stack-"); err != nil {
			return nil, fmt.Errorf("making a folder for logs: %w", err)
		}
	}
	o.Seed = cmp.Or(o.Seed, h.Path("cmd", "playground", "seed.yaml"))
	s := &Stack{host: h, options: o, processes: process.NewGroup(h.Guard)}
	return s, process.RetryInUse(func() error {
		ports, err := s.processes.Ports(ctx, 2)
		if err != nil {
			return err
		}
		s.AWS, s.DNS = NewAWS(ports.Address(0)), ports.Address(1)
		if o.WithoutAWS {
			return nil
		}
		return s.StartAWS(ctx)
	})
}

// StartAWS starts the simulated AWS.
func (s *Stack) StartAWS(ctx context.Context) error {
	args := []string{
		"--listen", s.AWS.address, "--dns-listen", s.DNS, "--deploy-delay", s.options.DeployDelay.String(),
		"--page-size", strconv.Itoa(cmp.Or(s.options.PageSize, 100)), "--seed", s.options.Seed,
	}
	for _, one := range s.options.Switches {
		args = append(args, "--switch", one)
	}
	child, err := s.processes.Start(process.Command{
		Path: s.host.Binary("awssim"), Args: args, LogFile: filepath.Join(s.options.LogDir, "awssim.log"),
	})
	if err != nil {
		return err
	}
	s.AWS.Child = child
	return await(ctx, child, s.AWS.URL()+controlPath+"health")
}

// Stop ends every process of the stack.
func (s *Stack) Stop() error { return s.processes.Stop() }

// Operators lists the operators that were started, running or not.
func (s *Stack) Operators() []*Operator { return slices.Clone(s.operators) }

// Env is the environment of an operator: the caller's, cleaned, with the chart's, the service
// account's way to this control plane, and the way to this AWS. Given variables win; an empty value removes one.
func (s *Stack) Env(given map[string]string) []string {
	return s.env(s.host.Installation, given)
}

func (s *Stack) env(i *install.Installation, given map[string]string) []string {
	ours := i.Env()
	ours["KUBECONFIG"] = i.Kubeconfig
	for _, entry := range s.AWS.Env() {
		name, value, _ := strings.Cut(entry, "=")
		ours[name] = value
	}
	maps.Copy(ours, given)
	env := s.host.Env()
	for _, name := range slices.Sorted(maps.Keys(ours)) {
		if ours[name] != "" {
			env = append(env, name+"="+ours[name])
		}
	}
	return env
}
