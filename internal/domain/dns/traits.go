package dns

// Traits are the numbers and names of a provider.
type Traits struct {
	// Batch is the most that one batch may hold.
	Batch Limits
	// PageSize is how many record sets are listed in one call, to tell what a listing costs.
	PageSize int
	// ListZones and ListRecords are what the provider calls these operations, for messages.
	ListZones, ListRecords string
}
