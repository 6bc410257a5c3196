package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/kubename"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

const pathGateway = "spec.istio.gateway"

// column is something that a tenant says, under the name that placeholders, mappings and expressions know.
type column struct {
	name, field string
	value       func(Tenant) string
}

var columns = []column{
	{"name", "metadata.name", func(t Tenant) string { return t.Name }},
	{"userId", "spec.userId", func(t Tenant) string { return t.UserID }},
	{"username", "spec.username", func(t Tenant) string { return t.Username }},
	{"namespace", "spec.namespace", func(t Tenant) string { return t.Namespace }},
	{"plan", "spec.plan", func(t Tenant) string { return t.Plan }},
}

func findColumn(name string) *column {
	i := slices.IndexFunc(columns, func(c column) bool { return c.name == name })
	if i < 0 {
		return nil
	}
	return &columns[i]
}

// columnNames are for messages.
func columnNames() string {
	names := make([]string, len(columns))
	for i := range columns {
		names[i] = columns[i].name
	}
	return strings.Join(names, ", ")
}

// part is a piece of a text: a placeholder, or the text between two.
type part struct {
	text   string
	column *column
}

const (
	opening = "{{"
	closing = "}}"
)

// parse takes a text with placeholders apart.
func parse(text string) ([]part, error) {
	var out []part
	for rest := text; rest != ""; {
		before, after, found := strings.Cut(rest, opening)
		if strings.Contains(before, closing) {
			return nil, fmt.Errorf("%s has a }} without a {{ before it: use one of %s", prose.Quote(text), placeholderNames())
		}
		if before != "" {
			out = append(out, part{text: before})
		}
		if !found {
			break
		}
		name, after, closed := strings.Cut(after, closing)
		if !closed {
			return nil, fmt.Errorf("%s has a {{ without a }} after it: use one of %s", prose.Quote(text), placeholderNames())
		}
		c := findColumn(strings.TrimSpace(name))
		if c == nil {
			return nil, fmt.Errorf("%s has the unknown placeholder %s: use one of %s", prose.Quote(text), prose.Quote(opening+name+closing), placeholderNames())
		}
		out = append(out, part{column: c})
		rest = after
	}
	return out, nil
}

func placeholderNames() string {
	return opening + strings.Join(strings.Split(columnNames(), ", "), closing+", "+opening) + closing
}

// slot is the field for a text with placeholders: what is legal there as a whole, and as the value of one placeholder.
type slot struct {
	what, part         string
	legal, legalAsPart func(string) bool
}

var (
	// hostSlot takes one label for each placeholder: a value with a star, a slash or a dot would be a wildcard, other
	// routes or another customer's name.
	hostSlot   = slot{"name in DNS", "one label of a name in DNS", isHost, kubename.IsNamespace}
	secretSlot = slot{"name of a Secret", "allowed in the name of a Secret", kubename.IsDomain, kubename.IsDomain}
)

// fill puts what the tenant says in place of the placeholders, in lower case. The error says what of the tenant can't stand there.
func (t Tenant) fill(at, text string, s slot) (string, error) {
	parts, err := parse(text)
	if err != nil {
		return "", fmt.Errorf("%s: %w", at, err)
	}
	var b strings.Builder
	var illegal, used []string
	for _, p := range parts {
		if p.column == nil {
			b.WriteString(p.text)
			continue
		}
		value := p.column.value(t)
		b.WriteString(value)
		says := p.column.field + " " + prose.Quote(value)
		if slices.Contains(used, says) {
			continue
		}
		used = append(used, says)
		if !s.legalAsPart(strings.ToLower(value)) {
			illegal = append(illegal, says)
		}
	}
	filled := strings.ToLower(b.String())
	switch {
	case len(illegal) > 0:
		return "", fmt.Errorf("%s %s of the plan becomes %s for this tenant, which is not allowed, because %s is not %s: "+
			"change it to lower-case letters, digits and inner hyphens, at most %d, or use another placeholder in the plan",
			at, prose.Quote(text), prose.Quote(filled), strings.Join(illegal, " and "), s.part, kubename.LongestLabel)
	case !s.legal(filled):
		return "", fmt.Errorf("%s %s of the plan becomes %s for this tenant, which is not a valid %s: %s is too long, or leaves only a number at the end: "+
			"use another placeholder in the plan", at, prose.Quote(text), prose.Quote(filled), s.what, strings.Join(used, " with "))
	}
	return filled, nil
}

// isHost reports whether a gateway can serve a name: one in DNS, the first label of which may be a wildcard. A name
// whose last label is a number would be an address. As in Istio, a namespace and a slash may come before it: the
// namespace whose routes the gateway accepts for it, a dot for its own, a star for all.
func isHost(s string) bool {
	if routes, host, narrowed := strings.Cut(s, "/"); narrowed {
		if routes != "." && routes != "*" && !kubename.IsNamespace(routes) {
			return false
		}
		s = host
	}
	s = strings.TrimPrefix(s, "*.")
	last := s[strings.LastIndex(s, ".")+1:]
	return kubename.IsDomain(s) && strings.Trim(last, "0123456789") != ""
}
