// Command playground shows the operator at work with no AWS account and no
// cluster: it runs a Kubernetes control plane, a simulated AWS and Cloudflare, and the real
// operator as child processes on loopback ports, and takes all of it down again.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/process"
)

// guardCommand is how this program starts itself to clean up should it be killed.
const guardCommand = "guard"

const usage = `Usage: playground demo|up [flags]
       playground lookup NAME [TYPE]
       playground set NAME TYPE [VALUE]
       playground db STATEMENT

demo    shows the life of some tenants in two minutes, and exits
up      starts the same environment and keeps it running until Ctrl-C
lookup  queries the public DNS of the running environment, at $` + dnsVariable + `, like dig
set     sets a record in the public DNS of a customer, and deletes it without a value; set --help has examples
db      runs a statement on its customers table, at $` + dbVariable + `, like psql

Flags of demo and up:
`

// errUsage has been explained on stderr already.
var errUsage = errors.New("wrong usage")

// errInterrupted ends a demo early and a playground as it should.
var errInterrupted = errors.New("interrupted")

// config is what the command line says.
type config struct {
	command     string
	deployDelay time.Duration
	tenants     int
	database    string
	keepLogs    bool
	build       bool
	whilePID    int
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == guardCommand {
		if err := process.RunGuard(os.Stdin); err != nil {
			os.Exit(1)
		}
		return
	}
	// The libraries' own log is of no interest here: what fails, fails with an error.
	ctrl.SetLogger(zap.New(zap.WriteTo(io.Discard)))
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	if len(args) > 0 && args[0] == lookupCommand {
		return runLookup(args[1:], []string{os.Getenv(cloudflareDNSVariable), os.Getenv(azureDNSVariable), os.Getenv(dnsVariable)}, stdout, stderr)
	}
	if len(args) > 0 && args[0] == setCommand {
		return runSet(args[1:], os.Getenv(endpointVariable), os.Getenv(resolverVariable), stdout, stderr)
	}
	if len(args) > 0 && args[0] == dbCommand {
		return runDB(args[1:], os.Getenv(dbVariable), stdout, stderr)
	}
	c, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errUsage):
		return 2
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	signals := make(chan os.Signal, 1)
	// Before anything is printed: a user who sees the first line may send one.
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go interruptOnSignal(cancel, signals)
	go watchParents(ctx, cancel, c.whilePID)

	switch err := play(ctx, cancel, c, newNarrator(stdout)); {
	case errors.Is(err, errInterrupted) && c.command == "up":
		return 0
	case errors.Is(err, errInterrupted):
		fmt.Fprintln(stderr, "playground: interrupted; all processes are stopped")
		return 130
	case err != nil:
		fmt.Fprintln(stderr, "playground:", err)
		return 1
	}
	return 0
}

func parse(args []string, stderr io.Writer) (config, error) {
	var c config
	flags := flag.NewFlagSet("playground", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprint(stderr, usage)
		flags.PrintDefaults()
	}
	flags.DurationVar(&c.deployDelay, "deploy-delay", 3*time.Second, "how long a change in the simulated AWS stays InProgress")
	flags.IntVar(&c.tenants, "tenants", 0, "with up: number of tenants to create in addition to the samples")
	flags.StringVar(&c.database, "database", "", "database of the customers table: postgres, mongodb or none; empty: postgres if installed, otherwise mongodb")
	flags.BoolVar(&c.keepLogs, "keep-logs", false, "keep the logs of all processes after exit, and print their location")
	flags.BoolVar(&c.build, "build", false, "build the control plane from source if there is none yet, and download no finished one")
	flags.IntVar(&c.whilePID, "while-pid", 0, "exit when the process with this ID ends; the Makefile passes that of make")
	if len(args) > 0 && (args[0] == "demo" || args[0] == "up") {
		c.command, args = args[0], args[1:]
	}
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return c, err
		}
		return c, errUsage
	}
	problem := ""
	switch {
	case c.command == "":
		problem = "use demo, up, lookup, set or db"
	case flags.NArg() > 0:
		problem = fmt.Sprintf("unexpected argument %q", flags.Arg(0))
	case c.deployDelay < 0:
		problem = fmt.Sprintf("--deploy-delay=%s: use 0 or more", c.deployDelay)
	case c.tenants < 0 || c.tenants > maxTenants:
		problem = fmt.Sprintf("--tenants=%d: use 0 to %d", c.tenants, maxTenants)
	case !slices.Contains([]string{"", string(mapping.Postgres), string(mapping.MongoDB), noDatabase}, c.database):
		problem = fmt.Sprintf("--database=%s: use postgres, mongodb or none", c.database)
	case c.tenants > 0 && c.command == "demo":
		problem = "--tenants can only be used with up"
	default:
		return c, nil
	}
	fmt.Fprintf(stderr, "playground: %s\n\n", problem)
	flags.Usage()
	return c, errUsage
}

// interruptOnSignal lets the first signal end the world in order. A second one
// ends us at once; the kernel and the guard clean up then.
func interruptOnSignal(cancel context.CancelCauseFunc, signals <-chan os.Signal) {
	<-signals
	signal.Reset(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	cancel(errInterrupted)
}

// play runs the command in a world of its own.
func play(ctx context.Context, cancel context.CancelCauseFunc, c config, say *narrator) (err error) {
	w, err := newWorld(c, cancel, say)
	if err != nil {
		return err
	}
	defer func() {
		say.gap()
		say.line("Stopping everything ...")
		err = errors.Join(err, w.stop())
	}()
	if err := w.start(ctx); err != nil {
		return because(ctx, err)
	}
	if c.command == "demo" {
		err = runDemo(ctx, w)
	} else {
		err = runUp(ctx, w)
	}
	return because(ctx, err)
}

// because puts the reason why we were stopped before the failure that it has caused.
func because(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause
	}
	return err
}
