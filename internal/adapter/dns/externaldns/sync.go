package externaldns

import (
	"context"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/authority"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/calls"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// InSync implements port.Zones: ExternalDNS has read each object as it is, and the name servers answer as it says. They
// are asked first, which costs least. When an object is emptied, its records may still be on their way to the servers.
// They are only gone for good if the servers don't show them after ExternalDNS has read the empty object.
func (d *DNS) InSync(ctx context.Context, zoneID string, sent dns.Sent) (bool, error) {
	ctx = calls.Errand(ctx)
	if shown, err := d.shown(ctx, zoneID, sent.Changes); err != nil || !shown {
		return false, err
	}
	emptied, seen, err := d.seen(ctx, zoneID, sent.Changes)
	if err != nil || !seen || len(emptied) == 0 {
		return seen, err
	}
	if shown, err := d.shown(ctx, zoneID, sent.Changes); err != nil || !shown {
		return false, err
	}
	for _, o := range emptied {
		switch err := d.remove(ctx, o); {
		case fault.Is(err, fault.Conflict):
			return false, nil // it is looked at again
		case err != nil:
			return false, err
		}
	}
	return true, nil
}

// seen reports whether ExternalDNS has read the objects of the changes as they have to be, and which of them were emptied.
func (d *DNS) seen(ctx context.Context, zone string, changes []dns.Change) (emptied []object, all bool, err error) {
	for _, one := range byName(changes) {
		created := one[len(one)-1].Action == dns.Create
		o, err := d.get(ctx, objectName(one[0].Set.Name))
		switch {
		case err != nil && !fault.Is(err, fault.NotFound):
			return nil, false, err
		case err != nil || !d.ours(o, zone):
			if created {
				return nil, false, nil // what servers still show goes with the object
			}
		case !o.seen() || created && !d.intact(o) || !created && !o.emptied():
			return nil, false, nil
		case !created:
			emptied = append(emptied, o)
		}
	}
	return emptied, true, nil
}

// shown reports whether the name servers answer as the changes say.
func (d *DNS) shown(ctx context.Context, zone string, changes []dns.Change) (shown bool, err error) {
	err = d.config.Gate.Do(ctx, calls.Call{Operation: opRead}, func(ctx context.Context) error {
		shown, err = authority.Show(ctx, d.config.NameServers, "", changes)
		if !fault.Is(err, fault.Transient) {
			return err
		}
		left := slices.DeleteFunc(slices.Clone(changes), func(c dns.Change) bool { return c.Action == dns.Delete && d.delegated(ctx, zone, c.Set.Name) })
		if len(left) < len(changes) {
			shown, err = authority.Show(ctx, d.config.NameServers, "", left)
		}
		return err
	})
	return shown, err
}

// delegated reports whether the zone leaves the name to other servers. They answer then, whatever is deleted here.
func (d *DNS) delegated(ctx context.Context, zone, name string) bool {
	sets, err := authority.At(ctx, d.config.NameServers, zone, name)
	return err == nil && slices.ContainsFunc(sets, func(s dns.RecordSet) bool { return s.Type == "NS" })
}

// remove deletes an object that was emptied, unless it was changed since.
func (d *DNS) remove(ctx context.Context, o object) error {
	err := d.call(ctx, opDelete, true, func(ctx context.Context) error {
		return d.config.Client.Delete(ctx, o.Unstructured, client.Preconditions{UID: new(o.GetUID()), ResourceVersion: new(o.GetResourceVersion())})
	})
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	return err
}
