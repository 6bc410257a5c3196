package distributiontenant

import (
	"slices"
	"time"
)

// Served is the certificate with which CloudFront answers for a tenant's domains, as ACM last showed it.
type Served struct {
	ARN      string
	NotAfter time.Time
	// Issuer is empty where only a list of ACM has shown the certificate, and that does not tell.
	Issuer string
	// Type is ACM's, for example AMAZON_ISSUED. CloudFrontManaged means that CloudFront requested the certificate.
	Type              string
	CloudFrontManaged bool
	// Inherited means that it is the distribution's. Only Memory has it.
	Inherited bool
}

// typeAmazonIssued is ACM's word for a certificate that it has issued itself, and amazon the issuer that it shows of
// such a one.
const (
	typeAmazonIssued = "AMAZON_ISSUED"
	amazon           = "Amazon"
)

// Served is what is reported of the certificate. Nil where ACM does not tell when it expires.
func (c Certificate) Served() *Served {
	if c.Missing || c.Unreadable || c.NotAfter.IsZero() {
		return nil
	}
	s := Served{ARN: c.ARN, NotAfter: c.NotAfter.Truncate(time.Second).UTC(), Issuer: c.Issuer, Type: c.Type, CloudFrontManaged: c.CloudFrontManaged}
	if s.Issuer == "" && s.Type == typeAmazonIssued {
		s.Issuer = amazon
	}
	return &s
}

// Completed has the issuer that was known before where nothing else has changed since.
func (s Served) Completed(before *Served) Served {
	if s.Issuer == "" && before != nil && before.ARN == s.ARN && before.NotAfter.Equal(s.NotAfter) {
		s.Issuer = before.Issuer
	}
	return s
}

// InUse is the ARN of the certificate with which CloudFront answers for the tenant's domains: its own, or else that of
// its distribution. It is empty for a tenant that has neither, as it is while its first managed certificate is on its
// way.
func (in Input) InUse() (arn string, known bool) {
	t := in.World.Tenant
	switch {
	case t == nil:
		return "", true
	case t.Customizations.CertificateARN != "":
		return t.Customizations.CertificateARN, true
	case in.Desired.Request != nil && !t.answersForAll():
		return "", true
	}
	return in.World.Inherited, in.World.InheritedKnown
}

// answersForAll reports whether CloudFront answers for every domain of the tenant.
func (o Observed) answersForAll() bool {
	return !slices.ContainsFunc(o.Domains, func(d string) bool { return o.DomainStates[d] != DomainActive })
}

// served is what status says of the certificate in use. If nothing is known of the certificate, status keeps what it
// has of the same certificate, which may not have changed.
func (in conclusion) served() *Served {
	before := in.Memory.Served
	arn, known := in.InUse()
	if !known {
		if before != nil && before.Inherited && in.Memory.Parents.DistributionID == in.World.Tenant.DistributionID {
			return before
		}
		return nil
	}
	if now := in.World.Served; arn != "" && now != nil && now.ARN == arn {
		s := now.Completed(before)
		return &s
	}
	if before != nil && before.ARN == arn {
		return before
	}
	return nil
}
