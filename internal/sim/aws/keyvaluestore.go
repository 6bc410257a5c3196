package aws

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// keyValueStores is the service cloudfront-keyvaluestore, which speaks REST-JSON: the keys of stores that were seeded.
type keyValueStores struct{}

const storePath = "/key-value-stores/"

// The limits of the quotas page of CloudFront, and of UpdateKeys and ListKeys.
const (
	maxKeyBytes       = 512
	maxValueBytes     = 1024
	maxStoreBytes     = 5 << 20
	maxKeysPerUpdate  = 50
	maxUpdateBytes    = 3 << 20
	maxKeysPerPage    = 50
	defaultKeysOnPage = 10
)

// storeReady is the only status in which a store can be changed.
const storeReady = "READY"

var storeOperations = []*operation{
	{name: "DescribeKeyValueStore", handle: (*Sim).describeStore, method: "GET", path: "{}"},
	{name: "ListKeys", handle: (*Sim).listKeys, method: "GET", path: "{}/keys"},
	{name: "UpdateKeys", mutating: true, handle: (*Sim).updateKeys, method: "POST", path: "{}/keys"},
	{name: "GetKey", handle: (*Sim).getKey, method: "GET", path: "{}/keys/{}"},
	{name: "PutKey", mutating: true, handle: (*Sim).putKey, method: "PUT", path: "{}/keys/{}"},
	{name: "DeleteKey", mutating: true, handle: (*Sim).deleteKey, method: "DELETE", path: "{}/keys/{}"},
}

func (keyValueStores) accepts(r *http.Request) bool {
	return strings.HasPrefix(r.URL.EscapedPath(), storePath)
}

func (keyValueStores) decode(r *http.Request, body []byte) (*call, error) {
	c, err := decodeREST(r, nil, "CloudFront KeyValueStore", storePath, storeOperations)
	if err != nil || len(body) == 0 {
		return c, err
	}
	if json.Unmarshal(body, &c.input) != nil {
		return c, invalidStore("The request is not a JSON object.")
	}
	return c, nil
}

func (keyValueStores) encode(_ *call, out reply) answer {
	body, err := json.Marshal(out.json)
	if err != nil { // every reply is a map of plain values
		body = []byte("{}")
	}
	header := http.Header{"Content-Type": {"application/json"}}
	if out.etag != "" {
		header.Set("Etag", out.etag)
	}
	return answer{status: out.status, header: header, body: body}
}

func (keyValueStores) encodeError(_ *call, err error) answer {
	refused := asAPIError(err)
	body, err := json.Marshal(map[string]string{"Message": refused.Message})
	if err != nil { // a string always marshals
		body = []byte("{}")
	}
	return answer{status: refused.Status, body: body, header: http.Header{
		"Content-Type": {"application/json"}, "X-Amzn-Errortype": {refused.Code},
	}}
}

func (keyValueStores) codeOf(err error) string { return asAPIError(err).Code }

func (keyValueStores) throttleCode() string { return "ThrottlingException" }

func invalidStore(format string, args ...any) error {
	return refuse(http.StatusBadRequest, "ValidationException", format, args...)
}

// keyStore is a key value store.
type keyStore struct {
	arn, status       string
	values            map[string]string
	revision          int
	created, modified time.Time
}

func (k *keyStore) size() (bytes int) {
	for key, value := range k.values {
		bytes += len(key) + len(value)
	}
	return bytes
}

func (s *Sim) storeETag(k *keyStore) string { return s.derive.etag(k.arn, strconv.Itoa(k.revision)) }

// storeNamed finds the store of a call.
func (s *Sim) storeNamed(c *call) (*keyStore, error) {
	arn := c.vars[0]
	c.about(arn, "")
	parts := strings.Split(arn, ":")
	if len(parts) != 6 || parts[2] != "cloudfront" || !strings.HasPrefix(parts[5], "key-value-store/") {
		return nil, invalidStore("%q is not the ARN of a key value store.", arn)
	}
	if parts[4] != c.acct.id {
		return nil, refuse(http.StatusForbidden, "AccessDeniedException", "The account %s may not use %s.", c.acct.id, arn)
	}
	if k := c.acct.stores[arn]; k != nil {
		return k, nil
	}
	return nil, refuse(http.StatusNotFound, "ResourceNotFoundException", "The key value store %s was not found.", arn)
}

