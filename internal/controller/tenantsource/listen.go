package tenantsource

import (
	"context"
	"fmt"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/tenantsource/stream"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantsource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// secretTimeout bounds the read of the connection string, so that the status soon says what became of a try.
const secretTimeout = 10 * time.Second

// following is the stream of a session, or none. generation and hosts are those that its tries are made for, stop ends it.
type following struct {
	*stream.Stream

	generation int64
	hosts      []string
	stop       func()
}

// follow keeps the stream of the source as the spec wants it, and says what is known of it.
func (p *pass) follow() *tenantsource.Watch {
	if p.object.Spec.Watch == nil || p.in.Deleting || p.in.Suspended || p.in.Frozen() || p.in.Invalid != "" {
		p.session.unfollow()
		return nil
	}
	hints := p.Hints[mapping.Provider(p.object.Spec.Provider)]
	if hints == nil {
		p.session.unfollow()
		return &tenantsource.Watch{Lost: fmt.Sprintf("This operator can't watch tables of the provider %q", p.object.Spec.Provider)}
	}
	hosts, s := p.hosts(), &p.session.stream
	if s.Stream != nil && s.generation == p.object.Generation && sameHosts(s.hosts, hosts) {
		return s.State()
	}
	if listen := p.listener(p.object.DeepCopy(), hints, hosts); s.Stream == nil {
		s.Stream, s.stop = p.start(p.key(), listen)
	} else {
		s.Change(listen)
	}
	s.generation, s.hosts = p.object.Generation, hosts
	return s.State()
}

// listener makes the tries for a source. Each reads the connection string, as it may be another one, or not offered any more.
func (c *Controller) listener(o *v1alpha1.TenantSource, hints port.Hints, hosts []string) stream.Listen {
	return func(ctx context.Context, s *stream.Stream) *tenantsource.Failure {
		reading, cancel := context.WithTimeout(ctx, secretTimeout)
		connection, failure := c.connection(reading, o, convert.SecretOf(o))
		cancel()
		if failure != nil {
			return failure
		}
		s.Connecting(connection)
		query := convert.SourceQuery(o, connection, nil)
		query.Hosts = hosts
		return tenantsource.FailureOf(hints.Listen(ctx, query, s))
	}
}

// start starts a stream. It lives longer than the pass, and must keep nothing of it.
func (c *Controller) start(key client.ObjectKey, listen stream.Listen) (started *stream.Stream, stop func()) {
	ctx, stop := context.WithCancel(context.Background())
	started = stream.New(stream.Options{
		Wake: func() { c.Wake(ctx, key) }, Now: c.Clock.Now, Slots: c.streams,
		Full: fmt.Sprintf("The operator already watches %d tables, and no more at the same time: ask the administrator to raise --tenantsource-max-watches", c.MaxWatches),
	}, listen)
	go func() {
		select {
		case <-c.Stopped:
			stop()
		case <-ctx.Done():
		}
	}()
	go started.Run(ctx)
	return started, stop
}

// hosts are those that may be read from; nil for all.
func (p *pass) hosts() []string {
	if p.granted == nil {
		return nil
	}
	return append([]string{}, p.granted.Hosts...)
}

// sameHosts tells a grant that names no hosts from none, which allows all.
func sameHosts(a, b []string) bool { return (a == nil) == (b == nil) && slices.Equal(a, b) }

// unfollow ends the stream, if there is one.
func (s *session) unfollow() {
	if s != nil && s.stream.Stream != nil {
		s.stream.stop()
		s.stream = following{}
	}
}
