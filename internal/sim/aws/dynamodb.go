package aws

import (
	"encoding/json"
	"hash/crc32"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// dynamoDB speaks JSON 1.0: tables as far as their streams need them. Items are written and not read: what reads tables
// is tested against a DynamoDB that stores them.
type dynamoDB struct{}

const (
	tableTarget  = "DynamoDB_20120810."
	streamTarget = "DynamoDBStreams_20120810."
	tableErrors  = "com.amazonaws.dynamodb.v20120810#"
)

var tableOperations = []*operation{
	{name: "CreateTable", mutating: true, handle: (*Sim).createTable},
	{name: "DescribeTable", handle: (*Sim).describeTable},
	{name: "UpdateTable", mutating: true, handle: (*Sim).updateTable},
	{name: "DeleteTable", mutating: true, handle: (*Sim).deleteTable},
	{name: "PutItem", mutating: true, handle: (*Sim).putItem},
	{name: "DeleteItem", mutating: true, handle: (*Sim).deleteItem},
	{name: "BatchWriteItem", mutating: true, handle: (*Sim).batchWriteItem},
}

func (dynamoDB) accepts(r *http.Request) bool {
	target := r.Header.Get("X-Amz-Target")
	return strings.HasPrefix(target, tableTarget) || strings.HasPrefix(target, streamTarget)
}

func (dynamoDB) decode(r *http.Request, body []byte) (*call, error) {
	service, target, operations := "DynamoDB", tableTarget, tableOperations
	if strings.HasPrefix(r.Header.Get("X-Amz-Target"), streamTarget) {
		service, target, operations = "DynamoDB Streams", streamTarget, streamOperations
	}
	c, err := decodeJSON(r, body, service, target, operations)
	for _, member := range []string{"TableName", "StreamArn"} {
		if name, ok := c.input[member].(string); ok {
			c.mentions = append(c.mentions, name)
			c.about(name, name)
		}
	}
	return c, err
}

func (dynamoDB) encode(_ *call, out reply) answer {
	body, err := json.Marshal(out.json)
	if err != nil { // every reply is a map of plain values
		body = []byte("{}")
	}
	return tableAnswer(out.status, body)
}

func (dynamoDB) encodeError(_ *call, err error) answer {
	refused := asAPIError(err)
	body, err := json.Marshal(map[string]string{"__type": tableErrors + refused.Code, "message": refused.Message})
	if err != nil { // two strings always marshal
		body = []byte("{}")
	}
	return tableAnswer(refused.Status, body)
}

func tableAnswer(status int, body []byte) answer {
	return answer{status: status, body: body, header: http.Header{
		"Content-Type": {"application/x-amz-json-1.0"}, "X-Amz-Crc32": {strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10)},
	}}
}

func (dynamoDB) codeOf(err error) string { return asAPIError(err).Code }

func (dynamoDB) throttleCode() string { return "ThrottlingException" }

func refuseTable(code, format string, args ...any) error {
	return refuse(http.StatusBadRequest, code, format, args...)
}

func invalidTable(format string, args ...any) error {
	return refuseTable("ValidationException", format, args...)
}

// item is what DynamoDB stores: attributes in the form of the wire.
type item = map[string]any

// itemTable is a table of DynamoDB.
type itemTable struct {
	name, arn string
	// keys are the attributes of the primary key, the partition key first.
	keys    []string
	items   map[string]item // by the primary key
	created time.Time
	// stream is the latest one, nil if there never was one.
	stream *itemStream
}

func (s *Sim) tableNamed(c *call) (*itemTable, error) {
	name, _ := c.input["TableName"].(string)
	if t := c.acct.itemTables[name]; t != nil {
		return t, nil
	}
	return nil, refuseTable("ResourceNotFoundException", "Requested resource not found: Table: %s not found", name)
}

func (s *Sim) createTable(c *call) (reply, error) {
	var in struct {
		TableName string
		KeySchema []struct{ AttributeName, KeyType string }
	}
	if err := c.read(&in); err != nil {
		return reply{}, err
	}
	switch {
	case len(in.TableName) < 3:
		return reply{}, invalidTable("TableName must be at least 3 characters long and at most 255 characters long")
	case len(in.KeySchema) < 1 || len(in.KeySchema) > 2 || in.KeySchema[0].KeyType != "HASH":
		return reply{}, invalidTable("Invalid KeySchema: The first KeySchemaElement is not a HASH key type")
	case c.acct.itemTables[in.TableName] != nil:
		return reply{}, refuseTable("ResourceInUseException", "Table already exists: %s", in.TableName)
	}
	t := &itemTable{
		name: in.TableName, arn: "arn:aws:dynamodb:us-east-1:" + c.acct.id + ":table/" + in.TableName,
		items: map[string]item{}, created: c.now,
	}
	for _, k := range in.KeySchema {
		t.keys = append(t.keys, k.AttributeName)
	}
	if err := s.specifyStream(c, t); err != nil {
		return reply{}, err
	}
	c.acct.itemTables[t.name] = t
	return reply{status: http.StatusOK, json: map[string]any{"TableDescription": t.describe()}}, nil
}

func (s *Sim) describeTable(c *call) (reply, error) {
	t, err := s.tableNamed(c)
	if err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusOK, json: map[string]any{"Table": t.describe()}}, nil
}

func (s *Sim) updateTable(c *call) (reply, error) {
	t, err := s.tableNamed(c)
	if err != nil {
		return reply{}, err
	}
	if err := s.specifyStream(c, t); err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusOK, json: map[string]any{"TableDescription": t.describe()}}, nil
}

