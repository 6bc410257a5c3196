// Kubectl-cfdt is a plugin of kubectl for fleets of CloudFront distribution tenants.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli"
)

// version is stamped by the build.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The operator's code logs, too. Without a logger, it would complain about that after half a minute, with a stack trace.
	log.SetLogger(logr.Discard())
	command := cli.New(cli.Options{
		Streams: genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr},
		Clock:   clock.RealClock{}, Version: version,
	})
	verb, err := command.ExecuteContextC(ctx)
	code, failed := cli.ExitCode(verb, err)
	if failed {
		fmt.Fprintln(os.Stderr, "error:", cli.Plain(err.Error()))
	}
	stop()
	os.Exit(code)
}
