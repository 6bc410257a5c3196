// Package cluster halts all writes to AWS while the cluster is not the one in which the operator was installed, or has
// another cluster ID.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/cluster"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/halt"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// Options configure the check.
type Options struct {
	// Identify reads the identity of the cluster.
	Identify func(ctx context.Context) (cluster.Identity, error)
	Store    port.ClusterStore
	Place    cluster.Place
	Halt     *halt.Switch
	Clock    clock.WithTicker
	// Halted is told why nothing is changed. It may be nil.
	Halted func(chain.Halt)
}

const (
	// every is the pause between two checks, so that a rotation of the CA is seen while both keys are shown.
	every = time.Hour
	// whileMoved is the pause while an administrator has to answer.
	whileMoved = 5 * time.Second
	// tries is how often a check begins again because another replica has stored something.
	tries = 5
)

// Check compares the cluster with the one that was stored.
type Check struct {
	Options

	// seen is the identity as it was last read; told is why everything was last halted, nil if it was not.
	seen *cluster.Identity
	told *chain.Halt
}

// New makes a check.
func New(o Options) *Check { return &Check{Options: o} }

// NeedLeaderElection says that every replica checks: the one that takes over may not have to find out first.
func (*Check) NeedLeaderElection() bool { return false }

// Now checks once. After an error nothing has changed.
func (c *Check) Now(ctx context.Context) error {
	c.seen = nil
	return c.judge(ctx)
}

// Start checks from time to time, and often while an administrator has to answer, until the context ends.
func (c *Check) Start(ctx context.Context) error {
	for {
		pause, check := every, c.Now
		if c.told != nil {
			pause, check = whileMoved, c.judge
		}
		timer := c.Clock.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C():
		}
		if err := check(ctx); err != nil && ctx.Err() == nil {
			ctrl.Log.WithName("cluster").Error(err, "Could not check whether this is the cluster in which the operator was installed. Continuing as before")
		}
	}
}

// judge compares what was seen with what is stored, and reads it first if need be.
func (c *Check) judge(ctx context.Context) error {
	if c.seen == nil {
		now, err := c.Identify(ctx)
		if err != nil {
			return fmt.Errorf("reading the identity of the cluster: %w", err)
		}
		c.seen = &now
	}
	for range tries {
		stored, version, err := c.Store.Load(ctx)
		if err != nil {
			return err
		}
		v := cluster.Judge(stored, *c.seen)
		if v.Store {
			err = c.Store.Save(ctx, *c.seen, version)
		}
		switch {
		case errors.Is(err, port.ErrClusterStale):
			continue
		case err != nil:
			return err
		}
		c.tell(ctx, v.Halt(*c.seen, c.Place))
		return nil
	}
	return port.ErrClusterStale
}

// tell halts, or lets go on. A new cause halts before the previous one is cleared.
func (c *Check) tell(ctx context.Context, h *chain.Halt) {
	before := c.told
	c.told = h
	if h != nil && (before == nil || *h != *before) {
		c.Halt.Set(ctx, h.Reason, h.Message)
		ctrl.Log.WithName("cluster").Error(errors.New(h.Message), "Nothing is changed in AWS")
		if c.Halted != nil {
			c.Halted(*h)
		}
	}
	if before != nil && (h == nil || h.Reason != before.Reason) {
		c.Halt.Clear(ctx, before.Reason)
	}
	if before != nil && h == nil {
		ctrl.Log.WithName("cluster").Info("The cluster was accepted. Changes in AWS go on")
	}
}
