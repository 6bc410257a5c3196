package distribution_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distribution"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// playedResource is a distribution or connection group as AWS has it.
type playedResource struct {
	distribution.Observed
	// reference is the caller reference of a distribution.
	reference string
	comment   string
	tags      map[string]string
	tenants   int
	// changed is when it was last written, created and deleted when that was.
	changed, created, deleted time.Time
}

func (r *playedResource) alive() bool { return r.deleted.IsZero() }

func (r *playedResource) ours() bool { return ownership.Relate(me, r.tags) == ownership.Ours }

// playedAWS is a small account. Writes see what is; reads lag behind creations and deletions.
type playedAWS struct {
	now time.Time
	// named resources are connection groups: found by a name that is unique, and only while they live.
	named     bool
	resources []*playedResource
	used      map[string]bool
	serial    int
	// deploys is how long a change takes to be everywhere, arrives how much longer a deletion takes that AWS carries
	// out asynchronously.
	deploys, arrives time.Duration
	// appears and vanishes are how long reads lag behind.
	appears, vanishes time.Duration

	// reads and writes are the kinds with which calls fail. loses means that the write is made and its answer lost.
	reads, writes fault.Kind
	loses         bool
	// between is done by someone else right before the next write.
	between func()
}

func (a *playedAWS) next(prefix string) string {
	a.serial++
	return fmt.Sprintf("%s%d", prefix, a.serial)
}

// living is the resource that is still there, nil if there is none.
func (a *playedAWS) living() *playedResource {
	for _, r := range a.resources {
		if r.alive() {
			return r
		}
	}
	return nil
}

func (a *playedAWS) tick(d time.Duration) {
	a.now = a.now.Add(d)
	for _, r := range a.resources {
		if a.now.Sub(r.changed) >= a.deploys {
			r.Status = distribution.Deployed
		}
	}
}

func failed(kind fault.Kind) *fault.Error {
	return &fault.Error{Kind: kind, Operation: "Something", Message: "said AWS"}
}

// shown reports whether reads show the resource.
func (a *playedAWS) shown(r *playedResource) bool {
	return !a.now.Before(r.created.Add(a.appears)) && (r.alive() || a.now.Before(r.deleted.Add(a.vanishes)))
}

// read finds the first resource that is shown, and of which that is true.
func (a *playedAWS) read(is func(*playedResource) bool) (*playedResource, *fault.Error) {
	if a.reads != fault.None {
		return nil, failed(a.reads)
	}
	for _, r := range slices.Backward(a.resources) {
		if is(r) && a.shown(r) {
			seen := *r
			return &seen, nil
		}
	}
	return nil, failed(fault.NotFound)
}

func (a *playedAWS) readID(id string) (*playedResource, *fault.Error) {
	return a.read(func(r *playedResource) bool { return r.ID == id })
}

// clocks is how much earlier than asked for the adapter looks: AWS's clock may be behind.
const clocks = 15 * time.Minute

// find looks for what creates of this object have made: a group by its name, a distribution by its reference.
func (a *playedAWS) find(since time.Time) (*playedResource, *fault.Error) {
	return a.read(func(r *playedResource) bool {
		return a.named || strings.HasPrefix(r.reference, me.UID) && !r.Modified.Before(since.Add(-clocks))
	})
}

func (a *playedAWS) listTags(arn string) (map[string]string, *fault.Error) {
	r, err := a.read(func(r *playedResource) bool { return r.ARN == arn })
	if err != nil {
		return nil, err
	}
	return merged(r.tags, nil), nil
}

// write makes a change, unless something is in its way.
func (a *playedAWS) write(how func() *fault.Error) *fault.Error {
	if f := a.between; f != nil {
		a.between = nil
		f()
	}
	if a.writes != fault.None {
		return failed(a.writes)
	}
	if err := how(); err != nil {
		return err
	}
	if a.loses {
		return failed(fault.Transient)
	}
	return nil
}

func (a *playedAWS) create(reference, comment string, enabled bool, tags map[string]string) (*playedResource, *fault.Error) {
	var made playedResource
	err := a.write(func() *fault.Error {
		if a.used[reference] || a.named && a.living() != nil {
			return failed(fault.Exists)
		}
		a.used[reference] = !a.named
		made = *a.add(reference, comment, enabled, tags)
		return nil
	})
	return &made, err
}

func (a *playedAWS) add(reference, comment string, enabled bool, tags map[string]string) *playedResource {
	id := a.next("E")
	r := &playedResource{reference: reference, comment: comment, tags: maps.Clone(tags), created: a.now, Observed: distribution.Observed{
		ID: id, ARN: "arn:aws:cloudfront::" + account + ":distribution/" + id, Enabled: enabled,
	}}
	a.touch(r)
	a.resources = append(a.resources, r)
	return r
}

// touch is what every change of a configuration does.
func (a *playedAWS) touch(r *playedResource) {
	r.ETag, r.Status, r.changed, r.Modified = a.next("V"), "InProgress", a.now, a.now
}

// change changes a configuration, if it is still as it was seen.
func (a *playedAWS) change(id, etag string, how func(*playedResource) *fault.Error) (*playedResource, *fault.Error) {
	var after playedResource
	err := a.write(func() *fault.Error {
		for _, r := range a.resources {
			switch {
			case r.ID != id || !r.alive():
				continue
			case r.ETag != etag:
				return failed(fault.Conflict)
			}
			err := how(r)
			after = *r
			return err
		}
		return failed(fault.NotFound)
	})
	return &after, err
}

func (a *playedAWS) update(id, etag, comment string, enabled bool) (*playedResource, *fault.Error) {
	return a.change(id, etag, func(r *playedResource) *fault.Error {
		r.comment, r.Enabled = comment, enabled
		a.touch(r)
		return nil
	})
}

func (a *playedAWS) disable(id, etag string) (*playedResource, *fault.Error) {
	return a.change(id, etag, func(r *playedResource) *fault.Error {
		r.Enabled = false
		a.touch(r)
		return nil
	})
}

func (a *playedAWS) delete(id, etag string) *fault.Error {
	_, err := a.change(id, etag, func(r *playedResource) *fault.Error {
		switch {
		case r.Enabled || a.now.Sub(r.changed) < a.deploys+a.arrives:
			return failed(fault.NotDisabled)
		case r.tenants > 0 || r.Default:
			return failed(fault.InUse)
		}
		r.deleted = a.now
		return nil
	})
	return err
}

func (a *playedAWS) retag(arn string, set map[string]string, remove []string) *fault.Error {
	return a.write(func() *fault.Error {
		for _, r := range a.resources {
			if r.ARN == arn && r.alive() {
				r.tags = merged(r.tags, set)
				maps.DeleteFunc(r.tags, func(k, _ string) bool { return slices.Contains(remove, k) })
				return nil
			}
		}
		return failed(fault.NotFound)
	})
}

// differences compares what the object asks for with what was read.
func differences(comment string, enabled bool, r *playedResource) []resource.Difference {
	var out []resource.Difference
	if r.comment != comment {
		out = append(out, resource.Difference{Field: "comment", Desired: comment, Observed: r.comment})
	}
	if r.Enabled != enabled {
		out = append(out, resource.Difference{Field: "enabled", Desired: fmt.Sprint(enabled), Observed: fmt.Sprint(r.Enabled)})
	}
	return out
}
