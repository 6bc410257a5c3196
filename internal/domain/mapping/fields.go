package mapping

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/kubename"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

// Paths are those of the fields of a DistributionTenant that a row can fill, as mapping and expressions name them. A key
// stands for itself: parameters[plan].
func Paths() []string {
	out := make([]string, len(fields))
	for i := range fields {
		out[i] = fields[i].path
	}
	return out
}

// kind is what a field takes.
type kind int

const (
	kindText kind = iota
	kindBoolean
	kindNumber
	kindDomain
	kindDomains
	kindCountries
)

// area is the part of an object that a field belongs to.
type area int

const (
	inSpec area = iota
	// inList is a list of key and value in the spec.
	inList
	inName
	inLabels
	inAnnotations
)

// field is a line of the table of fields.
type field struct {
	path string
	kind kind
	area area
	// place leads to the field in the spec, or to its list.
	place []string
	// key and value are the members of an element of a list with keys; most is how many elements a list may have.
	key, value string
	most       int
	// max is the number of characters of a text; low and high bound a number.
	max, low, high int
	// values are all that a text may be.
	values []string
	// required fields have to be set wherever the block that they are in is.
	required bool
	// instead is a block that makes the field unnecessary.
	instead string
	// emptyValue says that the value of an element may be empty.
	emptyValue bool
	// falseIsAbsent fields mean the same whether they are false or absent.
	falseIsAbsent bool
}

const (
	longestName   = kubename.LongestName
	longestDomain = 253
	longestLabel  = kubename.LongestLabel
	// longestAnnotation is what the API server takes for all of them together.
	longestAnnotation = 256 << 10
	// A name in AWS has 3 to 128 characters.
	shortestTenantName, longestTenantName = 3, 128
)

const (
	pathName        = "name"
	pathDomains     = "domains"
	pathTenantName  = "tenantName"
	pathCertificate = "customizations.certificate.arn"
	pathRequest     = "managedCertificateRequest"

	pathDistribution, pathDistributionRef = "distributionId", "distributionRef"
	pathGroup, pathGroupRef               = "connectionGroupId", "connectionGroupRef"
)

// fields is the table, in the order of messages: what needs more than its type in the API says, and the rest of the spec,
// which hack/genfields writes. The API server judges what is not in it, such as the form of an ARN.
var fields = finish(slices.Concat([]field{
	{path: pathName, area: inName, max: longestName, required: true},
	{path: "metadata.labels[<key>]", area: inLabels, max: longestLabel},
	{path: "metadata.annotations[<key>]", area: inAnnotations, max: longestAnnotation},
	{path: pathDomains, kind: kindDomains, most: 100, required: true},
	{path: "enabled", kind: kindBoolean},
	{path: pathDistribution, max: 32, required: true, instead: pathDistributionRef},
	{path: pathGroup, max: 64},
	{path: "parameters[<name>]", area: inList, key: "name", value: "value", most: 50, max: 256},
	{path: "tags[<key>]", area: inList, key: "key", value: "value", most: 46, max: 256, emptyValue: true},
}, specFields))

// finish adds to each line of the table what follows from its path.
func finish(table []field) []field {
	for i := range table {
		f := &table[i]
		if base, _, _ := strings.Cut(f.path, "["); f.area == inSpec || f.area == inList {
			f.place = strings.Split(base, ".")
		}
		for _, v := range f.values {
			f.max = max(f.max, len(v))
		}
		if f.path == pathRequest+".primaryDomainName" {
			f.kind = kindDomain // it has to be one of the domains
		}
	}
	return table
}

// takes says in words what a field takes.
func (f *field) takes() string {
	switch {
	case len(f.values) > 0:
		return "one of " + strings.Join(f.values, ", ")
	case f.kind == kindBoolean:
		return "true or false, also as text (true, false, yes, no, on, off, t, f, 1, 0) or as the numbers 1 and 0"
	case f.kind == kindNumber:
		return fmt.Sprintf("a whole number from %d to %d", f.low, f.high)
	case f.kind == kindDomain:
		return "a domain name"
	case f.kind == kindDomains:
		return fmt.Sprintf("a list of at most %d domain names, or a text with commas or spaces between them", f.most)
	case f.kind == kindCountries:
		return fmt.Sprintf("a list of at most %d country codes, or a text with commas or spaces between them", f.most)
	default:
		return fmt.Sprintf("text of at most %d characters, or a number", f.max)
	}
}

// target is a field, with the key that its path names.
type target struct {
	field *field
	key   string
}

// String is the path as people write it.
func (t target) String() string {
	if base, _, keyed := strings.Cut(t.field.path, "["); keyed {
		return base + "[" + t.key + "]"
	}
	return t.field.path
}

// findField returns the line of the table with that path, without a key.
func findField(path string) *field {
	for i := range fields {
		if base, _, _ := strings.Cut(fields[i].path, "["); base == path {
			return &fields[i]
		}
	}
	return nil
}

// parseTarget reads a path.
func parseTarget(path string) (target, error) {
	base, rest, hasKey := strings.Cut(path, "[")
	key, closed := strings.CutSuffix(rest, "]")
	f := findField(base)
	wantsKey := f != nil && strings.Contains(f.path, "[")
	switch {
	case f == nil:
		return target{}, fmt.Errorf("%s is not a field that a row can set: use one of %s", prose.Quote(path), strings.Join(Paths(), ", "))
	case wantsKey && (!hasKey || !closed):
		return target{}, fmt.Errorf("%s needs a key: write %s", prose.Quote(path), f.path)
	case !wantsKey && hasKey:
		return target{}, fmt.Errorf("%s takes no key: write %s", prose.Quote(path), f.path)
	case wantsKey:
		if problem := f.keyProblem(key); problem != "" {
			return target{}, fmt.Errorf("%s: the key %s %s", prose.Quote(path), prose.Quote(key), problem)
		}
	}
	return target{field: f, key: key}, nil
}

