package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

// watch prints each change of a domain in the namespace default, and the records that its customer has to set. The API
// server ends each watch after some minutes; a new one begins with all objects as they are then.
func watch(ctx context.Context, kube client.WithWatch, out io.Writer) error {
	shown := map[string]string{}
	for ctx.Err() == nil {
		changes, err := kube.Watch(ctx, &v1alpha1.DistributionTenantList{}, client.InNamespace("default"))
		if err != nil {
			return err
		}
		for change := range changes.ResultChan() {
			if tenant, is := change.Object.(*v1alpha1.DistributionTenant); is {
				for _, d := range tenant.Status.Domains {
					if text := textOf(d); shown[d.Domain] != text {
						fmt.Fprint(out, text)
						shown[d.Domain] = text
					}
				}
			}
		}
	}
	return ctx.Err()
}

func textOf(d v1alpha1.DomainStatus) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s %s\n", d.Domain, d.State, d.Message)
	for _, r := range d.Records {
		if r.PublishedBy == v1alpha1.PartyCustomer && r.State != v1alpha1.RecordPresent {
			fmt.Fprintf(&text, "  set %s %s %s\n", r.Type, r.Name, r.Value)
		}
	}
	return text.String()
}
