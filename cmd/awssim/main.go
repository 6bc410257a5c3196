// Command awssim runs the simulated AWS as a process.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

// shutdownGrace is how long calls in flight may take after SIGTERM. Calls that never end on purpose are cut at once.
const shutdownGrace = 3 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "awssim:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to clean up
	}
}

// config is what the command line says.
type config struct {
	listen    string
	dnsListen string // empty: no DNS
	options   aws.Options
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	cfg, err := parse(args, stderr)
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", cfg.listen)
	if err != nil {
		return fmt.Errorf("listening on --listen %s: %w", cfg.listen, err)
	}
	sim := aws.New(cfg.options)
	if cfg.dnsListen != "" {
		stop, err := serveDNS(ctx, cfg.dnsListen, sim, stdout)
		if err != nil {
			return errors.Join(err, listener.Close())
		}
		defer func() { err = errors.Join(err, stop()) }()
	}
	fmt.Fprintf(stdout, "simulated AWS ready: export AWS_ENDPOINT_URL=http://%s AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test AWS_REGION=us-east-1 AWS_DEFAULT_REGION=us-east-1\n",
		listener.Addr())
	return serve(ctx, listener, sim)
}

func serve(ctx context.Context, listener net.Listener, sim *aws.Sim) error {
	server := &http.Server{Handler: sim, ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serving: %w", err)
	case <-ctx.Done():
	}
	sim.ClearFaults()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace)
	defer cancel()
	if err := server.Shutdown(grace); err != nil {
		return errors.Join(fmt.Errorf("stopping within %s: %w", shutdownGrace, err), server.Close())
	}
	return nil
}

func parse(args []string, stderr io.Writer) (config, error) {
	cfg := config{}
	switches := aws.DefaultSwitches()
	flags := flag.NewFlagSet("awssim", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&cfg.listen, "listen", "127.0.0.1:4566", "address to listen on; port 0 chooses a free port")
	flags.StringVar(&cfg.dnsListen, "dns-listen", "", "address for DNS queries over UDP and TCP; port 0 chooses a free port; empty: no DNS")
	flags.DurationVar(&switches.DeployDelay, "deploy-delay", 5*time.Second, "how long a change stays InProgress")
	flags.IntVar(&cfg.options.PageSize, "page-size", 100, "how many items a page of a list has at most, of tenants, certificates and the like")
	seedFile := flags.String("seed", "", "YAML file with the initial state")
	flags.BoolVar(&cfg.options.LenientCertificates, "lenient-certificates", false,
		"treat every certificate ARN in us-east-1 as issued for *.example.com and example.com")
	flags.Uint64Var(&cfg.options.RandomSeed, "random-seed", 0, "random seed for IDs, ETags and faults")
	flags.Func("switch", "set a switch to a value (name=value, can be repeated): "+strings.Join(aws.SwitchNames(), ", "), func(text string) error {
		name, value, ok := strings.Cut(text, "=")
		if !ok {
			return errors.New("use name=value")
		}
		return switches.Set(name, value)
	})
	if err := flags.Parse(args); err != nil {
		return cfg, err
	}
	if flags.NArg() > 0 {
		return cfg, fmt.Errorf("unexpected argument %q: awssim takes flags only", flags.Arg(0))
	}
	if switches.DeployDelay < 0 {
		return cfg, fmt.Errorf("--deploy-delay %s is negative: use a duration such as 5s", switches.DeployDelay)
	}
	if cfg.options.PageSize < 1 {
		return cfg, fmt.Errorf("--page-size %d is less than one: use a number such as 100", cfg.options.PageSize)
	}
	cfg.options.Switches = &switches
	if *seedFile != "" {
		data, err := os.ReadFile(*seedFile)
		if err != nil {
			return cfg, fmt.Errorf("reading --seed: %w", err)
		}
		seed, err := aws.ParseSeed(*seedFile, data)
		if err != nil {
			return cfg, err
		}
		cfg.options.Seed = &seed
	}
	return cfg, nil
}
