package convert_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/rollout"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantplan"
)

// planStory is a plan through its edits.
type planStory struct {
	*testing.T

	o *kleffv1.TenantPlan
}

func (s planStory) edit(change func(*kleffv1.TenantPlanSpec)) {
	s.o.Generation++
	change(&s.o.Spec)
}

func (s planStory) label(tier kleffv1.LabelValue) {
	s.edit(func(p *kleffv1.TenantPlanSpec) { p.Labels = map[string]kleffv1.LabelValue{"tier": tier} })
}

func (s planStory) pause(paused bool) {
	s.edit(func(p *kleffv1.TenantPlanSpec) { p.Rollout = &kleffv1.Rollout{Paused: paused} })
}

// is checks the generation of the content, before and after the operator stores what it has seen.
func (s planStory) is(want int64) {
	s.Helper()
	if got := convert.PlanGeneration(s.o); got != want {
		s.Errorf("the generation is %d, want %d", got, want)
	}
	convert.PlanStatus(&s.o.Status, s.o, tenantplan.Report{}, time.Unix(0, 0))
	if got := convert.PlanGeneration(s.o); got != want {
		s.Errorf("once it is stored, the generation is %d, want %d", got, want)
	}
}

func TestPlanGeneration(t *testing.T) {
	for name, story := range map[string]func(planStory){
		"of an earlier version is its own": func(s planStory) { s.is(7) },
		"stays through changes of the rollout": func(s planStory) {
			s.is(7)
			s.pause(true)
			s.is(7)
			s.pause(false)
			s.pause(true)
			s.is(7)
		},
		"stays through a deletion":                func(s planStory) { s.is(7); s.edit(func(*kleffv1.TenantPlanSpec) {}); s.is(7) },
		"is new with the content":                 func(s planStory) { s.is(7); s.label("large"); s.is(8); s.pause(true); s.is(8) },
		"is new if a content comes back":          func(s planStory) { s.is(7); s.label("large"); s.is(8); s.label("small"); s.is(9) },
		"is new after both change":                func(s planStory) { s.is(7); s.pause(true); s.label("large"); s.is(9) },
		"is the same if all was changed back":     func(s planStory) { s.is(7); s.label("large"); s.label("small"); s.is(7) },
		"is the object's if the status is gone":   func(s planStory) { s.is(7); s.pause(true); s.o.Status = kleffv1.TenantPlanStatus{}; s.is(8) },
		"is the object's if another left it":      func(s planStory) { s.is(7); s.o.Generation = 1; s.is(1) },
		"outlives another way to write a content": func(s planStory) { s.is(7); s.o.Status.Content.Hash = "former"; s.is(7); s.pause(true); s.is(7) },
		"is the object's after an earlier version has rolled that out": func(s planStory) {
			s.is(7)
			s.pause(true)
			s.o.Status.ObservedGeneration = 8
			s.is(8)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := planStory{t, &kleffv1.TenantPlan{ObjectMeta: metav1.ObjectMeta{Generation: 6}}}
			s.label("small")
			s.o.Status.ObservedGeneration = 7
			story(s)
		})
	}
}

// How far a rollout has come is of one content.
func TestPlanProgress(t *testing.T) {
	s := planStory{t, &kleffv1.TenantPlan{}}
	s.label("small")
	is := func(about string, step int) {
		t.Helper()
		if got := convert.PlanProgress(s.o); got.Step != step {
			t.Errorf("%s, it is at step %d, want %d", about, got.Step, step)
		}
	}
	s.o.Status.ObservedGeneration, s.o.Status.Rollout = 1, &v1alpha1.RolloutProgress{Step: 2, Target: 5}
	is("as an earlier version has left it", 2)
	s.edit(func(p *kleffv1.TenantPlanSpec) { p.Rollout = &kleffv1.Rollout{Step: &v1alpha1.RolloutStep{Count: 3}} })
	report := tenantplan.Report{Rollout: rollout.Rollout{Waiting: 1, Progress: rollout.Progress{Step: 3, Target: 8}}}
	convert.PlanStatus(&s.o.Status, s.o, report, time.Unix(0, 0))
	is("as it was stored", 3)
	s.edit(func(p *kleffv1.TenantPlanSpec) { p.Rollout.Paused = true })
	is("when it is paused", 3)
	s.label("large")
	is("with another content", 0)
}
