package tenant

import "sigs.k8s.io/controller-runtime/pkg/event"

// Woken are the tenants that were queued.
func (c *Controller) Woken() <-chan event.GenericEvent { return c.waker.Queue() }
