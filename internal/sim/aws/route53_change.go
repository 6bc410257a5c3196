package aws

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

const (
	codeInvalidBatch = "InvalidChangeBatch"

	actionCreate = "CREATE"
	actionUpsert = "UPSERT"
	actionDelete = "DELETE"

	// What one batch can carry; an UPSERT counts twice, an alias as one record.
	maxBatchRecords = 1_000
	maxBatchChars   = 32_000

	maxTTL       = 1<<31 - 1
	maxSetValues = 400
)

// batchError lists everything that is wrong with a batch.
type batchError struct {
	messages []string
	bare     bool // answered with a root of its own
}

// Error implements error.
func (e *batchError) Error() string { return e.Unwrap().Error() }

// Unwrap is the refusal as any other error of the service looks.
func (e *batchError) Unwrap() error {
	return refuse(http.StatusBadRequest, codeInvalidBatch, "%s", "["+strings.Join(e.messages, ", ")+"]")
}

func asBatchError(err error) (*batchError, bool) { return errors.AsType[*batchError](err) }

// batch is a ChangeBatch on its way into a zone. Its result is kept separate from the zone until all of it has been
// judged.
type batch struct {
	zone     *hostedZone
	changes  []recordChange
	next     map[string]map[setKey]*recordSet // nil: removed
	messages []string
}

// recordChange is one Change of a batch.
type recordChange struct {
	action string
	set    *recordSet
}

func (b *batch) complain(format string, args ...any) {
	if message := fmt.Sprintf(format, args...); !slices.Contains(b.messages, message) {
		b.messages = append(b.messages, message)
	}
}

// changeRecords applies a batch as a whole or not at all.
func (s *Sim) changeRecords(c *call) (reply, error) {
	z, err := s.zoneFor(c)
	if err != nil {
		return reply{}, err
	}
	root, err := c.root("ChangeResourceRecordSetsRequest")
	if err != nil {
		return reply{}, err
	}
	if err := z.idle(c); err != nil {
		return reply{}, err
	}
	b, err := readBatch(z, root.child("ChangeBatch"))
	if err != nil {
		return reply{}, err
	}
	if err := s.judge(b); err != nil {
		return reply{}, err
	}
	ch := s.submit(c, z, root.str("ChangeBatch", "Comment"))
	b.apply(ch, s.moment(c.now))
	body := el("ChangeResourceRecordSetsResponse", s.changeInfo(ch, s.moment(c.now)))
	return reply{status: http.StatusOK, body: body}, nil
}

// judge refuses a batch for everything that is wrong with it at once.
func (s *Sim) judge(b *batch) error {
	b.checkSize()
	b.checkPairs()
	for _, change := range b.changes {
		b.checkSet(change)
		b.stage(change)
	}
	b.checkOutcome(s.quotas.RecordsPerZone)
	if len(b.messages) > 0 {
		return &batchError{messages: b.messages, bare: s.switches.ChangeBatchMessages}
	}
	return nil
}

// readBatch reads the changes. A change of the wrong shape is refused before anything is compared with the zone.
func readBatch(z *hostedZone, block *node) (*batch, error) {
	b := &batch{zone: z, next: map[string]map[setKey]*recordSet{}}
	items := block.child("Changes").items("Change")
	if len(items) == 0 {
		return nil, invalidInput("1 validation error detected: Value '[]' at 'changeBatch.changes' failed to satisfy constraint: Member must have length greater than or equal to 1")
	}
	for i, item := range items {
		action := item.str("Action")
		if !slices.Contains([]string{actionCreate, actionUpsert, actionDelete}, action) {
			return nil, invalidInput("1 validation error detected: Value '%s' at 'changeBatch.changes.%d.member.action' failed to satisfy constraint: Member must satisfy enum value set: [CREATE, DELETE, UPSERT]", action, i+1)
		}
		set, err := b.readSet(action, item.child("ResourceRecordSet"), i+1)
		if err != nil {
			return nil, err
		}
		if set != nil {
			b.changes = append(b.changes, recordChange{action, set})
		}
	}
	return b, nil
}

// policyFields choose one of several sets of a name and type; this simulator
// keeps them as they are and lets the first set answer.
var policyFields = []string{"Weight", "Region", "GeoLocation", "GeoProximityLocation", "CidrRoutingConfig", "Failover", "MultiValueAnswer"}

