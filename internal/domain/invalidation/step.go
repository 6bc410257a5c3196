package invalidation

import (
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
)

// Step is the one thing that a decision asks for. The set of steps is closed.
//
//sumtype:decl
type Step interface {
	chain.Step
	step()
}

// Choose puts the tenants into status. Nothing outside is read or changed.
type Choose struct {
	chain.Reads

	Tenants []Tenant
	// Total is the number of all that are selected, and Expected when the last will be completed.
	Total    int
	Expected time.Time
}

// Refill chooses the next tenants, and makes room for them. None means that there are no more.
type Refill struct {
	chain.Reads

	Tenants []Tenant
	// More is how many come after them.
	More int
}

// GiveUp marks tenants as failed for which nothing can be requested any more.
type GiveUp struct {
	chain.Reads

	// Messages are by the names of the tenants.
	Messages map[string]string
}

// Request asks AWS for the invalidation of one tenant.
type Request struct {
	chain.Writes

	Tenant Tenant
}

// Follow asks AWS how far the invalidation of one tenant is.
type Follow struct {
	chain.Reads

	Tenant Tenant
}

// Expire deletes the object.
type Expire struct{ chain.Applies }

// Fail ends the invalidation before anything was requested.
type Fail struct {
	chain.Reads

	Reason  chain.Reason
	Message string
}

// Rest ends the pass.
type Rest struct {
	chain.Rests

	// After is when to look again; zero leaves it to events.
	After time.Duration
}

func (Choose) step()  {}
func (Refill) step()  {}
func (GiveUp) step()  {}
func (Request) step() {}
func (Follow) step()  {}
func (Expire) step()  {}
func (Fail) step()    {}
func (Rest) step()    {}

// Decision is the outcome of the chain.
type Decision = chain.Decision[Step]
