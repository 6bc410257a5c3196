package cert

// State is where the certificate that CloudFront manages for a tenant stands, in
// CloudFront's own spelling.
type State string

// The states of a managed certificate.
const (
	Pending  State = "pending-validation"
	Issued   State = "issued"
	Inactive State = "inactive"
	Expired  State = "expired"
	TimedOut State = "validation-timed-out"
	Revoked  State = "revoked"
	Failed   State = "failed"
)

// Managed is what CloudFront tells of a tenant's managed certificate.
type Managed struct {
	ARN   string
	State State
}

// IsFailure reports whether the state is one that no waiting mends.
func (s State) IsFailure() bool {
	switch s {
	case Inactive, Expired, TimedOut, Revoked, Failed:
		return true
	case Pending, Issued:
		return false
	}
	return false
}
