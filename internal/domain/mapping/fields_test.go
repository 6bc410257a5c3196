package mapping_test

import (
	"strings"
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

func TestKeyLength(t *testing.T) {
	for name, tt := range map[string]struct {
		field string
		want  bool
	}{
		"a parameter with the longest name":         {"parameters[" + strings.Repeat("p", 128) + "]", true},
		"a parameter whose name is too long":        {"parameters[" + strings.Repeat("p", 129) + "]", false},
		"a tag key counts characters, not bytes":    {"tags[" + strings.Repeat("é", 128) + "]", true},
		"a tag key with one character too many":     {"tags[" + strings.Repeat("é", 129) + "]", false},
		"a long key with a character that is wrong": {"tags[" + strings.Repeat("t", 127) + "#]", false},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := mapping.Compile(config(mapped("plan", tt.field))); (err == nil) != tt.want {
				t.Errorf("compiling %s: %v, want success: %t", tt.field, err, tt.want)
			}
		})
	}
}
