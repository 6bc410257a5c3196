package externaldns

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/authority"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/calls"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// callTimeout ends a call that the API server does not answer, so that one does not hold up its zone.
const callTimeout = 30 * time.Second

// errand is all that one question or change takes. Its calls follow each other although the rate may be used up.
type errand struct {
	*DNS

	passes *calls.Errand
}

func (d *DNS) errand() *errand { return &errand{DNS: d, passes: d.config.Gate.Errand()} }

// call makes a call to the API server.
func (e *errand) call(ctx context.Context, operation string, changes bool, send func(context.Context) error) error {
	return e.passes.Do(ctx, calls.Call{Operation: operation, Changes: changes}, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, callTimeout)
		defer cancel()
		return e.failure(operation, send(ctx))
	})
}

// served reports whether the name servers have the zone.
func (e *errand) served(ctx context.Context, zone string) error {
	return e.passes.Do(ctx, calls.Call{Operation: opZone}, func(ctx context.Context) error {
		return authority.Serve(ctx, e.config.NameServers, zone)
	})
}

// others are the sets that the name servers show at a name without an object: those of others.
func (e *errand) others(ctx context.Context, zone, name string) (sets []dns.RecordSet, err error) {
	err = e.passes.Do(ctx, calls.Call{Operation: opRead}, func(ctx context.Context) error {
		sets, err = authority.At(ctx, e.config.NameServers, zone, name)
		return err
	})
	for i := range sets {
		sets[i].Fixed = true
	}
	if err == nil {
		e.remember(zone, name, len(sets) > 0)
	}
	return sets, err
}

// list reads a page of the operator's objects, whatever their zone.
func (e *errand) list(ctx context.Context, marker string) (*unstructured.UnstructuredList, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	err := e.call(ctx, opList, false, func(ctx context.Context) error {
		err := e.config.Client.List(ctx, list, client.InNamespace(e.config.Namespace), client.MatchingLabels{labelManagedBy: managedBy},
			client.Limit(pageSize), client.Continue(marker))
		if apierrors.IsResourceExpired(err) {
			return &fault.Error{Kind: fault.Transient, Operation: opList, Message: "the list took too long, and begins again", Err: err}
		}
		return err
	})
	return list, err
}

// get reads an object.
func (e *errand) get(ctx context.Context, name string) (object, error) {
	o := empty()
	err := e.call(ctx, opGet, false, func(ctx context.Context) error {
		return e.config.Client.Get(ctx, client.ObjectKey{Namespace: e.config.Namespace, Name: name}, o.Unstructured)
	})
	return o, err
}

// write makes a call that changes an object.
func (e *errand) write(ctx context.Context, operation string, send func(context.Context) error) error {
	err := e.call(ctx, operation, true, send)
	if fault.Is(err, fault.NotFound) {
		return conflict("the DNSEndpoint was deleted meanwhile")
	}
	return err
}
