package tenantplan

import "sigs.k8s.io/controller-runtime/pkg/event"

// Woken are the plans that were queued.
func (c *Controller) Woken() <-chan event.GenericEvent { return c.Queue() }
