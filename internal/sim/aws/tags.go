package aws

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

type tag struct {
	key, value string
}

var (
	tagText     = regexp.MustCompile(`^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$`)
	taggableArn = regexp.MustCompile(`^arn:aws(-cn)?:cloudfront::[0-9]+:.*$`)
)

// readTags reads and checks a tag set; an absent one is empty.
func (s *Sim) readTags(block *node) ([]tag, error) {
	var tags []tag
	for _, item := range block.child("Items").items("Tag", "member") {
		t := tag{key: item.str("Key"), value: item.str("Value")}
		if err := checkTag(t); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(tags, func(o tag) bool { return o.key == t.key }) {
			return nil, invalidTagging("The tag key %s is given twice.", t.key)
		}
		tags = append(tags, t)
	}
	if len(tags) > s.quotas.Tags {
		return nil, invalidTagging("A resource can have %d tags, got %d.", s.quotas.Tags, len(tags))
	}
	sortTags(tags)
	return tags, nil
}

func checkTag(t tag) error {
	switch {
	case t.key == "" || utf8.RuneCountInString(t.key) > 128:
		return invalidTagging("A tag key must have 1 to 128 characters, got %d.", utf8.RuneCountInString(t.key))
	case utf8.RuneCountInString(t.value) > 256:
		return invalidTagging("The value of the tag %s must have at most 256 characters.", t.key)
	case strings.HasPrefix(strings.ToLower(t.key), "aws:"):
		return invalidTagging("The tag key %s begins with aws:, which is reserved.", t.key)
	case !tagText.MatchString(t.key), !tagText.MatchString(t.value):
		return invalidTagging("The tag %s has characters that are not allowed.", t.key)
	}
	return nil
}

func sortTags(tags []tag) {
	slices.SortFunc(tags, func(a, b tag) int { return strings.Compare(a.key, b.key) })
}

func tagsBody(tags []tag) *node {
	items := el("Items")
	for _, t := range tags {
		items.kids = append(items.kids, el("Tag", txt("Key", t.key), txt("Value", t.value)))
	}
	return el("Tags", items)
}

// tagged is a resource of whatever kind as the tagging operations see it.
type tagged struct {
	tags  *[]tag
	touch func() // gives the resource a new ETag
}

// taggedResource finds what an ARN names. Reads are subject to the lag of
// creations as every other read.
func (s *Sim) taggedResource(c *call, read bool) (tagged, error) {
	arn := c.param("Resource")
	if !taggableArn.MatchString(arn) {
		return tagged{}, invalidArgument("The resource ARN is not valid: %q.", arn)
	}
	a := c.acct
	if r := a.tenants.resolve(arn); r != nil && r.arn == arn && !s.unseen(r.created, read, c.now) {
		c.about(r.id, r.name)
		return tagged{&r.tags, func() { next := *r.current(); s.retag(r.id, &r.rev, &next.meta); r.put(&next, c.now, s.keep()) }}, nil
	}
	if r := a.groups.resolve(arn); r != nil && r.arn == arn && !s.unseen(r.created, read, c.now) {
		c.about(r.id, r.name)
		return tagged{&r.tags, func() { next := *r.current(); s.retag(r.id, &r.rev, &next.meta); r.put(&next, c.now, s.keep()) }}, nil
	}
	if r := a.distributions.resolve(arn); r != nil && r.arn == arn && !s.unseen(r.created, read, c.now) {
		c.about(r.id, r.current().reference())
		return tagged{&r.tags, func() { next := *r.current(); s.retag(r.id, &r.rev, &next.meta); r.put(&next, c.now, s.keep()) }}, nil
	}
	return tagged{}, refuse(http.StatusNotFound, "NoSuchResource", "The resource %s does not exist.", arn)
}

func (s *Sim) unseen(created time.Time, read bool, now time.Time) bool {
	return read && now.Sub(created) < s.switches.GetLag
}

// retag moves the ETag and leaves the deployment status alone.
func (s *Sim) retag(id string, rev *int, m *meta) {
	*rev++
	fresh := s.changed(id, *rev, m.modified)
	m.etag, m.settled = fresh.etag, fresh.settled
}

func (s *Sim) tagResource(c *call) (reply, error) {
	res, err := s.taggedResource(c, false)
	if err != nil {
		return reply{}, err
	}
	root, err := c.root("Tags")
	if err != nil {
		return reply{}, err
	}
	added, err := s.readTags(root)
	if err != nil {
		return reply{}, err
	}
	merged := slices.DeleteFunc(slices.Clone(*res.tags), func(t tag) bool {
		return slices.ContainsFunc(added, func(n tag) bool { return n.key == t.key })
	})
	merged = append(merged, added...)
	if len(merged) > s.quotas.Tags {
		return reply{}, invalidTagging("A resource can have %d tags, this would make %d.", s.quotas.Tags, len(merged))
	}
	sortTags(merged)
	s.putTags(res, merged)
	return reply{status: http.StatusNoContent}, nil
}

func (s *Sim) untagResource(c *call) (reply, error) {
	res, err := s.taggedResource(c, false)
	if err != nil {
		return reply{}, err
	}
	root, err := c.root("TagKeys")
	if err != nil {
		return reply{}, err
	}
	keys := root.child("Items").items("Key", "member")
	rest := slices.DeleteFunc(slices.Clone(*res.tags), func(t tag) bool {
		return slices.ContainsFunc(keys, func(k *node) bool { return k.text == t.key })
	})
	s.putTags(res, rest)
	return reply{status: http.StatusNoContent}, nil
}

func (s *Sim) putTags(res tagged, tags []tag) {
	*res.tags = tags
	if s.switches.TagMovesETag {
		res.touch()
	}
}

func (s *Sim) listTags(c *call) (reply, error) {
	res, err := s.taggedResource(c, true)
	if err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusOK, body: tagsBody(*res.tags)}, nil
}
