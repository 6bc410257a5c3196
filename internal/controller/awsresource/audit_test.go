package awsresource_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// audit is shown every call that the operator is about to make and every status that it stores, and notes
// what must never be: a call that AWS would have to refuse, a status that is not true.
type audit struct {
	k kind
	w *world.World
	o client.Object
	// before is played ahead of each call, counted from 1. A call that repeats the one before it is not counted, nor
	// played: what happens between two looks at the same thing is the same.
	before   func(n int, r *http.Request)
	calls    int
	lastCall string
	// racing allows a tenant to come between the last look at tenants and the disable.
	racing bool
	// kept means that the resource may outlive its object.
	kept bool
	// read is the resource as it was when the operator last read it, unless it wrote since. shown is that without
	// exception: where an answer was lost, status can't be truer.
	read, shown *thing
	// last is the status that was last checked.
	last  v1alpha1.ResourceStatus
	steps []v1alpha1.DeletionStep
	wrong []string
}

// audited makes a world without an API server whose one object is audited. The object is created by the caller.
func audited(t *testing.T, k kind, options world.Options, change ...policies) *audit {
	t.Helper()
	return auditedIn(t, k, func(o world.Options) *world.World { return world.NewOffline(t, o) }, options, change...)
}

// auditedServed does so on an API server.
func auditedServed(t *testing.T, k kind, options world.Options, change ...policies) *audit {
	t.Helper()
	return auditedIn(t, k, func(o world.Options) *world.World { return world.New(t, kubeConfig, o) }, options, change...)
}

func auditedIn(t *testing.T, k kind, build func(world.Options) *world.World, options world.Options, change ...policies) *audit {
	t.Helper()
	a := &audit{k: k}
	options.BeforeAWS = a.call
	a.w = build(options)
	a.o = k.object(a.w, "shop", change...)
	a.w.AroundKubeWrites(func(_ int, write func() error) error {
		err := write()
		a.stored()
		return err
	})
	t.Cleanup(func() {
		for _, wrong := range a.wrong {
			t.Error(wrong)
		}
	})
	return a
}

func (a *audit) note(format string, args ...any) {
	a.wrong = append(a.wrong, a.w.Clock.Now().Format(time.TimeOnly)+" "+fmt.Sprintf(format, args...))
}

// call looks at a call before AWS sees it.
func (a *audit) call(r *http.Request, _ bool) {
	if this := r.Method + r.URL.Path; this != a.lastCall {
		a.lastCall = this
		a.calls++
		if a.before != nil {
			a.before(a.calls, r)
		}
	}
	path, isOne := strings.CutPrefix(r.URL.Path, "/2020-05-31/"+strings.ReplaceAll(a.k.name, " ", "-")+"/")
	if !isOne {
		return
	}
	id, _, _ := strings.Cut(path, "/")
	now, found := a.k.find(a.w, id)
	switch r.Method {
	case http.MethodGet:
		a.read = nil
		if found {
			a.read = &now
		}
		a.shown = a.read
		return
	case http.MethodPut:
		if found && now.Enabled && disables(r) && now.Tenants > 0 && !a.racing {
			a.note("the %s is disabled while it has %d tenants", a.k.name, now.Tenants)
		}
	case http.MethodDelete:
		if found && (a.read == nil || a.read.ID != now.ID || a.read.Enabled || a.read.Status != "Deployed") {
			a.note("the %s is deleted after a read that showed %+v", a.k.name, a.read)
		}
	}
	a.read = nil
}

// disables reports whether an update sends that the resource is disabled.
func disables(r *http.Request) bool {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(err)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	var sent struct{ Enabled string }
	if err := xml.Unmarshal(body, &sent); err != nil {
		panic(err)
	}
	return sent.Enabled == "false"
}

// stored looks at the status after a write to Kubernetes.
func (a *audit) stored() {
	o := a.o.DeepCopyObject().(client.Object)
	s := a.w.ParentStatus(o)
	if s == nil {
		if left := a.k.all(a.w); len(left) > 0 && !a.kept {
			a.note("the object is let go while there are %+v", left)
		}
		return
	}
	if cmp.Equal(*s, a.last) {
		return
	}
	before := a.last.Deletion
	a.last = *s.DeepCopy()
	r, found := a.k.find(a.w, s.ID)
	if ready := meta.FindStatusCondition(s.Conditions, v1alpha1.ConditionReady); ready != nil && ready.Status == "True" {
		if !found || r.Status != "Deployed" || r.Tags[ownership.UIDKey] != string(o.GetUID()) {
			a.note("it is Ready, and AWS has %+v", r)
		}
	}
	if s.Deletion == nil {
		return
	}
	if n := len(a.steps); n == 0 || a.steps[n-1] != s.Deletion.Step {
		a.steps = append(a.steps, s.Deletion.Step)
	}
	if before != nil && before.Step == s.Deletion.Step && !before.Since.Equal(&s.Deletion.Since) {
		a.note("the deletion was at %s since %s, and now since %s", before.Step, before.Since, s.Deletion.Since)
	}
	if s.Deletion.Since.After(a.w.Clock.Now()) {
		a.note("the deletion is at %s since a time to come", s.Deletion.Step)
	}
	if !matches(s.Deletion.Step, r, found) && (a.shown == nil || !matches(s.Deletion.Step, *a.shown, true)) {
		a.note("the deletion is said to be at %s, and AWS has %+v", s.Deletion.Step, r)
	}
}

// matches reports whether a deletion is at that step where AWS has the resource, if any, like this.
func matches(step v1alpha1.DeletionStep, r thing, found bool) bool {
	return map[v1alpha1.DeletionStep]bool{
		v1alpha1.DeletionStepInUse:     found && r.Tenants > 0,
		v1alpha1.DeletionStepDisabling: found && r.Enabled,
		v1alpha1.DeletionStepSettling:  found && !r.Enabled && r.Status == "InProgress",
		v1alpha1.DeletionStepDeleting:  !found || !r.Enabled && r.Status == "Deployed",
	}[step]
}

// create makes the object and waits until it is Ready. AWS is quick about it, which saves many looks.
func (a *audit) create(t *testing.T) thing {
	t.Helper()
	return a.createAs(t, readyTrue)
}

// createAs creates one that is Ready as ready says in the end.
func (a *audit) createAs(t *testing.T, ready string) thing {
	t.Helper()
	quickly(a.w, func() {
		apply(t, a.w, a.o)
		a.w.Advance(time.Second)
	})
	is(t, a.w, a.o, ready, syncedTrue)
	return a.k.only(t, a.w)
}
