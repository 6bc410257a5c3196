package convert

import (
	"fmt"
	"strings"
)

// Tags reads tags from a list of key=value with commas, as the flags of the operator have it.
func Tags(text string) (map[string]string, error) {
	tags := map[string]string{}
	for pair := range strings.SplitSeq(text, ",") {
		if pair = strings.TrimSpace(pair); pair == "" {
			continue
		}
		key, value, ok := strings.Cut(pair, "=")
		if !ok || key == "" {
			return tags, fmt.Errorf("%q is not in the form key=value", pair)
		}
		tags[key] = value
	}
	return tags, nil
}
