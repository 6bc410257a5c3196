// Onboarding is an example of what a platform builds on the operator: a page where a customer types a domain, sees which
// record to set, and sees when the domain is live. docs/customer-onboarding.md explains it.
//
// The page has no login, so that the example stays short. In your product, insert each domain into a table with a unique
// key and the ID of its customer before you create the object, and show a domain only to that customer.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/config"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8080", "address of the page")
	s := server{}
	flag.StringVar(&s.namespace, "namespace", "default", "namespace of the DistributionTenants")
	flag.StringVar(&s.distribution, "distribution", "platform", "name of the Distribution object that serves the domains")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, *listen, s); err != nil {
		fmt.Fprintln(os.Stderr, "onboarding:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to stop
	}
}

// serve serves the page until the context ends.
func serve(ctx context.Context, listen string, s server) error {
	kubeconfig, err := config.GetConfig()
	if err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return err
	}
	if s.kube, err = client.New(kubeconfig, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", listen)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stdout, "open http://%s\n", listener.Addr())
	web := &http.Server{Handler: s.handler(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = web.Close() })
	if err := web.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
