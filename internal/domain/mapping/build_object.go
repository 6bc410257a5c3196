package mapping

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Domains are the domains that the object asks for, sorted.
func (o Object) Domains() []string {
	list, _ := o.Spec[pathDomains].([]any)
	out := make([]string, len(list))
	for i := range list {
		out[i] = member(list[i], "domain")
	}
	return out
}

// hashBytes make 80 bits: sixteen characters, which fit a label. Nothing worse than one change that is
// seen late comes of two that are equal.
const hashBytes = 10

var hashText = base32.StdEncoding.WithPadding(base32.NoPadding)

// Hash is a short text that is the same for two objects that set the same, and for no others.
func (o Object) Hash() string {
	b := make([]byte, 0, 512)
	b = appendText(b, o.Name)
	b = appendTexts(b, o.Labels)
	b = appendTexts(b, o.Annotations)
	b = appendValue(b, o.Spec)
	sum := sha256.Sum256(b)
	return strings.ToLower(hashText.EncodeToString(sum[:hashBytes]))
}

// Every text and collection is written with its length before it, so that no two trees are written alike.
func appendText(b []byte, s string) []byte {
	b = strconv.AppendInt(b, int64(len(s)), 10)
	b = append(b, ':')
	return append(b, s...)
}

func appendTexts(b []byte, m map[string]string) []byte {
	b = append(strconv.AppendInt(append(b, '{'), int64(len(m)), 10), ':')
	for _, k := range slices.Sorted(maps.Keys(m)) {
		b = appendText(appendText(b, k), m[k])
	}
	return b
}

func appendValue(b []byte, v any) []byte {
	switch v := v.(type) {
	case string:
		return appendText(append(b, 's'), v)
	case map[string]any:
		b = append(strconv.AppendInt(append(b, '{'), int64(len(v)), 10), ':')
		for _, k := range slices.Sorted(maps.Keys(v)) {
			b = appendValue(appendText(b, k), v[k])
		}
		return b
	case []any:
		b = append(strconv.AppendInt(append(b, '['), int64(len(v)), 10), ':')
		for i := range v {
			b = appendValue(b, v[i])
		}
		return b
	default:
		return appendText(append(b, 'v'), fmt.Sprint(v))
	}
}

// Covers reports whether a live spec, in the form of its JSON, has every field as the object sets it. Fields and list
// elements that others set do not matter. So a field or an element that the object no longer sets is not seen here, but
// by its Hash.
func Covers(live map[string]any, o Object) bool { return coversMap("", live, o.Spec) }

func coversMap(path string, live, wanted map[string]any) bool {
	for name, want := range wanted {
		if !coversValue(join(path, name), live[name], want) {
			return false
		}
	}
	return true
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func coversValue(path string, live, want any) bool {
	switch want := want.(type) {
	case map[string]any:
		block, ok := live.(map[string]any)
		return (ok || live == nil) && coversMap(path, block, want)
	case []any:
		list, ok := live.([]any)
		return (ok || live == nil) && coversList(path, list, want)
	case string:
		// The JSON of the API leaves an empty text out.
		s, ok := live.(string)
		return s == want && (ok || live == nil)
	case bool:
		if f := findField(path); live == nil && f != nil && f.falseIsAbsent {
			return !want
		}
		return live == want
	default:
		return live != nil && fmt.Sprint(live) == fmt.Sprint(want)
	}
}

// coversList looks every element up in the live list: objects by their key, others by their value.
func coversList(path string, live, want []any) bool {
	for _, w := range want {
		element, ok := w.(map[string]any)
		if !ok {
			if !slices.Contains(live, w) {
				return false
			}
			continue
		}
		key := keyOf(path)
		at := slices.IndexFunc(live, func(l any) bool { return member(l, key) == member(w, key) })
		if at < 0 || !coversValue(path, live[at], element) {
			return false
		}
	}
	return true
}

// keyOf returns the member by which the elements of a list are told apart.
func keyOf(list string) string {
	if f := findField(list); f != nil && f.key != "" {
		return f.key
	}
	return "domain"
}
