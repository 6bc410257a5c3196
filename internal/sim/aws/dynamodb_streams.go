package aws

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// What AWS documents of streams.
const (
	// recordLife is how long records, and shards that have ended, can be read.
	recordLife = 24 * time.Hour
	// iteratorLife is how long an iterator may be used.
	iteratorLife = 15 * time.Minute
	// shardLife is after how long a shard ends and another one takes its place.
	shardLife = 4 * time.Hour
	// shardReads is how many reads of a shard are possible in a second.
	shardReads = 5
	// maxRecords and maxRecordBytes bound an answer, maxShards a page of a description.
	maxRecords, maxRecordBytes, maxShards = 1000, 1 << 20, 100
)

var streamOperations = []*operation{
	{name: "ListStreams", handle: (*Sim).listStreams},
	{name: "DescribeStream", handle: (*Sim).describeStream},
	{name: "GetShardIterator", handle: (*Sim).getShardIterator},
	{name: "GetRecords", handle: (*Sim).getRecords},
}

// itemStream tells of the changes of a table.
type itemStream struct {
	arn, label, table, view string
	keys                    []string
	derive                  deriver
	enabled                 bool
	created                 time.Time
	// shards are those that can be read, the oldest first.
	shards []*shard
	// sequence is the number of the latest record or shard.
	sequence uint64
}

// shard has the records of the items whose keys have their hashes in a range.
type shard struct {
	id, parent  string
	first, last uint64 // hashes
	start, end  uint64 // sequence numbers; no end while it is open
	opened      time.Time
	closed      time.Time // zero while it is open
	records     []streamRecord
	// forgotten is the sequence number of the latest record that can't be read any more.
	forgotten uint64
	reads     bucket
}

type streamRecord struct {
	sequence uint64
	at       time.Time
	shown    map[string]any
	size     int
}

func newItemStream(d deriver, t *itemTable, view string, now time.Time) *itemStream {
	label := now.UTC().Format("2006-01-02T15:04:05.000")
	x := &itemStream{
		arn: t.arn + "/stream/" + label, label: label, table: t.name, view: view, keys: t.keys, derive: d, enabled: true, created: now,
	}
	x.open("", 0, math.MaxUint64, now)
	return x
}

// open adds a shard.
func (x *itemStream) open(parent string, first, last uint64, now time.Time) {
	x.sequence++
	number := strconv.FormatUint(x.sequence, 10)
	x.shards = append(x.shards, &shard{
		id:     fmt.Sprintf("shardId-%020d-%s", now.UnixMilli(), x.derive.hex(8, "shard", x.arn, number)),
		parent: parent, first: first, last: last, start: x.sequence, opened: now,
		reads: bucket{tokens: shardReads, filled: now},
	})
}

func (x *itemStream) close(h *shard, now time.Time) {
	x.sequence++
	h.closed, h.end = now, x.sequence
}

// disable ends the stream. Its records can still be read.
func (x *itemStream) disable(now time.Time) {
	x.enabled = false
	for _, h := range x.shards {
		if h.closed.IsZero() {
			x.close(h, now)
		}
	}
}

// progress forgets what is too old, and replaces the shards that have lived long enough.
func (x *itemStream) progress(now time.Time) {
	oldest := now.Add(-recordLife)
	for _, h := range slices.Clone(x.shards) {
		for len(h.records) > 0 && h.records[0].at.Before(oldest) {
			h.forgotten, h.records = h.records[0].sequence, h.records[1:]
		}
		if x.enabled && h.closed.IsZero() && now.Sub(h.opened) >= shardLife {
			x.close(h, now)
			x.open(h.id, h.first, h.last, now)
		}
	}
	x.shards = slices.DeleteFunc(x.shards, func(h *shard) bool { return !h.closed.IsZero() && h.closed.Before(oldest) })
}

// split replaces each open shard by two.
func (x *itemStream) split(now time.Time) {
	for _, h := range slices.Clone(x.shards) {
		if !h.closed.IsZero() {
			continue
		}
		middle := h.first + (h.last-h.first)/2
		x.close(h, now)
		x.open(h.id, h.first, middle, now)
		x.open(h.id, middle+1, h.last, now)
	}
}

// record adds a change of an item. A table without a stream has none to add it to.
func (x *itemStream) record(now time.Time, text string, key, before, after item) {
	if x == nil || !x.enabled {
		return
	}
	x.progress(now)
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(text)) // a hash never fails
	hash := sum.Sum64()
	i := slices.IndexFunc(x.shards, func(h *shard) bool { return h.closed.IsZero() && h.first <= hash && hash <= h.last })
	x.sequence++
	content := map[string]any{
		"ApproximateCreationDateTime": now.Unix(), "Keys": key, "SequenceNumber": sequenceNumber(x.sequence), "StreamViewType": x.view,
	}
	event := "MODIFY"
	switch {
	case before == nil:
		event = "INSERT"
	case after == nil:
		event = "REMOVE"
	}
	if after != nil && strings.HasPrefix(x.view, "NEW_") {
		content["NewImage"] = after
	}
	if before != nil && strings.Contains(x.view, "OLD_") {
		content["OldImage"] = before
	}
	size := len(canonical(content))
	content["SizeBytes"] = size
	x.shards[i].records = append(x.shards[i].records, streamRecord{sequence: x.sequence, at: now, size: size, shown: map[string]any{
		"eventID": x.derive.hex(32, "event", x.arn, sequenceNumber(x.sequence)), "eventName": event, "eventVersion": "1.1",
		"eventSource": "aws:dynamodb", "awsRegion": "us-east-1", "dynamodb": content,
	}})
}

