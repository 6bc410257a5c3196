package distributiontenant

import "sigs.k8s.io/controller-runtime/pkg/client"

// RemembersMore reports whether more is remembered of the object than of others at rest.
func (c *Controller) RemembersMore(key client.ObjectKey) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.attempts[key].rest != nil
}
