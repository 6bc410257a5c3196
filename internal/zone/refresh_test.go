package zone_test

import (
	"testing"
	"time"
)

// A user who asks to look sees what others did to the zone, without a listing for each question.
func TestAZoneIsListedWhenSomebodyAsks(t *testing.T) {
	r := newRig(t)
	o := r.object(1, cname("a"))
	r.run(time.Minute)
	calls := r.cost(func() {
		for range 10 {
			r.Refresh(o.Owner)
			r.run(5 * time.Second)
		}
	})
	if calls["ListRecords"] != 1 {
		t.Errorf("ten questions in a minute cost %d listings, want 1", calls["ListRecords"])
	}
}
