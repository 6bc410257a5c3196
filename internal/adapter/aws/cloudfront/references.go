package cloudfront

import (
	"maps"
	"sync"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

// references remembers the caller reference of each distribution that a search has read. It never changes, so that the
// next search reads only new ones, and one that was interrupted continues where it ended: an account can have more
// distributions than can be read in the time of one pass. Distributions that are no longer listed are forgotten.
type references struct {
	mu  sync.Mutex
	all map[v1alpha1.ConnectionMode]map[string]string
}

// among returns what is known of the distributions that a mode's list has.
func (r *references) among(mode v1alpha1.ConnectionMode, listed map[string]*time.Time) map[string]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.all[mode], func(id, _ string) bool {
		_, there := listed[id]
		return !there
	})
	return maps.Clone(r.all[mode])
}

func (r *references) note(mode v1alpha1.ConnectionMode, id, reference string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all = map[v1alpha1.ConnectionMode]map[string]string{}
	}
	if r.all[mode] == nil {
		r.all[mode] = map[string]string{}
	}
	r.all[mode][id] = reference
}
