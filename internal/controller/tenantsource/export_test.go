package tenantsource

var (
	// ErrNoRow is returned by Promptly.
	ErrNoRow = errNoRow
	// Promptly reads a table with a bound on the time to its first row.
	Promptly = promptly
)
