// The operator keeps CloudFront distribution tenants equal to their Kubernetes objects.
package main

import (
	"flag"
	"fmt"
	"os"

	"go.uber.org/zap/zapcore"
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
	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&logs)))
	if flag.NArg() > 0 {
		fail(2, fmt.Errorf("unexpected argument %q: the operator takes flags only, see --help", flag.Arg(0)))
	}
	if err := c.Validate(); err != nil {
		fail(2, err)
	}
	kube, err := ctrl.GetConfig()
	if err != nil {
		fail(1, fmt.Errorf("finding the Kubernetes API server: %w", err))
	}
	if err := operator.Run(ctrl.SetupSignalHandler(), c, kube); err != nil {
		fail(1, err)
	}
}

func fail(code int, err error) {
	fmt.Fprintln(os.Stderr, "cloudfront-tenant-operator:", err)
	os.Exit(code)
}
