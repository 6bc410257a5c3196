package main

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

// A tenant is changing from the first write to something of theirs to that of their status.
func TestFlights(t *testing.T) {
	child := func(namespace string, change stack.Tally) stack.Write {
		return stack.Write{Resource: schema.GroupResource{Resource: "resourcequotas"}, Namespace: namespace, Name: "kleff-plan", Change: change}
	}
	status := func(name string) stack.Write {
		return stack.Write{Resource: tenants, Name: name, Change: stack.Tally{Status: 1}}
	}
	changed, counted := stack.Tally{Spec: 1}, stack.Tally{Status: 1}
	for name, test := range map[string]struct {
		writes []stack.Write
		want   int
	}{
		"one after the other":                        {[]stack.Write{child("a", changed), status("a"), child("b", changed), status("b")}, 1},
		"two at the same time":                       {[]stack.Write{child("a", changed), child("b", changed), status("a"), status("b")}, 2},
		"two objects of one are one":                 {[]stack.Write{child("a", changed), child("a", changed), status("a")}, 1},
		"what the controller manager counts is none": {[]stack.Write{child("a", counted)}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := flights{}
			f.reset()
			for _, w := range test.writes {
				f.observe(w)
			}
			if got := f.peak(); got != test.want {
				t.Errorf("at most %d at a time, want %d", got, test.want)
			}
		})
	}
}
