package dns

// Traits are the numbers and names of a provider, and what it can do.
type Traits struct {
	// Batch is the most that one batch may hold. A provider without batches takes one record at a time.
	Batch Limits
	// PageSize is how many record sets are listed in one call, to tell what a listing costs.
	PageSize int
	// ListZones and ListRecords are what the provider calls these operations, for messages.
	ListZones, ListRecords string
	// Apex is how the name of a zone itself can lead to CloudFront.
	Apex Apex
	// Anonymous is true where the provider needs no id of a change to tell whether servers have it. Then it is asked about
	// changes of which the answer was lost, too, for which others get some time.
	Anonymous bool
	// Unlisted is true where listings have what the operator has published, and only as long as that is written down somewhere:
	// what servers show may not be there. Then names that a listing does not have are read before records count as absent.
	Unlisted bool
	// Stepwise is true where a change may be carried out in part: a name may be empty because a record has lost its place to
	// ours, which is not there yet.
	Stepwise bool
}

// Apex is how the name of a zone itself, where no CNAME is allowed, can lead to CloudFront.
type Apex string

// The ways.
const (
	// AliasedApex means by alias records, which the provider has everywhere.
	AliasedApex Apex = ""
	// FlattenedApex means by a CNAME record of which the provider shows the addresses only.
	FlattenedApex Apex = "Flattened"
	// NoApex means that it can't.
	NoApex Apex = "None"
)
