// Package account keeps AWS accounts apart. Each has an inventory, references and a rate for requests of its own. The
// operator's own account is there from the start; any other is opened for the first object that an EdgeGrant puts there.
package account

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/grant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/inventory"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// CloudFront is all that the operator uses of CloudFront.
type CloudFront interface {
	port.Tenants
	port.Distributions
	port.Groups
	port.References
	port.Dependents
	port.Counts
	port.Fleet
}

// Account is what the operator has of one AWS account.
type Account struct {
	// ID is empty for the operator's own.
	ID           string
	CloudFront   CloudFront
	Certificates port.Certificates
	Identity     port.Identity
	Quotas       port.Quotas
	// Rate is that of the calls to CloudFront, InvalidationRate that of requests for invalidations.
	Rate, InvalidationRate port.Rate
	Invalidations          port.Invalidations
	KeyValues              port.KeyValues
	References             *inventory.References
	Inventory              *inventory.Inventory
	// Close ends what runs for the account. It may be nil.
	Close func()
}

// Options are what a registry is made from.
type Options struct {
	// Own is the operator's own account.
	Own *Account
	// Open makes another one. It makes no call.
	Open func(id string) *Account
	// Accesses are the accounts that grants give access to. Nil: none.
	Accesses func(ctx context.Context) ([]grant.Access, error)
}

// Registry has the accounts. It is safe for concurrent use.
type Registry struct {
	options Options

	mu   sync.Mutex
	open map[string]*Account
}

// New makes a registry with the operator's own account.
func New(o Options) *Registry {
	if o.Accesses == nil {
		o.Accesses = func(context.Context) ([]grant.Access, error) { return nil, nil }
	}
	return &Registry{options: o, open: map[string]*Account{}}
}

// Own is the operator's own account.
func (r *Registry) Own() *Account { return r.options.Own }

// All are the accounts that are open, the operator's own first.
func (r *Registry) All() []*Account {
	r.mu.Lock()
	defer r.mu.Unlock()
	others := slices.SortedFunc(maps.Values(r.open), func(a, b *Account) int { return strings.Compare(a.ID, b.ID) })
	return append([]*Account{r.options.Own}, others...)
}

// Place is where an object is.
type Place struct {
	*Account
	// Grant is the one whose role is used there, empty for any.
	Grant string
	// Wrong says why nothing may be changed there but a deletion; nil where everything may.
	Wrong *chain.Halt
}

// Of finds the account of an object: the one that has something of it, else the one of its grant. An object never moves:
// what it has in one account would stay there, without an owner. No call is made, except to compare the operator's own
// account with the one that a grant names without a role.
func (r *Registry) Of(ctx context.Context, recorded string, granted grant.Access) (Place, error) {
	accesses, err := r.options.Accesses(ctx)
	if err != nil {
		return Place{}, err
	}
	reached := slices.ContainsFunc(accesses, func(a grant.Access) bool { return a.ID == recorded })
	switch {
	case granted.RoleARN != "" && (recorded == "" || recorded == granted.ID):
		return Place{Account: r.ensureOpen(granted.ID), Grant: granted.Grant}, nil
	case granted.RoleARN == "" && !reached:
		return r.own(ctx, recorded, granted)
	case granted.RoleARN == "":
		own, err := r.options.Own.References.Account(ctx)
		if err != nil {
			return Place{}, err
		}
		if own == recorded {
			return r.own(ctx, recorded, granted)
		}
	}
	p := Place{Account: r.options.Own, Wrong: moved(recorded, granted)}
	if reached {
		p.Account = r.ensureOpen(recorded)
	}
	return p, nil
}

// own is the operator's own account, if it is the one that the grant names.
func (r *Registry) own(ctx context.Context, recorded string, granted grant.Access) (Place, error) {
	p := Place{Account: r.options.Own}
	switch {
	case granted.ID == "" || granted.ID == recorded:
		return p, nil
	case recorded != "":
		p.Wrong = moved(recorded, granted)
		return p, nil
	}
	own, err := r.options.Own.References.Account(ctx)
	if err == nil && own != granted.ID {
		p.Wrong = wrong("EdgeGrant %s is for AWS account %s, but the operator's credentials belong to account %s. Set spec.account.roleArn of the grant to a role in account %s.",
			granted.Grant, granted.ID, own, granted.ID)
	}
	return p, err
}

func moved(recorded string, granted grant.Access) *chain.Halt {
	account := "the operator's own AWS account"
	if granted.ID != "" {
		account = "AWS account " + granted.ID
	}
	name := "its namespace has no EdgeGrant with an account"
	if granted.Grant != "" {
		name = "EdgeGrant " + granted.Grant
	}
	return wrong("This object is in AWS account %s, but %s puts it in %s, and objects never move between accounts. Nothing is changed. "+
		"Give its namespace a grant for account %s again, or delete the object and create it again.", recorded, name, account, recorded)
}

func wrong(format string, args ...any) *chain.Halt {
	return &chain.Halt{Reason: resource.ReasonWrongAccount, Message: fmt.Sprintf(format, args...)}
}

func (r *Registry) ensureOpen(id string) *Account {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.open[id]
	if a == nil {
		a = r.options.Open(id)
		r.open[id] = a
	}
	return a
}

// KeyValues are the key value stores of an account; false if it is not open.
func (r *Registry) KeyValues(id string) (port.KeyValues, bool) {
	for _, a := range r.All() {
		if a.ID == id {
			return a.KeyValues, true
		}
	}
	return nil, false
}

// Known is what is remembered of the account of a grant, nil if the account is not open.
func (r *Registry) Known(granted grant.Access) *inventory.References {
	if granted.RoleARN == "" {
		return r.options.Own.References
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if a := r.open[granted.ID]; a != nil {
		return a.References
	}
	return nil
}

// Prune closes the accounts that no grant gives access to any more. It is called after each change of grants.
func (r *Registry) Prune(ctx context.Context) {
	accesses, err := r.options.Accesses(ctx)
	if err != nil {
		return // the next change tries again
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, a := range r.open {
		if slices.ContainsFunc(accesses, func(a grant.Access) bool { return a.ID == id }) {
			continue
		}
		if a.Close != nil {
			a.Close()
		}
		delete(r.open, id)
	}
}

// Access is how an account is reached for a grant: by its role if the account is its own, else by that of the first grant
// that gives access. Those with a role that AWS refuses are the last.
func (r *Registry) Access(ctx context.Context, id, grantName string) (grant.Access, error) {
	accesses, err := r.options.Accesses(ctx)
	if err != nil {
		return grant.Access{}, err
	}
	var first *grant.Access
	for _, a := range accesses {
		switch {
		case a.ID != id:
		case a.Grant == grantName:
			return a, nil
		case first == nil:
			first = &a
		}
	}
	if first == nil {
		return grant.Access{}, &fault.Error{
			Kind: fault.Denied, Operation: "AssumeRole", Code: "NoAccess",
			Message: fmt.Sprintf("no EdgeGrant gives access to AWS account %s: create one with spec.account", id),
		}
	}
	return *first, nil
}
