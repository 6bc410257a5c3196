package port

import "context"

// Quota is how much of something an AWS account may have.
type Quota struct {
	// Name is AWS's, and Code its identifier.
	Name, Code string
	Value      float64
}

// Quotas reads the limits of an AWS account.
type Quotas interface {
	// ListQuotas reads one page of the quotas of a service: those that apply to the account, or AWS's defaults. A quota
	// whose applied value AWS does not have is only among the defaults. next is empty on the last page.
	ListQuotas(ctx context.Context, service string, defaults bool, marker string) (page []Quota, next string, err error)
}

// Counts counts what else an AWS account has.
type Counts interface {
	// CountConnectionGroups counts the connection groups of the account, and CountMultiTenantDistributions the distributions
	// that can have tenants. Both need a call for each hundred.
	CountConnectionGroups(ctx context.Context) (int, error)
	CountMultiTenantDistributions(ctx context.Context) (int, error)
}