// readSet reads a ResourceRecordSet; nil after a complaint about its name.
func (b *batch) readSet(action string, block *node, position int) (*recordSet, error) {
	kind := block.str("Type")
	if !isRecordType(kind) {
		return nil, invalidInput("1 validation error detected: Value '%s' at 'changeBatch.changes.%d.member.resourceRecordSet.type' failed to satisfy constraint: Member must satisfy enum value set: %v", kind, position, recordTypes)
	}
	set := &recordSet{kind: kind, identifier: block.str("SetIdentifier")}
	for _, field := range append(slices.Clone(policyFields), "HealthCheckId") {
		if kid := block.child(field); kid != nil {
			set.policy = append(set.policy, kid.clone())
		}
	}
	alias, ttl, records := block.child("AliasTarget"), block.child("TTL"), block.child("ResourceRecords").items("ResourceRecord")
	place := fmt.Sprintf("in Change with [Action=%s, Name=%s, Type=%s, SetIdentifier=%s]", action, block.str("Name"), kind, orNull(set.identifier))
	const forms = "Invalid request: Expected exactly one of [AliasTarget, all of [TTL, and ResourceRecords], or TrafficPolicyInstanceId], but found"
	switch {
	case alias != nil && (ttl != nil || len(records) > 0):
		return nil, invalidInput("%s more than one %s", forms, place)
	case alias == nil && ttl == nil && len(records) == 0:
		return nil, invalidInput("%s none %s", forms, place)
	case alias == nil && ttl == nil:
		return nil, invalidInput("Invalid request: Missing field 'TTL' %s", place)
	case alias == nil && len(records) == 0:
		return nil, invalidInput("Invalid request: Missing field 'ResourceRecords' %s", place)
	case (set.identifier == "") != !slices.ContainsFunc(policyFields, func(f string) bool { return block.child(f) != nil }):
		return nil, invalidInput("Invalid request: A SetIdentifier and one routing policy (%s) go together %s", strings.Join(policyFields, ", "), place)
	}
	for _, record := range records {
		set.values = append(set.values, record.str("Value"))
	}
	if ttl != nil {
		n, err := strconv.Atoi(strings.TrimSpace(ttl.text))
		if err != nil || n < 0 || n > maxTTL {
			return nil, invalidInput("Invalid request: TTL '%s' is not a number from 0 to %d %s", ttl.text, maxTTL, place)
		}
		set.ttl = n
	}
	var err error
	if set.name, err = parseName(block.str("Name")); err != nil {
		b.complain("FATAL problem: InvalidDomainName (%v) encountered with '%s'", err, block.str("Name"))
		return nil, nil //nolint:nilnil // the complaint refuses the batch
	}
	if alias != nil {
		set.alias = b.readAlias(alias)
	}
	return set, nil
}

func orNull(text string) string {
	if text == "" {
		return "null"
	}
	return text
}

func (b *batch) readAlias(block *node) *aliasTarget {
	name, err := parseName(block.str("DNSName"))
	if err != nil {
		b.complain("FATAL problem: InvalidDomainName (%v) encountered with '%s'", err, block.str("DNSName"))
	}
	return &aliasTarget{zoneID: block.str("HostedZoneId"), name: name, evaluate: block.str("EvaluateTargetHealth") == "true"}
}

// checkSize holds the batch against what one request can carry.
func (b *batch) checkSize() {
	records, chars := 0, 0
	for _, change := range b.changes {
		weight := changeWeight(change.action)
		records += weight * max(1, len(change.set.values))
		for _, value := range change.set.values {
			chars += weight * len([]rune(value))
		}
	}
	if records > maxBatchRecords {
		b.complain("Number of records limit of %d exceeded.", maxBatchRecords)
	}
	if chars > maxBatchChars {
		b.complain("Number of characters limit of %d in all values exceeded.", maxBatchChars)
	}
}

// changeWeight is how much an action counts: an UPSERT deletes and creates.
func changeWeight(action string) int {
	if action == actionUpsert {
		return 2
	}
	return 1
}

// checkPairs refuses two changes of one set, but for DELETE and then CREATE.
func (b *batch) checkPairs() {
	type target struct {
		name string
		key  setKey
	}
	before := map[target]string{}
	for _, change := range b.changes {
		at := target{change.set.name, change.set.key()}
		done := strings.TrimSpace(before[at] + " " + change.action)
		if done != change.action && done != actionDelete+" "+actionCreate {
			b.complain("The request contains an invalid set of changes for a resource record set '%s %s.'", at.key.kind, at.name)
		}
		before[at] = done
	}
}

