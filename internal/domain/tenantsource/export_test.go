package tenantsource

// Key identifies a loss.
func (l Loss) Key() string { return l.key() }

// LossesOf are the losses of objects whose rows are gone.
var LossesOf = lossesOf

// Present makes the harvest of a table with rows of these names, which are all as they should be.
func Present(names ...string) *Harvest {
	h := &Harvest{Rows: len(names), Tenants: len(names), present: map[string]bool{}}
	for _, name := range names {
		h.present[name] = true
	}
	return h
}
