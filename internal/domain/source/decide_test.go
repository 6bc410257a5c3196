package source_test

import (
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/source"
)

// input is a source that was polled a minute ago, and rests.
func input(change ...func(*source.Input)) source.Input {
	in := source.Input{
		Now: noon, Generation: 1, Policy: source.PolicyDelete, Guard: usual,
		Memory:  source.Memory{Generation: 1, LastPoll: noon.Add(-time.Minute)},
		Session: &source.Session{LastRegular: noon.Add(-time.Minute), Generation: 1},
	}
	for _, c := range change {
		c(&in)
	}
	return in
}
