package tenantplan_test

import (
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/rollout"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/plans"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// playedSpecs are what plans say in a play.
func playedSpecs() map[string]plan.Spec {
	quota := func(pods string) plans.Tree { return map[string]any{"hard": map[string]any{"pods": pods}} }
	gateway := &plan.Gateway{Selector: map[string]string{"istio": "x"}, Hosts: []string{"{{username}}.example.com"}}
	return map[string]plan.Spec{
		"nothing":   {},
		"small":     {ResourceQuota: quota("10"), NetworkIsolation: plan.IsolationNamespace, PodSecurity: plan.PodSecurity{Enforce: "baseline"}},
		"large":     {ResourceQuota: quota("20"), OwnerClusterRole: "edit", PodSecurity: plan.PodSecurity{Enforce: "restricted"}, Labels: map[string]string{"tier": "large"}, Annotations: map[string]string{"note": "large"}},
		"mesh":      {Istio: plan.Istio{Revision: "1-29", Gateway: gateway, PeerAuthentication: "STRICT"}, NetworkIsolation: plan.IsolationNamespaceAndIngress},
		"edge":      {Edge: plans.Edge(func(c *mapping.Config) { c.Template.Annotations = nil }), LimitRange: plans.Full().LimitRange},
		"renamed":   {Edge: plans.Edge(func(c *mapping.Config) { c.Mapping = []mapping.Mapping{{Column: "namespace", Field: "name"}} })},
		"policy":    {ResourceQuota: quota("10"), Constraints: []plan.Constraint{{Kind: "A", Name: "one"}, {Kind: "B", Name: "two", Parameters: map[string]any{"limit": int64(1)}}}},
		"policy 2":  {Constraints: []plan.Constraint{{Kind: "B", Name: "two", Parameters: map[string]any{"limit": int64(2)}}}},
		"refused":   {ResourceQuota: quota(impossible), NetworkIsolation: plan.IsolationNamespace, Labels: map[string]string{"tier": "refused"}},
		"malformed": {Labels: map[string]string{"not a key": "x"}},
	}
}

var (
	plays    = rapid.SampledFrom(sortedKeys(playedSpecs()))
	troubles = rapid.SampledFrom([]fault.Kind{
		fault.None, fault.Throttled, fault.Transient, fault.Conflict, fault.NotFound, fault.Denied, fault.Quota, fault.Invalid,
	})
	planNames = rapid.SampledFrom([]string{"basic", "gold"})
	usernames = rapid.SampledFrom([]string{"exampleuser", "Other_User", "-illegal-"})
)

// begin draws a world: who is there, and whose the namespaces are that exist.
func begin(t *rapid.T) *world {
	w := &world{fail: t.Fatalf, api: newAPI(), now: plans.Now, plans: map[string]*playedPlan{}, tenants: map[string]*playedTenant{}}
	w.restart()
	for i := range rapid.IntRange(1, 3).Draw(t, "tenants") {
		w.joins("ten"+strconv.Itoa(i), planNames.Draw(t, "plan"))
	}
	for range rapid.IntRange(0, 2).Draw(t, "plans") {
		w.plan(planNames.Draw(t, "name"), plays.Draw(t, "spec"))
	}
	if rapid.IntRange(0, 3).Draw(t, "exists") == 0 {
		stranger(w, t)
	}
	return w
}

func (w *world) joins(name, planName string) {
	w.api.serial++
	t := plan.Tenant{Name: name, UID: "u" + strconv.Itoa(w.api.serial), Namespace: "ns-" + name, UserID: "ns-" + name, Username: "exampleuser", Plan: planName}
	if name == "ten2" {
		// The last one wants what another one has.
		t.Namespace, t.Explicit = "ns-ten1", true
	}
	w.tenants[name] = &playedTenant{Tenant: t}
}

// plan creates one, or changes it.
func (w *world) plan(name, spec string) {
	p := w.plans[name]
	if p == nil {
		w.api.serial++
		p = &playedPlan{name: name, uid: "p" + strconv.Itoa(w.api.serial), limits: rollout.Limits{MaxConcurrent: 2, MaxFailedPercent: 10}}
		w.plans[name] = p
	}
	p.spec = playedSpecs()[spec]
	for i := range p.spec.Constraints {
		// They are of the whole cluster, and two plans may not have one.
		p.spec.Constraints[i].Name = name + "-" + p.spec.Constraints[i].Name
	}
	p.generation++
}

// stranger makes a namespace that a tenant wants, with the labels of one that was, or of one that is.
func stranger(w *world, t *rapid.T) {
	name := rapid.SampledFrom([]string{"ten0", "ten1", "ten2"}).Draw(t, "wanted by")
	if w.api.namespace("ns-"+name) != nil {
		return
	}
	labels := map[string]string{"pod-security.kubernetes.io/enforce": "privileged"}
	switch rapid.IntRange(0, 3).Draw(t, "of") {
	case 0:
		labels[plan.LabelTenant], labels[plan.LabelTenantUID] = name, "former"
	case 1:
		if owner := w.tenants["ten0"]; owner != nil && name != "ten0" {
			labels[plan.LabelTenant], labels[plan.LabelTenantUID] = owner.Name, owner.UID
		}
	}
	n := w.api.put(plan.Object{Kind: plan.KindNamespace, Name: "ns-" + name, Labels: labels})
	if rapid.Bool().Draw(t, "given") {
		n.annotate(plan.AnnotationAdoptBy, name)
	}
	old := map[string]string{plan.LabelTenantUID: "former", plan.LabelManagedBy: plan.ManagedBy}
	w.api.put(plan.Object{Kind: plan.KindNetworkPolicy, Namespace: n.Name, Name: "kleff-former", Labels: old, Body: map[string]any{"spec": map[string]any{}}})
}

// meddling is what people do in the cluster.
func meddling(w *world, t *rapid.T) map[string]func() {
	namespace := func(how func(*playedObject)) func() {
		return func() {
			if n := w.api.namespace("ns-" + rapid.SampledFrom([]string{"ten0", "ten1", "ten2"}).Draw(t, "namespace of")); n != nil {
				how(n)
			}
		}
	}
	child := func(how func(*playedObject)) func() {
		return func() {
			places := slices.DeleteFunc(sortedKeys(w.api.objects), func(at string) bool { return w.api.objects[at].Kind == plan.KindNamespace })
			if len(places) > 0 {
				how(w.api.objects[rapid.SampledFrom(places).Draw(t, "object")])
			}
		}
	}
	uidOff := func(o *playedObject) { o.label(plan.LabelTenantUID, ""); o.label(plan.LabelPlanUID, "") }
	return map[string]func(){
		"a person deletes a namespace": namespace(func(o *playedObject) { w.api.ask(o) }),
		"a person frees a namespace":   namespace(uidOff),
		"a person labels a namespace": namespace(func(o *playedObject) {
			o.label(rapid.SampledFrom([]string{"istio.io/rev", "istio-injection", "tier", "their", "pod-security.kubernetes.io/enforce", plan.LabelTenantPlan}).Draw(t, "key"),
				rapid.SampledFrom([]string{"", "theirs"}).Draw(t, "value"))
		}),
		"a person gives a namespace": namespace(func(o *playedObject) {
			o.annotate(plan.AnnotationAdoptBy, rapid.SampledFrom([]string{"", "ten0", "ten1", "ten2"}).Draw(t, "to"))
		}),
		"a person deletes an object": child(func(o *playedObject) { w.api.ask(o) }),
		"a person frees an object":   child(uidOff),
		"a person holds an object":   child(func(o *playedObject) { o.sticky = true }),
		"a person edits an object":   child(func(o *playedObject) { o.Body["spec"] = map[string]any{"theirs": true} }),
		"a person makes an object": namespace(func(o *playedObject) {
			kind := rapid.SampledFrom([]plan.Kind{plan.KindResourceQuota, plan.KindNetworkPolicy}).Draw(t, "kind")
			made := plan.Object{Kind: kind, Namespace: o.Name, Name: rapid.SampledFrom([]string{"kleff-plan", "kleff-suspended", "kleff-namespace", "theirs"}).Draw(t, "name")}
			if w.api.objects[placeOf(&made)] == nil {
				w.api.put(made)
			}
		}),
		"a stranger comes": func() { stranger(w, t) },
		"a person makes a constraint": func() {
			made := plan.Object{Kind: plan.ConstraintKind("B"), Name: "basic-two"}
			if w.api.objects[placeOf(&made)] == nil {
				w.api.put(made)
			}
		},
	}
}

// edits are what the authors of tenants and plans can do.
func edits(w *world, t *rapid.T) map[string]func() {
	tenant := func(how func(*playedTenant)) func() {
		return func() {
			if len(w.tenants) > 0 {
				how(w.tenants[rapid.SampledFrom(sortedKeys(w.tenants)).Draw(t, "tenant")])
			}
		}
	}
	return map[string]func(){
		"plan of a tenant": tenant(func(p *playedTenant) { p.Plan = planNames.Draw(t, "plan") }),
		"take the finalizer off": tenant(func(p *playedTenant) {
			// Who does it to one that is being deleted wants to be rid of it.
			p.held = p.held && p.deleting
		}),
		"suspend":  tenant(func(p *playedTenant) { p.Suspended = !p.Suspended }),
		"username": tenant(func(p *playedTenant) { p.Username = usernames.Draw(t, "username") }),
		"protect":  tenant(func(p *playedTenant) { p.protected = !p.protected }),
		"retain":   tenant(func(p *playedTenant) { p.retain = !p.retain }),
		"delete a tenant": tenant(func(p *playedTenant) {
			if rapid.IntRange(0, 1).Draw(t, "really") == 0 {
				p.deleting = true
			}
		}),
		"a tenant joins": func() {
			if name := rapid.SampledFrom([]string{"ten0", "ten1", "ten2"}).Draw(t, "tenant"); w.tenants[name] == nil {
				w.joins(name, planNames.Draw(t, "plan"))
			}
		},
		"a plan":       func() { w.plan(planNames.Draw(t, "plan"), plays.Draw(t, "spec")) },
		"another plan": func() { w.plan(planNames.Draw(t, "plan"), plays.Draw(t, "spec")) },
		// Its finalizer is removed, or the cluster is restored from a backup. The objects that it created stay.
		"lose a plan": func() { delete(w.plans, planNames.Draw(t, "plan")) },
		"delete a plan": func() {
			if p := w.plans[planNames.Draw(t, "plan")]; p != nil && !p.deleting {
				p.deleting = true
				p.generation++ // as the API server does
			}
		},
	}
}

// moves are all that can happen.
func moves(w *world, t *rapid.T) map[string]func() {
	persons := meddling(w, t)
	kinds := rapid.SampledFrom([]plan.Kind{
		plan.KindGateway, plan.KindPeerAuthentication, plan.KindDistributionTenant, plan.KindResourceQuota, plan.KindNetworkPolicy, plan.ConstraintKind("A"),
	})
	all := map[string]func(){
		"a moment":       func() { w.now = w.now.Add(5 * time.Second) },
		"a while":        func() { w.now = w.now.Add(10 * time.Minute) },
		"restart":        w.restart,
		"namespaces go":  w.api.finish,
		"edges work":     w.api.works,
		"the cache lags": func() { w.hung = hang(w.api.objects) },
		"it catches up":  func() { w.hung = nil },
		"writes fail":    func() { w.api.writes = troubles.Draw(t, "with") },
		"writes succeed": func() { w.api.writes = fault.None },
		"reads fail": func() {
			w.api.reads = rapid.SampledFrom([]fault.Kind{fault.None, fault.Denied, fault.Transient}).Draw(t, "with")
		},
		"a kind comes or goes": func() { toggle(w.api.missing, kinds.Draw(t, "kind")) },
		"a cache breaks":       func() { toggle(w.api.unreadable, kinds.Draw(t, "kind")) },
		"a crash":              func() { w.someone(t, ending{after: rapid.IntRange(0, 3).Draw(t, "after")}) },
		"a lost status":        func() { w.someone(t, ending{after: -1, unstored: true}) },
		"no answer":            func() { w.api.loses = true; w.someone(t, whole); w.api.loses = false },
		"meanwhile": func() {
			w.api.between = persons[rapid.SampledFrom(sortedKeys(persons)).Draw(t, "what")]
			w.someone(t, whole)
			w.api.between = nil
		},
	}
	maps.Copy(all, persons)
	maps.Copy(all, edits(w, t))
	return all
}

func toggle(m map[plan.Kind]bool, k plan.Kind) { m[k] = !m[k] }

// hang is what a cache keeps showing.
func hang(objects map[string]*playedObject) map[string]*playedObject {
	out := map[string]*playedObject{}
	for at, o := range objects {
		still := *o
		still.Live = o.seen()
		out[at] = &still
	}
	return out
}

// someone has a pass.
func (w *world) someone(t *rapid.T, ends ending) {
	names := slices.Concat(sortedKeys(w.tenants), sortedKeys(w.tenants), sortedKeys(w.plans))
	if len(names) == 0 {
		return
	}
	name := rapid.SampledFrom(names).Draw(t, "whose")
	if tenant := w.tenants[name]; tenant != nil {
		t.Logf("%s: %s", name, w.tenantPass(tenant, ends))
		return
	}
	t.Logf("%s: %s", name, w.planPass(w.plans[name], ends))
}

// everyone has a pass.
func (w *world) everyone() (rules []string) {
	for _, name := range sortedKeys(w.plans) {
		rules = append(rules, w.planPass(w.plans[name], whole))
	}
	for _, name := range sortedKeys(w.tenants) {
		rules = append(rules, w.tenantPass(w.tenants[name], whole))
	}
	return rules
}

// However edits, people, failures, lost answers, lagging caches and crashes come together: nothing is touched that is not a tenant's,
// nothing that was not accepted is applied, what status says is true, and in the end all is as spec and plan say, or gone.
func TestEveryPlayEndsWell(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := begin(t)
		all := moves(w, t)
		names := sortedKeys(all)
		for range 24 {
			names = append(names, "pass")
		}
		draw := rapid.SampledFrom(append(names, "a moment", "a while", "writes succeed", "it catches up", "namespaces go"))
		for range rapid.IntRange(5, 80).Draw(t, "length") {
			if name := draw.Draw(t, "move"); name == "pass" {
				w.someone(t, whole)
			} else {
				all[name]()
			}
		}
		broken := rapid.IntRange(0, 3).Draw(t, "plans stay broken") == 0
		w.calm(broken)
		w.ended(t, broken)
	})
}

