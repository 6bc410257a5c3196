package dns

// Limits are how large a batch may be.
type Limits struct {
	// Records is the number of single records; an alias counts as one.
	Records int
	// Characters is the length of all values.
	Characters int
}

// size is what a unit takes of the limits.
func (u Unit) size() (size Limits) {
	for _, c := range u.Changes {
		size.Records += max(len(c.Set.Values), 1)
		size.Characters += len(c.Set.Alias)
		values := c.Set.Exact
		if values == nil {
			values = c.Set.Values
		}
		for _, v := range values {
			// A text gets quotes around it, a name a dot at its end.
			size.Characters += len(v) + 2
		}
	}
	return size
}

// Batches groups units, separately for each identity and in their order. No unit is split; one that alone exceeds the
// limits gets its own batch, for the provider to refuse.
func Batches(units []Unit, limits Limits) [][]Unit {
	var batches [][]Unit
	type filling struct {
		batch int
		size  Limits
	}
	open := map[Access]filling{}
	for _, u := range units {
		f, ok := open[u.Access]
		size := u.size()
		if !ok || f.size.Records+size.Records > limits.Records || f.size.Characters+size.Characters > limits.Characters {
			batches = append(batches, nil)
			f = filling{batch: len(batches) - 1}
		}
		batches[f.batch] = append(batches[f.batch], u)
		f.size.Records += size.Records
		f.size.Characters += size.Characters
		open[u.Access] = f
	}
	return batches
}
