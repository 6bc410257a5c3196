package tenantsource

import (
	"context"
	"reflect"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/tenantsource/writer"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"
)

// lastWrites is how long the last states of a source that is gone are tried to be written.
const lastWrites = time.Minute

// keeping is the writer of a session, or none. table and hosts are those that it was made for.
type keeping struct {
	*writer.Writer

	table convert.StateTable
	hosts []string
	stop  func()
}

// keep keeps the writer of the source as the spec wants it, and says what is known of the state table.
func (p *pass) keep() *statetable.Verdict {
	k := &p.session.keeping
	if !p.in.KeepsStates() {
		p.replace(keeping{})
		p.Observer.Written(p.key(), nil)
		return nil
	}
	hosts, table := p.hosts(), convert.StateTableOf(p.object, p.ClusterID)
	if k.Writer == nil || !reflect.DeepEqual(k.table, table) || !sameHosts(k.hosts, hosts) {
		p.replace(p.keeper(p.object.DeepCopy(), table, hosts))
	}
	return k.Verdict()
}

// replace ends the writer of the session for another one, which begins. Events find the writer at any time.
func (p *pass) replace(by keeping) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.session.keeping.Writer != nil {
		p.session.keeping.stop()
	}
	if p.session.keeping = by; by.Writer == nil {
		return
	}
	if stop := p.finishing[p.key()]; stop != nil {
		stop()
	}
	ctx, stop := context.WithCancel(context.Background())
	p.session.keeping.stop = stop
	go func() {
		select {
		case <-p.Stopped:
			stop()
		case <-ctx.Done():
		}
	}()
	go by.Run(ctx)
}

// keeper makes a writer. It lives longer than the pass, and must keep nothing of it.
func (p *pass) keeper(o *v1alpha1.TenantSource, table convert.StateTable, hosts []string) keeping {
	c, key := p.Controller, client.ObjectKeyFromObject(o)
	fleet := stateFleet{target{Controller: c, namespace: convert.TargetNamespace(o), labels: convert.SourceLabels(o)}, table.Target.Source}
	k := keeping{table: table, hosts: hosts}
	current := func() bool { // a writer that was replaced, or whose source is gone, has nothing to tell
		now, _ := c.writerOf(key)
		return now == k.Writer
	}
	k.Writer = writer.New(writer.Options{
		Source: table.Target.Source, Namespace: fleet.namespace, Removes: table.Removes, MaxRows: c.MaxRows,
		Fleet: fleet, Table: stateTable{c, o, table, hosts}, Now: c.Clock.Now,
		Enter: func(ctx context.Context) (func(), error) { return c.writes.enter(ctx, o.Namespace) },
		Tell: func(v statetable.Verdict, news bool) {
			if !current() {
				return
			}
			if c.Observer.Written(key, &v); news {
				c.Wake(context.Background(), key)
			}
		},
		Wrote: func(rows int) {
			if current() {
				c.Observer.Wrote(key, rows)
			}
		},
	})
	return k
}

// unkeep ends the writer of a previous source of the name.
func (s *session) unkeep() {
	if s != nil && s.keeping.Writer != nil {
		s.keeping.stop()
	}
}

// finish has the writer of a source that is gone write what it still has to, unless there is another source of the name by then.
func (c *Controller) finish(key client.ObjectKey, s *session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := s.keeping
	if k.Writer == nil {
		return
	}
	c.finishing[key] = k.stop
	k.Finish()
	time.AfterFunc(lastWrites, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		k.stop()
		delete(c.finishing, key)
	})
}
