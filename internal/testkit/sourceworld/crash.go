package sourceworld

import (
	"context"
	"errors"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// errDead is the answer to every write of a process that has crashed.
var errDead = errors.New("the process is dead")

// gate stands between one process and the API server. Writes come from several goroutines at once, so
// that a crash can't be a panic: the process is cut off instead, until the next one starts.
type gate struct {
	mu   sync.Mutex
	dead bool
	// countdown is how many writes are left before the crash; negative for none.
	countdown int
	// after lets the last write reach the API server, and loses its answer.
	after bool
}

// CrashAt ends the process at its n-th write from now on, counted from 1: before it, or after the write is
// committed and before its answer is heard. The next process starts at once.
func (w *World) CrashAt(n int, after bool) {
	w.gate.mu.Lock()
	defer w.gate.mu.Unlock()
	w.gate.countdown, w.gate.after = n, after
}

// WritesToCrash is how many writes are still to come until the crash, 0 once it has been.
func (w *World) WritesToCrash() int {
	w.gate.mu.Lock()
	defer w.gate.mu.Unlock()
	return max(0, w.gate.countdown)
}

// write carries out a write, unless the process is dead or dies with it.
func (g *gate) write(do func() error) error {
	g.mu.Lock()
	if g.dead {
		g.mu.Unlock()
		return errDead
	}
	crash := false
	if g.countdown > 0 {
		g.countdown--
		crash = g.countdown == 0
	}
	g.dead = g.dead || crash
	after := g.after
	g.mu.Unlock()
	if !crash {
		return do()
	}
	if after {
		_ = do() // the answer is lost
	}
	return errDead
}

func (g *gate) isDead() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.dead
}

// revive is the start of another process.
func (g *gate) revive() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.dead = false
}

// around puts the gate around a client.
func (g *gate) around(kube client.WithWatch) client.WithWatch {
	return interceptor.NewClient(kube, interceptor.Funcs{
		Apply: func(ctx context.Context, c client.WithWatch, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			return g.write(func() error { return c.Apply(ctx, o, opts...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			return g.write(func() error { return c.Delete(ctx, o, opts...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			return g.write(func() error { return c.Patch(ctx, o, p, opts...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			return g.write(func() error { return c.SubResource(sub).Patch(ctx, o, p, opts...) })
		},
	})
}
