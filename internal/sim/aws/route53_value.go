package aws

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/miekg/dns"
)

// recordTypes are the types of records the service knows.
var recordTypes = []string{"A", "AAAA", "CAA", "CNAME", "DS", "HTTPS", "MX", "NAPTR", "NS", "PTR", "SOA", "SPF", "SRV", "SSHFP", "SVCB", "TLSA", "TXT"}

const maxValue = 4_000

// checkSet judges a change on its own.
func (b *batch) checkSet(change recordChange) {
	set := change.set
	if !withinZone(set.name, b.zone.name) {
		b.complain("RRSet with DNS name %s. is not permitted in zone %s.", set.name, b.zone.name)
	}
	if change.action == actionDelete {
		return // what does not match isn't there, and what is there was valid
	}
	if set.kind == typeCNAME && set.name == b.zone.name {
		b.complain("RRSet of type CNAME with DNS name %s. is not permitted at apex in zone %s.", set.name, b.zone.name)
	}
	if set.kind == typeSOA && set.name != b.zone.name {
		b.complain("RRSet of type SOA with DNS name %s. is not permitted below the apex in zone %s.", set.name, b.zone.name)
	}
	if set.alias != nil {
		b.checkAlias(set)
		return
	}
	b.checkValues(set)
}

// checkAlias takes aliases to CloudFront only; others lead to services that are
// not simulated.
func (b *batch) checkAlias(set *recordSet) {
	target := set.alias
	tried := "Tried to create an alias that targets " + target.name + "., type " + set.kind + " in zone " + target.zoneID + ", but "
	switch {
	case b.zone.private:
		b.complain("%sa private hosted zone can't have an alias to CloudFront", tried)
	case target.zoneID != cloudFrontZone:
		b.complain("%sonly aliases to CloudFront, zone %s, are simulated", tried, cloudFrontZone)
	case !strings.HasSuffix(target.name, cloudFrontSuffix):
		b.complain("%sthe alias target name does not lie within the target zone", tried)
	case set.kind != typeA && set.kind != typeAAAA:
		b.complain("%sthat target was not found", tried)
	case target.evaluate:
		b.complain("%sEvaluateTargetHealth can't be true for CloudFront", tried)
	}
}

func (b *batch) checkValues(set *recordSet) {
	switch {
	case len(set.values) > maxSetValues:
		b.complain("RRSet with DNS name %s., type %s has %d records, %d are possible", set.name, set.kind, len(set.values), maxSetValues)
	case len(set.values) > 1 && (set.kind == typeCNAME || set.kind == typeSOA):
		b.complain("RRSet with DNS name %s., type %s contains more than one resource record, but only one is permitted", set.name, set.kind)
	}
	for i, value := range set.values {
		if slices.Contains(set.values[:i], value) {
			b.complain("Duplicate Resource Record: '%s'", value)
		}
		if problem := valueProblem(set.kind, value); problem != "" {
			b.complain("Invalid Resource Record: 'FATAL problem: %s encountered with '%s''", problem, value)
		}
	}
}

// valueProblem tells what is wrong with the value of a record, "" if nothing is.
func valueProblem(kind, value string) string {
	if value == "" || len(value) > maxValue {
		return "InvalidLength (Value must have 1 to 4000 characters)"
	}
	switch kind {
	case typeA:
		if ip, err := netip.ParseAddr(value); err != nil || !ip.Is4() {
			return "ARRDATAIllegalIPv4Address (Value is not a valid IPv4 address)"
		}
	case typeAAAA:
		if ip, err := netip.ParseAddr(value); err != nil || !ip.Is6() || ip.Zone() != "" {
			return "AAAARRDATAIllegalIPv6Address (Value is not a valid IPv6 address)"
		}
	case typeCNAME, typeNS, "PTR":
		if strings.ContainsAny(value, " \t") {
			return "RRDATANotSingleField (Value contains spaces)"
		}
		if _, err := parseName(value); err != nil {
			return "InvalidDomainName (" + err.Error() + ")"
		}
	case typeTXT, "SPF":
		if _, err := parseText(value); err != nil {
			return err.Error()
		}
	default:
		if rr, err := dns.NewRR(". 0 IN " + kind + " " + value); err != nil || rr == nil {
			return "InvalidResourceRecord (Value is not one of type " + kind + ")"
		}
	}
	return ""
}

func isRecordType(kind string) bool { return slices.Contains(recordTypes, kind) }
