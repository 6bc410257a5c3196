package distributiontenant

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

func TestMemoryOfAttempts(t *testing.T) {
	t.Parallel()
	at := time.Unix(7, 0)
	usual := distributiontenant.Attempts{Tries: resource.Tries{AcceptedFor: 3, Accepted: resource.WroteConfig, CreatedAt: at, Announced: at}}
	usual.Led = distributiontenant.Parents{DistributionID: "E1"}
	failed := usual
	failed.Last, failed.Transients, failed.DisableRefused = at, 2, true
	for what, tt := range map[string]struct {
		given distributiontenant.Attempts
		rest  bool
	}{
		"an object that never had a pass has nothing": {},
		"an object at rest takes little memory":       {given: usual},
		"nothing of a failure is forgotten":           {given: failed, rest: true},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			m := &memory{}
			m.remember(failed)
			m.remember(tt.given)
			if diff := cmp.Diff(tt.given, m.attempts()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if (m.rest != nil) != tt.rest {
				t.Errorf("the rest is %+v, want one: %t", m.rest, tt.rest)
			}
		})
	}
}
