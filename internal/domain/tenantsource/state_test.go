package tenantsource_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantsource"
)

// written is all that a state says, with the round behind its pointer.
func written(s tenantsource.State) string {
	round := "none"
	if s.Round != nil {
		round = fmt.Sprintf("%+v", *s.Round)
	}
	s.Round = nil
	return fmt.Sprintf("%+v\n%s", s, round)
}

// A pass may still hold the state before an event, and a report is made from the state that it was made for.
func TestAnEventLeavesTheFormerStateAsItIs(t *testing.T) {
	in := input()
	owned, present := ownedN(25), []string{}
	for _, o := range owned[3:] {
		present = append(present, o.Name)
	}
	in.Now, in.State.Losses = noon.Add(5*time.Minute), absent(3, 1)
	in.Memory.Cleared, in.Memory.History = []string{"u000"}, tenantsource.History{{Time: noon, Count: 1}}
	in.State.Back = map[string]bool{"u001": true}
	changes := []tenantsource.Change{
		{Action: tenantsource.Update, Name: "t003", UID: "u003", Harm: "removes a domain"},
		{Action: tenantsource.Create, Name: "new"}, {Action: tenantsource.Create, Name: "other"},
	}
	h := tenantsource.Present(present...)
	h.Changes = changes
	failure := &tenantsource.Failure{Reason: tenantsource.PollFailed}
	for _, e := range []tenantsource.Event{
		tenantsource.Began{}, tenantsource.Completed{Harvest: h, Owned: owned}, tenantsource.Counted{},
		tenantsource.Written{Done: true}, tenantsource.Written{Refused: "no"}, tenantsource.Written{Done: true},
		tenantsource.Removed{Done: true}, tenantsource.Removed{Refused: "no"}, tenantsource.Resumed{},
		tenantsource.Failed{Failure: failure, Seen: tenantsource.Present("t000"), Owned: owned}, tenantsource.Ended{},
		tenantsource.NamedBegan{}, tenantsource.NamedFailed{Reason: tenantsource.PollFailed},
		tenantsource.Judged{Owned: owned}, tenantsource.Dropped{},
	} {
		if _, ok := e.(tenantsource.Resumed); ok {
			in.Now = in.Now.Add(10 * time.Minute)
		}
		before, was, read := in.State, written(in.State), fmt.Sprintf("%+v", h)
		apply(&in, e)
		if now := written(before); now != was {
			t.Errorf("after %T the state before it is\n%s\nand was\n%s", e, now, was)
		}
		if written(in.State) == was {
			t.Errorf("%T changes nothing", e)
		}
		if now := fmt.Sprintf("%+v", h); now != read {
			t.Errorf("after %T what was read is\n%s\nand was\n%s", e, now, read)
		}
	}
}