// calm ends all trouble, and lets time go by.
func (w *world) calm(broken bool) {
	w.api.writes, w.api.reads, w.api.between, w.hung = fault.None, fault.None, nil, nil
	clear(w.api.missing)
	clear(w.api.unreadable)
	w.freed()
	for _, name := range []string{"basic", "gold"} {
		if p := w.plans[name]; !broken && (p == nil || !p.deleting && w.current(p).plan == nil || p.spec.ResourceQuota["hard"] != nil) {
			w.plan(name, "small")
		}
	}
	for _, name := range sortedKeys(w.tenants) {
		t := w.tenants[name]
		t.protected, t.Username = false, "exampleuser"
		if p := w.plans[t.Plan]; !broken && p != nil && p.deleting {
			w.plan("silver", "small")
			t.Plan = "silver"
		}
	}
	for range 20 {
		w.everyone()
		w.freed()
		w.api.finish()
		w.api.works()
		w.now = w.now.Add(10 * time.Minute)
	}
}

// freed is what a user takes out of the way, and gives.
func (w *world) freed() {
	for _, at := range sortedKeys(w.api.objects) {
		o := w.api.objects[at]
		switch {
		case o.Kind == plan.KindNamespace:
			for _, name := range sortedKeys(w.tenants) {
				if t := w.tenants[name]; t.Namespace == o.Name && !t.deleting && w.owner(&o.Live, t) == nil {
					o.annotate(plan.AnnotationAdoptBy, name)
					break
				}
			}
		case o.Namespace != "" && o.Labels[plan.LabelTenantUID] == "", o.Namespace == "" && o.Labels[plan.LabelPlanUID] == "":
			delete(w.api.objects, at)
		case o.Labels[plan.LabelManagedBy] == "":
			o.label(plan.LabelManagedBy, plan.ManagedBy)
		}
	}
}

