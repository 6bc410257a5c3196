// Package model plays the whole operator (controller, driver, inventory, adapter and SDK)
// against the simulated AWS through crashes, lost answers, lagging reads, other people's
// changes and a user who changes their mind. Then the noise stops, and the operator has to
// have harmed nothing, lost nothing, and come to rest where the specs say.
package model_test

import (
	"flag"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
	ctrl "sigs.k8s.io/controller-runtime"

	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// steps is the average length of a story, checks how many of each kind are played, unless -rapid.steps and -rapid.checks
// say otherwise. Most of what can go wrong needs three or four things to meet; longer stories only take longer. With seed,
// the short tests play the same each time, so that a change fails for its own faults only; TestSchedules draws others.
const (
	steps  = "14"
	checks = "30"
	seed   = "1"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	for name, usual := range map[string]string{"rapid.steps": steps, "rapid.checks": checks, "rapid.seed": seed} {
		if _, chosen := os.LookupEnv(strings.ToUpper(strings.ReplaceAll(name, ".", "_"))); chosen {
			continue
		}
		if err := flag.Set(name, usual); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// The times of the last act. A failure is tried again after half an hour at most, and one
// object may have to wait for another one's try.
const (
	settling = 150 * time.Minute
	resting  = 30 * time.Minute
)

func TestTheOperatorHarmsNothingAndComesToRest(t *testing.T) { checkTenants(t) }

func checkTenants(t *testing.T) {
	t.Helper()
	// In the bubble time is fake, so that nothing the SDK waits for takes any.
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(bubbleTB{t}, func(t *rapid.T) {
			defer tick()
			m := newModel(t)
			t.Repeat(counted(m.actions()))
			m.calmDown()
			m.Advance(settling)
			m.checkNothingLost()
			m.checkConverged()
			m.checkRest()
			played.schedules.Add(1)
		})
	})
}

// bubbleTB hides the deadline of the test, which a bubble doesn't allow to ask for.
type bubbleTB struct{ rapid.TB }

// tick lets some of the bubble's time pass: rapid bounds by it how long it simplifies a case that fails. A failure lets
// it pass as well, or a case that keeps failing would be simplified for hours: each try of one that spins takes
// seconds.
func tick() { <-time.NewTimer(200 * time.Millisecond).C }

// model is a world and what is remembered of what was done to it.
type model struct {
	*world.World
	t *rapid.T
	// theirs are tenants that someone else created, as they have to stay; takenOver is when someone took a tenant of
	// ours over.
	theirs    map[string]sim.TenantState
	takenOver map[string]time.Time
	// groups has the connection group that someone moved a tenant to.
	groups map[string]string
	// theirTags has the tag that someone put on a tenant.
	theirTags map[string]string
	// pausedAt is when objects were paused that are, by their UID.
	pausedAt map[types.UID]time.Time
	// race is what someone does at the raceAt-th call of the operator from now.
	race   func()
	raceAt int
	// tagsTouched is true once someone changed tags of a tenant that is not theirs.
	tagsTouched bool
	// writes counts the operator's mutating calls.
	writes int
}

func emptyModel(t *rapid.T) *model {
	return &model{t: t, theirs: map[string]sim.TenantState{}, takenOver: map[string]time.Time{}, groups: map[string]string{}, theirTags: map[string]string{}, pausedAt: map[types.UID]time.Time{}}
}

func newModel(t *rapid.T) *model {
	m := emptyModel(t)
	switches := sim.DefaultSwitches()
	for _, s := range []*bool{
		&switches.DeleteNeedsDeployed, &switches.DeployMovesETag, &switches.SummaryETagDiffers, &switches.GetReturnsTags,
		&switches.TagMovesETag, &switches.EmptyCustomizationsEchoed, &switches.Allowed.NeedlessEmptyBlocks,
	} {
		*s = rapid.Bool().Draw(t, "switch")
	}
	// A block that could not be taken away would never be as the spec has it.
	switches.Allowed.EmptyBlocks = true
	options := world.Options{Switches: &switches, BeforeAWS: m.beforeCall}
	seed := world.Seed()
	seed.ConnectionGroups = []sim.SeedConnectionGroup{{ID: "cg_main", Default: true}, {ID: otherGroup}}
	options.Seed = &seed
	if rapid.Bool().Draw(t, "scarce calls") {
		options.Rate, options.Burst = 0.5, 3
	}
	m.World = world.NewOffline(t, options)
	return m
}

// calmDown ends the noise. Changes of users in AWS stay.
func (m *model) calmDown() {
	m.Sim.ClearFaults()
	m.CrashAt(-1, false)
	m.LagReads(0)
	m.race = nil
	m.Sim.ChangeSwitches(noLag)
	for _, o := range m.objects() {
		m.pause(o.Name, false)
	}
	// Tags that someone changed are noticed within a day; here the test asks for it. Everything else has to be noticed
	// without asking.
	for _, o := range m.objects() {
		if m.tagsTouched {
			m.nudge(o.Name, "calm")
		}
	}
}

func noLag(s *sim.Switches) {
	s.GetLag, s.ListLag, s.UpdateLag, s.DeleteLag, s.DeployDelay = 0, 0, 0, 0, world.DeployDelay
}
