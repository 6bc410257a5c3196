package azure

import (
	"context"
	"errors"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/dns/armdns"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/calls"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// step is one write. Azure has no batches.
type step struct {
	relative string
	key      dns.Key
	// before is what is deleted or replaced, nil where nothing is there. etag is its version.
	before *dns.RecordSet
	etag   string
	// after is what is written, nil for a deletion.
	after *armdns.RecordSetProperties
}

// Change implements port.Zones. Everything that is deleted is read first, so that most impossible changes are found
// before anything is changed. A set that replaces another one of its type does so in one call.
func (d *DNS) Change(ctx context.Context, zoneID string, changes []dns.Change) (string, error) {
	at, err := placeOf(opPutRecord, zoneID)
	if err != nil {
		return "", err
	}
	steps, err := d.steps(at, changes)
	if err != nil {
		return "", err
	}
	ctx, err = d.config.Gate.Errand(ctx, opPutRecord)
	if err != nil {
		return "", err
	}
	for i := range steps {
		if err := d.prepare(ctx, at, &steps[i]); err != nil {
			return "", err
		}
	}
	for i, s := range steps {
		if err := d.carryOut(ctx, at, s); err != nil {
			if i > 0 {
				err = calls.Partly(err)
			}
			return "", err
		}
	}
	return d.changes.Next(d.config.Clock.Now()), nil
}

// steps returns the writes in their order: those that make room, those that replace, those that create.
func (d *DNS) steps(at place, changes []dns.Change) ([]step, error) {
	if len(changes) == 0 {
		return nil, invalid("there is nothing to change")
	}
	byKey := map[dns.Key]int{}
	var steps []step
	for _, c := range changes {
		relative, inside := at.relative(c.Set.Name)
		if !inside {
			return nil, invalid("%s is not in the zone %s", c.Set.Name, at.zone)
		}
		i, known := byKey[c.Set.Key]
		if !known {
			i = len(steps)
			byKey[c.Set.Key] = i
			steps = append(steps, step{relative: relative, key: c.Set.Key})
		}
		if c.Action == dns.Delete {
			if c.Set.Routed {
				return nil, routed(c.Set)
			}
			steps[i].before = &c.Set
			continue
		}
		after, err := d.properties(c)
		if err != nil {
			return nil, err
		}
		steps[i].after = after
	}
	slices.SortStableFunc(steps, func(a, b step) int { return a.rank() - b.rank() })
	return steps, nil
}

func (s step) rank() int {
	switch {
	case s.after == nil:
		return 0
	case s.before != nil:
		return 1
	}
	return 2
}

func routed(s dns.RecordSet) error {
	return invalid("the %s record %s is an alias for an Azure resource, or has metadata that the operator never writes: "+
		"the operator does not replace such a record; delete it in Azure", s.Type, s.Name)
}

// prepare reads the version of what is deleted or replaced, which has to be what the change names.
func (d *DNS) prepare(ctx context.Context, at place, s *step) error {
	if s.before == nil {
		return nil
	}
	found, err := d.getRecord(ctx, at, s.key)
	switch {
	case err != nil:
		return err
	case found == nil:
		return conflict("the %s record %s is not there any more", s.key.Type, s.key.Name)
	case found.set.Routed:
		return routed(found.set)
	case !equal(found.set, *s.before):
		return conflict("the %s record %s was changed", s.key.Type, s.key.Name)
	}
	s.etag = found.etag
	return nil
}

func equal(a, b dns.RecordSet) bool {
	return a.Key == b.Key && a.TTL == b.TTL && a.Alias == b.Alias && slices.Equal(a.Values, b.Values) && slices.Equal(a.Exact, b.Exact)
}

func conflict(format string, args ...any) error {
	return fault.New(fault.Conflict, opGetRecord, format, args...)
}

func (d *DNS) carryOut(ctx context.Context, at place, s step) error {
	kind := armdns.RecordType(s.key.Type)
	if s.after == nil {
		return d.write(ctx, opDeleteRecord, func(ctx context.Context) error {
			_, err := d.records.Delete(ctx, at.group, at.zone, s.relative, kind, &armdns.RecordSetsClientDeleteOptions{IfMatch: &s.etag})
			return err
		})
	}
	condition := &armdns.RecordSetsClientCreateOrUpdateOptions{IfNoneMatch: new("*")}
	if s.before != nil {
		condition = &armdns.RecordSetsClientCreateOrUpdateOptions{IfMatch: &s.etag}
	}
	err := d.write(ctx, opPutRecord, func(ctx context.Context) error {
		out, err := d.records.CreateOrUpdate(ctx, at.group, at.zone, s.relative, kind, armdns.RecordSet{Properties: s.after}, condition)
		if err == nil && value(out.Etag) == "" {
			return unreadable(opPutRecord, "the etag of the record set")
		}
		return err
	})
	if failure, ok := errors.AsType[*fault.Error](err); ok && failure.Code == codePrecondition && s.before == nil {
		// It was to be created, and is there.
		failure.Kind = fault.Exists
	}
	return err
}
