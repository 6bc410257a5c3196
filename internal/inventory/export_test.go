package inventory

import (
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
)

// Remembered is how now comes back after before was known.
func Remembered(before, now distributiontenant.Observed) distributiontenant.Observed {
	return factsOf(now, factsOf(before, facts{})).observed()
}

// RememberedTags is how tags come back.
func RememberedTags(given map[string]string) map[string]string { return textsOf(given).all() }

// Learn makes a tenant known as if it had been read with its tags.
func (i *Inventory) Learn(t distributiontenant.Observed, tags map[string]string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	t.Tags = tags
	i.store(t)
}
