package config

import (
	"flag"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
)

// The least that one read of a table needs.
const (
	minReadTimeout = time.Second
	minReadMemory  = 32 * mebibyte
)

// Sources says what sources may do, and how much of it.
type Sources struct {
	Targets     List
	ReadTimeout time.Duration
	// FirstRow is how long the first row of a table may take.
	FirstRow   time.Duration
	MaxRows    int
	MaxWatches int
	ReadMemory Size
	AllowDial  List
	// DynamoDBEndpoint is empty for AWS's own.
	DynamoDBEndpoint string
}

func (s *Sources) bind(f *flag.FlagSet) {
	f.Var(&s.Targets, "tenantsource-target-namespaces",
		"Comma-separated list of namespaces in which any TenantSource may create tenants, or from/to pairs that allow it for the sources of one namespace. Every source may use its own namespace. Empty: no other namespaces.")
	f.DurationVar(&s.FirstRow, "tenantsource-first-row-timeout", 15*time.Second,
		"Maximum time until the first row of the table of a TenantSource, or until its end if it has no rows. At least 1s. A value above --tenantsource-read-timeout has no effect.")
	f.DurationVar(&s.ReadTimeout, "tenantsource-read-timeout", 5*time.Minute, "Maximum time to read the table of a TenantSource. At least 1s.")
	f.IntVar(&s.MaxWatches, "tenantsource-max-watches", 20, "Maximum number of TenantSources with spec.watch whose databases report changes at the same time. Others are only read every pollInterval. Each takes a process of about 15 MiB, except with DynamoDB.")
	f.IntVar(&s.MaxRows, "tenantsource-max-rows", 200_000, "Maximum number of rows in the table of a TenantSource. A table with more rows is not used at all.")
	s.ReadMemory = 64 * mebibyte
	f.Var(&s.ReadMemory, "tenantsource-read-memory",
		"Memory that reading one table may use, such as 64Mi: the process that reads it, and its rows together. Four tables are read at the same time. At least 32Mi. Not for DynamoDB.")
	f.Var(&s.AllowDial, "tenantsource-allow-dial",
		"Comma-separated list of networks (127.0.0.0/8) or addresses at which a TenantSource may have its database although they are loopback, link-local, multicast or those of the API server. Empty: none of these.")
	f.StringVar(&s.DynamoDBEndpoint, "dynamodb-endpoint", "", "URL of DynamoDB. Empty: the endpoint of the environment, or AWS.")
}

func (s *Sources) validate() error {
	for _, target := range s.Targets {
		for part := range strings.SplitSeq(target, "/") {
			if problems := validation.IsDNS1123Label(part); len(problems) > 0 || strings.Count(target, "/") > 1 {
				return fmt.Errorf("--tenantsource-target-namespaces: %q is neither a namespace name nor a from/to pair of namespace names", target)
			}
		}
	}
	for _, text := range s.AllowDial {
		if _, err := parsePrefix(text); err != nil {
			return fmt.Errorf("--tenantsource-allow-dial: %q is neither a network such as 127.0.0.0/8 nor an address", text)
		}
	}
	switch {
	case s.ReadTimeout < minReadTimeout:
		return fmt.Errorf("--tenantsource-read-timeout=%s: use at least %s", s.ReadTimeout, minReadTimeout)
	case s.FirstRow < minReadTimeout:
		return fmt.Errorf("--tenantsource-first-row-timeout=%s: use at least %s", s.FirstRow, minReadTimeout)
	case s.MaxRows < 1:
		return fmt.Errorf("--tenantsource-max-rows=%d: use at least 1", s.MaxRows)
	case s.MaxWatches < 0:
		return fmt.Errorf("--tenantsource-max-watches=%d: use 0 or more", s.MaxWatches)
	case s.ReadMemory < minReadMemory:
		return fmt.Errorf("--tenantsource-read-memory=%s: use at least 32Mi", s.ReadMemory.String())
	}
	return nil
}

// DialAllowed are the networks of the flag, which was checked.
func (s *Sources) DialAllowed() []netip.Prefix {
	prefixes := make([]netip.Prefix, 0, len(s.AllowDial))
	for _, text := range s.AllowDial {
		if prefix, err := parsePrefix(text); err == nil {
			prefixes = append(prefixes, prefix)
		}
	}
	return prefixes
}

// parsePrefix takes a network or a single address.
func parsePrefix(text string) (netip.Prefix, error) {
	if address, err := netip.ParseAddr(text); err == nil {
		return address.Prefix(address.BitLen())
	}
	return netip.ParsePrefix(text)
}
