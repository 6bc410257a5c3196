package nameserver

import (
	"math"
	"testing"
)

// The serial number that is waited for may be passed, also where the numbers begin again.
func TestReached(t *testing.T) {
	for name, tt := range map[string]struct {
		got, want uint32
		reached   bool
	}{
		"an earlier one":                  {6, 7, false},
		"the same":                        {7, 7, true},
		"a later one":                     {8, 7, true},
		"a later one after the largest":   {1, math.MaxUint32, true},
		"an earlier one than the largest": {math.MaxUint32, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := reached(tt.got, tt.want); got != tt.reached {
				t.Errorf("got %t", got)
			}
		})
	}
}
