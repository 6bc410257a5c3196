package mapping

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/kubename"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

// convert brings the value of a row to the form that the field has in JSON. A nil value without a
// problem means that the row doesn't set the field: null and the empty text do not.
func (f *field) convert(v any) (value any, problem string) {
	if v == nil || v == "" {
		return nil, ""
	}
	switch f.kind {
	case kindBoolean:
		return f.convertBoolean(v)
	case kindNumber:
		return f.convertNumber(v)
	case kindDomain:
		return f.convertDomain(v)
	case kindDomains:
		return f.convertDomains(v)
	case kindCountries:
		return f.convertCountries(v)
	case kindText:
	}
	return f.convertText(v)
}

// wrongType says that the field does not accept a value of that type.
func (f *field) wrongType(v any) (value any, problem string) {
	if u, ok := v.(Unsupported); ok {
		return nil, fmt.Sprintf("a value of type %s can't be used: convert it in the query or in the store to %s", prose.Quote(string(u)), f.takes())
	}
	return nil, fmt.Sprintf("%s has the wrong type: use %s, or convert it in an expression", show(v), f.takes())
}

// show names a value for people.
func show(v any) string {
	switch v := v.(type) {
	case string:
		return "the string " + prose.Quote(v)
	case bool:
		return fmt.Sprintf("the boolean %t", v)
	case int64, float64:
		return fmt.Sprintf("the number %v", v)
	case time.Time:
		return "the time " + v.UTC().Format(time.RFC3339)
	case []any:
		return fmt.Sprintf("a list of %d", len(v))
	case map[string]any:
		return "an object"
	case Unsupported:
		return "a value of type " + prose.Quote(string(v))
	default:
		return fmt.Sprintf("a %T", v)
	}
}

// plain returns a text, or a number as one writes it: an ID is often a number in a database.
func plain(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return "", false
		}
		if v == math.Trunc(v) {
			return strconv.FormatFloat(v, 'f', 0, 64), true
		}
		return strconv.FormatFloat(v, 'f', -1, 64), true
	default:
		return "", false
	}
}

func (f *field) convertText(v any) (value any, problem string) {
	s, ok := plain(v)
	switch {
	case !ok:
		return f.wrongType(v)
	case !utf8.ValidString(s):
		return nil, prose.Quote(s) + " is not valid UTF-8: convert it in the query or in the store"
	case len(f.values) > 0 && !slices.Contains(f.values, s):
		return nil, fmt.Sprintf("%s is not allowed: use %s", prose.Quote(s), f.takes())
	case len(s) > f.max && utf8.RuneCountInString(s) > f.max:
		return nil, fmt.Sprintf("%s has %d characters: use at most %d", prose.Quote(s), utf8.RuneCountInString(s), f.max)
	case f.area == inLabels && !kubename.IsLabelValue(s):
		return nil, prose.Quote(s) + " is not a valid label value: use at most 63 letters, digits and inner - _ . , or use an annotation"
	}
	return s, ""
}

// How booleans are written. Databases without a type for them use numbers and letters.
var booleans = map[string]bool{
	"true": true, "yes": true, "on": true, "t": true, "1": true,
	"false": false, "no": false, "off": false, "f": false, "0": false,
}

func (f *field) convertBoolean(v any) (value any, problem string) {
	switch v := v.(type) {
	case bool:
		return v, ""
	case string, int64, float64:
		s, _ := plain(v)
		s = strings.TrimSpace(s)
		if b, ok := booleans[strings.ToLower(s)]; ok {
			return b, ""
		}
		if s == "" {
			return nil, ""
		}
	}
	return f.wrongType(v)
}

func (f *field) convertNumber(v any) (value any, problem string) {
	s, ok := plain(v)
	if !ok {
		return f.wrongType(v)
	}
	if s = strings.TrimSpace(s); s == "" {
		return nil, ""
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < int64(f.low) || n > int64(f.high) {
		return nil, fmt.Sprintf("%s is not allowed: use %s", show(v), f.takes())
	}
	return n, ""
}

func (f *field) convertDomain(v any) (value any, problem string) {
	s, ok := v.(string)
	if !ok {
		return f.wrongType(v)
	}
	if strings.TrimSpace(s) == "" {
		return nil, ""
	}
	name, problem := canonicalDomain(s)
	if problem != "" {
		return nil, problem
	}
	return name, ""
}

// convertDomains returns a sorted list of objects, each with a domain.
func (f *field) convertDomains(v any) (value any, problem string) {
	names, problem := f.convertList(v, canonicalDomain)
	if problem != "" || len(names) == 0 {
		return nil, problem
	}
	list := make([]any, len(names))
	for i, name := range names {
		list[i] = map[string]any{"domain": name}
	}
	return list, ""
}

// convertCountries returns a sorted list of codes.
func (f *field) convertCountries(v any) (value any, problem string) {
	codes, problem := f.convertList(v, country)
	if problem != "" || len(codes) == 0 {
		return nil, problem
	}
	list := make([]any, len(codes))
	for i, code := range codes {
		list[i] = code
	}
	return list, ""
}

func country(s string) (code, problem string) {
	if len(s) != 2 || s[0] < 'A' || s[0] > 'Z' || s[1] < 'A' || s[1] > 'Z' {
		return "", prose.Quote(s) + " is not a country code: use two capital letters, such as DE"
	}
	return s, ""
}

// convertList converts the elements of a list, or of a text with commas or spaces between them. The result is sorted
// and has nothing twice.
func (f *field) convertList(v any, convert func(string) (string, string)) (out []string, problem string) {
	elements, ok := split(v)
	if !ok {
		_, problem = f.wrongType(v)
		return nil, problem
	}
	// A list may be far too long, but then most of it is the same.
	out = make([]string, 0, min(len(elements), f.most))
	for _, element := range elements {
		if element = strings.TrimSpace(element); element == "" {
			continue
		}
		s, problem := convert(element)
		if problem != "" {
			return nil, problem
		}
		at, found := slices.BinarySearch(out, s)
		if found {
			continue
		}
		if len(out) == f.most {
			return nil, fmt.Sprintf("%s has more than %d different elements: use %s", show(v), f.most, f.takes())
		}
		out = slices.Insert(out, at, s)
	}
	return out, ""
}

// split returns the elements of a list of texts, or of a text.
func split(v any) ([]string, bool) {
	switch v := v.(type) {
	case string:
		if !strings.ContainsFunc(v, isSeparator) {
			return []string{v}, true
		}
		return strings.FieldsFunc(v, isSeparator), true
	case []any:
		out := make([]string, 0, len(v))
		for _, element := range v {
			switch element := element.(type) {
			case nil:
			case string:
				out = append(out, element)
			default:
				return nil, false
			}
		}
		return out, true
	default:
		return nil, false
	}
}

func isSeparator(r rune) bool { return r == ',' || unicode.IsSpace(r) }