// ended checks that the world is as spec and plans say, and stays so.
func (w *world) ended(t *rapid.T, broken bool) {
	before, written := w.status(), w.api.written
	for _, rule := range w.everyone() {
		if !slices.Contains([]string{"Idle", "Conflict", "InUse"}, rule) {
			t.Fatalf("rule %s repeats forever", rule)
		}
	}
	if d := cmp.Diff(before, w.status()); d != "" || w.api.written != written {
		t.Fatalf("a quiet pass changes %d objects, and status (-before +after):\n%s", w.api.written-written, d)
	}
	for _, name := range sortedKeys(w.tenants) {
		tenant := w.tenants[name]
		if tenant.deleting {
			t.Fatalf("%s was deleted and is there: %+v", name, tenant)
		}
		w.asSaid(t, tenant, broken)
	}
	for _, name := range sortedKeys(w.plans) {
		// A tenant that lost its namespace to another one still remembers its plan.
		inUse := slices.ContainsFunc(slices.Collect(maps.Values(w.tenants)), func(t *playedTenant) bool { return t.Plan == name || t.memory.Plan == name })
		if p := w.plans[name]; p.deleting && !inUse {
			t.Fatalf("the plan %s was deleted and is there: %+v", name, p)
		}
	}
}

// asSaid checks that a tenant has what its plan says.
func (w *world) asSaid(t *rapid.T, tenant *playedTenant, broken bool) {
	n := w.api.namespace(tenant.Namespace)
	if n != nil && n.Labels[plan.LabelTenantUID] != tenant.UID {
		if c := plans.ConditionOf(tenant.conditions, plan.ConditionTenantReady); w.owner(&n.Live, tenant) == nil || c.Status || c.Reason != plan.ReasonNamespaceConflict {
			t.Fatalf("the namespace of %s is not its own: %+v, and it says %+v", tenant.Name, n.Live, c)
		}
		return
	}
	if n == nil {
		t.Fatalf("%s has no namespace: %+v", tenant.Name, tenant.conditions)
	}
	if !tenant.held {
		t.Fatalf("%s has a namespace, and no finalizer", tenant.Name)
	}
	there := w.api.objects[place(plan.KindResourceQuota, tenant.Namespace, "kleff-suspended")]
	if (there != nil) != tenant.Suspended {
		t.Fatalf("%s is suspended: %t, and the quota is %+v", tenant.Name, tenant.Suspended, there)
	}
	if broken {
		return
	}
	if w.followed(tenant.memory, tenant) == nil {
		t.Fatalf("%s does not follow its plan: %+v, %+v", tenant.Name, tenant, w.plans[tenant.Plan])
	}
	played := w.plans[tenant.Plan]
	if tenant.memory.PlanUID != played.uid || tenant.memory.PlanGeneration != played.generation || tenant.memory.Plan != played.name {
		t.Fatalf("%s remembers %+v of %s, generation %d", tenant.Name, tenant.memory, played.uid, played.generation)
	}
	w.isApplied(tenant.memory, tenant, chain.Condition{Type: "the end"}, plan.ChildKinds()...)
	w.isLabelled(tenant.memory, tenant)
	for _, c := range tenant.conditions {
		if !c.Status {
			t.Fatalf("%s of %s is %s in the end: %s", c.Type, tenant.Name, c.Reason, c.Message)
		}
	}
	if !tenant.settled {
		t.Fatalf("%s is not settled", tenant.Name)
	}
}

// status is all that is stored.
func (w *world) status() map[string]any {
	out := map[string]any{}
	for name, t := range w.tenants {
		out[name] = []any{t.memory, slices.Clone(t.conditions), t.settled}
	}
	for name, p := range w.plans {
		out[name] = slices.Clone(p.conditions)
	}
	return out
}
