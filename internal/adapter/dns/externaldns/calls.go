package externaldns

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/authority"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/calls"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// call makes a call to the API server.
func (d *DNS) call(ctx context.Context, operation string, changes bool, send func(context.Context) error) error {
	return d.config.Gate.Bounded(ctx, calls.Call{Operation: operation, Changes: changes}, d.failure, send)
}

// served reports whether the name servers have the zone.
func (d *DNS) served(ctx context.Context, zone string) error {
	return d.config.Gate.Do(ctx, calls.Call{Operation: opZone}, func(ctx context.Context) error {
		return authority.Serve(ctx, d.config.NameServers, zone)
	})
}

// others are the sets that the name servers show at a name without an object: those of others.
func (d *DNS) others(ctx context.Context, zone, name string) (sets []dns.RecordSet, err error) {
	err = d.config.Gate.Do(ctx, calls.Call{Operation: opRead}, func(ctx context.Context) error {
		sets, err = authority.At(ctx, d.config.NameServers, zone, name)
		return err
	})
	for i := range sets {
		sets[i].Fixed = true
	}
	if err == nil {
		d.remember(zone, name, len(sets) > 0)
	}
	return sets, err
}

// list reads a page of the operator's objects, whatever their zone.
func (d *DNS) list(ctx context.Context, marker string) (*unstructured.UnstructuredList, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	err := d.call(ctx, opList, false, func(ctx context.Context) error {
		err := d.config.Client.List(ctx, list, client.InNamespace(d.config.Namespace), client.MatchingLabels{labelManagedBy: managedBy},
			client.Limit(pageSize), client.Continue(marker))
		if apierrors.IsResourceExpired(err) {
			return &fault.Error{Kind: fault.Transient, Operation: opList, Message: "the list took too long, and begins again", Err: err}
		}
		return err
	})
	return list, err
}

// get reads an object.
func (d *DNS) get(ctx context.Context, name string) (object, error) {
	o := empty()
	err := d.call(ctx, opGet, false, func(ctx context.Context) error {
		return d.config.Client.Get(ctx, client.ObjectKey{Namespace: d.config.Namespace, Name: name}, o.Unstructured)
	})
	return o, err
}

// write makes a call that changes an object.
func (d *DNS) write(ctx context.Context, operation string, send func(context.Context) error) error {
	err := d.call(ctx, operation, true, send)
	if fault.Is(err, fault.NotFound) {
		return conflict("the DNSEndpoint was deleted meanwhile")
	}
	return err
}