// sequenceNumber has 21 digits at least, as the API wants them.
func sequenceNumber(n uint64) string { return fmt.Sprintf("1%020d", n) }

func parseSequence(text string) (uint64, bool) {
	digits, ok := strings.CutPrefix(text, "1")
	n, err := strconv.ParseUint(digits, 10, 64)
	return n, ok && err == nil && len(digits) == 20
}

// SplitStream splits the shards of the stream of a table, as AWS does when the table grows. No account means the default
// one.
func (s *Sim) SplitStream(accountID, table string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.accountNamed(accountID).itemTables[table]
	if t == nil || t.stream == nil || !t.stream.enabled {
		return fmt.Errorf("splitting the stream of table %q: there is no table with this name that has one", table)
	}
	t.stream.progress(s.now())
	t.stream.split(s.now())
	return nil
}

func (s *Sim) streamNamed(c *call, arn string) (*itemStream, error) {
	x := c.acct.streams[arn]
	if x == nil {
		return nil, noStream(arn)
	}
	x.progress(c.now)
	if !x.enabled && len(x.shards) == 0 {
		delete(c.acct.streams, arn)
		return nil, noStream(arn)
	}
	return x, nil
}

func noStream(arn string) error {
	return refuseTable("ResourceNotFoundException", "Requested resource not found: Stream: %s not found", arn)
}

func (s *Sim) listStreams(c *call) (reply, error) {
	table, _ := c.input["TableName"].(string)
	streams := []map[string]any{}
	for _, arn := range slices.Sorted(maps.Keys(c.acct.streams)) {
		if x := c.acct.streams[arn]; table == "" || x.table == table {
			streams = append(streams, map[string]any{"StreamArn": arn, "StreamLabel": x.label, "TableName": x.table})
		}
	}
	return reply{status: http.StatusOK, json: map[string]any{"Streams": streams}}, nil
}

func (s *Sim) describeStream(c *call) (reply, error) {
	var in struct {
		StreamArn, ExclusiveStartShardId string
		Limit                            *int
	}
	if err := c.read(&in); err != nil {
		return reply{}, err
	}
	x, err := s.streamNamed(c, in.StreamArn)
	if err != nil {
		return reply{}, err
	}
	size := maxShards
	if in.Limit != nil {
		if size = *in.Limit; size < 1 || size > maxShards {
			return reply{}, invalidTable("Limit must be from 1 to %d", maxShards)
		}
	}
	from := 1 + slices.IndexFunc(x.shards, func(h *shard) bool { return h.id == in.ExclusiveStartShardId })
	to := min(len(x.shards), from+min(size, s.options.PageSize))
	shards := make([]map[string]any, 0, to-from)
	for _, h := range x.shards[from:to] {
		shards = append(shards, h.describe())
	}
	status, schema := "ENABLED", make([]map[string]string, len(x.keys))
	if !x.enabled {
		status = "DISABLED"
	}
	for i, key := range x.keys {
		schema[i] = map[string]string{"AttributeName": key, "KeyType": []string{"HASH", "RANGE"}[i]}
	}
	out := map[string]any{
		"StreamArn": x.arn, "StreamLabel": x.label, "StreamStatus": status, "StreamViewType": x.view, "TableName": x.table,
		"CreationRequestDateTime": x.created.Unix(), "KeySchema": schema, "Shards": shards,
	}
	if to < len(x.shards) {
		out["LastEvaluatedShardId"] = x.shards[to-1].id
	}
	return reply{status: http.StatusOK, json: map[string]any{"StreamDescription": out}}, nil
}

func (h *shard) describe() map[string]any {
	numbers := map[string]any{"StartingSequenceNumber": sequenceNumber(h.start)}
	if !h.closed.IsZero() {
		numbers["EndingSequenceNumber"] = sequenceNumber(h.end)
	}
	out := map[string]any{"ShardId": h.id, "SequenceNumberRange": numbers}
	if h.parent != "" {
		out["ParentShardId"] = h.parent
	}
	return out
}

// iterator is a place in a shard: after a sequence number.
type iterator struct {
	Shard  string    `json:"s"`
	After  uint64    `json:"a"`
	Issued time.Time `json:"i"`
}

