package aws

import "regexp"

// cloudFrontZone is the hosted zone every alias to CloudFront names.
const cloudFrontZone = "Z2FDTNDATAQYW2"

// defaultTTL is that of seeded records which name none.
const defaultTTL = 300

var zoneID = regexp.MustCompile(`^Z[A-Z0-9]{1,31}$`)

// loadZone puts a seeded zone into the world.
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
		id = "Z" + s.derive.digits(upperDigits, 20, "zone", a.id, "seed", name)
	}
	if !zoneID.MatchString(id) || s.world.zones[id] != nil {
		return &seedError{at("hostedZones", i, "id"), id, "exists already or is not the id of a hosted zone", "write Z and upper-case letters and digits, or leave it out"}
	}
	z := newZone(id, a.id, name)
	z.private, z.comment, z.callerRef = in.Private, in.Comment, "seed-"+id
	s.world.addZone(a, z)
	for k, record := range in.Records {
		set, err := seedSet(record)
		if err != nil {
			return refusedSeed(at("hostedZones", i, at("records", k, "")), record.Name, err)
		}
		z.put(set.name, set.key(), setVersion{set: set}, s.moment(s.now()))
	}
	return nil
}

func seedSet(in SeedRecord) (*recordSet, error) {
	name, err := parseName(in.Name)
	if err != nil {
		return nil, err
	}
	set := &recordSet{name: name, kind: in.Type, ttl: in.TTL, values: in.Values}
	switch {
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
