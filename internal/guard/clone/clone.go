// Package clone halts all writes to AWS while the cluster is not the one in which the operator was installed, or has
// another cluster ID.
package clone

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/cluster"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/halt"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// Options configure the check.
type Options struct {
	// Identify reads the identity of the cluster.
	Identify func(ctx context.Context) (cluster.Identity, error)
	Store    port.ClusterStore
	// Copy is in another namespace, where an installation into another one finds it. It may be missing or out of reach:
	// then no copy is kept.
	Copy  port.ClusterStore
	Place cluster.Place
	Halt  *halt.Switch
	Clock clock.WithTicker
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
		v, next := cluster.Verdict{}, *c.seen
		if stored == nil {
			next, err = c.first(ctx)
		} else if v = cluster.Judge(*stored, next); !v.Store {
			c.keepCopy(ctx, v)
			c.tell(ctx, v.Halt(next, c.Place))
			return nil
		}
		if err == nil {
			err = c.Store.Save(ctx, next, version)
		}
		// What is stored is judged in the next round.
		if err != nil && !errors.Is(err, port.ErrClusterStale) {
			return err
		}
	}
	return port.ErrClusterStale
}

// first is what is stored where nothing is yet: the present identity, or that of the copy if the operator was installed in
// another namespace before.
func (c *Check) first(ctx context.Context) (cluster.Identity, error) {
	copied, _, err := c.Copy.Load(ctx)
	if err != nil {
		return cluster.Identity{}, err
	}
	return cluster.First(copied, *c.seen), nil
}

// keepCopy brings the copy up to date, unless everything is halted. The operator also works without a copy.
func (c *Check) keepCopy(ctx context.Context, v cluster.Verdict) {
	if v.Halts() {
		return
	}
	copied, version, err := c.Copy.Load(ctx)
	if err == nil && version != "" && (copied == nil || !copied.SameCluster(*c.seen)) {
		err = c.Copy.Save(ctx, *c.seen, version)
	}
	if err != nil && !errors.Is(err, port.ErrClusterStale) && ctx.Err() == nil {
		ctrl.Log.WithName("cluster").Error(err, "Could not keep the copy of the cluster's fingerprint. Continuing without")
	}
}

// tell halts, or ends the halt. A new cause halts before the previous one is cleared.
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
