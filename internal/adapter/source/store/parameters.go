package store

import (
	"slices"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

// BadConnection refuses a connection string. The problem is a fixed text: nothing of the string may reach it but the
// name of a parameter that is known.
func BadConnection(operation, problem string) error {
	return &fault.Error{
		Kind: fault.Invalid, Operation: operation, Code: mapping.CodeConnectionString,
		Message: "the connection string " + problem,
	}
}

// Parameters says which parameters a connection string may have, before the library of the store sees it. A misspelt
// one must not turn TLS off, and libraries have some that name files of the operator, whose only other fence is
// Landlock.
type Parameters struct {
	Known []Parameter
	// TLS is what is wrong with the option for TLS of another store, with %s for its name. Other is what is wrong with
	// any other parameter, whose name may be a piece of a password; empty where the library refuses what it does not
	// know.
	TLS, Other string
}

// Parameter are parameters for which the same holds.
type Parameter struct {
	// Names are separated by blanks.
	Names string
	// Values are those that are taken, and Problem is what is wrong with all others, with %s for the name. Without a
	// problem every value is taken.
	Values  []string
	Problem string
}

// tlsOptions are the names that libraries of databases have for the option for TLS, in lower case.
var tlsOptions = strings.Fields("ssl tls sslmode ssl-mode ssl_mode usessl use_ssl requiressl tlsmode encrypt sslenabled")

// Check returns what is wrong with a parameter, and nothing if it may stand in a connection string.
func (p Parameters) Check(name, value string) string {
	problem := p.Other
	if slices.Contains(tlsOptions, strings.ToLower(name)) {
		problem = p.TLS
	}
	for _, known := range p.Known {
		if !slices.Contains(strings.Fields(known.Names), name) {
			continue
		}
		if slices.Contains(known.Values, value) {
			return ""
		}
		problem = known.Problem
	}
	return strings.ReplaceAll(problem, "%s", name)
}
