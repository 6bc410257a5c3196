package onboarding

import (
	"reflect"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/proof"
)

// Party is who has to act next, or who sets a record. The empty one means that nothing is left to do.
type Party string

// The parties.
const (
	Customer Party = "customer"
	Platform Party = "platform"
	Operator Party = "operator"
	AWS      Party = "aws"
)

// Purpose is what a record is for.
type Purpose string

// The purposes.
const (
	Routing   Purpose = "Routing"
	Challenge Purpose = "Challenge"
	Proof     Purpose = "Proof"
	HTTP      Purpose = "HTTP"
)

// The types of records that are not the zone's own: a provider has its own name for an alias, and a redirect is set on a
// web server.
const (
	typeAlias    = "ALIAS"
	typeRedirect = "REDIRECT"
)

// RecordState is what was seen of a record.
type RecordState string

// The states of a record.
const (
	Missing RecordState = "Missing"
	Wrong   RecordState = "Wrong"
	Present RecordState = "Present"
	Unknown RecordState = "Unknown"
)

// Record is one that a domain needs.
type Record struct {
	Purpose           Purpose
	Type, Name, Value string
	By                Party
	State             RecordState
	// Seen is what was found instead.
	Seen []string
}

// Same reports whether two records are the same, whatever was seen of them.
func (r Record) Same(other Record) bool {
	r.State, r.Seen, other.State, other.Seen = "", nil, "", nil
	return reflect.DeepEqual(r, other)
}

// text is how a user reads a record.
func (r Record) text() string {
	if r.Type == typeAlias {
		return r.Name + " ALIAS (or ANAME) " + r.Value
	}
	return r.Name + " " + r.Type + " " + r.Value
}

// Redirect is what the web server of a domain has to answer with, while a certificate is validated there.
type Redirect struct{ From, To string }

// challengeLabel is that of the TXT record that tells CloudFront to which endpoint the addresses of a name lead.
const challengeLabel = "_cf-challenge."

// records are all that a domain needs, those that prove it first.
func (f Facts) records() (out []Record) {
	if f.Proof != nil {
		out = append(out, Record{
			Purpose: Proof, Type: "TXT", Name: f.Proof.Name, Value: f.Proof.Value, By: Customer, State: f.proofState(),
		})
	}
	if f.Leaving || f.Refused != "" && !f.Has {
		return out
	}
	out = append(out, f.routing()...)
	if r := f.Redirect; r != nil {
		out = append(out, Record{Purpose: HTTP, Type: typeRedirect, Name: r.From, Value: r.To, By: Customer, State: Unknown})
	}
	return out
}

func (f Facts) proofState() RecordState {
	switch {
	case f.Proof.Proven():
		return Present
	case f.ProofSight == proof.Missing:
		return Missing
	case f.ProofSight == proof.Other, f.ProofSight == proof.Partly:
		return Wrong
	}
	return Unknown
}

// routing are the records that lead the domain to CloudFront. Before its target is known, there is nothing to set.
func (f Facts) routing() []Record {
	if f.Publishes {
		return f.Published
	}
	if len(f.Targets) == 0 {
		return nil
	}
	target, state := f.Targets[0], f.Sight.state()
	record := Record{Purpose: Routing, Type: "CNAME", Name: f.Domain, Value: target, By: Customer, State: state, Seen: f.Sight.Seen}
	if !f.Place.Apex {
		return []Record{record}
	}
	var out []Record
	for _, address := range f.Addresses[:min(len(f.Addresses), maxAddresses)] {
		r := record
		r.Type, r.Value = "A", address
		if strings.Contains(address, ":") {
			r.Type = "AAAA"
		}
		out = append(out, r)
	}
	if len(out) == 0 {
		record.Type = typeAlias
		out = append(out, record)
	}
	return append(out, Record{Purpose: Challenge, Type: "TXT", Name: challengeLabel + f.Domain, Value: target, By: Customer, State: state})
}

// maxAddresses is how many addresses of an Anycast list a domain is told. Each of them serves it.
const maxAddresses = 3

// state is that of the record that should lead a name to its target.
func (s Sight) state() RecordState {
	switch s.Way {
	case Here:
		return Present
	case Nowhere:
		return Missing
	case Elsewhere, Edge, Circle, Partly:
		return Wrong
	case Failing, Silent:
	}
	return Unknown
}

// Place is where a domain stands among those that are registered. It comes from the public suffix list.
type Place struct {
	// Zone is the domain that was registered, in whose zone its records probably are.
	Zone string
	// Apex means that it is the domain itself, at which DNS allows no CNAME.
	Apex bool
	// Suffix means that others register their domains under it.
	Suffix bool
}
