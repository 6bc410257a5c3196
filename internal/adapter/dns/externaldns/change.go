package externaldns

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	wire "github.com/miekg/dns"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/calls"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// Change implements port.Zones. Each name takes a write of its own.
func (d *DNS) Change(ctx context.Context, zoneID string, changes []dns.Change) (string, error) {
	if len(changes) == 0 {
		return "", invalid("there is nothing to change")
	}
	for _, c := range changes {
		if err := writable(zoneID, c); err != nil {
			return "", err
		}
	}
	ctx, err := d.config.Gate.Errand(ctx, opUpdate)
	if err != nil {
		return "", err
	}
	if err := d.served(ctx, zoneID); err != nil {
		return "", err
	}
	for i, one := range byName(changes) {
		if err := d.change(ctx, zoneID, one); err != nil {
			if i > 0 {
				err = calls.Partly(err)
			}
			return "", err
		}
	}
	return d.changes.Next(d.config.Clock.Now()), nil
}

// writable refuses records that ExternalDNS would not publish, or that would stop it from publishing others.
func writable(zone string, c dns.Change) error {
	s := c.Set
	switch _, ok := wire.IsDomainName(s.Name); {
	case !ok:
		return invalid("%s is not a domain name", s.Name)
	case s.Name != zone && !strings.HasSuffix(s.Name, "."+zone):
		return invalid("%s is not in the zone %s", s.Name, zone)
	case s.Routed:
		return invalid("the %s record %s was not published by way of a DNSEndpoint of the operator, or has a property that the operator never writes: "+
			"the operator does not replace such a record; delete it where it was made", s.Type, s.Name)
	case c.Action == dns.Create && s.Type != dns.CNAME:
		return invalid("the record %s is of the type %s: the operator hands only CNAME records to ExternalDNS", s.Name, s.Type)
	case c.Action == dns.Create && !registrable(s.Name):
		return invalid("%s is too long for ExternalDNS, which would publish it without a note of whose it is and never delete it: "+
			"use a name whose first label has at most %d characters, and that has at most %d in all", s.Name, longestLabel, longest)
	}
	return nil
}

// noted is what ExternalDNS puts before a name, in the first label, for the note that says whose its record is.
const noted = "cname-"

// The longest first label, and the longest name, of which ExternalDNS can note whose they are.
const (
	longestLabel = 63 - len(noted)
	longest      = 253 - len(noted)
)

// registrable reports whether ExternalDNS can note whose the record of a name is.
func registrable(name string) bool {
	label, _, _ := strings.Cut(name, ".")
	return len(label) <= longestLabel && len(name) <= longest
}

// byName groups changes, in their order.
func byName(changes []dns.Change) (out [][]dns.Change) {
	at := map[string]int{}
	for _, c := range changes {
		i, known := at[c.Set.Name]
		if !known {
			i = len(out)
			at[c.Set.Name] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], c)
	}
	return out
}

// change carries out the changes at one name.
func (d *DNS) change(ctx context.Context, zone string, changes []dns.Change) error {
	name := changes[0].Set.Name
	o, err := d.get(ctx, objectName(name))
	switch {
	case fault.Is(err, fault.NotFound):
		return d.create(ctx, zone, changes)
	case err != nil:
		return err
	case !d.ours(o, zone):
		return fault.New(fault.Exists, opCreate, "the DNSEndpoint %s/%s is not the operator's: delete it, or give the account a namespace of its own", o.GetNamespace(), o.GetName())
	}
	held, err := d.sets(ctx, zone, o)
	if err != nil {
		return err
	}
	left, err := after(held, changes)
	if err != nil {
		return err
	}
	if len(left) > 0 {
		err = o.publish(left, changes[len(changes)-1].Owner)
	} else {
		if _, noted := o.noted(); noted && o.emptied() && d.labelled(o) {
			return nil // it was emptied before, and the answer was lost
		}
		err = o.withdraw(held)
	}
	if err != nil {
		return err
	}
	d.label(o)
	return d.write(ctx, opUpdate, func(ctx context.Context) error { return d.config.Client.Update(ctx, o.Unstructured) })
}