// The length of a key is checked separately: a pattern that counts to 128 holds a copy of its letters for each count,
// which took 5 MB of every process.
const longestKey = 128

var (
	parameterName = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
	tagKey        = regexp.MustCompile(`^[\p{L}\p{Z}\p{N}_.:/=+@-]+$`)
)

// isKey reports whether a key matches the pattern and is not too long.
func isKey(pattern *regexp.Regexp, key string) bool {
	return utf8.RuneCountInString(key) <= longestKey && pattern.MatchString(key)
}

// operatorDomain is what the operator marks things with, in the cluster and in AWS.
const operatorDomain = "cloudfront-tenant-operator.io"

// reservedDomains are those in whose names only their owners write: a row that could set a label of
// the operator could make an object look like that of another source.
var reservedDomains = []string{operatorDomain, "kleff.io", "kubernetes.io", "k8s.io"}

// keyProblem says what is wrong with the key of a path, and what to do.
func (f *field) keyProblem(key string) string {
	switch {
	case f.area == inLabels || f.area == inAnnotations:
		return metadataKeyProblem(key)
	case f.key == "name" && !isKey(parameterName, key):
		return "is not a valid parameter name: use 1 to 128 letters, digits, hyphens and underscores"
	case f.key == "key" && !isKey(tagKey, key):
		return "is not a valid tag key: use 1 to 128 letters, digits, spaces and _ . : / = + - @"
	case f.key == "key" && strings.HasPrefix(strings.ToLower(key), "aws:"):
		return "starts with aws:, which is reserved by AWS: use another key"
	case f.key == "key" && strings.HasPrefix(key, operatorDomain+"/"):
		return "starts with " + operatorDomain + "/, which the operator reserves for its owner tags: use another key"
	}
	return ""
}

// metadataKeyProblem does so for labels and annotations.
func metadataKeyProblem(key string) string {
	prefix, name, prefixed := strings.Cut(key, "/")
	if !prefixed {
		prefix, name = "", key
	}
	if name == "" || !kubename.IsLabelValue(name) || prefixed && !kubename.IsSubdomain(prefix) {
		return "is not a valid key of a label or an annotation: use at most 63 letters, digits and inner - _ . , with an optional domain prefix, as in example.com/team"
	}
	for _, d := range reservedDomains {
		if prefix == d || strings.HasSuffix(prefix, "."+d) {
			return fmt.Sprintf("is in %s, which is reserved: use a key without a domain prefix, or with a domain of your own", d)
		}
	}
	return ""
}

// put sets the field in an object.
func (t target) put(o *Object, value any) {
	switch t.field.area {
	case inName:
		o.Name, _ = value.(string)
	case inLabels:
		o.Labels = with(o.Labels, t.key, value)
	case inAnnotations:
		o.Annotations = with(o.Annotations, t.key, value)
	case inList:
		t.putElement(o.Spec, value)
	case inSpec:
		block := o.Spec
		for _, name := range t.field.place[:len(t.field.place)-1] {
			inner, ok := block[name].(map[string]any)
			if !ok {
				inner = make(map[string]any, 2)
				block[name] = inner
			}
			block = inner
		}
		block[t.field.place[len(t.field.place)-1]] = value
	}
}

func with(m map[string]string, key string, value any) map[string]string {
	if m == nil {
		m = make(map[string]string, 2)
	}
	m[key], _ = value.(string)
	return m
}

// putElement sets an element of a list that is sorted by its keys, and keeps it so.
func (t target) putElement(spec map[string]any, value any) {
	name := t.field.place[0]
	list, _ := spec[name].([]any)
	at, found := slices.BinarySearchFunc(list, t.key, func(e any, key string) int { return strings.Compare(member(e, t.field.key), key) })
	element := map[string]any{t.field.key: t.key, t.field.value: value}
	if found {
		list[at] = element
		return
	}
	spec[name] = slices.Insert(list, at, any(element))
}

// member returns a text of an object.
func member(v any, name string) string {
	m, _ := v.(map[string]any)
	s, _ := m[name].(string)
	return s
}

// lookUp returns what is at a place of a tree, or nil.
func lookUp(tree map[string]any, place []string) any {
	var at any = tree
	for _, name := range place {
		block, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = block[name]
	}
	return at
}

// drop removes what is at a place of a tree, and the blocks that are empty then.
func drop(tree map[string]any, place []string) {
	if len(place) > 1 {
		block, ok := tree[place[0]].(map[string]any)
		if !ok {
			return
		}
		if drop(block, place[1:]); len(block) > 0 {
			return
		}
	}
	delete(tree, place[0])
}

// missing returns a required field that is not set although the block that it is in is, or nil.
func missing(spec map[string]any) *field {
	for i := range fields {
		f := &fields[i]
		if !f.required || f.area != inSpec {
			continue
		}
		last := len(f.place) - 1
		block, ok := lookUp(spec, f.place[:last]).(map[string]any)
		if ok && block[f.place[last]] == nil && block[f.instead] == nil {
			return f
		}
	}
	return nil
}