func (s *Sim) deleteTable(c *call) (reply, error) {
	t, err := s.tableNamed(c)
	if err != nil {
		return reply{}, err
	}
	if t.stream != nil {
		t.stream.disable(c.now)
	}
	delete(c.acct.itemTables, t.name)
	return reply{status: http.StatusOK, json: map[string]any{"TableDescription": t.describe()}}, nil
}

func (t *itemTable) describe() map[string]any {
	schema := make([]map[string]string, len(t.keys))
	for i, key := range t.keys {
		schema[i] = map[string]string{"AttributeName": key, "KeyType": []string{"HASH", "RANGE"}[i]}
	}
	out := map[string]any{
		"TableName": t.name, "TableArn": t.arn, "TableStatus": "ACTIVE", "KeySchema": schema,
		"ItemCount": len(t.items), "CreationDateTime": t.created.Unix(),
	}
	if t.stream != nil {
		out["LatestStreamArn"], out["LatestStreamLabel"] = t.stream.arn, t.stream.label
		if t.stream.enabled {
			out["StreamSpecification"] = map[string]any{"StreamEnabled": true, "StreamViewType": t.stream.view}
		}
	}
	return out
}

func (s *Sim) putItem(c *call) (reply, error) {
	return s.writeItems(c, func(t *itemTable) error { return t.put(c, c.input["Item"]) })
}

func (s *Sim) deleteItem(c *call) (reply, error) {
	return s.writeItems(c, func(t *itemTable) error { return t.remove(c, c.input["Key"]) })
}

func (s *Sim) writeItems(c *call, write func(*itemTable) error) (reply, error) {
	t, err := s.tableNamed(c)
	if err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusOK, json: map[string]any{}}, write(t)
}

// batchWriteItem takes at most 25 writes, in any number of tables.
func (s *Sim) batchWriteItem(c *call) (reply, error) {
	var in struct {
		RequestItems map[string][]struct {
			PutRequest    *struct{ Item any }
			DeleteRequest *struct{ Key any }
		}
	}
	if err := c.read(&in); err != nil {
		return reply{}, err
	}
	writes := 0
	for _, requests := range in.RequestItems {
		writes += len(requests)
	}
	if writes < 1 || writes > 25 {
		return reply{}, invalidTable("The batch write request list must have from 1 to 25 items")
	}
	for name, requests := range in.RequestItems {
		t := c.acct.itemTables[name]
		if t == nil {
			return reply{}, refuseTable("ResourceNotFoundException", "Requested resource not found")
		}
		for _, r := range requests {
			var err error
			if r.PutRequest != nil {
				err = t.put(c, r.PutRequest.Item)
			} else if r.DeleteRequest != nil {
				err = t.remove(c, r.DeleteRequest.Key)
			}
			if err != nil {
				return reply{}, err
			}
		}
	}
	return reply{status: http.StatusOK, json: map[string]any{"UnprocessedItems": map[string]any{}}}, nil
}

// read decodes the input of a call.
func (c *call) read(into any) error {
	body, err := json.Marshal(c.input)
	if err == nil {
		err = json.Unmarshal(body, into)
	}
	if err != nil {
		return refuse(http.StatusBadRequest, "SerializationException", "The input has a value of the wrong type: %v.", err)
	}
	return nil
}

// keyOf takes the primary key from attributes, and returns it with its text.
func (t *itemTable) keyOf(attributes any) (item, string, error) {
	from, _ := attributes.(item)
	key := item{}
	for _, name := range t.keys {
		value, ok := from[name]
		if !ok {
			return nil, "", invalidTable("One or more parameter values were invalid: Missing the key %s in the item", name)
		}
		key[name] = value
	}
	return key, canonical(key), nil
}

// canonical is the same text for the same value: the names are in order.
func canonical(value any) string {
	text, err := json.Marshal(value)
	if err != nil { // it came from JSON
		return ""
	}
	return string(text)
}

// put replaces an item. One that stays as it is makes no record of a stream.
func (t *itemTable) put(c *call, attributes any) error {
	key, text, err := t.keyOf(attributes)
	if err != nil {
		return err
	}
	after, _ := attributes.(item)
	before := t.items[text]
	t.items[text] = after
	if canonical(before) != canonical(after) {
		t.stream.record(c.now, text, key, before, after)
	}
	return nil
}

func (t *itemTable) remove(c *call, attributes any) error {
	key, text, err := t.keyOf(attributes)
	if err != nil {
		return err
	}
	if before, there := t.items[text]; there {
		delete(t.items, text)
		t.stream.record(c.now, text, key, before, nil)
	}
	return nil
}

// viewTypes say what a record shows of its item.
var viewTypes = []string{"KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"}

// specifyStream turns the stream of a table on or off, if the call says so.
func (s *Sim) specifyStream(c *call, t *itemTable) error {
	var in struct {
		StreamSpecification *struct {
			StreamEnabled  bool
			StreamViewType string
		}
	}
	if err := c.read(&in); err != nil || in.StreamSpecification == nil {
		return err
	}
	on := t.stream != nil && t.stream.enabled
	switch spec := in.StreamSpecification; {
	case spec.StreamEnabled && on:
		return invalidTable("Table already has an enabled stream: TableName=%s", t.name)
	case !spec.StreamEnabled && !on:
		return invalidTable("Table is already disabled for streams: TableName=%s", t.name)
	case spec.StreamEnabled && !slices.Contains(viewTypes, spec.StreamViewType):
		return invalidTable("1 validation error detected: Value '%s' at 'streamSpecification.streamViewType' failed to satisfy constraint: "+
			"Member must satisfy enum value set: [%s]", spec.StreamViewType, strings.Join(viewTypes, ", "))
	case spec.StreamEnabled:
		t.stream = newItemStream(s.derive, t, spec.StreamViewType, c.now)
		c.acct.streams[t.stream.arn] = t.stream
	default:
		t.stream.disable(c.now)
	}
	return nil
}
