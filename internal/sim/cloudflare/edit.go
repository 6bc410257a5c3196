package cloudflare

import (
	"encoding/json"
	"slices"
	"strings"
)

// edit is a change of a zone that is not committed yet: what fails in the middle leaves nothing behind.
type edit struct {
	sim     *Sim
	zone    *zoneState
	records []Record
}

// input is a record as a client writes it. A nil field was left out.
type input struct {
	ID       *string        `json:"id"`
	Name     *string        `json:"name"`
	Type     *string        `json:"type"`
	Content  *string        `json:"content"`
	TTL      *float64       `json:"ttl"`
	Proxied  *bool          `json:"proxied"`
	Priority *int           `json:"priority"`
	Comment  *string        `json:"comment"`
	Tags     []string       `json:"tags"`
	Settings map[string]any `json:"settings"`
}

type batch struct {
	Deletes []input `json:"deletes"`
	Patches []input `json:"patches"`
	Puts    []input `json:"puts"`
	Posts   []input `json:"posts"`
}

type batchResult struct {
	Deletes []Record `json:"deletes"`
	Patches []Record `json:"patches"`
	Puts    []Record `json:"puts"`
	Posts   []Record `json:"posts"`
}

// perform carries out one request.
func (e *edit) perform(c call) (any, error) {
	if c.op == BatchRecords {
		return e.batch(c.body)
	}
	if c.op == DeleteRecord {
		r, err := e.remove(c.recordID)
		return map[string]string{"id": r.ID}, err
	}
	var in input
	if err := decode(c.body, &in); err != nil {
		return nil, err
	}
	switch {
	case in.ID != nil && *in.ID != c.recordID:
		return nil, refuse(codeBadBody, "the id in the body differs from that in the path")
	case c.op == CreateRecord:
		return e.create(in)
	}
	return e.replace(c.recordID, in, c.op == PatchRecord)
}

// batch carries out deletes, patches, puts and posts in this order.
func (e *edit) batch(body []byte) (any, error) {
	var b batch
	if err := decode(body, &b); err != nil {
		return nil, err
	}
	n := len(b.Deletes) + len(b.Patches) + len(b.Puts) + len(b.Posts)
	switch {
	case n == 0:
		return nil, refuse(codeBadBody, "the batch is empty")
	case n > e.sim.options.BatchLimit:
		return nil, refuse(codeBatchTooLarge, "the batch has %d changes, and can have %d", n, e.sim.options.BatchLimit)
	}
	var out batchResult
	var err error
	deleted := map[string]bool{}
	if out.Deletes, err = each(b.Deletes, func(in input) (Record, error) {
		if in.ID == nil || deleted[*in.ID] {
			return Record{}, refuse(codeDeletedTwice, "a deletion needs an id, once")
		}
		deleted[*in.ID] = true
		return e.remove(*in.ID)
	}); err != nil {
		return nil, err
	}
	if out.Patches, err = each(b.Patches, func(in input) (Record, error) { return e.named(in, true) }); err != nil {
		return nil, err
	}
	if out.Puts, err = each(b.Puts, func(in input) (Record, error) { return e.named(in, false) }); err != nil {
		return nil, err
	}
	out.Posts, err = each(b.Posts, e.create)
	return out, err
}

func each(in []input, do func(input) (Record, error)) ([]Record, error) {
	out := []Record{}
	for _, one := range in {
		r, err := do(one)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

func (e *edit) named(in input, patch bool) (Record, error) {
	if in.ID == nil {
		return Record{}, refuse(codeBadBody, "the id is missing")
	}
	return e.replace(*in.ID, in, patch)
}

func (e *edit) remove(id string) (Record, error) {
	i := find(e.records, id)
	if i < 0 {
		return Record{}, noRecord()
	}
	r := e.records[i]
	if locked(r) {
		return Record{}, refuse(codeBadProxied, "This record is managed by another product and can't be changed.")
	}
	e.records = slices.Delete(e.records, i, i+1)
	return r, nil
}

func (e *edit) create(in input) (Record, error) {
	if len(e.records) >= e.sim.options.RecordQuota {
		return Record{}, refuse(codeQuota, "Record quota exceeded.")
	}
	now := e.sim.options.Now()
	r, err := e.fill(Record{ID: e.sim.newID(e.zone), CreatedOn: now, ModifiedOn: now, Settings: map[string]any{}, Meta: map[string]any{}, Tags: []string{}}, in)
	if err != nil {
		return Record{}, err
	}
	if err := e.clash(r); err != nil {
		return Record{}, err
	}
	e.records = append(e.records, r)
	return r, nil
}

func (e *edit) replace(id string, in input, patch bool) (Record, error) {
	i := find(e.records, id)
	if i < 0 {
		return Record{}, noRecord()
	}
	old := e.records[i]
	if locked(old) {
		return Record{}, refuse(codeBadProxied, "This record is managed by another product and can't be changed.")
	}
	r := Record{ID: id, CreatedOn: old.CreatedOn, Settings: map[string]any{}, Meta: old.Meta, Tags: []string{}}
	if patch {
		r = old
		if in.TTL == nil {
			ttl := float64(old.TTL)
			in.TTL = &ttl
		}
	}
	r.ModifiedOn = e.sim.options.Now()
	r, err := e.fill(r, in)
	if err != nil {
		return Record{}, err
	}
	e.records = slices.Delete(e.records, i, i+1)
	if err := e.clash(r); err != nil {
		return Record{}, err
	}
	e.records = append(e.records, r)
	return r, nil
}

// fill takes over what a client wrote, and checks the whole.
func (e *edit) fill(r Record, in input) (Record, error) {
	set(&r.Name, in.Name)
	set(&r.Type, in.Type)
	set(&r.Content, in.Content)
	set(&r.Proxied, in.Proxied)
	set(&r.Comment, in.Comment)
	if in.Priority != nil {
		r.Priority = in.Priority
	}
	if in.Tags != nil {
		r.Tags = in.Tags
	}
	if in.Settings != nil {
		r.Settings = in.Settings
	}
	ttl := 0.0
	set(&ttl, in.TTL)
	r.TTL = int(ttl)
	if float64(r.TTL) != ttl {
		r.TTL = 0
	}
	r.Name = strings.ToLower(strings.TrimSuffix(r.Name, "."))
	if r.Type == "CNAME" || r.Type == "NS" || r.Type == "MX" {
		r.Content = strings.ToLower(strings.TrimSuffix(r.Content, "."))
	}
	r.Proxiable = proxiable(r.Type)
	if r.Proxied {
		r.TTL = automatic
	}
	return r, e.check(r)
}

func set[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

// find returns where a record is, -1 for nowhere.
func find(records []Record, id string) int {
	return slices.IndexFunc(records, func(r Record) bool { return r.ID == id })
}

// cloneRecords copies records so deeply that an edit shows nowhere else.
func cloneRecords(records []Record) (out []Record) {
	text, err := json.Marshal(records)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		panic(err)
	}
	return out
}

// locked reports whether another product of Cloudflare keeps the record.
func locked(r Record) bool { return r.Meta["read_only"] == true }