// find returns a set as the changes so far leave it.
func (b *batch) find(name string, key setKey) *recordSet {
	if set, touched := b.next[name][key]; touched {
		return set
	}
	return b.zone.at(name, key)
}

// stage makes a change in the staged copy, not in the zone.
func (b *batch) stage(change recordChange) {
	set, label := change.set, fmt.Sprintf("resource record set [name='%s.', type='%s'%s]", change.set.name, change.set.kind, setLabel(change.set))
	current := b.find(set.name, set.key())
	next := set
	switch change.action {
	case actionCreate:
		if current != nil {
			b.complain("Tried to create %s but it already exists", label)
		}
	case actionDelete:
		next = nil
		switch {
		case current == nil:
			b.complain("Tried to delete %s but it was not found", label)
			return
		case !current.same(set):
			b.complain("Tried to delete %s but the values provided do not match the current values", label)
		}
	}
	if b.next[set.name] == nil {
		b.next[set.name] = map[setKey]*recordSet{}
	}
	b.next[set.name][set.key()] = next
}

func setLabel(set *recordSet) string {
	if set.identifier == "" {
		return ""
	}
	return ", set identifier='" + set.identifier + "'"
}

// same tells whether a DELETE names exactly what is there; the order of the
// values carries no meaning.
func (set *recordSet) same(other *recordSet) bool {
	if set.alias != nil && other.alias != nil {
		return *set.alias == *other.alias
	}
	return set.alias == nil && other.alias == nil && set.ttl == other.ttl &&
		slices.Equal(slices.Sorted(slices.Values(set.values)), slices.Sorted(slices.Values(other.values)))
}

// checkOutcome judges the zone as the whole batch would leave it, so that a
// CNAME and other records can take each other's place.
func (b *batch) checkOutcome(limit int) {
	grown := b.zone.sets
	for name, sets := range b.next {
		for key, next := range sets {
			switch current := b.zone.at(name, key); {
			case current == nil && next != nil:
				grown++
			case current != nil && next == nil:
				grown--
			}
		}
	}
	if grown > max(limit, b.zone.sets) {
		b.complain("Number of resource record sets limit of %d in zone %s. exceeded.", limit, b.zone.name)
	}
	for _, change := range b.changes {
		if change.action != actionDelete {
			b.checkNeighbours(change.set)
		}
	}
	if b.find(b.zone.name, setKey{kind: typeSOA}) == nil {
		b.complain("A HostedZone must contain exactly one SOA record.")
	}
	if b.find(b.zone.name, setKey{kind: typeNS}) == nil {
		b.complain("A HostedZone must contain at least one NS record for the zone itself.")
	}
}

// checkNeighbours refuses a CNAME next to anything else of its name, and a plain set next to one of several with
// identifiers.
func (b *batch) checkNeighbours(set *recordSet) {
	keys := map[setKey]bool{}
	if n := b.zone.names[set.name]; n != nil {
		for key := range n.sets {
			keys[key] = true
		}
	}
	for key := range b.next[set.name] {
		keys[key] = true
	}
	for key := range keys {
		if key == set.key() || b.find(set.name, key) == nil {
			continue
		}
		switch {
		case key.kind == set.kind && (key.identifier == "") != (set.identifier == ""):
			b.complain("RRSet with DNS name %s., type %s, SetIdentifier %s cannot be created because other RRSets exist with the same name and type, with and without SetIdentifier.",
				set.name, set.kind, orNull(set.identifier))
		case key.kind != set.kind && set.kind == typeCNAME:
			b.complain("RRSet of type CNAME with DNS name %s. is not permitted as it conflicts with other records with the same DNS name in zone %s.", set.name, b.zone.name)
		case key.kind != set.kind && key.kind == typeCNAME:
			b.complain("RRSet of type %s with DNS name %s. is not permitted because a conflicting RRSet of type CNAME with the same DNS name already exists in zone %s.", set.kind, set.name, b.zone.name)
		}
	}
}

// apply makes the batch part of the zone.
func (b *batch) apply(ch *change, m moment) {
	for name, sets := range b.next {
		for key, set := range sets {
			b.zone.put(name, key, setVersion{change: ch, set: set}, m)
		}
	}
}
