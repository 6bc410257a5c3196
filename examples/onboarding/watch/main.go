// Watch shows how far the domains of customers are. With a domain as its argument, it adds that first.
package main

import (
	"context"
	"log"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/config"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

func main() {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		log.Fatal(err)
	}
	kubeconfig := config.GetConfigOrDie()
	ctx := context.Background()
	if len(os.Args) > 1 {
		kube, err := client.New(kubeconfig, client.Options{Scheme: scheme})
		if err != nil {
			log.Fatal(err)
		}
		if err := create(ctx, kube, os.Args[1]); err != nil {
			log.Fatal(err)
		}
	}
	log.Fatal(watch(ctx, kubeconfig, scheme, os.Stdout))
}
