package certificate

// Renewal is what ACM says of the renewal of a certificate. It is empty until ACM begins to renew it, 45 days before it
// expires.
type Renewal struct {
	// Status is ACM's word for how far it is, one of those below.
	Status string
	// Reason is ACM's word for why it failed, for example CAA_ERROR; empty if ACM gives none.
	Reason string
	// Pending are the names that are not validated, in lower case and sorted.
	Pending []string
}

// The states of a renewal.
const (
	// RenewalAutomatic means that ACM is at work and needs nothing.
	RenewalAutomatic = "PENDING_AUTO_RENEWAL"
	// RenewalWaiting means that ACM can't validate the pending names.
	RenewalWaiting = "PENDING_VALIDATION"
	RenewalDone    = "SUCCESS"
	RenewalFailed  = "FAILED"
)
