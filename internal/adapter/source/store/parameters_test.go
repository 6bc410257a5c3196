package store_test

import (
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
)

func TestParameters(t *testing.T) {
	parameters := store.Parameters{
		Known: []store.Parameter{
			{Names: "timeout charset"},
			{Names: "sslmode", Values: []string{"require"}, Problem: "has an unknown value for %s"},
			{Names: "sslkey sslcert", Problem: "has the parameter %s, which names a file"},
		},
		TLS: "has the parameter %s of another store", Other: "has an unknown parameter",
	}
	for name, tt := range map[string]struct{ name, value, want string }{
		"one that is free":                     {"charset", "any", ""},
		"one with a value that it may have":    {"sslmode", "require", ""},
		"one with another value":               {"sslmode", "", "has an unknown value for sslmode"},
		"one that is never taken":              {"sslcert", "", "has the parameter sslcert, which names a file"},
		"the word of another store for TLS":    {"useSSL", "true", "has the parameter useSSL of another store"},
		"a known one in other letters":         {"SSLMODE", "require", "has the parameter SSLMODE of another store"},
		"what may be a piece of a password":    {"s3cr3t", "", "has an unknown parameter"},
		"the beginning of one that is free":    {"time", "", "has an unknown parameter"},
		"several that are free, in one":        {"timeout charset", "", "has an unknown parameter"},
		"nothing, which stands in every list":  {"", "", "has an unknown parameter"},
		"one that is free, with a blank after": {"timeout ", "", "has an unknown parameter"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := parameters.Check(tt.name, tt.value); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if got := (store.Parameters{}).Check("any", ""); got != "" {
		t.Errorf("a library that refuses what it does not know is not asked: %q", got)
	}
}
