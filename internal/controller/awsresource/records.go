package awsresource

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/grant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/publication"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/zone"
)

// Records are what an object publishes with one ledger.
type Records struct {
	Zones *zone.Zones
	Owner dns.Owner
	// Spec is nil where no records are asked for.
	Spec   *publication.Spec
	Ledger []dns.Entry
	// Granted is what the namespace may have. Nil: everything.
	Granted *grant.Grant
	// DeniedRole is a role that is needed and the administrator has not granted.
	DeniedRole string
}

// Claim is what is asked of the zones for a ledger that is stored, apart from the records that are wanted. While it rests,
// nothing is changed. No call is made with a role that is not granted.
func (r Records) Claim(o client.Object, stored []dns.Entry, rests bool) dns.Claim {
	switch {
	case r.DeniedRole != "":
		stored = nil
	case rests:
		stored = slices.DeleteFunc(slices.Clone(stored), func(e dns.Entry) bool { return e.State != dns.Published })
	}
	return dns.Claim{
		Owner: r.Owner, Version: version(o.GetResourceVersion()), Since: o.GetCreationTimestamp().Time, Access: r.access(), Ledger: stored,
		Takeover: r.Spec != nil && r.Spec.Takeover, Spares: r.Granted != nil && r.Granted.Takeover() == grant.TakeoverCloudFront, Still: rests,
	}
}

// version orders the versions of an object. The API server promises that they are numbers.
func version(resourceVersion string) uint64 {
	v, err := strconv.ParseUint(resourceVersion, 10, 64)
	if err != nil {
		return 0
	}
	return v
}

// access is the identity with which the zones are looked up.
func (r Records) access() dns.Access {
	var provider dns.Provider
	role := ""
	switch {
	case r.Spec != nil:
		provider, role = r.Spec.Provider, r.Spec.RoleARN
	case len(r.Ledger) > 0:
		provider, role = r.Ledger[0].Provider, r.Ledger[0].RoleARN
	}
	return dns.AccessFor(r.Zones.WithAccount(provider), role, r.Owner.Namespace)
}

// Known are the zones that the object may publish in, as far as they were read before and have a place for every domain.
func (r Records) Known(domains []string) ([]dns.Zone, bool) {
	if r.Spec == nil || r.DeniedRole != "" {
		return nil, false
	}
	zones, known := r.Zones.Known(r.access())
	if id := r.Spec.Zone.ID; id != "" {
		zone, found := r.Zones.KnownZone(r.access(), id)
		zones, known = []dns.Zone{zone}, found
	}
	zones = r.granted(zones)
	homeless := slices.ContainsFunc(domains, func(d string) bool {
		_, err := r.Spec.Zone.Match(d, zones)
		return err != nil
	})
	return zones, known && !homeless
}

// Read reads them. A refusal only delays DNS.
func (r Records) Read(ctx context.Context) (zones []dns.Zone, unlisted *fault.Error, err error) {
	zones, err = r.list(ctx)
	if refusal, ok := errors.AsType[*fault.Error](err); ok && resource.IsRefusal(refusal.Kind) {
		return nil, refusal, nil
	}
	return r.granted(zones), nil, err
}

func (r Records) list(ctx context.Context) ([]dns.Zone, error) {
	id := r.Spec.Zone.ID
	if id == "" {
		return r.Zones.List(ctx, r.access())
	}
	zone, err := r.Zones.Get(ctx, r.access(), id)
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	return []dns.Zone{zone}, err
}

// granted leaves out the zones that the namespace may not have records in, as if there were none.
func (r Records) granted(zones []dns.Zone) []dns.Zone {
	if r.Granted == nil {
		return zones
	}
	return slices.DeleteFunc(slices.Clone(zones), func(z dns.Zone) bool { return !r.Granted.Zone(z) })
}
