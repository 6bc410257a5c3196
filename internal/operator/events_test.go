package operator_test

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/validation"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator"
)

// The longest name of an object still makes one for its events, which tells them apart.
func TestEventNames(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, object := range []string{"a", strings.Repeat("a", 253)} {
		first, second := operator.EventName(object, now), operator.EventName(object, now.Add(time.Nanosecond))
		if first == second {
			t.Errorf("two events are both named %s", first)
		}
		if problems := validation.NameIsDNSSubdomain(first, false); len(problems) > 0 {
			t.Errorf("%s: %s", first, problems)
		}
	}
}
