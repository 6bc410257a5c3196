// Package grants knows all EdgeGrants, and judges the objects of all kinds by them. It is shared by the controllers: what
// one object asks for is decided in domain/grant, and how many there are is known here.
package grants

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/grant"
)

// Mode decides what happens to an object that asks for more than its namespace may have.
type Mode string

// The modes.
const (
	// Off grants everything.
	Off Mode = "Off"
	// Audit tells of it, and holds nothing.
	Audit Mode = "Audit"
	// Enforce changes nothing for it.
	Enforce Mode = "Enforce"
)

// Object is one that exists, as far as limits count it.
type Object struct {
	Namespace, UID string
	// Kind and Name are what messages call it.
	Kind, Name string
	// Present means that it has something in AWS, or may have, Account where. Empty: that is not known.
	Present bool
	Account string
	Usage   grant.Usage
	// Asks is what it wants; nil where it wants nothing any more. Unproven are its domains that are not proven yet. Refused
	// means that its own status says that its grant refuses something.
	Asks     func() []grant.Want
	Unproven []string
	Refused  bool
}

// Options are what a registry is made from.
type Options struct {
	Mode Mode
	// Default is the grant of the namespaces that no other selects; nil for none.
	Default *grant.Grant
	// Grants lists all grants, Labels those of a namespace, Objects all objects that count, with their namespaces. All of
	// them answer from caches.
	Grants  func(ctx context.Context) ([]grant.Grant, error)
	Labels  func(ctx context.Context, namespace string) (map[string]string, error)
	Objects func(ctx context.Context) ([]Object, error)
	// Opened is told when the default grant has become that of every namespace that no EdgeGrant selects, although there
	// are EdgeGrants. Fell is told of a namespace that had an EdgeGrant, and has the default grant now. They may be nil.
	Opened func(ctx context.Context)
	Fell   func(ctx context.Context, namespace, from string)
	Clock  clock.Clock
}

// Registry has the grants. It is safe for concurrent use. A nil one grants everything.
type Registry struct {
	options Options
	// admitting is held while the limits are looked at: two objects must not take the same room.
	admitting sync.Mutex
	// counted is what there was when objects were last counted.
	counted count

	mu sync.Mutex
	// set is nil until it is read, and after a change until it is read again.
	set       *grant.Set
	standings map[string]grant.Standing
	// before are the standings as they were before changes that nothing was woken for yet.
	before  map[string]grant.Standing
	version uint64
	changed chan struct{}
	// admitted are objects that were let through and count although they have nothing in AWS yet.
	admitted map[string]admission
	// violations are the objects that ask for too much, with the grant of each.
	violations map[string]violation
	wakes      []func(ctx context.Context, affected func(namespace string) bool)
	// open is true while it was last told that the default grant is open.
	open bool
}

type violation struct{ grant, namespace string }

// New makes a registry. With the mode Off it is nil.
func New(o Options) *Registry {
	if o.Mode == Off || o.Mode == "" {
		return nil
	}
	return &Registry{options: o, standings: map[string]grant.Standing{}, before: map[string]grant.Standing{}, changed: make(chan struct{}, 1), admitted: map[string]admission{}, violations: map[string]violation{}}
}

// Mode is how the grants are meant.
func (r *Registry) Mode() Mode {
	if r == nil {
		return Off
	}
	return r.options.Mode
}

// OnChange has wake called after every change of grants, with the namespaces that it affects. Callers add it before
// anything starts.
func (r *Registry) OnChange(wake func(ctx context.Context, affected func(namespace string) bool)) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wakes = append(r.wakes, wake)
}

// Changed forgets the grants, or what only those namespaces have. They are read again when they are needed next.
func (r *Registry) Changed(namespaces ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.version++
	if len(namespaces) == 0 {
		r.set = nil
		namespaces = slices.Collect(maps.Keys(r.standings))
	}
	for _, namespace := range namespaces {
		was, known := r.standings[namespace]
		delete(r.standings, namespace)
		if _, noted := r.before[namespace]; known && !noted {
			r.before[namespace] = was
		}
	}
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

// Version is another number after each change.
func (r *Registry) Version() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.version
}

// gather is how long changes are gathered before objects are woken.
const gather = 200 * time.Millisecond

// Start wakes the objects of those namespaces that have another grant than before. It implements manager.Runnable.
func (r *Registry) Start(ctx context.Context) error {
	r.tellOpen(ctx)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.changed:
		}
		select {
		case <-ctx.Done():
			return nil
		case <-r.options.Clock.After(gather):
		}
		r.wake(ctx)
	}
}

