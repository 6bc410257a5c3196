package externaldns

import (
	"context"
	"slices"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/authority"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/calls"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// InSync implements port.Zones: ExternalDNS has read each object as it is, and the name servers answer as it says. What an
// object stood for may have been on its way when the object was emptied, and is only gone for good after that.
func (d *DNS) InSync(ctx context.Context, zoneID string, sent dns.Sent) (bool, error) {
	e := d.errand()
	var emptied []object
	for _, changes := range byName(sent.Changes) {
		o, err := e.get(ctx, objectName(changes[0].Set.Name))
		if fault.Is(err, fault.NotFound) {
			continue
		}
		if err != nil {
			return false, err
		}
		if !d.ours(o, zoneID) {
			continue
		}
		if !o.seen() {
			return false, nil
		}
		if o.withdrawn() {
			emptied = append(emptied, o)
		}
	}
	shown, err := e.shown(ctx, sent.Changes)
	if err != nil || !shown {
		return false, err
	}
	for _, o := range emptied {
		if err := e.remove(ctx, o); err != nil {
			if fault.Is(err, fault.Conflict) {
				err = nil // it is looked at again
			}
			return false, err
		}
	}
	return true, nil
}

// shown reports whether the name servers answer as the changes say.
func (e *errand) shown(ctx context.Context, changes []dns.Change) (shown bool, err error) {
	// A set without values can't be seen.
	visible := slices.DeleteFunc(slices.Clone(changes), func(c dns.Change) bool { return len(c.Set.Values) == 0 })
	if len(visible) == 0 {
		return true, nil
	}
	err = e.passes.Do(ctx, calls.Call{Operation: opRead}, func(ctx context.Context) error {
		shown, err = authority.Show(ctx, e.config.NameServers, "", visible)
		return err
	})
	return shown, err
}

// remove deletes an object that was emptied, unless it was changed since.
func (e *errand) remove(ctx context.Context, o object) error {
	err := e.call(ctx, opDelete, true, func(ctx context.Context) error {
		return e.config.Client.Delete(ctx, o.Unstructured, client.Preconditions{UID: ptr.To(o.GetUID()), ResourceVersion: ptr.To(o.GetResourceVersion())})
	})
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	return err
}
