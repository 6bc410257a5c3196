package route53

import (
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/values"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// cloudFrontZone is the zone that stands for CloudFront in aliases, everywhere.
const cloudFrontZone = "Z2FDTNDATAQYW2"

// The prefixes of ids in answers. In requests they go into the path, without.
const (
	zonePrefix   = "/hostedzone/"
	changePrefix = "/change/"
)

func zone(operation string, z *types.HostedZone) (dns.Zone, error) {
	if z == nil || z.Id == nil || z.Name == nil {
		return dns.Zone{}, aws.Unreadable(operation, "the zone with its id and its name")
	}
	return dns.Zone{
		ID: strings.TrimPrefix(*z.Id, zonePrefix), Name: readName(*z.Name),
		Private: z.Config != nil && z.Config.PrivateZone,
	}, nil
}

func recordSet(s types.ResourceRecordSet) (dns.RecordSet, error) {
	if s.Name == nil || s.Type == "" {
		return dns.RecordSet{}, aws.Unreadable(opListRecords, "a record set's name and type")
	}
	out := dns.RecordSet{
		Key: dns.Key{Name: readName(*s.Name), Type: string(s.Type)},
		TTL: awssdk.ToInt64(s.TTL), Routed: isRouted(s),
	}
	if s.AliasTarget != nil {
		out.Alias = readName(awssdk.ToString(s.AliasTarget.DNSName))
		return out, nil
	}
	for _, r := range s.ResourceRecords {
		value := awssdk.ToString(r.Value)
		out.Exact = append(out.Exact, value)
		out.Values = append(out.Values, readValue(out.Type, value))
	}
	written.Complete(&out)
	return out, nil
}

// isRouted reports whether a set has something that we never write. An alias of ours leads
// to CloudFront and evaluates no health, which CloudFront has none of.
func isRouted(s types.ResourceRecordSet) bool {
	if a := s.AliasTarget; a != nil && (awssdk.ToString(a.HostedZoneId) != cloudFrontZone || a.EvaluateTargetHealth) {
		return true
	}
	return s.SetIdentifier != nil || s.Weight != nil || s.Region != "" || s.Failover != "" ||
		s.GeoLocation != nil || s.GeoProximityLocation != nil || s.CidrRoutingConfig != nil ||
		s.MultiValueAnswer != nil || s.HealthCheckId != nil || s.TrafficPolicyInstanceId != nil
}

// readValue brings a value into the form in which values are compared.
func readValue(kind, wire string) string {
	switch kind {
	case dns.CNAME:
		return readName(wire)
	case dns.TXT:
		if text, ok := values.Octal.Unquote(wire); ok {
			return text
		}
	}
	return wire
}

// written is the way back.
var written values.Writer = func(kind, value string) string {
	if kind == dns.TXT {
		return values.Octal.Quote(value)
	}
	return value
}

// wireChange renders a change. A set that we never write can't be repeated either, as its deletion would require.
func wireChange(c dns.Change) (types.Change, error) {
	s := c.Set
	if s.Routed {
		return types.Change{}, fault.New(fault.Invalid, opChange, "the %s record %s has a routing policy or a health check, or is an alias for something other than CloudFront: "+
			"the operator does not replace such a record; delete it in Route 53", s.Type, s.Name)
	}
	set := &types.ResourceRecordSet{Name: awssdk.String(writeName(s.Name)), Type: types.RRType(s.Type)}
	if s.Alias != "" {
		set.AliasTarget = &types.AliasTarget{
			HostedZoneId: awssdk.String(cloudFrontZone), DNSName: awssdk.String(writeName(s.Alias)),
		}
	} else {
		set.TTL = awssdk.Int64(s.TTL)
		for _, v := range written.Of(s) {
			set.ResourceRecords = append(set.ResourceRecords, types.ResourceRecord{Value: awssdk.String(v)})
		}
	}
	return types.Change{Action: types.ChangeAction(c.Action), ResourceRecordSet: set}, nil
}
