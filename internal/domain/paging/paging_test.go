package paging_test

import (
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/paging"
)

func TestGuard(t *testing.T) {
	for sentence, test := range map[string]struct {
		markers []string
		refused bool
	}{
		"a list of one page":                {[]string{""}, false},
		"a list of three":                   {[]string{"a", "b", ""}, false},
		"its end is no marker":              {[]string{"", ""}, false},
		"the same page again":               {[]string{"a", "a"}, true},
		"a page that was there a while ago": {[]string{"a", "b", "a"}, true},
	} {
		t.Run(sentence, func(t *testing.T) {
			var g paging.Guard
			var err error
			for _, m := range test.markers {
				if err != nil {
					t.Fatalf("refused before the last marker: %v", err)
				}
				err = g.Pass("List", m)
			}
			if fault.Is(err, fault.Transient) != test.refused {
				t.Errorf("error %v, want one: %t", err, test.refused)
			}
		})
	}
}
