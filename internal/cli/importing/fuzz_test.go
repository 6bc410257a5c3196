package importing

import (
	"strings"
	"testing"
)

// A Terraform state gives an address for each ID, and its resource is the address without keys of instances.
func FuzzReadState(f *testing.F) {
	for _, seed := range []string{
		`{"version":4,"resources":[{"mode":"managed","type":"aws_cloudfront_distribution_tenant","name":"a","module":"module.m[\"x.y\"]","instances":[{"index_key":"k","attributes":{"id":"dt_1"}}]}]}`,
		`{"format_version":"1.0","values":{"root_module":{"child_modules":[{"resources":[{"address":"module.m.aws_cloudfront_distribution.d[0]","mode":"managed","type":"aws_cloudfront_distribution","values":{"id":"E1"}}]}]}}}`,
		`{"version":3}`, `{}`, `[]`, `{"format_version":"1.0","prior_state":{}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := ReadState(data)
		if err != nil {
			return
		}
		for id, a := range s.byID {
			if id == "" || s.instances[a.resource] == 0 {
				t.Errorf("the ID %q is at %+v, which has %d instances", id, a, s.instances[a.resource])
			}
			if len(a.resource) > len(a.whole) || strings.Count(a.whole, "[") == 0 && a.resource != strings.ReplaceAll(a.whole, "]", "") {
				t.Errorf("the resource of %q is %q", a.whole, a.resource)
			}
		}
	})
}
