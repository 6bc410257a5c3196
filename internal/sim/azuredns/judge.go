package azuredns

import (
	"fmt"
	"net/netip"
	"regexp"
	"strings"
)

// The limits of a record set. Those of metadata are the ones of tags: Azure's are not known.
const (
	maxTTL          = 2147483647
	maxRecords      = 20
	maxText         = 4096
	maxString       = 255
	maxMetadata     = 50
	maxMetadataName = 128
	maxMetadataText = 256
	maxName         = 253
)

// judge refuses a set that a zone can't have.
func (s *Sim) judge(z *zone, r Record, exists bool) *refusal {
	for _, check := range []func(*zone, Record) *refusal{judgeName, judgeNumbers, judgeValues, judgeMetadata, judgeNeighbours} {
		if refused := check(z, r); refused != nil {
			return refused
		}
	}
	if r.Type == "SOA" && !exists {
		return badRequest("A record set of type 'SOA' can only be at the apex of the zone, where it is created with the zone.")
	}
	if !exists && z.count() >= s.options.MaxRecordSets {
		return conflict("MaximumNumberOfRecordSetsReached",
			"You have reached or exceeded the maximum number of record resources in zone '%s'. You have %d record resources of %d allowed.",
			z.name, z.count(), s.options.MaxRecordSets)
	}
	return nil
}

var label = regexp.MustCompile(`(?i)^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?$`)

// isHost reports whether all labels of a name can be.
func isHost(name string) bool {
	name = strings.TrimSuffix(name, ".")
	for one := range strings.SplitSeq(name, ".") {
		if len(one) > 63 || !label.MatchString(one) {
			return false
		}
	}
	return len(name) <= maxName
}

func judgeName(z *zone, r Record) *refusal {
	name := strings.TrimPrefix(r.Name, "*.")
	if r.Name != "@" && r.Name != "*" && !isHost(name) || len(r.Name)+1+len(z.name) > maxName {
		return badRequest("The record set name '%s' is invalid.", r.Name)
	}
	if strings.HasPrefix(r.Name, "*") && (r.Type == "NS" || r.Type == "SOA") {
		return badRequest("A record set of type '%s' can't have a wildcard name.", r.Type)
	}
	return nil
}

func judgeNumbers(_ *zone, r Record) *refusal {
	if r.TTL < 1 || r.TTL > maxTTL {
		return badRequest("The value '%d' is not valid for the property 'TTL'. It must be between 1 and %d.", r.TTL, maxTTL)
	}
	n := len(r.Values) + len(r.Texts)
	switch {
	case r.Target != "" && n > 0:
		return badRequest("The record set '%s' can't have both records and a target resource.", r.Name)
	case r.Target != "" && r.Type != "A" && r.Type != "AAAA" && r.Type != "CNAME":
		return badRequest("A record set of type '%s' can't have a target resource.", r.Type)
	case n > maxRecords:
		return badRequest("The record set '%s' may not have more than %d records.", r.Name, maxRecords)
	case (r.Type == "CNAME" || r.Type == "SOA") && n > 1:
		return badRequest("The record set of type '%s' may not contain more than one record.", r.Type)
	}
	return nil
}

func judgeValues(_ *zone, r Record) *refusal {
	seen, total := map[string]bool{}, 0
	for _, t := range r.Texts {
		for _, one := range t {
			if len(one) > maxString {
				return badRequest("The value of a TXT record may not have strings of more than %d characters.", maxString)
			}
			total += len(one)
		}
		text := fmt.Sprintf("%q", t)
		if seen[text] {
			return badRequest("The list of record sets of type 'TXT' may not contain multiple entries with the same 'value'.")
		}
		seen[text] = true
		if len(t) == 0 {
			return badRequest("The value of a TXT record may not be empty.")
		}
	}
	if total > maxText {
		return badRequest("The record set of type 'TXT' may not contain more than %d characters.", maxText)
	}
	for _, v := range r.Values {
		if seen[v] {
			return badRequest("The list of record sets of type '%s' may not contain multiple entries with the same value.", r.Type)
		}
		seen[v] = true
		if refused := judgeValue(r.Type, v); refused != nil {
			return refused
		}
	}
	return nil
}

func judgeValue(kind, value string) *refusal {
	switch kind {
	case "A", "AAAA":
		if a, err := netip.ParseAddr(value); err != nil || a.Is4() != (kind == "A") {
			return badRequest("The value '%s' is not a valid IP address for a record of type '%s'.", value, kind)
		}
	case "CNAME", "NS", "PTR":
		if !isHost(value) {
			return badRequest("The domain name '%s' is invalid.", value)
		}
	}
	return nil
}

func judgeMetadata(_ *zone, r Record) *refusal {
	if len(r.Metadata) > maxMetadata {
		return badRequest("The metadata of a record set may not have more than %d entries.", maxMetadata)
	}
	for k, v := range r.Metadata {
		if k == "" || len(k) > maxMetadataName || len(v) > maxMetadataText {
			return badRequest("The metadata entry '%s' is too long.", k)
		}
	}
	return nil
}

// judgeNeighbours refuses a CNAME next to anything else, and anything next to a CNAME. The apex has others always.
func judgeNeighbours(z *zone, r Record) *refusal {
	for _, other := range z.atName(r.Name) {
		switch {
		case other.Type == r.Type:
		case r.Type == "CNAME":
			return conflict("", "The CNAME record could not be created because another record with the same name already exists in this zone.")
		case other.Type == "CNAME":
			return conflict("CannotCreateRecordDueToCNameNamingRestriction", "The record could not be created because a CNAME record with the same name already exists in this zone.")
		}
	}
	return nil
}
