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

// InSync implements port.Zones: ExternalDNS has read each object as it is, and the name servers answer as it says. They are
// asked first, which costs least. What an object stood for may have been on its way to them when the object was emptied, and
// is only gone for good if they don't show it after ExternalDNS has read that.
func (d *DNS) InSync(ctx context.Context, zoneID string, sent dns.Sent) (bool, error) {
	e := d.errand()
	if shown, err := e.shown(ctx, sent.Changes); err != nil || !shown {
		return false, err
	}
	emptied, seen, err := e.seen(ctx, zoneID, sent.Changes)
	if err != nil || !seen || len(emptied) == 0 {
		return seen, err
	}
	if shown, err := e.shown(ctx, sent.Changes); err != nil || !shown {
		return false, err
	}
	for _, o := range emptied {
		switch err := e.remove(ctx, o); {
		case fault.Is(err, fault.Conflict):
			return false, nil // it is looked at again
		case err != nil:
			return false, err
		}
	}
	return true, nil
}

// seen reports whether ExternalDNS has read the objects of the changes as they are, and which of them were emptied.
func (e *errand) seen(ctx context.Context, zone string, changes []dns.Change) (emptied []object, all bool, err error) {
	for _, one := range byName(changes) {
		o, err := e.get(ctx, objectName(one[0].Set.Name))
		switch {
		case fault.Is(err, fault.NotFound):
			continue
		case err != nil:
			return nil, false, err
		case !e.ours(o, zone):
			continue
		case !o.seen():
			return nil, false, nil
		case o.withdrawn():
			emptied = append(emptied, o)
		}
	}
	return emptied, true, nil
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
