package main

import (
	"strings"
	"testing"
)

func TestCost(t *testing.T) {
	for name, c := range map[string]struct {
		cores int
		want  string
	}{
		"one core does all of it":          {1, "about 20 minutes with 1 core,"},
		"two cores share it":               {2, "about 10 minutes with 2 cores,"},
		"a rest is a minute more":          {6, "about 4 minutes with 6 cores,"},
		"many cores don't link any faster": {64, "about 3 minutes with 64 cores,"},
	} {
		if got := cost(c.cores); !strings.Contains(got, c.want) || !strings.Contains(got, "3 GB") {
			t.Errorf("%s: got %q, want %q and 3 GB", name, got, c.want)
		}
	}
}
