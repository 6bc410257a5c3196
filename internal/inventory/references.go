package inventory

import (
	"context"
	"time"

	"golang.org/x/sync/singleflight"
	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// How long facts about what tenants refer to are believed. A minute lets a thousand new tenants share one read, and
// lets the next try see a mistake that is fixed there. Routing endpoints never change; only a group may be new.
const (
	parentTTL  = time.Minute
	routingTTL = time.Hour
	// lastReadTTL is for advice, which must not read and may be out of date.
	lastReadTTL = 10 * time.Minute
)

// References remembers what tenants refer to: distributions, certificates, routing
// endpoints, the account. Reads of the same thing at the same time are one call.
type References struct {
	parents      port.References
	certificates port.Certificates
	identity     port.Identity
	group        singleflight.Group

	distributions answers[distributiontenant.Distribution]
	// lastRead are the distributions as they were last read.
	lastRead  answers[distributiontenant.Distribution]
	certs     answers[distributiontenant.Certificate]
	endpoints answers[string]
	groups    answers[port.ConnectionGroup]
	anycast   answers[[]string]
	accounts  answers[string]

	clock clock.PassiveClock
	shown *shown
}

// NewReferences makes an empty memory.
func NewReferences(p port.References, c port.Certificates, id port.Identity, clk clock.Clock) *References {
	return &References{
		parents: p, certificates: c, identity: id,
		distributions: newAnswers[distributiontenant.Distribution](clk), lastRead: newAnswers[distributiontenant.Distribution](clk),
		certs: newAnswers[distributiontenant.Certificate](clk), endpoints: newAnswers[string](clk), groups: newAnswers[port.ConnectionGroup](clk), anycast: newAnswers[[]string](clk),
		accounts: newAnswers[string](clk), clock: clk, shown: newShown(),
	}
}

// Forget drops what is remembered of a distribution or of certificates, so that a user who asks to look again gets no
// answer from memory.
func (r *References) Forget(names ...string) {
	for _, name := range names {
		r.distributions.Delete(name)
		r.lastRead.Delete(name)
		r.certs.Delete(name)
	}
}

// Distribution reads a distribution. A distribution that is missing, or may not be read, is part of the answer; an
// error is anything else.
func (r *References) Distribution(ctx context.Context, id string) (distributiontenant.Distribution, error) {
	return shared(ctx, &r.group, r.distributions, "distribution/", id, parentTTL, func(ctx context.Context) (distributiontenant.Distribution, error) {
		d, err := r.parents.GetDistribution(ctx, id)
		switch fault.KindOf(err) { //nolint:exhaustive // every other kind is an error
		case fault.NotFound:
			d, err = distributiontenant.Distribution{ID: id, Missing: true}, nil
		case fault.Denied:
			d, err = distributiontenant.Distribution{ID: id, Unreadable: true}, nil
		}
		if err == nil {
			r.lastRead.Set(id, d, lastReadTTL)
			r.shown.noteDistribution(d)
		}
		return d, err
	})
}

// KnownDistribution is a distribution as it was last read, if that was not long ago.
func (r *References) KnownDistribution(id string) (d distributiontenant.Distribution, known bool) {
	return r.lastRead.get(id)
}

// Certificate reads a certificate in ACM, in the same manner.
func (r *References) Certificate(ctx context.Context, arn string) (distributiontenant.Certificate, error) {
	return shared(ctx, &r.group, r.certs, "certificate/", arn, parentTTL, func(ctx context.Context) (distributiontenant.Certificate, error) {
		c, err := r.certificates.DescribeCertificate(ctx, arn)
		switch fault.KindOf(err) { //nolint:exhaustive // every other kind is an error
		case fault.NotFound:
			return distributiontenant.Certificate{ARN: arn, Missing: true}, nil
		case fault.Denied:
			return distributiontenant.Certificate{ARN: arn, Unreadable: true}, nil
		}
		if err == nil {
			r.shown.note(c, r.clock.Now())
		}
		return c, err
	})
}

// DeleteCertificate deletes a certificate in ACM, and forgets what was read of it.
func (r *References) DeleteCertificate(ctx context.Context, arn string) error {
	r.Forget(arn)
	return r.certificates.DeleteCertificate(ctx, arn)
}

// KnownEndpoint is the routing endpoint of a connection group if it was read before.
func (r *References) KnownEndpoint(groupID string) string {
	endpoint, _ := r.endpoints.get(groupID)
	return endpoint
}

// Endpoint reads the routing endpoint of a connection group, or of the account's default
// group when no id is given; empty when AWS shows none.
func (r *References) Endpoint(ctx context.Context, groupID string) (string, error) {
	if endpoint, known := r.endpoints.get(groupID); known {
		return endpoint, nil
	}
	_, err, _ := r.group.Do("groups", func() (any, error) {
		groups, err := r.parents.ListConnectionGroups(ctx)
		for _, g := range groups {
			r.endpoints.Set(g.ID, g.RoutingEndpoint, routingTTL)
			if g.IsDefault {
				r.endpoints.Set(defaultGroup, g.RoutingEndpoint, routingTTL)
				r.endpoints.Set(defaultGroupID, g.ID, routingTTL)
			}
		}
		return nil, err
	})
	if err != nil && !fault.Is(err, fault.Denied) {
		return "", err
	}
	if _, listed := r.endpoints.get(groupID); !listed {
		// Every tenant of the group would ask again. One that is not shown may have been made
		// with its first tenant a moment ago, and the list lag behind.
		r.endpoints.Set(groupID, "", parentTTL)
	}
	if err != nil {
		r.endpoints.Set(unlisted, "", parentTTL)
	}
	return r.KnownEndpoint(groupID), nil
}

// Unlisted reports whether AWS refused to list the connection groups a moment ago.
func (r *References) Unlisted() bool {
	_, refused := r.endpoints.get(unlisted)
	return refused
}

// defaultGroup is the key for the id of the account's default connection group, which is remembered next to the
// endpoints. So is that they could not be listed.
const (
	defaultGroup   = ""
	defaultGroupID = "default"
	unlisted       = "unlisted"
)

// IPv6 reports whether the routing endpoint of a connection group has addresses of both
// kinds. A group that may not be read counts as having none: a name is reached without.
func (r *References) IPv6(ctx context.Context, groupID string) (bool, error) {
	g, err := r.connectionGroup(ctx, groupID)
	return g.IPv6, err
}

// connectionGroup reads a connection group. Of one that may not be read nothing is known.
func (r *References) connectionGroup(ctx context.Context, groupID string) (port.ConnectionGroup, error) {
	if groupID = r.groupID(groupID); groupID == "" {
		return port.ConnectionGroup{}, nil
	}
	return shared(ctx, &r.group, r.groups, "group/", groupID, routingTTL, func(ctx context.Context) (port.ConnectionGroup, error) {
		g, err := r.parents.GetConnectionGroup(ctx, groupID)
		if fault.Is(err, fault.Denied, fault.NotFound) {
			err = nil
		}
		return g, err
	})
}

// groupID is that of the default group where there is no other, empty while it is not known.
func (r *References) groupID(id string) string {
	if id == defaultGroup {
		return r.KnownEndpoint(defaultGroupID)
	}
	return id
}

// Addresses are those of the Anycast static IP list of a connection group. A group without a list has none, and neither has
// one that may not be read.
func (r *References) Addresses(ctx context.Context, groupID string) ([]string, error) {
	g, err := r.connectionGroup(ctx, groupID)
	if err != nil {
		return nil, err
	}
	return shared(ctx, &r.group, r.anycast, "anycast/", r.groupID(groupID), routingTTL, func(ctx context.Context) ([]string, error) {
		if g.AnycastIPListID == "" {
			return nil, nil
		}
		addresses, err := r.parents.AnycastAddresses(ctx, g.AnycastIPListID)
		if fault.Is(err, fault.Denied, fault.NotFound) {
			err = nil
		}
		return addresses, err
	})
}

// KnownAddresses are those if they were read before.
func (r *References) KnownAddresses(groupID string) (addresses []string, known bool) {
	return r.anycast.get(r.groupID(groupID))
}

// Account is the AWS account of the operator's credentials.
func (r *References) Account(ctx context.Context) (string, error) {
	return shared(ctx, &r.group, r.accounts, "account", "", parentTTL, r.identity.Account)
}

// answers are of one kind, and are each remembered for a while.
type answers[T any] struct{ *cache.Expiring }

func newAnswers[T any](c clock.Clock) answers[T] { return answers[T]{cache.NewExpiringWithClock(c)} }

func (a answers[T]) get(key string) (answer T, known bool) {
	v, known := a.Get(key)
	if known {
		answer = v.(T) //nolint:forcetypeassert // nothing else is stored there
	}
	return answer, known
}

// shared answers from memory, or reads once for all callers meanwhile.
func shared[T any](ctx context.Context, g *singleflight.Group, a answers[T], kind, key string, ttl time.Duration, read func(context.Context) (T, error)) (T, error) {
	if answer, known := a.get(key); known {
		return answer, nil
	}
	v, err, _ := g.Do(kind+key, func() (any, error) {
		if answer, known := a.get(key); known {
			return answer, nil // read since the first look
		}
		answer, err := read(ctx)
		if err == nil {
			a.Set(key, answer, ttl)
		}
		return answer, err
	})
	if err != nil {
		var none T
		return none, err
	}
	return v.(T), nil //nolint:forcetypeassert // as read returns it
}