func (x *itemStream) shardNamed(id string) (*shard, error) {
	i := slices.IndexFunc(x.shards, func(h *shard) bool { return h.id == id })
	if i < 0 {
		return nil, refuseTable("ResourceNotFoundException", "Requested resource not found: Shard: %s in Stream: %s not found", id, x.arn)
	}
	return x.shards[i], nil
}

// iterator makes the text of an iterator, which begins with the ARN of the stream as in AWS.
func (x *itemStream) iterator(h *shard, after uint64, now time.Time) string {
	body, err := json.Marshal(iterator{Shard: h.id, After: after, Issued: now})
	if err != nil { // a text, a number and a time always marshal
		return ""
	}
	return x.arn + "|1|" + base64.StdEncoding.EncodeToString(body)
}

func (s *Sim) getShardIterator(c *call) (reply, error) {
	var in struct{ StreamArn, ShardId, ShardIteratorType, SequenceNumber string }
	if err := c.read(&in); err != nil {
		return reply{}, err
	}
	x, err := s.streamNamed(c, in.StreamArn)
	if err != nil {
		return reply{}, err
	}
	h, err := x.shardNamed(in.ShardId)
	if err != nil {
		return reply{}, err
	}
	after, err := h.place(in.ShardIteratorType, in.SequenceNumber, x.sequence)
	if err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusOK, json: map[string]any{"ShardIterator": x.iterator(h, after, c.now)}}, nil
}

// place is the sequence number after which an iterator of a type reads.
func (h *shard) place(kind, number string, latest uint64) (uint64, error) {
	switch kind {
	case "TRIM_HORIZON":
		return max(h.forgotten, h.start), nil
	case "LATEST":
		return latest, nil
	case "AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER":
		n, ok := parseSequence(number)
		if !ok || n < h.start || h.end != 0 && n > h.end {
			return 0, invalidTable("Invalid SequenceNumber %q for shard %s", number, h.id)
		}
		if n <= h.forgotten {
			return 0, trimmedAccess(h)
		}
		if kind == "AT_SEQUENCE_NUMBER" {
			n--
		}
		return n, nil
	}
	return 0, invalidTable("1 validation error detected: Value '%s' at 'shardIteratorType' failed to satisfy constraint: "+
		"Member must satisfy enum value set: [AFTER_SEQUENCE_NUMBER, LATEST, AT_SEQUENCE_NUMBER, TRIM_HORIZON]", kind)
}

func trimmedAccess(h *shard) error {
	return refuseTable("TrimmedDataAccessException", "The operation attempted to read past the oldest stream record in shard %s", h.id)
}

func (s *Sim) getRecords(c *call) (reply, error) {
	var in struct {
		ShardIterator string
		Limit         *int
	}
	if err := c.read(&in); err != nil {
		return reply{}, err
	}
	x, at, err := s.parseIterator(c, in.ShardIterator)
	if err != nil {
		return reply{}, err
	}
	h, err := x.shardNamed(at.Shard)
	if err != nil {
		return reply{}, err
	}
	limit := maxRecords
	if in.Limit != nil {
		if limit = *in.Limit; limit < 1 || limit > maxRecords {
			return reply{}, invalidTable("Limit must be from 1 to %d", maxRecords)
		}
	}
	switch {
	case c.now.Sub(at.Issued) > iteratorLife:
		return reply{}, refuseTable("ExpiredIteratorException", "Iterator expired. The iterator was created at time %s", at.Issued.Format(time.RFC3339))
	case at.After < h.forgotten:
		return reply{}, trimmedAccess(h)
	case !h.reads.draw(shardReads, shardReads, c.now):
		return reply{}, refuseTable("LimitExceededException", "Rate exceeded for shard %s", h.id)
	}
	records, after, whole := h.page(at.After, limit)
	out := map[string]any{"Records": records}
	if !whole || h.closed.IsZero() {
		out["NextShardIterator"] = x.iterator(h, after, c.now)
	}
	return reply{status: http.StatusOK, json: out}, nil
}

// parseIterator finds the stream and the place in it.
func (s *Sim) parseIterator(c *call, text string) (*itemStream, iterator, error) {
	arn, body, _ := strings.Cut(text, "|1|")
	var at iterator
	raw, err := base64.StdEncoding.DecodeString(body)
	if err == nil {
		err = json.Unmarshal(raw, &at)
	}
	if err != nil {
		return nil, at, invalidTable("Invalid ShardIterator")
	}
	x, err := s.streamNamed(c, arn)
	return x, at, err
}

// page returns the records after a place, the place after them, and whether these were all there are.
func (h *shard) page(after uint64, limit int) (records []map[string]any, next uint64, whole bool) {
	records, size := []map[string]any{}, 0
	for _, r := range h.records {
		if r.sequence <= after {
			continue
		}
		if len(records) == limit || size+r.size > maxRecordBytes && size > 0 {
			return records, after, false
		}
		records, after, size = append(records, r.shown), r.sequence, size+r.size
	}
	return records, after, true
}
