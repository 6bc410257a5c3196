// Package proof decides for which domains an object has to prove that they are its namespace's own, and when the proof is
// looked for. The proof is a TXT record, which only the controller of the domain can create.
package proof

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/retry"
)

// ReasonDomainNotProven is that of an object with a domain that is not proven. The api package has the same word as its
// contract; a test keeps the two equal.
const ReasonDomainNotProven chain.Reason = "DomainNotProven"

// Prefix is what the value of each record starts with.
const Prefix = "cloudfront-tenant-operator="

const (
	// label stands before the domain.
	label = "_cloudfront-tenant-operator."
	// digits is how much of the hash the value has: enough that no two namespaces ever have the same.
	digits = 32
)

// Record is the TXT record that proves a domain.
type Record struct{ Name, Value string }

// For is the record with which a namespace of a cluster proves a domain. It proves nothing for another namespace, so that
// what a domain once had cannot be used by others. A wildcard is proven by the record of the domain that it is below.
func For(cluster, namespace, domain string) Record {
	host := strings.TrimPrefix(domain, "*.")
	sum := sha256.Sum256([]byte(strings.Join([]string{cluster, namespace, host}, "\x00")))
	return Record{Name: label + host, Value: Prefix + strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))[:digits]}
}

// Entry is a domain that is proven, or has to be.
type Entry struct {
	Domain string
	Record
	// Found means that the proof was found.
	Found bool
}

// Proven reports whether the proof was found.
func (e Entry) Proven() bool { return e.Found }

// Sight is what public DNS shows of a record.
type Sight string

// The sights.
const (
	// Shown means that every server that answered shows it, and that two did at least.
	Shown Sight = "shown"
	// Missing means that no server has a record of ours, Other that one has a record with another value.
	Missing Sight = "missing"
	Other   Sight = "other"
	// Partly means that only some servers show it.
	Partly Sight = "partly"
	// Silent means that fewer than two servers answered, TooFew that fewer than two may be asked.
	Silent Sight = "silent"
	TooFew Sight = "too few"
)

// Finding is what a sight means to the user who has to create the record.
func (s Sight) Finding() string {
	switch s {
	case Other:
		return "The record there has another value."
	case Partly:
		return "Not all DNS servers return it yet."
	case Silent:
		return "The DNS servers do not answer."
	case TooFew:
		return "The operator needs two DNS servers to look for it: an administrator has to set --dns-resolvers."
	case Missing:
		return "There is no such record yet."
	case Shown:
	}
	return ""
}

// Case is what is known of the proofs of one object.
type Case struct {
	Cluster, Namespace string
	// Wanted are the domains of the spec, Demanded those among them that have to be proven, and Has those that the object's
	// own tenant has.
	Wanted, Demanded, Has []string
	// Before are the entries as they were stored.
	Before []Entry
	// Sights are what this process has seen, by domain.
	Sights map[string]Sight
}

// Entries are the domains that are proven, or have to be. A domain that the tenant has needs no record: it counts as
// proven, until the object releases it.
func (c Case) Entries() (out []Entry) {
	for _, d := range c.Wanted {
		demanded := slices.Contains(c.Demanded, d)
		e := Entry{Domain: d, Record: For(c.Cluster, c.Namespace, d)}
		// A domain that was proven with another record was proven for another namespace.
		if i := slices.IndexFunc(c.Before, func(b Entry) bool { return b.Domain == d && b.Record == e.Record }); i >= 0 {
			e.Found = c.Before[i].Found
		}
		if !e.Proven() && demanded && (c.Sights[d] == Shown || slices.Contains(c.Has, d)) {
			e.Found = true
		}
		if demanded || e.Proven() {
			out = append(out, e)
		}
	}
	return out
}

// schedule is when a record is looked for: soon after it was asked for, and then less and less often.
var schedule = retry.Schedule{First: 10 * time.Second, Last: 10 * time.Minute}

// Asked is when this process has asked for the proofs of a generation.
type Asked struct {
	Generation  int64
	Since, Last time.Time
	Sights      map[string]Sight
}

// DueIn is the time until the next look. Zero or less: it is due.
func (a Asked) DueIn(generation int64, now time.Time) time.Duration {
	if a.Last.IsZero() || a.Generation != generation {
		return 0
	}
	return schedule.Next(a.Since, a.Last).Sub(now)
}

// Saw remembers what a look has shown.
func (a Asked) Saw(generation int64, now time.Time, sights map[string]Sight) Asked {
	since := a.Since
	if a.Generation != generation || since.IsZero() {
		since = now
	}
	return Asked{Generation: generation, Since: since, Last: now, Sights: sights}
}

// Problem says which record is missing, and how many more are.
func Problem(unproven []Entry, sights map[string]Sight) *chain.Problem {
	first, others := unproven[0], len(unproven)-1
	text := fmt.Sprintf("spec.domains: %s is served once it is proven to be yours. Create the TXT record %s with the value %q.",
		first.Domain, first.Name, first.Value)
	if finding := sights[first.Domain].Finding(); finding != "" {
		text += " " + finding
	}
	if others > 0 {
		text += fmt.Sprintf(" status.domains has the records of %s.", prose.Count(others, "more domain", "more domains"))
	}
	return &chain.Problem{Reason: ReasonDomainNotProven, Message: text}
}
