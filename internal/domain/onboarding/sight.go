// Package onboarding says what a domain of a customer needs to be live: which records have to be set and by whom, what
// public DNS shows instead, and which state follows from that. All advice about domains comes from here.
package onboarding

import (
	"slices"
	"time"
)

// Way is where public DNS leads a name.
type Way string

// The ways. The empty one means that the name was not looked at yet.
const (
	// Here means that every resolver that answered leads the name to one of its targets.
	Here Way = "Here"
	// Partly means that some resolvers do, and others still have an earlier answer.
	Partly Way = "Partly"
	// Nowhere means that there is no record.
	Nowhere Way = "Nowhere"
	// Elsewhere means that the records lead to another name, or to addresses that name no target.
	Elsewhere Way = "Elsewhere"
	// Edge means that they lead to CloudFront, but to another endpoint than that of the tenant.
	Edge Way = "Edge"
	// Circle means that the CNAMEs of the name lead back to themselves, or are too many to follow.
	Circle Way = "Circle"
	// Failing means that the resolvers work, and report a failure for this name or for the one that it leads to: its name
	// servers do not respond, or the signatures of its zone are not valid.
	Failing Way = "Failing"
	// Silent means that no resolver answered, or that all of them report a failure, whatever they are asked.
	Silent Way = "Silent"
)

// Ways are all of them.
var Ways = []Way{"", Here, Partly, Nowhere, Elsewhere, Edge, Circle, Failing, Silent}

// Known reports whether the resolvers have said something about the name.
func (w Way) Known() bool { return w != "" && w != Silent }

// Astray reports whether the records lead to something that is not the tenant's, or there are none.
func (w Way) Astray() bool { return w.Known() && w != Here && w != Partly && w != Failing }

// MaxSeen is how many values a sight has at most, so that an answer of any size stays readable.
const MaxSeen = 4

// Sight is what public DNS shows of a name.
type Sight struct {
	Way Way
	// Seen are the values that were found instead of a target, sorted.
	Seen []string
	// Since is when the name was first seen to lead this way, and At when a resolver last told so.
	Since, At time.Time
	// Astray is since when customers don't reach a live name, however the way has changed meanwhile. Zero: they do, or the
	// name is not live.
	Astray time.Time
}

// Same reports whether two sights tell the same, whenever they were taken.
func (s Sight) Same(other Sight) bool { return s.Way == other.Way && slices.Equal(s.Seen, other.Seen) }

// Lost reports whether a live name has led elsewhere for so long that this is neither a mistake of a moment nor an
// earlier answer.
func (s Sight) Lost() bool { return !s.Astray.IsZero() && s.At.Sub(s.Astray) >= LostAfter }

// Name is a name to look at.
type Name struct {
	Name string
	// Targets are where it may lead: the first is the one to recommend.
	Targets []string
	// Live means that customers are served under the name already.
	Live bool
	// Asked is when the name was first asked for, or when it was last changed.
	Asked time.Time
}

// The pauses between two looks at a name.
const (
	// freshFor is how long a user who was just told which record to set is expected to be at work on it.
	freshFor   = time.Hour
	firstPause = 15 * time.Second
	freshPause = 30 * time.Second
	lastPause  = time.Hour
	// livePause and strayPause are those of a name that is live, and of one that is live and led elsewhere when it was last
	// looked at.
	livePause  = 12 * time.Hour
	strayPause = time.Hour
)

// LostAfter is how long a live name leads elsewhere before it counts as lost. With livePause before it, that is found
// within a day.
const LostAfter = 11 * time.Hour

// settling is for a name that leads to its target: the rest is up to CloudFront, and the name may be changed back.
const settling = 5 * time.Minute

// Pause is the time until a name is looked at again after the sight s, which was taken at s.At.
func (n Name) Pause(s Sight) time.Duration {
	age := s.At.Sub(n.Asked)
	switch {
	case n.Live && (s.Way == Here || !s.Way.Known()):
		return livePause
	case n.Live:
		if lost := s.Astray.Add(LostAfter).Sub(s.At); !s.Astray.IsZero() && lost > 0 {
			return min(lost, strayPause)
		}
		return strayPause
	case s.Way == Here:
		return settling
	case age < freshFor/4:
		return firstPause
	case age < freshFor:
		return freshPause
	}
	return min(max(freshPause, age-freshFor), lastPause)
}

// Then is what is known of a name after a look at look.At has shown look, where before was known. Silence says nothing,
// so what was known stays; and neither does a failure of a name that is live or leads to its target, which may be the
// resolvers' own.
func (n Name) Then(before, look Sight) Sight {
	if look.Way == Failing && (n.Live || before.Way == Here || before.Way == Partly) {
		look.Way, look.Seen = Silent, nil
	}
	if look.Way == Silent && before.Way.Known() {
		return before
	}
	after := Sight{Way: look.Way, Seen: look.Seen, Since: look.At, At: look.At}
	if before.Way == after.Way {
		after.Since = before.Since
	}
	if n.Live && after.Way.Astray() {
		if after.Astray = before.Astray; after.Astray.IsZero() {
			after.Astray = look.At
		}
	}
	return after
}

// Fresh reports whether a user who asked for the name is expected to be at work on its record.
func (n Name) Fresh(now time.Time) bool { return !n.Live && now.Sub(n.Asked) < freshFor }

// Spread is the time over which the first looks at names that were asked for long ago are spread, as after a restart.
const Spread = 10 * time.Minute

// First is when a name that was not looked at yet is due: at once while a user may be waiting, and else at a random
// time, with random in [0, 1).
func (n Name) First(now time.Time, random float64) time.Time {
	if n.Fresh(now) {
		return now
	}
	return now.Add(time.Duration(random * float64(Spread)))
}