func (s *Sim) describeStore(c *call) (reply, error) {
	k, err := s.storeNamed(c)
	if err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusOK, etag: s.storeETag(k), json: map[string]any{
		"KvsARN": k.arn, "Status": k.status, "ItemCount": len(k.values), "TotalSizeInBytes": k.size(),
		"Created": k.created.Unix(), "LastModified": k.modified.Unix(),
	}}, nil
}

// listKeys pages by position: a key that is created or deleted meanwhile makes another one come twice, or not at all.
// Whether the real service does is not documented.
func (s *Sim) listKeys(c *call) (reply, error) {
	k, err := s.storeNamed(c)
	if err != nil {
		return reply{}, err
	}
	size, from := defaultKeysOnPage, 0
	if text := c.param("MaxResults"); text != "" {
		if size, err = strconv.Atoi(text); err != nil || size < 1 || size > maxKeysPerPage {
			return reply{}, invalidStore("MaxResults must be from 1 to %d.", maxKeysPerPage)
		}
	}
	if text := c.param("NextToken"); text != "" {
		if from, err = strconv.Atoi(text); err != nil || from < 1 {
			return reply{}, invalidStore("The token is not valid.")
		}
	}
	names, items := slices.Sorted(maps.Keys(k.values)), []map[string]string{}
	to := min(from+min(size, s.options.PageSize), len(names))
	for _, name := range names[min(from, len(names)):to] {
		items = append(items, map[string]string{"Key": name, "Value": k.values[name]})
	}
	out := map[string]any{"Items": items}
	if to < len(names) {
		out["NextToken"] = strconv.Itoa(to)
	}
	return reply{status: http.StatusOK, json: out}, nil
}

func (s *Sim) getKey(c *call) (reply, error) {
	k, err := s.storeNamed(c)
	if err != nil {
		return reply{}, err
	}
	value, has := k.values[c.vars[1]]
	if !has {
		return reply{}, refuse(http.StatusNotFound, "ResourceNotFoundException", "The key %s was not found.", c.vars[1])
	}
	return reply{status: http.StatusOK, json: map[string]any{
		"Key": c.vars[1], "Value": value, "ItemCount": len(k.values), "TotalSizeInBytes": k.size(),
	}}, nil
}

// keyChange is one change of an update; a nil value deletes the key.
type keyChange struct {
	key   string
	value *string
}

func (s *Sim) putKey(c *call) (reply, error) {
	value, ok := c.input["Value"].(string)
	if !ok {
		return reply{}, invalidStore("Value is missing.")
	}
	return s.changeKeys(c, []keyChange{{c.vars[1], &value}})
}

func (s *Sim) deleteKey(c *call) (reply, error) {
	return s.changeKeys(c, []keyChange{{c.vars[1], nil}})
}

func (s *Sim) updateKeys(c *call) (reply, error) {
	var changes []keyChange
	for _, list := range []string{"Puts", "Deletes"} {
		items, _ := c.input[list].([]any)
		for _, item := range items {
			members, _ := item.(map[string]any)
			key, _ := members["Key"].(string)
			value, given := members["Value"].(string)
			if list == "Puts" && !given {
				return reply{}, invalidStore("A put has no Value.")
			}
			change := keyChange{key: key}
			if list == "Puts" {
				change.value = &value
			}
			changes = append(changes, change)
		}
	}
	return s.changeKeys(c, changes)
}

// changeKeys makes all changes or none.
func (s *Sim) changeKeys(c *call, changes []keyChange) (reply, error) {
	k, err := s.storeNamed(c)
	if err != nil {
		return reply{}, err
	}
	if err := checkChanges(changes); err != nil {
		return reply{}, err
	}
	switch {
	case c.ifMatch == "":
		return reply{}, invalidStore("If-Match is missing.")
	case k.status != storeReady:
		return reply{}, conflict("ConflictException", "The key value store has the status %s.", k.status)
	case strings.Trim(c.ifMatch, `"`) != s.storeETag(k):
		return reply{}, conflict("ConflictException", "Pre-Condition failed")
	}
	next := maps.Clone(k.values)
	for _, change := range changes {
		if change.value == nil {
			c.records = append(c.records, "DELETE "+change.key)
			delete(next, change.key)
			continue
		}
		c.records = append(c.records, "PUT "+change.key)
		next[change.key] = *change.value
	}
	if after := (&keyStore{values: next}).size(); after > maxStoreBytes && after > k.size() {
		return reply{}, refuse(http.StatusPaymentRequired, "ServiceQuotaExceededException", "The key value store would have more than %d bytes.", maxStoreBytes)
	}
	k.values, k.modified = next, c.now
	k.revision++
	return reply{status: http.StatusOK, etag: s.storeETag(k), json: map[string]any{"ItemCount": len(next), "TotalSizeInBytes": k.size()}}, nil
}