// Open reports whether there are EdgeGrants, and every namespace that none of them selects has the default grant.
func (r *Registry) Open(ctx context.Context) bool {
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.load(ctx) == nil && r.set.Open()
}

func (r *Registry) tellOpen(ctx context.Context) {
	was := r.open
	if r.open = r.Open(ctx); r.open && !was && r.options.Opened != nil {
		r.options.Opened(ctx)
	}
}

func (r *Registry) wake(ctx context.Context) {
	r.tellOpen(ctx)
	r.mu.Lock()
	before, wakes := r.before, r.wakes
	r.before = map[string]grant.Standing{}
	r.mu.Unlock()
	affected := map[string]bool{}
	for namespace, was := range before {
		is, err := r.Standing(ctx, namespace)
		// If the grants can't be read, the pass reads them again, and reports the failure.
		affected[namespace] = err != nil || !same(was, is)
		if err == nil && r.options.Fell != nil && fell(was, is) {
			r.options.Fell(ctx, namespace, was.Grant.Name)
		}
	}
	for _, wake := range wakes {
		wake(ctx, func(namespace string) bool { return affected[namespace] })
	}
}

// fell reports whether the default grant has replaced an EdgeGrant.
func fell(was, is grant.Standing) bool {
	return was.Grant != nil && was.Grant.Name != grant.Default && is.Grant != nil && is.Grant.Name == grant.Default
}

func same(a, b grant.Standing) bool {
	if (a.Grant == nil) != (b.Grant == nil) || len(a.Rivals) != len(b.Rivals) {
		return false
	}
	return a.Grant == nil || a.Grant.Name == b.Grant.Name && a.Grant.Version == b.Grant.Version
}

// Standing is what the namespace has.
func (r *Registry) Standing(ctx context.Context, namespace string) (grant.Standing, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s, known := r.standings[namespace]; known {
		return s, nil
	}
	if err := r.load(ctx); err != nil {
		return grant.Standing{}, err
	}
	ns, err := r.namespace(ctx, namespace)
	if err != nil {
		return grant.Standing{}, err
	}
	s := r.set.For(ns)
	r.standings[namespace] = s
	return s, nil
}

// namespace needs the lock.
func (r *Registry) namespace(ctx context.Context, name string) (grant.Namespace, error) {
	ns := grant.Namespace{Name: name}
	if !r.set.Labels() {
		return ns, nil
	}
	labels, err := r.options.Labels(ctx, name)
	if err != nil {
		return ns, fmt.Errorf("reading the labels of the namespace %s: %w", name, err)
	}
	ns.Labels = labels
	return ns, nil
}

// load needs the lock.
func (r *Registry) load(ctx context.Context) error {
	if r.set != nil {
		return nil
	}
	all, err := r.options.Grants(ctx)
	if err != nil {
		return fmt.Errorf("reading the EdgeGrants: %w", err)
	}
	r.set = grant.NewSet(all, r.options.Default)
	return nil
}

// Asker is an object that asks.
type Asker struct {
	Namespace, UID string
	Wants          []grant.Want
	// Adds is what the object would take of the limits. Zero: it takes no more than it has.
	Adds grant.Usage
}

// Verdict is what an object may have.
type Verdict struct {
	// Refused says why it may not have what it wants. Enforced means that nothing may be changed for it then.
	Refused  *chain.Halt
	Enforced bool
	// Grant is what its namespace has, where it is enforced.
	Grant *grant.Grant
}

// Judge says whether an object may have what it wants.
func (r *Registry) Judge(ctx context.Context, a Asker) (Verdict, error) {
	if r == nil {
		return ungranted(a.Wants), nil
	}
	standing, err := r.Standing(ctx, a.Namespace)
	if err != nil {
		return Verdict{}, err
	}
	refusal := standing.Judge(a.Namespace, a.Wants, r.options.Clock.Now())
	if refusal == nil && a.Adds != (grant.Usage{}) {
		if refusal, err = r.admit(ctx, standing.Grant, a); err != nil {
			return Verdict{}, err
		}
	}
	v := Verdict{Enforced: r.options.Mode == Enforce}
	if v.Enforced {
		v.Grant = standing.Grant
	} else if crossing := standing.Judge(a.Namespace, crossings(a.Wants), r.options.Clock.Now()); crossing != nil {
		refusal, v.Enforced = crossing, true
	} else if refusal != nil && r.divided(standing) {
		v.Enforced = true
	}
	if refusal != nil {
		v.Refused = &chain.Halt{Reason: grant.NotGranted, Message: refusal.String()}
	}
	r.note(a, standing, refusal != nil)
	return v, nil
}