// after returns what a name has after the changes.
func after(held []dns.RecordSet, changes []dns.Change) ([]dns.RecordSet, error) {
	left := slices.Clone(held)
	for _, c := range changes {
		if c.Action != dns.Delete {
			continue
		}
		i := slices.IndexFunc(left, func(s dns.RecordSet) bool { return equal(s, c.Set) })
		if i < 0 {
			return nil, conflict("the DNSEndpoint does not have the %s record %s as it was read", c.Set.Type, c.Set.Name)
		}
		left = slices.Delete(left, i, i+1)
	}
	left = slices.DeleteFunc(left, func(s dns.RecordSet) bool { return s.Leaving })
	for _, c := range changes {
		if c.Action != dns.Create {
			continue
		}
		if i := slices.IndexFunc(left, func(s dns.RecordSet) bool { return s.Clashes(c.Set.Key) }); i >= 0 {
			return nil, exists(left[i])
		}
		left = append(left, c.Set)
	}
	return left, nil
}

func equal(a, b dns.RecordSet) bool {
	return a.Key == b.Key && a.TTL == b.TTL && slices.Equal(slices.Sorted(slices.Values(a.Values)), slices.Sorted(slices.Values(b.Values)))
}

// create makes the object of a name that has none. There may be records of others all the same, which ExternalDNS leaves
// alone: then it would silently publish nothing.
func (d *DNS) create(ctx context.Context, zone string, changes []dns.Change) error {
	first, last := changes[0], changes[len(changes)-1]
	name := first.Set.Name
	switch {
	case first.Action == dns.Delete && last.Action == dns.Create:
		return invalid("the %s record %s was not published by way of a DNSEndpoint of the operator, which does not replace such records: "+
			"delete it where it was made", first.Set.Type, name)
	case first.Action == dns.Delete:
		return conflict("the operator has no DNSEndpoint for the %s record %s, which the name servers showed all the same: "+
			"if ExternalDNS does not delete it, delete it where it was made", first.Set.Type, name)
	}
	left, err := after(nil, changes)
	if err != nil {
		return err
	}
	others, err := d.others(ctx, zone, name)
	if err != nil {
		return err
	}
	if len(others) > 0 {
		s := others[0]
		if s.Name != name || s.Type == "NS" {
			return invalid("%s is below %s, which the zone delegates to %s", name, s.Name, strings.Join(s.Values, ", "))
		}
		return exists(s)
	}
	o := d.newObject(zone, name)
	if err := o.publish(left, last.Owner); err != nil {
		return err
	}
	d.label(o)
	return d.write(ctx, opCreate, func(ctx context.Context) error { return d.config.Client.Create(ctx, o.Unstructured) })
}

// publish has the object stand for the sets.
func (o object) publish(sets []dns.RecordSet, owner dns.Owner) error {
	if owner.Name != "" {
		annotations := o.GetAnnotations()
		annotations[annotationOwner] = owner.Namespace + "/" + owner.Name
		o.SetAnnotations(annotations)
	}
	if err := o.note(sets); err != nil {
		return err
	}
	return o.set(endpointsOf(sets))
}

// withdraw empties the object, which had the sets, and has it remember them.
func (o object) withdraw(sets []dns.RecordSet) error {
	if err := o.note(sets); err != nil {
		return err
	}
	return o.set([]any{})
}

// note has the object remember what servers may show.
func (o object) note(sets []dns.RecordSet) error {
	text, err := json.Marshal(endpointsOf(sets))
	if err != nil {
		return fmt.Errorf("writing the annotation %s: %w", annotationPublished, err)
	}
	annotations := o.GetAnnotations()
	annotations[annotationPublished] = string(text)
	o.SetAnnotations(annotations)
	return nil
}

func (o object) set(endpoints []any) error {
	if err := unstructured.SetNestedSlice(o.Object, endpoints, "spec", "endpoints"); err != nil {
		return fmt.Errorf("writing the endpoints: %w", err)
	}
	return nil
}
