package distribution_test

import (
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// begin draws a world: which kind it is of, how slow AWS is, and what is there already.
func begin(t *rapid.T) *play {
	p := newPlay(rapid.Bool().Draw(t, "a group"), t.Fatalf)
	seconds := func(name string, most int) time.Duration {
		return time.Duration(rapid.IntRange(0, most).Draw(t, name)) * time.Second
	}
	p.aws.deploys, p.aws.arrives = seconds("deploys", 300), seconds("arrives", 30)
	p.aws.appears, p.aws.vanishes = seconds("appears", 60), seconds("vanishes", 60)
	if rapid.IntRange(0, 2).Draw(t, "exists") == 0 {
		tags := rapid.SampledFrom([]map[string]string{{"their": "x"}, former.Tags(), other.Tags()}).Draw(t, "tags")
		r := p.aws.add("", "theirs", rapid.Bool().Draw(t, "enabled"), tags)
		r.Default = p.aws.named && rapid.IntRange(0, 3).Draw(t, "default") == 0
		if !p.aws.named {
			p.in.Desired.Adopts = r.ID
		}
		p.in.Policy.Adoption = policies.Draw(t, "adoption")
		p.aws.tick(time.Hour)
	}
	return p
}

var (
	policies = rapid.SampledFrom([]resource.AdoptionPolicy{resource.AdoptNever, resource.AdoptIfUnowned, resource.AdoptForce})
	drifts   = rapid.SampledFrom([]resource.DriftPolicy{resource.DriftEnforce, resource.DriftReport, resource.DriftSuspend})
	endings  = rapid.SampledFrom([]ending{beforeTheCall, afterTheCall, unstored})
	comments = rapid.SampledFrom([]string{"first", "second", "third"})
	troubles = rapid.SampledFrom([]fault.Kind{
		fault.None, fault.Throttled, fault.Transient, fault.Conflict, fault.NotDisabled, fault.InUse, fault.Denied, fault.Quota, fault.Invalid,
	})
)

// edits are what the object's author can do.
func edits(p *play, t *rapid.T) map[string]func() {
	return map[string]func(){
		"comment":  func() { p.edit(func() { p.comment = comments.Draw(t, "comment") }) },
		"enabled":  func() { p.edit(func() { p.in.Desired.Enabled = !p.in.Desired.Enabled }) },
		"tags":     func() { p.edit(func() { p.in.Desired.Tags = map[string]string{comments.Draw(t, "key"): "x"} }) },
		"drift":    func() { p.edit(func() { p.in.Policy.Drift = drifts.Draw(t, "drift") }) },
		"adoption": func() { p.edit(func() { p.in.Policy.Adoption = policies.Draw(t, "adoption") }) },
		"retain":   func() { p.edit(func() { p.in.Policy.Retain = !p.in.Policy.Retain }) },
		"pause":    func() { p.in.Paused = !p.in.Paused },
		"nudge":    func() { p.in.Nudged = true; p.pass(stored); p.in.Nudged = false },
		"delete": func() {
			if rapid.IntRange(0, 2).Draw(t, "really") == 0 {
				p.askToGo()
			}
		},
	}
}

// meddling is what a user can do in AWS.
func meddling(p *play, t *rapid.T) map[string]func() {
	to := func(how func(*playedResource)) func() {
		return func() {
			if r := p.aws.living(); r != nil {
				how(r)
			}
		}
	}
	return map[string]func(){
		"a person disables": to(func(r *playedResource) { r.Enabled = false; p.aws.touch(r) }),
		"a person enables":  to(func(r *playedResource) { r.Enabled = true; p.aws.touch(r) }),
		"a person edits":    to(func(r *playedResource) { r.comment = comments.Draw(t, "theirs"); p.aws.touch(r) }),
		"a person deletes": to(func(r *playedResource) {
			if !r.Default {
				r.deleted = p.aws.now
			}
		}),
		"a person takes tags": to(func(r *playedResource) {
			r.tags = rapid.SampledFrom([]map[string]string{{}, former.Tags(), other.Tags(), me.Tags()}).Draw(t, "tags")
			if !p.in.HasFinalizer && ownership.Relate(me, r.tags) == ownership.Ours {
				r.tags = nil
			}
		}),
		"a tenant comes": to(func(r *playedResource) { r.tenants++ }),
		"a tenant goes":  to(func(r *playedResource) { r.tenants = max(0, r.tenants-1) }),
	}
}

// moves are all that can happen in addition to the object's passes.
func moves(p *play, t *rapid.T) map[string]func() {
	persons := meddling(p, t)
	all := map[string]func(){
		"a moment":    func() { p.aws.tick(5 * time.Second) },
		"a while":     func() { p.aws.tick(time.Minute) },
		"an hour":     func() { p.aws.tick(time.Hour) },
		"restart":     p.restart,
		"a crash":     func() { p.pass(endings.Draw(t, "ends")) },
		"no answer":   func() { p.aws.loses = true; p.pass(stored); p.aws.loses = false },
		"writes fail": func() { p.aws.writes = troubles.Draw(t, "with") },
		"reads fail": func() {
			p.aws.reads = rapid.SampledFrom([]fault.Kind{fault.None, fault.Denied, fault.Transient, fault.Throttled}).Draw(t, "with")
		},
		"meanwhile": func() {
			p.aws.between = persons[rapid.SampledFrom(sortedKeys(persons)).Draw(t, "what")]
			p.pass(stored)
			p.aws.between = nil
		},
	}
	maps.Copy(all, persons)
	maps.Copy(all, edits(p, t))
	return all
}

// However edits, people, tenants, failures, lost answers, lagging reads and crashes come together: there are never two
// resources for one object, nothing is written without proof or ended under a tenant, what status says is true, and in
// the end all is as the spec asks, or gone.
func TestEveryPlayEndsWell(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := begin(t)
		all := moves(p, t)
		names := sortedKeys(all)
		for range 12 {
			names = append(names, "pass")
		}
		draw := rapid.SampledFrom(append(names, "a moment", "a moment", "a while"))
		for range rapid.IntRange(5, 60).Draw(t, "length") {
			switch name := draw.Draw(t, "move"); name {
			case "pass":
				t.Logf("%s by %s", p.pass(stored), p.aws.now.Format(time.TimeOnly))
			default:
				all[name]()
			}
			p.safe()
		}
		calm(p)
		ended(t, p)
	})
}

