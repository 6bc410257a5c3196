package config

import (
	"flag"
	"fmt"
	"math"
)

// Invalidations says how fast and how many paths may be invalidated.
type Invalidations struct {
	Rate        float64
	Burst       int
	PathsPerDay int
}

func (i *Invalidations) bind(f *flag.FlagSet) {
	f.Float64Var(&i.Rate, "invalidation-rate", 0.5, "Average number of invalidations requested per second. AWS allows 0.5 per account unless it has raised the limit.")
	f.IntVar(&i.Burst, "invalidation-burst", 5, "Number of invalidations that may be requested in a burst.")
	f.IntVar(&i.PathsPerDay, "invalidation-paths-per-day", 1000, "Number of paths that the Invalidations of one namespace may request in 24 hours. AWS charges for each path after the first 1,000 of an account in a month. 0: any number.")
}

func (i *Invalidations) validate() error {
	switch {
	case !(i.Rate > 0) || math.IsInf(i.Rate, 0): // NaN is not above 0 either
		return fmt.Errorf("--invalidation-rate=%g: use a number above 0", i.Rate)
	case i.Burst < 2:
		return fmt.Errorf("--invalidation-burst=%d: use at least 2", i.Burst)
	case i.PathsPerDay < 0:
		return fmt.Errorf("--invalidation-paths-per-day=%d: use a number that is not negative", i.PathsPerDay)
	}
	return nil
}
