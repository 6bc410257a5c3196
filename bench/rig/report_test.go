package rig

import (
	"testing"
	"time"
)

func TestDistribution(t *testing.T) {
	var all []time.Duration
	for n := range 100 {
		all = append(all, time.Duration(100-n)*time.Second)
	}
	if got, want := DistributionOf(all), (Distribution{P50: 51, P99: 100, Max: 100}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := DistributionOf(nil); got != (Distribution{}) {
		t.Errorf("of nothing: %v", got)
	}
}
