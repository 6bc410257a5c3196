package config

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	quantity "k8s.io/apimachinery/pkg/api/resource"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
)

// What AWS allows in tags. Of 50 tags the owner tags leave 46.
const (
	maxUserTags = 46
	maxTagKey   = 128
	maxTagValue = 256
)

var tagText = regexp.MustCompile(`^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$`)

// List is a comma-separated flag.
type List []string

// String implements flag.Value.
func (l *List) String() string { return strings.Join(*l, ",") }

// Set implements flag.Value.
func (l *List) Set(text string) error {
	*l = nil
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			*l = append(*l, part)
		}
	}
	return nil
}

// mebibyte is the unit in which sizes are usually given.
const mebibyte = 1 << 20

// Size is a flag for a number of bytes, as Kubernetes writes it.
type Size int64

// String implements flag.Value.
func (s *Size) String() string { return quantity.NewQuantity(int64(*s), quantity.BinarySI).String() }

// Set implements flag.Value.
func (s *Size) Set(text string) error {
	parsed, err := quantity.ParseQuantity(text)
	if err != nil {
		return fmt.Errorf("%q is not a size: use a number of bytes, such as 64Mi", text)
	}
	*s = Size(parsed.Value())
	return nil
}

// Tags is a comma-separated flag of key=value pairs.
type Tags map[string]string

// String implements flag.Value.
func (t *Tags) String() string {
	var pairs []string
	for _, k := range slices.Sorted(maps.Keys(*t)) {
		pairs = append(pairs, k+"="+(*t)[k])
	}
	return strings.Join(pairs, ",")
}

// Set implements flag.Value.
func (t *Tags) Set(text string) error {
	tags, err := convert.Tags(text)
	*t = tags
	return err
}

func (t *Tags) validate() error {
	if len(*t) > maxUserTags {
		return fmt.Errorf("--default-tags has %d tags: AWS allows 50 and the operator needs 4 of them, so use at most %d", len(*t), maxUserTags)
	}
	for _, key := range slices.Sorted(maps.Keys(*t)) {
		switch value := (*t)[key]; {
		case strings.HasPrefix(key, ownership.Prefix):
			return fmt.Errorf("--default-tags: the key %q is reserved for owner tags; use another key", key)
		case strings.HasPrefix(strings.ToLower(key), "aws:"):
			return fmt.Errorf("--default-tags: the key %q is reserved by AWS; use a key without this prefix", key)
		case utf8.RuneCountInString(key) > maxTagKey || utf8.RuneCountInString(value) > maxTagValue:
			return fmt.Errorf("--default-tags: %q is too long; AWS allows %d characters for a key and %d for a value", key, maxTagKey, maxTagValue)
		case !tagText.MatchString(key) || !tagText.MatchString(value):
			return fmt.Errorf("--default-tags: %q has a character that AWS does not allow in tags; use letters, digits, spaces and _.:/=+-@", key+"="+value)
		}
	}
	return nil
}
