// Package statetable says what the state table of a source holds: a row for each of its tenants, written for the platform
// that fills the table of customers. A row is a function of the tenant's object, and of nothing else.
package statetable

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

// Row is what became of one customer.
type Row struct {
	// Source names the source in all clusters. With Key it identifies the row: the value of spec.rowKey, or the name.
	Source, Key     string
	Namespace, Name string
	// State is that of the worst domain.
	State           string
	Ready           bool
	Reason, Message string
	// Domains is status.domains[] in JSON.
	Domains             string
	DNSTarget, TenantID string
	CertificateExpires  time.Time
	// Generation is that of the spec that this speaks of, and Revision the platform's own word for it.
	Generation int64
	Revision   string
	Since      time.Time
	// Version is the resource version of the object, or for an object that is gone, that of the look that missed it: a row
	// never replaces a later one.
	Version int64
	Updated time.Time
}

// Kind is the type of a column.
type Kind int

// The kinds.
const (
	// ID is a text of at most LongestID characters, which is compared byte by byte.
	ID Kind = iota
	Text
	Bool
	Number
	Time
	JSON
)

// LongestID is how many characters of a key have room in every database.
const LongestID = 255

// longestSource has room for a cluster ID, a namespace and a name.
const longestSource = 400

// Column is one column of a state table.
type Column struct {
	Name string
	Kind Kind
	// About is one line for the reference.
	About string
	// of is its value in a row: string, bool, int64, or time.Time, where zero is NULL.
	of func(*Row) any
}

// The columns with a part in statements.
const (
	ColumnSource  = "source"
	ColumnKey     = "row_key"
	ColumnVersion = "version"
	ColumnUpdated = "updated"
	columnName    = "name"
	columnState   = "state"
)

// Columns are all columns, in the order of the table's definition. The first two are its primary key.
var Columns = []Column{
	{ColumnSource, ID, "cluster ID, namespace and name of the TenantSource, with slashes between them", func(r *Row) any { return r.Source }},
	{ColumnKey, ID, "value of the column spec.rowKey of the customer's row, or without rowKey the name of the tenant", func(r *Row) any { return r.Key }},
	{"namespace", Text, "namespace of the DistributionTenant", func(r *Row) any { return r.Namespace }},
	{columnName, Text, "name of the DistributionTenant", func(r *Row) any { return r.Name }},
	{columnState, Text, "state of the worst domain, Pending before anything is known, or Gone", func(r *Row) any { return r.State }},
	{"ready", Bool, "status of the condition Ready", func(r *Row) any { return r.Ready }},
	{"reason", Text, "reason of the condition Ready", func(r *Row) any { return r.Reason }},
	{"message", Text, "what has to happen next: the message of the worst domain if it is not live, otherwise that of the condition Ready", func(r *Row) any { return r.Message }},
	{"domains", JSON, "content of status.domains: state, message and DNS records of each domain", func(r *Row) any { return r.Domains }},
	{"dns_target", Text, "name that the domains must point to, from status.dnsTarget", func(r *Row) any { return r.DNSTarget }},
	{"tenant_id", Text, "ID of the distribution tenant in AWS", func(r *Row) any { return r.TenantID }},
	{"certificate_expires", Time, "end of the certificate, NULL if it is not known", func(r *Row) any { return r.CertificateExpires }},
	{"generation", Number, "generation of the object's spec that the row refers to", func(r *Row) any { return r.Generation }},
	{"revision", Text, "value of the column spec.writeBack.revisionColumn of the row that the state refers to", func(r *Row) any { return r.Revision }},
	{"since", Time, "when the state began, or when the tenant was found to be gone", func(r *Row) any { return r.Since }},
	{ColumnVersion, Number, "version of the object; a row with a lower version never replaces one with a higher version", func(r *Row) any { return r.Version }},
	{ColumnUpdated, Time, "when the row was last written", func(r *Row) any { return r.Updated }},
}

// Values are those of a row, one for each column.
func (r *Row) Values() []any {
	values := make([]any, len(Columns))
	for i, c := range Columns {
		values[i] = c.of(r)
	}
	return values
}

// Digest stands for what a row says, apart from when it was written and from which version.
type Digest [sha256.Size]byte

// Digest returns that of a row that is to be written.
func (r *Row) Digest() Digest {
	return digest(r.Values())
}

// DigestOf is that of a row of the table, as the databases' readers hand it out.
func DigestOf(found mapping.Row) Digest {
	values := make([]any, len(Columns))
	for i, c := range Columns {
		values[i] = found.Values[c.Name]
	}
	return digest(values)
}

func digest(values []any) Digest {
	sum := sha256.New()
	for i, c := range Columns {
		if c.Name == ColumnVersion || c.Name == ColumnUpdated {
			continue
		}
		text := canonical(c.Kind, values[i])
		_, _ = fmt.Fprintf(sum, "%d:%s", len(text), text)
	}
	return Digest(sum.Sum(nil))
}

// canonical is the one text of a value that databases and their readers show in several forms.
func canonical(kind Kind, value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case time.Time:
		if v.IsZero() {
			return ""
		}
		return v.UTC().Truncate(time.Second).Format(time.RFC3339)
	case string:
		return canonicalText(kind, v)
	}
	if kind == JSON {
		text, _ := json.Marshal(value) // values of rows all have a JSON form
		return canonicalText(kind, string(text))
	}
	return canonicalText(kind, fmt.Sprint(value))
}

func canonicalText(kind Kind, text string) string {
	switch kind {
	case JSON:
		var value any
		if json.Unmarshal([]byte(text), &value) == nil {
			sorted, _ := json.Marshal(value)
			return string(sorted)
		}
	case Time:
		if t, err := time.Parse(time.RFC3339, text); err == nil {
			return canonical(kind, t)
		}
	case Bool:
		if truth, err := strconv.ParseBool(text); err == nil {
			return strconv.FormatBool(truth)
		}
	case ID, Text, Number:
	}
	return text
}

// VersionOf is the version of a row of the table, zero if it can't be read.
func VersionOf(found mapping.Row) int64 {
	version, _ := strconv.ParseInt(canonical(Number, found.Values[ColumnVersion]), 10, 64)
	return version
}

// KeyOf is the key of a row of the table.
func KeyOf(found mapping.Row) string { return canonical(ID, found.Values[ColumnKey]) }

// IsGone reports whether a row of the table says that its tenant is gone.
func IsGone(found mapping.Row) bool { return canonical(Text, found.Values[columnState]) == Gone }
