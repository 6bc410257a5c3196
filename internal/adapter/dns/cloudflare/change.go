package cloudflare

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

const (
	// recordsPerBatch is the most that Cloudflare takes at once in every plan. Paid plans take 3,500.
	recordsPerBatch = 200
	// charactersPerBatch is more than all records of a batch can have: Cloudflare names no such limit.
	charactersPerBatch = 1 << 20
	// fewNames is up to how many names are read one by one before a batch. The zone in one call is the better bargain for
	// more.
	fewNames = 2
	// longestComment is what a comment can have in the free plan.
	longestComment = 100
)

// Change implements port.Zones. The batch is preceded by a read: it finds the ids of what has to be deleted, and which
// records Cloudflare would put a new one next to.
func (d *DNS) Change(ctx context.Context, id string, changes []dns.Change) (string, error) {
	for _, c := range changes {
		if err := writable(c); err != nil {
			return "", err
		}
	}
	ctx, err := d.config.Gate.Errand(ctx, opBatch)
	if err != nil {
		return "", err
	}
	held, err := d.heldAt(ctx, id, changes)
	if err != nil {
		return "", err
	}
	deletes, err := held.deletions(changes)
	if err != nil {
		return "", err
	}
	if err := held.room(changes); err != nil {
		return "", err
	}
	return d.batch(ctx, id, deletes, d.creations(changes))
}

// writable refuses what can't be written, or not be put back.
func writable(c dns.Change) error {
	s, refuse := c.Set, func(text string) error {
		return fault.New(fault.Invalid, opBatch, "the %s record %s %s", c.Set.Type, c.Set.Name, text)
	}
	switch {
	case s.Routed:
		return refuse("is proxied, has values with different TTLs, or has a property that the operator never writes: the operator does not replace such a record; " +
			"delete it at Cloudflare")
	case s.Alias != "":
		return refuse("is an alias, which Cloudflare does not have: use Auto or CNAME")
	case !slices.Contains([]string{dns.CNAME, dns.A, dns.AAAA, dns.TXT}, s.Type):
		return refuse("is of a type that the operator does not write")
	}
	return nil
}

// heldAt reads what the zone holds at the names of the changes.
func (d *DNS) heldAt(ctx context.Context, id string, changes []dns.Change) (holding, error) {
	var names []string
	for _, c := range changes {
		names = append(names, c.Set.Name)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) > fewNames {
		return d.held(ctx, id, "")
	}
	all := newHolding("", false)
	for _, name := range names {
		held, err := d.held(ctx, id, name)
		if err != nil {
			return holding{}, err
		}
		all.apex = held.apex
		maps.Copy(all.byKey, held.byKey)
	}
	return all, nil
}

// deletions returns the ids of what has to be deleted, all of which has to be just as it was seen.
func (h holding) deletions(changes []dns.Change) (ids []string, err error) {
	for _, c := range changes {
		if c.Action != dns.Delete {
			continue
		}
		s := h.byKey[c.Set.Key]
		if s == nil || !equal(s.RecordSet, c.Set) {
			return nil, fault.New(fault.Conflict, opBatch, "the %s record %s was changed or deleted meanwhile", c.Set.Type, c.Set.Name)
		}
		ids = append(ids, s.ids...)
		delete(h.byKey, c.Set.Key)
	}
	return ids, nil
}

// equal reports whether two sets are the same to the letter, as far as both say.
func equal(a, b dns.RecordSet) bool {
	sorted := func(values []string) []string { return slices.Sorted(slices.Values(values)) }
	return a.Key == b.Key && a.TTL == b.TTL && a.Alias == b.Alias && a.Routed == b.Routed &&
		slices.Equal(sorted(a.Values), sorted(b.Values)) && (b.Exact == nil || slices.Equal(sorted(a.Exact), sorted(b.Exact)))
}

// room refuses to create a record next to others that exclude it. Cloudflare refuses less: it adds
// a value to a TXT set, and puts a CNAME next to a TXT record.
func (h holding) room(changes []dns.Change) error {
	for _, c := range changes {
		if c.Action != dns.Create {
			continue
		}
		for key := range h.byKey {
			if h.clashes(key, c.Set.Key) {
				return fault.New(fault.Exists, opBatch, "the %s record %s can't be created: there is another record already", c.Set.Type, c.Set.Name)
			}
		}
		h.byKey[c.Set.Key] = &heldSet{RecordSet: c.Set}
	}
	return nil
}

// clashes reports whether sets of both keys can't stand side by side. At the apex a CNAME is flattened, and clashes with
// addresses only.
func (h holding) clashes(a, b dns.Key) bool {
	leads := func(k dns.Key) bool { return k.Type == dns.CNAME || k.Type == dns.A || k.Type == dns.AAAA }
	if a.Name == h.apex && !(leads(a) && leads(b)) {
		return a == b
	}
	return a.Clashes(b)
}

// newRecord is a record to be made, as the API takes it.
type newRecord struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Content string `json:"content"`
	TTL     int64  `json:"ttl"`
	// Proxied is never true: a proxied record shows Cloudflare's addresses, and its certificate, instead of CloudFront's.
	Proxied bool   `json:"proxied"`
	Comment string `json:"comment,omitempty"`
}

// recordID names a record.
type recordID struct {
	ID string `json:"id"`
}

// creations are the records to be made, one for each value.
func (d *DNS) creations(changes []dns.Change) (posts []newRecord) {
	for _, c := range changes {
		if c.Action != dns.Create {
			continue
		}
		for _, content := range contents(c.Set) {
			r := newRecord{Name: c.Set.Name, Type: c.Set.Type, Content: content, TTL: c.Set.TTL}
			if c.Owner != (dns.Owner{}) {
				r.Comment = d.note(c.Owner)
			}
			posts = append(posts, r)
		}
	}
	return posts
}

// note says next to a record whose it is.
func (d *DNS) note(o dns.Owner) string {
	return prose.Fit(fmt.Sprintf("cloudfront-tenant-operator cluster=%s object=%s/%s", d.config.ClusterID, o.Namespace, o.Name), longestComment)
}

// batch sends the changes, and returns an id that says which they are and when they were made.
func (d *DNS) batch(ctx context.Context, id string, deletes []string, posts []newRecord) (string, error) {
	var body struct {
		Deletes []recordID  `json:"deletes,omitempty"`
		Posts   []newRecord `json:"posts,omitempty"`
	}
	body.Posts = posts
	for _, one := range deletes {
		body.Deletes = append(body.Deletes, recordID{ID: one})
	}
	var answer struct {
		Result struct {
			Deletes []recordID `json:"deletes"`
			Posts   []recordID `json:"posts"`
		} `json:"result"`
	}
	if err := d.call(ctx, opBatch, request{path: pathOf(id) + "/dns_records/batch", body: body}, &answer); err != nil {
		d.forget(id, err)
		return "", err
	}
	r := answer.Result
	if len(r.Posts) != len(posts) || len(r.Deletes) != len(deletes) {
		return "", unreadable(opBatch, "what became of each change")
	}
	first := ""
	for _, one := range slices.Concat(r.Posts, r.Deletes) {
		first = cmp.Or(first, one.ID)
	}
	return changeID(first, d.config.Clock.Now()), nil
}

// changeID names a change by its first record and its time. There is nothing at Cloudflare to look it up by.
func changeID(record string, at time.Time) string {
	return record + "@" + at.UTC().Format(time.RFC3339)
}
