package instant_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/instant"
)

func TestATimeComesBack(t *testing.T) {
	t.Parallel()
	if got := instant.Of(time.Time{}).Time(); !got.IsZero() {
		t.Errorf("the zero time comes back as %s", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		want := time.Unix(rapid.Int64Range(1, 1<<33).Draw(t, "seconds"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanoseconds"))
		if got := instant.Of(want).Time(); !got.Equal(want) {
			t.Fatalf("%s comes back as %s", want, got)
		}
	})
}
