package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

// watch prints each change of a domain in the namespace default, and the records that its customer has to set. The
// informer watches, and continues after errors, with longer and longer pauses between its attempts.
func watch(ctx context.Context, config *rest.Config, scheme *runtime.Scheme, out io.Writer) error {
	objects, err := cache.New(config, cache.Options{
		Scheme: scheme, DefaultNamespaces: map[string]cache.Config{"default": {}},
	})
	if err != nil {
		return err
	}
	informer, err := objects.GetInformer(ctx, &v1alpha1.DistributionTenant{})
	if err != nil {
		return err
	}
	if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(created any) { show(out, nil, created) },
		UpdateFunc: func(before, after any) { show(out, before, after) },
		DeleteFunc: func(deleted any) {
			if name, err := toolscache.DeletionHandlingObjectToName(deleted); err == nil {
				fmt.Fprintf(out, "%s is deleted\n", name)
			}
		},
	}); err != nil {
		return err
	}
	return objects.Start(ctx)
}

// show prints the domains of an object that have changed.
func show(out io.Writer, before, after any) {
	shown := textsOf(before)
	for domain, text := range textsOf(after) {
		if shown[domain] != text {
			fmt.Fprint(out, text)
		}
	}
}

// textsOf has a text for each domain of an object.
func textsOf(object any) map[string]string {
	texts := map[string]string{}
	if tenant, is := object.(*v1alpha1.DistributionTenant); is {
		for _, d := range tenant.Status.Domains {
			texts[d.Domain] = textOf(d)
		}
	}
	return texts
}

func textOf(d v1alpha1.DomainStatus) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s %s\n", d.Domain, d.State, d.Message)
	for _, r := range d.Records {
		if r.PublishedBy == v1alpha1.PartyCustomer && r.State != v1alpha1.RecordPresent && r.Value != "" {
			fmt.Fprintf(&text, "  set %s %s %s\n", r.Type, r.Name, r.Value)
		}
	}
	return text.String()
}
