package config

import (
	"flag"
	"fmt"
	"time"
)

// DomainClaims says whether it is judged who may have a domain, and how long it is held after its release.
type DomainClaims struct {
	Enabled            bool
	Hold, HoldCustomer time.Duration
}

func (d *DomainClaims) bind(f *flag.FlagSet) {
	f.BoolVar(&d.Enabled, "domain-claims", true, "Let only one namespace have a domain, with the wildcards that cover it, and hold it for this namespace for a while after its release. Needs the CRD of DomainClaim.")
	f.DurationVar(&d.Hold, "domain-hold", 72*time.Hour, "Time for which a released domain is held for its namespace, if its DNS records are published by the operator. 0: not held.")
	f.DurationVar(&d.HoldCustomer, "domain-hold-customer", 720*time.Hour, "Time for which a released domain is held for its namespace, if the object has no spec.dns: the customer's record may point to CloudFront for longer. 0: not held.")
}

func (d *DomainClaims) validate() error {
	switch {
	case d.Hold < 0:
		return fmt.Errorf("--domain-hold=%s: use a time that is not negative", d.Hold)
	case d.HoldCustomer < 0:
		return fmt.Errorf("--domain-hold-customer=%s: use a time that is not negative", d.HoldCustomer)
	}
	return nil
}
