package aws

import (
	"errors"
	"regexp"
)

// cloudFrontZone is the hosted zone every alias to CloudFront names.
const cloudFrontZone = "Z2FDTNDATAQYW2"

// defaultTTL is that of seeded records which name none.
const defaultTTL = 300

var zoneID = regexp.MustCompile(`^Z[A-Z0-9]{1,31}$`)

// loadZone puts a seeded zone into the world. Its records are judged as the
// service would judge them.
func (s *Sim) loadZone(i int, in SeedHostedZone) error {
	a, err := s.seededAccount(at("hostedZones", i, "account"), in.Account)
	if err != nil {
		return err
	}
	name, err := parseName(in.Name)
	if err != nil {
		return &seedError{at("hostedZones", i, "name"), in.Name, "is not a domain name", "write a host name such as example.com"}
	}
	id := in.ID
	if id == "" {
		id = s.derive.zoneID(a.id, "seed", name)
	}
	if !zoneID.MatchString(id) || s.world.zones[id] != nil {
		return &seedError{at("hostedZones", i, "id"), id, "already exists or is not the id of a hosted zone", "write Z and upper-case letters and digits, or omit it"}
	}
	z := newZone(id, a.id, name)
	z.private, z.comment, z.callerRef = in.Private, in.Comment, "seed-"+id
	s.openZone(a, z)
	b := &batch{zone: z, next: map[string]map[setKey]*recordSet{}}
	for k, record := range in.Records {
		place := at("hostedZones", i, at("records", k, ""))
		set, err := seedSet(record)
		if err != nil {
			return &seedError{place, record.Name, "is not a record", err.Error()}
		}
		change := recordChange{actionCreate, set}
		if own := set.kind == typeNS || set.kind == typeSOA; own && set.name == name {
			change.action = actionUpsert // every zone has them already
		}
		b.checkSet(change)
		b.stage(change)
		if len(b.messages) > 0 {
			return refusedSeed(place, record.Name, &batchError{messages: b.messages})
		}
		b.changes = append(b.changes, change)
	}
	b.checkOutcome(s.quotas.RecordsPerZone)
	if len(b.messages) > 0 {
		return refusedSeed(at("hostedZones", i, "records"), in.Name, &batchError{messages: b.messages})
	}
	b.apply(nil, s.moment(s.now()))
	return nil
}

func seedSet(in SeedRecord) (*recordSet, error) {
	name, err := parseName(in.Name)
	if err != nil {
		return nil, err
	}
	set := &recordSet{name: name, kind: in.Type, ttl: in.TTL, values: in.Values}
	switch {
	case !isRecordType(in.Type):
		return nil, errors.New("use a type such as CNAME")
	case (in.AliasTarget == "") == (len(in.Values) == 0):
		return nil, errors.New("use either values or an aliasTarget")
	case in.TTL < 0 || in.TTL > maxTTL:
		return nil, errors.New("use a ttl in seconds such as 300")
	case in.AliasTarget != "" && in.TTL != 0:
		return nil, errors.New("an alias has no ttl")
	case in.AliasTarget != "":
		target, err := parseName(in.AliasTarget)
		if err != nil {
			return nil, err
		}
		set.alias = &aliasTarget{zoneID: cloudFrontZone, name: target}
	case set.ttl == 0:
		set.ttl = defaultTTL
	}
	return set, nil
}
