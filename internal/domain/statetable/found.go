package statetable

import (
	"encoding/hex"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

// Found is what a comparison needs of a row of the table.
type Found struct {
	Key, Name string
	Version   int64
	Gone      bool
	Digest    Digest
}

// columnDigest is in rows that were condensed. No table has it.
const columnDigest = "\x00digest"

// FoundIn takes a row as the databases' readers hand it out, condensed or not.
func FoundIn(row mapping.Row) Found {
	f := Found{Key: KeyOf(row), Name: canonical(ID, row.Values[columnName]), Version: VersionOf(row), Gone: IsGone(row)}
	if text, ok := row.Values[columnDigest].(string); ok {
		_, _ = hex.Decode(f.Digest[:], []byte(text)) // one that is cut is that of no row
		return f
	}
	f.Digest = DigestOf(row)
	return f
}

// Condense makes a sink that keeps of each row what a comparison needs: a table of 100,000 rows is 20 MB then, and no row is too
// long.
func Condense(sink mapping.Sink) mapping.Sink { return condenser{sink} }

type condenser struct{ mapping.Sink }

// Columns implements mapping.Sink.
func (c condenser) Columns([]mapping.Column) error { return nil }

// Row implements mapping.Sink.
func (c condenser) Row(row mapping.Row) error {
	f := FoundIn(row)
	return c.Sink.Row(mapping.Row{Values: map[string]any{
		ColumnKey: f.Key, columnName: f.Name, ColumnVersion: f.Version, columnState: row.Values[columnState], columnDigest: hex.EncodeToString(f.Digest[:]),
	}})
}

// Comparing is the query of a comparison: its rows may be condensed where they are read.
func (t Target) Comparing(provider mapping.Provider) mapping.Query {
	q := t.Reading(provider)
	q.Condensed = true
	return q
}
