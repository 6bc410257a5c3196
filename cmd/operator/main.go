// The operator keeps CloudFront distribution tenants equal to their Kubernetes objects.
package main

import (
	"flag"
	"fmt"
	"log/slog"
	"os"

	"github.com/go-logr/logr"
	"go.uber.org/zap/zapcore"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/config"
)

func main() {
	var c config.Config
	c.Bind(flag.CommandLine)
	logs := zap.Options{TimeEncoder: zapcore.RFC3339TimeEncoder}
	logs.BindFlags(flag.CommandLine)
	flag.Parse()
	if flag.NArg() > 0 {
		refuse(fmt.Errorf("unexpected argument %q: the operator takes flags only, see --help", flag.Arg(0)))
	}
	if err := c.Validate(); err != nil {
		refuse(err)
	}
	log := zap.New(zap.UseFlagOptions(&logs))
	logAllTo(log)
	if err := run(c); err != nil {
		log.Error(err, "The operator ends")
		os.Exit(1)
	}
}

func run(c config.Config) error {
	kube, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("finding the Kubernetes API server: %w", err)
	}
	if c.Check {
		return operator.Check(ctrl.SetupSignalHandler(), c, kube)
	}
	return operator.Run(ctrl.SetupSignalHandler(), c, kube)
}

// refuse ends a process with a mistake in its flags. There is no log yet: the user who typed them reads the text.
func refuse(err error) {
	fmt.Fprintln(os.Stderr, "cloudfront-tenant-operator:", err)
	os.Exit(2)
}

// logAllTo has everything in this process write to one log, so that each line of it can be parsed: client-go, which
// writes to klog, and net/http, which writes to Go's own log.
func logAllTo(log logr.Logger) {
	ctrl.SetLogger(log)
	klog.SetLogger(log)
	slog.SetDefault(slog.New(logr.ToSlogHandler(log)))
}
