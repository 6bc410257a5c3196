package distributiontenant_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
)

func TestServed(t *testing.T) {
	spring, autumn := now.AddDate(0, 2, 0), now.AddDate(0, 8, 0)
	own := func(in *distributiontenant.Input) {
		change(in, func(o *distributiontenant.Observed) { o.Customizations.CertificateARN = ownARN })
		in.Desired.Customizations.CertificateARN = ownARN
	}
	inherits := func(in *distributiontenant.Input) { in.World.Inherited, in.World.InheritedKnown = distARN, true }
	seen := func(s distributiontenant.Served) func(*distributiontenant.Input) {
		return func(in *distributiontenant.Input) { in.World.Served = &s }
	}
	before := func(s distributiontenant.Served, distribution string) func(*distributiontenant.Input) {
		return func(in *distributiontenant.Input) {
			in.Memory.Served, in.Memory.Parents.DistributionID = &s, distribution
		}
	}
	inactive := func(in *distributiontenant.Input) {
		change(in, func(o *distributiontenant.Observed) {
			o.DomainStates = map[string]string{"alpha.example.com": "inactive"}
		})
	}
	ofOwn := func(end time.Time, issuer string) distributiontenant.Served {
		return distributiontenant.Served{ARN: ownARN, NotAfter: end, Issuer: issuer}
	}
	ofDist := func(end time.Time) distributiontenant.Served {
		return distributiontenant.Served{ARN: distARN, NotAfter: end, Issuer: "Amazon"}
	}
	inherited := ofDist(spring)
	inherited.Inherited = true
	type changes = []func(*distributiontenant.Input)
	for name, c := range map[string]struct {
		change changes
		want   *distributiontenant.Served
	}{
		"its own certificate, wherever it comes from":                 {changes{own, inherits, seen(ofOwn(spring, "A CA"))}, new(ofOwn(spring, "A CA"))},
		"the distribution's where it has none":                        {changes{inherits, seen(ofDist(spring))}, new(ofDist(spring))},
		"nothing where the distribution has none either":              {changes{func(in *distributiontenant.Input) { in.World.InheritedKnown = true }, before(inherited, "E1")}, nil},
		"a renewal is reported":                                       {changes{own, before(ofOwn(spring, "A CA"), "E1"), seen(ofOwn(autumn, "Another CA"))}, new(ofOwn(autumn, "Another CA"))},
		"the issuer stays while nothing but it is unknown":            {changes{own, before(ofOwn(spring, "A CA"), "E1"), seen(ofOwn(spring, ""))}, new(ofOwn(spring, "A CA"))},
		"the issuer of a renewed certificate is another question":     {changes{own, before(ofOwn(spring, "A CA"), "E1"), seen(ofOwn(autumn, ""))}, new(ofOwn(autumn, ""))},
		"what is not known stays for the same certificate":            {changes{own, before(ofOwn(spring, "A CA"), "E1")}, new(ofOwn(spring, "A CA"))},
		"and not for another one":                                     {changes{own, before(ofDist(spring), "E1")}, nil},
		"what was seen of another certificate is not this one's":      {changes{own, seen(ofDist(spring))}, nil},
		"an inherited one stays while the distribution is not read":   {changes{before(inherited, "E1")}, &inherited},
		"and not with another distribution":                           {changes{before(inherited, "E2")}, nil},
		"nor does one stay that was its own":                          {changes{before(ofOwn(spring, "A CA"), "E1")}, nil},
		"a requested certificate that is not attached serves nothing": {changes{requested, inactive, inherits, seen(ofDist(spring)), before(inherited, "E1")}, nil},
		"and is not missed where the distribution's serves":           {changes{requested, inherits, seen(ofDist(spring))}, new(ofDist(spring))},
	} {
		t.Run(name, func(t *testing.T) {
			got := distributiontenant.Conclude(with(quiet(), c.change...), distributiontenant.Outcome{Decision: distributiontenant.Decision{Step: distributiontenant.Rest{}}}).Served
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestServedOfACertificate(t *testing.T) {
	end := now.Add(300 * time.Millisecond)
	for name, c := range map[string]struct {
		given distributiontenant.Certificate
		want  *distributiontenant.Served
	}{
		"a list does not show the issuer, but ACM's own is known": {
			distributiontenant.Certificate{ARN: ownARN, NotAfter: end, Type: "AMAZON_ISSUED", CloudFrontManaged: true},
			&distributiontenant.Served{ARN: ownARN, NotAfter: now, Issuer: "Amazon", Type: "AMAZON_ISSUED", CloudFrontManaged: true},
		},
		"that of an imported one is not": {
			distributiontenant.Certificate{ARN: ownARN, NotAfter: end, Type: "IMPORTED"},
			&distributiontenant.Served{ARN: ownARN, NotAfter: now, Type: "IMPORTED"},
		},
		"where it is shown, it is taken": {
			distributiontenant.Certificate{ARN: ownARN, NotAfter: end, Type: "IMPORTED", Issuer: "A CA"},
			&distributiontenant.Served{ARN: ownARN, NotAfter: now, Type: "IMPORTED", Issuer: "A CA"},
		},
		"one that was not issued has no end":     {distributiontenant.Certificate{ARN: ownARN, Type: "AMAZON_ISSUED"}, nil},
		"of one that may not be read nothing is": {distributiontenant.Certificate{ARN: ownARN, Unreadable: true}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(c.want, c.given.Served()); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