// divided reports whether grants that name an account select the namespace equally. Without an account, nothing can be
// done even where nothing is held.
func (r *Registry) divided(s grant.Standing) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.set != nil && r.set.Divided(s)
}

// Access is the AWS account of the namespace, and the grant that gives access to it.
func (r *Registry) Access(ctx context.Context, namespace string) (grant.Access, error) {
	if r == nil {
		return grant.Access{}, nil
	}
	standing, err := r.Standing(ctx, namespace)
	if err != nil || standing.Grant == nil {
		return grant.Access{}, err
	}
	return grant.Access{Account: standing.Grant.Account, Grant: standing.Grant.Name}, nil
}

// Accesses are all AWS accounts other than the operator's own that grants give access to.
func (r *Registry) Accesses(ctx context.Context) ([]grant.Access, error) {
	if r == nil {
		return nil, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.load(ctx); err != nil {
		return nil, err
	}
	return r.set.Accesses(), nil
}

// ungranted is the verdict without any grants: everything but the objects of other namespaces.
func ungranted(wants []grant.Want) Verdict {
	for _, w := range crossings(wants) {
		return Verdict{Enforced: true, Refused: &chain.Halt{Reason: grant.NotGranted, Message: fmt.Sprintf(
			"%s: %s is an object of another namespace, which only an EdgeGrant can allow, and grants are switched off (--grants=Off). Use an object of this namespace, or ask an administrator of the platform.", w.Field, w.Value)}}
	}
	return Verdict{}
}

// crossings are the objects of other namespaces, which are never to be had without a grant.
func crossings(wants []grant.Want) []grant.Want {
	return slices.DeleteFunc(slices.Clone(wants), func(w grant.Want) bool { return !w.Crosses() })
}

// note remembers an object that asks for too much, or no longer does.
func (r *Registry) note(a Asker, s grant.Standing, refused bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case a.UID == "":
		// A row is no object yet.
		return
	case !refused:
		delete(r.violations, a.UID)
		return
	}
	v := violation{namespace: a.Namespace}
	if s.Grant != nil {
		v.grant = s.Grant.Name
	}
	r.violations[a.UID] = v
}

// Forget drops what is remembered of an object that is gone, or being deleted.
func (r *Registry) Forget(uid string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.violations, uid)
	delete(r.admitted, uid)
}

// Census has the figures of a grant.
type Census struct {
	Namespaces, Tenants, Violations int
	// Rivals are the grants that select namespaces with objects as strongly, Contested those namespaces.
	Rivals, Contested []string
}

// Counts are the figures of all grants by their names.
func (r *Registry) Counts(ctx context.Context) (map[string]Census, error) {
	objects, err := r.options.Objects(ctx)
	if err != nil {
		return nil, fmt.Errorf("counting the objects of the EdgeGrants: %w", err)
	}
	out, seen := map[string]Census{}, map[string]bool{}
	for _, o := range objects {
		s, err := r.Standing(ctx, o.Namespace)
		if err != nil {
			return nil, err
		}
		for _, rival := range s.Rivals {
			c := out[rival]
			c.Rivals = s.Against(rival, c.Rivals)
			if !slices.Contains(c.Contested, o.Namespace) {
				c.Contested = append(c.Contested, o.Namespace)
			}
			out[rival] = c
		}
		if s.Grant == nil {
			continue
		}
		c := out[s.Grant.Name]
		c.Tenants += o.Usage.Tenants
		if !seen[o.Namespace] {
			seen[o.Namespace] = true
			c.Namespaces++
		}
		out[s.Grant.Name] = c
	}
	for name, n := range r.Violations() {
		c := out[name]
		c.Violations = n
		out[name] = c
	}
	for _, c := range out {
		slices.Sort(c.Rivals)
		slices.Sort(c.Contested)
	}
	return out, nil
}

// Violations are how many objects ask for more than their grant allows, by its name; by the empty name those that have no
// grant.
func (r *Registry) Violations() map[string]int {
	out := map[string]int{}
	if r == nil {
		return out
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, v := range r.violations {
		out[v.grant]++
	}
	return out
}
