package distributiontenant

import "sigs.k8s.io/controller-runtime/pkg/client"

// RemembersMore reports whether more is remembered of the object than of others at rest.
func (c *Controller) RemembersMore(key client.ObjectKey) bool {
	_, m := c.Of(key)
	return m.rest != nil
}