func checkChanges(changes []keyChange) error {
	size, seen := 0, map[string]bool{}
	for _, change := range changes {
		value := ""
		if change.value != nil {
			value = *change.value
		}
		size += len(change.key) + len(value)
		switch {
		case change.key == "" || len(change.key) > maxKeyBytes || !utf8.ValidString(change.key):
			return invalidStore("A key must have from 1 to %d bytes.", maxKeyBytes)
		case len(value) > maxValueBytes:
			return invalidStore("The value of %s has more than %d bytes.", change.key, maxValueBytes)
		case seen[change.key]:
			return invalidStore("The key %s is named twice.", change.key)
		}
		seen[change.key] = true
	}
	if len(changes) == 0 || len(changes) > maxKeysPerUpdate || size > maxUpdateBytes {
		return invalidStore("A request must change from 1 to %d keys with at most %d bytes.", maxKeysPerUpdate, maxUpdateBytes)
	}
	return nil
}

// SeedKeyValueStore is a key value store with its keys.
type SeedKeyValueStore struct {
	ARN string `json:"arn"`
	// Status is READY if empty.
	Status string            `json:"status,omitempty"`
	Values map[string]string `json:"values,omitempty"`
}

// loadStore puts a seeded store into the world. One that exists is replaced.
func (s *Sim) loadStore(i int, in SeedKeyValueStore) error {
	parts := strings.Split(in.ARN, ":")
	if len(parts) != 6 || parts[2] != "cloudfront" || !accountID.MatchString(parts[4]) || !strings.HasPrefix(parts[5], "key-value-store/") {
		return &seedError{at("keyValueStores", i, "arn"), in.ARN, "is not the ARN of a key value store", "write arn:aws:cloudfront::<account>:key-value-store/<id>"}
	}
	a, err := s.seededAccount(at("keyValueStores", i, "arn"), parts[4])
	if err != nil {
		return err
	}
	k := &keyStore{arn: in.ARN, status: in.Status, values: map[string]string{}, created: s.now(), modified: s.now()}
	if k.status == "" {
		k.status = storeReady
	}
	for key, value := range in.Values {
		if err := checkChanges([]keyChange{{key, &value}}); err != nil {
			return refusedSeed(at("keyValueStores", i, "values"), key, err)
		}
		k.values[key] = value
	}
	if before := a.stores[in.ARN]; before != nil {
		k.revision = before.revision + 1
	}
	a.stores[in.ARN] = k
	return nil
}

// KeyValueStoreState is a key value store.
type KeyValueStoreState struct {
	ARN    string            `json:"arn"`
	Status string            `json:"status"`
	ETag   string            `json:"eTag"`
	Values map[string]string `json:"values"`
}

// storeStates are the stores of an account, by ARN.
func (s *Sim) storeStates(a *account) (out []KeyValueStoreState) {
	for _, arn := range slices.Sorted(maps.Keys(a.stores)) {
		k := a.stores[arn]
		out = append(out, KeyValueStoreState{ARN: arn, Status: k.status, ETag: s.storeETag(k), Values: maps.Clone(k.values)})
	}
	return out
}

// KeyValues are the keys of a store with their values, nil if there is no such store.
func (s *Sim) KeyValues(arn string) map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.world.accounts {
		if k := a.stores[arn]; k != nil {
			return maps.Clone(k.values)
		}
	}
	return nil
}

// SetKeyValue changes a key as others would; nil deletes it.
func (s *Sim) SetKeyValue(arn, key string, value *string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.world.accounts {
		if k := a.stores[arn]; k != nil {
			k.revision++
			if value == nil {
				delete(k.values, key)
				continue
			}
			k.values[key] = *value
		}
	}
}

// DeleteKeyValueStore deletes a store with all its keys.
func (s *Sim) DeleteKeyValueStore(arn string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.world.accounts {
		delete(a.stores, arn)
	}
}