// calm ends all trouble, gives back what a user took, and lets time pass.
func calm(p *play) {
	p.aws.reads, p.aws.writes, p.in.Paused = fault.None, fault.None, false
	for _, r := range p.aws.resources {
		r.tenants = 0
		if r.alive() && r.ID == p.in.Memory.ID && p.in.HasFinalizer && !p.gone {
			r.tags = merged(r.tags, me.Tags())
		}
	}
	if p.in.Policy.Drift != resource.DriftEnforce || p.in.Policy.Adoption != resource.AdoptForce {
		p.edit(func() { p.in.Policy.Drift, p.in.Policy.Adoption = resource.DriftEnforce, resource.AdoptForce })
	}
	for range 60 {
		p.pass(stored)
		p.safe()
		p.aws.tick(time.Minute)
	}
	// Tags are trusted for a day unless they are about to be acted on.
	for range 20 {
		p.pass(stored)
		p.aws.tick(4 * time.Hour)
	}
}

// ended checks that the world is as the object asks.
func ended(t *rapid.T, p *play) {
	r := p.aws.living()
	if !p.in.DeletedAt.IsZero() {
		if !p.gone {
			t.Fatalf("it was deleted and is there: %+v", p.in.Memory)
		}
		if r != nil && r.reference != "" && p.left == "" {
			t.Fatalf("it is gone, reported to leave nothing behind, and left %+v", r)
		}
		return
	}
	p.pass(stored)
	before := p.in.Memory
	written := p.aws.serial
	p.aws.tick(time.Minute)
	if rule := p.pass(stored); r == nil && p.in.Desired.Adopts != "" {
		if got := p.in.Memory.Conditions[chain.Ready].Reason; got != resource.ReasonValidationFailed {
			t.Fatalf("what was to be adopted is gone, and Ready says %s", got)
		}
		return
	} else if rule != "Idle" && (rule != "Serving" || !p.inherits(r)) {
		t.Fatalf("rule %s repeats forever: %+v", rule, p.in.Memory.Conditions)
	}
	if d := cmp.Diff(before, p.in.Memory); d != "" || p.aws.serial != written {
		t.Fatalf("a quiet pass writes (-before +after):\n%s", d)
	}
	asAsked(t, p, r)
}

// inherits reports whether the resource was adopted, and stays as it was until the spec changes.
func (p *play) inherits(r *playedResource) bool {
	return p.in.AdoptedGeneration == p.in.Generation && r.ID == p.in.AdoptedID
}

func asAsked(t *rapid.T, p *play, r *playedResource) {
	inherits := p.inherits(r)
	if d := differences(p.comment, p.in.Desired.Enabled, r); len(d) > 0 && !inherits {
		t.Fatalf("in the end AWS differs: %v", d)
	}
	for k, v := range ownership.Merge(p.in.Desired.Tags, me) {
		if r.tags[k] != v {
			t.Fatalf("in the end tag %s is %q, want %q", k, r.tags[k], v)
		}
	}
	for _, c := range p.in.Memory.Conditions {
		if asked := c.Reason == resource.ReasonDisabled && !p.in.Desired.Enabled; !c.Status && !inherits && !asked {
			t.Fatalf("%s is %s in the end: %s", c.Type, c.Reason, c.Message)
		}
	}
}
