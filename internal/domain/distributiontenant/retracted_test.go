package distributiontenant_test

import (
	"strings"
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
)

// The pass that takes the last record out of the ledger is the last one for a while: what it
// says of them has to be true afterwards.
func TestTheLastRecordIsSpokenOfAsGone(t *testing.T) {
	for name, test := range map[string]struct {
		phase dns.Phase
		want  string
	}{
		"on its way out it is being removed": {dns.Leaving, "being removed"},
		"and when it is out none is left":    {dns.Absent, "The spec requests no DNS records."},
	} {
		t.Run(name, func(t *testing.T) {
			in := with(quiet(), ledger(test.phase, entry(alphaName, dns.Retracting)))
			in.Desired.DNS = nil
			for _, c := range distributiontenant.Conclude(in, distributiontenant.Outcome{}).Conditions {
				if c.Type == distributiontenant.DNSReady && !strings.Contains(c.Message, test.want) {
					t.Errorf("DNSReady says %q, want %q", c.Message, test.want)
				}
			}
		})
	}
}
