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

	distributions *cache.Expiring
	// lastRead are the distributions as they were last read, by ID.
	lastRead  *cache.Expiring
	certs     *cache.Expiring
	endpoints *cache.Expiring
	ipv6      *cache.Expiring
	accounts  *cache.Expiring

	clock clock.PassiveClock
	shown *shown
}

// NewReferences makes an empty memory.
func NewReferences(p port.References, c port.Certificates, id port.Identity, clk clock.Clock) *References {
	return &References{
		parents: p, certificates: c, identity: id,
		distributions: cache.NewExpiringWithClock(clk), lastRead: cache.NewExpiringWithClock(clk), certs: cache.NewExpiringWithClock(clk),
		endpoints: cache.NewExpiringWithClock(clk), ipv6: cache.NewExpiringWithClock(clk), accounts: cache.NewExpiringWithClock(clk),
		clock: clk, shown: newShown(),
	}
}

// Forget drops what is remembered of a distribution or of certificates, so that a user who asks to look again gets no
// answer from memory.
func (r *References) Forget(names ...string) {
	for _, name := range names {
		r.distributions.Delete("distribution/" + name)
		r.lastRead.Delete(name)
		r.certs.Delete("certificate/" + name)
	}
}

// Distribution reads a distribution. That it is missing or may not be read is part of
// the answer; an error is anything else.
func (r *References) Distribution(ctx context.Context, id string) (distributiontenant.Distribution, error) {
	return shared(ctx, &r.group, r.distributions, "distribution/"+id, func(ctx context.Context) (distributiontenant.Distribution, error) {
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
	v, known := r.lastRead.Get(id)
	if !known {
		return d, false
	}
	return v.(distributiontenant.Distribution), true //nolint:forcetypeassert // nothing else is stored there
}

// Certificate reads a certificate in ACM, in the same manner.
func (r *References) Certificate(ctx context.Context, arn string) (distributiontenant.Certificate, error) {
	return shared(ctx, &r.group, r.certs, "certificate/"+arn, func(ctx context.Context) (distributiontenant.Certificate, error) {
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
	endpoint, ok := r.endpoints.Get(groupID)
	if !ok {
		return ""
	}
	return endpoint.(string) //nolint:forcetypeassert // nothing else is stored there
}

// Endpoint reads the routing endpoint of a connection group, or of the account's default
// group when no id is given; empty when AWS shows none.
func (r *References) Endpoint(ctx context.Context, groupID string) (string, error) {
	if _, known := r.endpoints.Get(groupID); known {
		return r.KnownEndpoint(groupID), nil
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
	if _, listed := r.endpoints.Get(groupID); !listed {
		// Every tenant of the group would ask again. One that is not shown may have been made
		// with its first tenant a moment ago, and the list lag behind.
		r.endpoints.Set(groupID, "", parentTTL)
	}
	return r.KnownEndpoint(groupID), nil
}

// defaultGroup is the key for the id of the account's default connection group, which is remembered next to the
// endpoints.
const (
	defaultGroup   = ""
	defaultGroupID = "default"
)

// IPv6 reports whether the routing endpoint of a connection group has addresses of both
// kinds. What may not be read counts as having none: a name is reached without.
func (r *References) IPv6(ctx context.Context, groupID string) (bool, error) {
	if groupID == defaultGroup {
		groupID = r.KnownEndpoint(defaultGroupID)
	}
	if groupID == "" {
		return false, nil
	}
	if v, ok := r.ipv6.Get(groupID); ok {
		return v.(bool), nil //nolint:forcetypeassert // nothing else is stored there
	}
	v, err, _ := r.group.Do("ipv6/"+groupID, func() (any, error) {
		g, err := r.parents.GetConnectionGroup(ctx, groupID)
		if err != nil && !fault.Is(err, fault.Denied, fault.NotFound) {
			return false, err
		}
		r.ipv6.Set(groupID, g.IPv6, routingTTL)
		return g.IPv6, nil
	})
	if err != nil {
		return false, err
	}
	return v.(bool), nil //nolint:forcetypeassert // as above
}

// Account is the AWS account of the operator's credentials.
func (r *References) Account(ctx context.Context) (string, error) {
	return shared(ctx, &r.group, r.accounts, "account", r.identity.Account)
}

// shared answers from the cache, or reads once for all who ask meanwhile.
func shared[T any](ctx context.Context, g *singleflight.Group, c *cache.Expiring, key string, read func(context.Context) (T, error)) (T, error) {
	var zero T
	if v, ok := c.Get(key); ok {
		return v.(T), nil //nolint:forcetypeassert // the key's prefix names the type
	}
	v, err, _ := g.Do(key, func() (any, error) {
		if v, ok := c.Get(key); ok {
			return v, nil // read since the first look
		}
		v, err := read(ctx)
		if err == nil {
			c.Set(key, v, parentTTL)
		}
		return v, err
	})
	if err != nil {
		return zero, err
	}
	return v.(T), nil //nolint:forcetypeassert // as above
}
