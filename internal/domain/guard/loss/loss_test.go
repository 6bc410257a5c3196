package loss_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/budget"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/loss"
)

const (
	class = loss.Class("DistributionTenant")
	// shared is the class of parents that serve customers.
	shared = loss.Class("Shared")
)

var start = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func policy() loss.Policy {
	return loss.Policy{
		Settle: 10 * time.Second, SettleMax: time.Minute, Window: time.Hour, Ceiling: 50,
		Budgets: map[loss.Class]loss.Budget{
			class:    {Cluster: budget.Limit{Max: 10, Percent: 5}, Namespace: &budget.Limit{Max: 10, Percent: 50}},
			shared:   {},
			"Tenant": {Cluster: budget.Limit{Max: 3, Percent: 2}},
		},
	}
}

// cluster plays a cluster whose objects are deleted: what was cleared is gone at once.
type cluster struct {
	now       time.Time
	class     loss.Class
	living    loss.Counts
	waiting   map[string]loss.Item
	gone      int
	abandoned int
	memory    loss.Memory
	verdict   loss.Verdict
	approved  []string
	rescued   []string
	n         int
	young     bool
}

func fleet(living loss.Counts) *cluster {
	return &cluster{now: start, class: class, living: living, waiting: map[string]loss.Item{}}
}

func (c *cluster) remove(namespace string, n int) {
	for range n {
		c.n++
		c.living[namespace]--
		uid := fmt.Sprintf("uid-%04d", c.n)
		c.waiting[uid] = loss.Item{Class: c.class, UID: uid, Weight: 1, Namespace: namespace, Name: uid, Since: c.now}
	}
}

// judge asks once, and does what was cleared.
func (c *cluster) judge() {
	w := loss.World{Now: c.now, Living: map[loss.Class]loss.Counts{c.class: c.living}, Approved: c.approved, Abandoned: c.rescued, Young: c.young}
	for _, i := range c.waiting {
		w.Waiting = append(w.Waiting, i)
	}
	c.verdict = loss.Judge(policy(), c.memory, w)
	c.memory = c.verdict.Memory
	cleared, abandoned := c.memory.Decided()
	for uid, i := range c.waiting {
		if _, goes := cleared[i.Key()]; goes {
			c.gone++
			delete(c.waiting, uid)
		}
		if _, stays := abandoned[i.Key()]; stays {
			c.abandoned++
			delete(c.waiting, uid)
		}
	}
}

// after lets time pass, and asks.
func (c *cluster) after(d time.Duration) {
	c.now = c.now.Add(d)
	c.judge()
}

func (c *cluster) plan(t *testing.T) string {
	t.Helper()
	if len(c.memory.Holds) != 1 {
		t.Fatalf("the plans are %+v, want one", c.memory.Holds)
	}
	return c.memory.Holds[0].Plan
}

func TestHowManyMayGo(t *testing.T) {
	type burst struct {
		namespace string
		n         int
	}
	for name, test := range map[string]struct {
		class  loss.Class
		living loss.Counts
		bursts []burst
		gone   int
		held   string
	}{
		"one of a thousand is deleted":                  {living: loss.Counts{"shop": 1000}, bursts: []burst{{"shop", 1}}, gone: 1},
		"a twentieth of a cluster is deleted":           {living: loss.Counts{"shop": 500, "bank": 500}, bursts: []burst{{"shop", 25}, {"bank", 25}}, gone: 50},
		"one more holds all of them":                    {living: loss.Counts{"shop": 500, "bank": 499, "inn": 1}, bursts: []burst{{"shop", 25}, {"bank", 25}, {"inn", 1}}, held: ""},
		"one namespace may use half of that":            {living: loss.Counts{"shop": 500, "bank": 500}, bursts: []burst{{"shop", 26}}, held: "shop"},
		"all of that if the others have no customers":   {living: loss.Counts{"shop": 1000}, bursts: []burst{{"shop", 50}}, gone: 50},
		"which is the cluster's business":               {living: loss.Counts{"shop": 1000}, bursts: []burst{{"shop", 51}}, held: ""},
		"half of a namespace is the cluster's business": {living: loss.Counts{"shop": 40, "bank": 960}, bursts: []burst{{"shop", 20}}, gone: 20},
		"more than half of a namespace is held there":   {living: loss.Counts{"shop": 40, "bank": 960}, bursts: []burst{{"shop", 21}}, held: "shop"},
		"what one namespace has held leaves the others their budget": {
			living: loss.Counts{"shop": 40, "bank": 960}, bursts: []burst{{"shop", 40}, {"bank", 25}}, gone: 25, held: "shop",
		},
		"one tenant in each of many namespaces is judged for the cluster": {
			living: loss.Counts{"a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 1}, held: "",
			bursts: []burst{{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}},
		},
		"all of three are deleted":                                     {living: loss.Counts{"shop": 3}, bursts: []burst{{"shop", 3}}, gone: 3},
		"half of four are deleted":                                     {living: loss.Counts{"shop": 4}, bursts: []burst{{"shop", 2}}, gone: 2},
		"three of four are held":                                       {living: loss.Counts{"shop": 4}, bursts: []burst{{"shop", 3}}, held: "shop"},
		"nine of ten are held":                                         {living: loss.Counts{"shop": 10}, bursts: []burst{{"shop", 9}}, held: "shop"},
		"ten of ten are held":                                          {living: loss.Counts{"shop": 10}, bursts: []burst{{"shop", 10}}, held: "shop"},
		"49 % of a namespace are its own":                              {living: loss.Counts{"shop": 100, "bank": 1900}, bursts: []burst{{"shop", 49}}, gone: 49},
		"51 % of a namespace are held":                                 {living: loss.Counts{"shop": 100, "bank": 1900}, bursts: []burst{{"shop", 51}}, held: "shop"},
		"half of a small namespace are deleted":                        {living: loss.Counts{"shop": 10, "bank": 990}, bursts: []burst{{"shop", 5}}, gone: 5},
		"one more is held there":                                       {living: loss.Counts{"shop": 10, "bank": 990}, bursts: []burst{{"shop", 6}}, held: "shop"},
		"a namespace with three customers loses them":                  {living: loss.Counts{"shop": 3, "bank": 997}, bursts: []burst{{"shop", 3}}, gone: 3},
		"two such namespaces are one mistake":                          {living: loss.Counts{"shop": 3, "inn": 2, "bank": 995}, bursts: []burst{{"shop", 3}, {"inn", 2}}, held: ""},
		"also of more customers, which are one plan then":              {living: loss.Counts{"shop": 10, "inn": 10, "bank": 980}, bursts: []burst{{"shop", 10}, {"inn", 10}}, held: ""},
		"others lose theirs meanwhile":                                 {living: loss.Counts{"shop": 3, "inn": 2, "bank": 995}, bursts: []burst{{"shop", 3}, {"inn", 2}, {"bank", 1}}, gone: 1, held: ""},
		"customers with a namespace each are off-boarded as any other": {living: loss.Counts{"a": 1, "b": 1, "c": 1, "bank": 997}, bursts: []burst{{"a", 1}, {"b", 1}, {"c", 1}}, gone: 3},
		"three customers' namespaces go":                               {class: "Tenant", living: loss.Counts{"": 100}, bursts: []burst{{"", 3}}, gone: 3},
		"four customers' namespaces are held":                          {class: "Tenant", living: loss.Counts{"": 100}, bursts: []burst{{"", 4}}, held: ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := fleet(test.living)
			if test.class != "" {
				c.class = test.class
			}
			all := 0
			for _, b := range test.bursts {
				c.remove(b.namespace, b.n)
				all += b.n
			}
			if c.judge(); c.gone > 0 || len(c.memory.Holds) > 0 {
				t.Fatalf("judged before the burst was seen whole: %d gone, %+v", c.gone, c.memory.Holds)
			}
			if c.after(10 * time.Second); c.gone != test.gone {
				t.Errorf("%d are deleted, want %d", c.gone, test.gone)
			}
			if held := len(c.verdict.Held); held != all-test.gone {
				t.Errorf("%d are held, want %d", held, all-test.gone)
			}
			for _, h := range c.memory.Holds {
				if h.Namespace != test.held || h.Count != all-test.gone {
					t.Errorf("the plan is of %q with %d members, want %q", h.Namespace, h.Count, test.held)
				}
			}
		})
	}
}

// A burst is judged when it has ended, or when it has taken too long to wait for its end.
func TestABurstIsSeenWhole(t *testing.T) {
	c := fleet(loss.Counts{"shop": 1000})
	for range 11 {
		c.remove("shop", 5)
		if c.after(5 * time.Second); c.gone+len(c.verdict.Held) > 0 {
			t.Fatalf("judged after %s", c.now.Sub(start))
		}
	}
	if c.after(5 * time.Second); len(c.verdict.Held) != 55 {
		t.Errorf("after a minute, %d of 55 are held, %d are deleted", len(c.verdict.Held), c.gone)
	}
}

func TestDeletionsAnHourApartAreNeverHeld(t *testing.T) {
	c := fleet(loss.Counts{"shop": 4})
	for i := range 3 {
		c.remove("shop", 1)
		c.after(10 * time.Second)
		if c.gone != i+1 {
			t.Fatalf("the deletion %d is held: %+v", i+1, c.memory.Holds)
		}
		c.after(time.Hour)
	}
}

func TestABurstInPartsIsOneBurst(t *testing.T) {
	c := fleet(loss.Counts{"shop": 100})
	c.remove("shop", 6)
	c.after(10 * time.Second)
	c.remove("shop", 5)
	if c.after(10 * time.Second); c.gone != 6 || len(c.verdict.Held) != 5 {
		t.Errorf("%d are deleted and %d are held, want 6 and 5", c.gone, len(c.verdict.Held))
	}
	if c.after(2 * time.Hour); len(c.verdict.Held) != 5 {
		t.Error("a plan ends when time passes, without a person")
	}
}

// grownPlan is a plan of a hundred that others have joined.
func grownPlan(t *testing.T, joined int) (c *cluster, first, second string) {
	t.Helper()
	c = fleet(loss.Counts{"shop": 1000})
	c.remove("shop", 100)
	c.after(10 * time.Second)
	first = c.plan(t)
	c.remove("shop", joined)
	c.after(10 * time.Second)
	if second = c.plan(t); first == second {
		t.Fatal("a plan that has grown keeps its name")
	}
	return c, first, second
}

func TestAnApprovalIsForExactlyOnePlan(t *testing.T) {
	c, _, second := grownPlan(t, 2)
	c.approved = []string{second}
	if c.after(time.Second); c.gone != 102 || len(c.memory.Holds) > 0 {
		t.Errorf("%d of 102 are deleted, %d plans are left", c.gone, len(c.memory.Holds))
	}
	c.remove("shop", 1)
	if c.after(10 * time.Second); c.gone != 103 {
		t.Error("what a person has approved uses up the budget for single deletions")
	}
}

// An approval that was on its way while others joined is good for those that it was given for. The others are judged by the
// budget as if they were alone.
func TestAnApprovalOfAFormerNameIsForItsOwnMembers(t *testing.T) {
	c, first, _ := grownPlan(t, 150)
	c.approved = []string{first}
	if c.after(time.Second); c.gone != 100 || len(c.verdict.Held) != 150 {
		t.Errorf("%d are deleted and %d are held, want 100 and 150", c.gone, len(c.verdict.Held))
	}
	c, first, _ = grownPlan(t, 2)
	c.approved = []string{first}
	if c.after(time.Second); c.gone != 102 {
		t.Errorf("%d are deleted, want the 100 of the plan and 2 that are within the budget", c.gone)
	}
	c, first, _ = grownPlan(t, 400)
	c.approved = []string{first}
	if c.after(time.Second); c.gone > 0 {
		t.Errorf("%d are deleted by the approval of a plan that has become another one", c.gone)
	}
}

// To keep what is in AWS under a former name keeps it for those that have joined as well.
func TestAFormerNameRescuesAll(t *testing.T) {
	c, first, _ := grownPlan(t, 2)
	c.rescued = []string{first}
	if c.after(time.Second); c.gone > 0 || c.abandoned != 102 {
		t.Errorf("%d are deleted, %d of 102 are kept in AWS", c.gone, c.abandoned)
	}
	c.rescued = nil
	if c.after(time.Hour); c.gone > 0 {
		t.Errorf("%d are deleted later", c.gone)
	}
}

// Objects that a team approves one by one are deleted one by one, under one name.
func TestATeamApprovesInItsNamespace(t *testing.T) {
	c := fleet(loss.Counts{"shop": 40, "bank": 960})
	c.remove("shop", 40)
	c.after(10 * time.Second)
	plan, n := c.plan(t), 0
	for uid, i := range c.waiting {
		if i.Approval = plan; n < 15 {
			c.waiting[uid] = i
		}
		n++
	}
	c.judge()
	if c.gone != 15 || c.plan(t) != plan {
		t.Fatalf("%d of 15 are deleted, and the plan %s is now %s", c.gone, plan, c.plan(t))
	}
	for uid, i := range c.waiting {
		i.Approval = plan
		c.waiting[uid] = i
	}
	if c.judge(); c.gone != 40 || len(c.memory.Holds) > 0 {
		t.Errorf("%d of 40 are deleted", c.gone)
	}
}

func TestATeamCannotApproveForTheCluster(t *testing.T) {
	c := fleet(loss.Counts{"shop": 10, "bank": 10, "inn": 10})
	c.remove("shop", 4)
	c.remove("bank", 4)
	c.remove("inn", 4)
	c.after(10 * time.Second)
	plan := c.plan(t)
	for uid, i := range c.waiting {
		i.Approval = plan
		c.waiting[uid] = i
	}
	if c.judge(); c.gone > 0 {
		t.Errorf("objects approve %d deletions of the whole cluster", c.gone)
	}
}

// A plan holds its own members: what namespaces that are no part of it lose is judged as if it were alone.
func TestAPlanOfTheClusterKeepsToItsNamespaces(t *testing.T) {
	c := fleet(loss.Counts{"shop": 300, "bank": 300, "inn": 300, "cafe": 100})
	for _, namespace := range []string{"shop", "bank", "inn"} {
		c.remove(namespace, 25)
	}
	c.after(10 * time.Second)
	plan := c.plan(t)
	c.remove("cafe", 1)
	if c.after(10 * time.Second); c.gone != 1 || c.plan(t) != plan || len(c.verdict.Held) != 75 {
		t.Errorf("of another namespace %d of 1 is deleted, %d of 75 are held, and the plan %s is %s", c.gone, len(c.verdict.Held), plan, c.plan(t))
	}
	c.remove("shop", 1)
	if c.after(10 * time.Second); c.gone != 1 || c.plan(t) == plan || len(c.verdict.Held) != 76 {
		t.Errorf("one more of its own does not join it: %d are held, %d deleted", len(c.verdict.Held), c.gone)
	}
	c.approved = []string{c.plan(t)}
	if c.after(time.Second); c.gone != 77 || len(c.memory.Holds) > 0 {
		t.Errorf("%d of 77 are deleted after the approval, and %d plans are left", c.gone, len(c.memory.Holds))
	}
}

// The deletions of one team keep no other team from deleting a customer of its own.
func TestOneNamespaceStopsNoOther(t *testing.T) {
	c := fleet(loss.Counts{"rival": 22, "shop": 178})
	c.remove("rival", 5)
	c.after(10 * time.Second)
	c.remove("rival", 11)
	c.after(10 * time.Second)
	c.remove("shop", 5)
	if c.after(10 * time.Second); c.gone != 10 || len(c.verdict.Held) != 11 {
		t.Errorf("%d are deleted, want 5 of each, and %d are held", c.gone, len(c.verdict.Held))
	}
	if h := c.memory.Holds[0]; h.Namespace != "rival" {
		t.Errorf("the plan is of %q", h.Namespace)
	}
}

// A namespace that lost all it had counts for as long as any loss does.
func TestNamespacesThatEmptyOneAfterTheOther(t *testing.T) {
	for name, test := range map[string]struct {
		pause time.Duration
		gone  int
	}{
		"within an hour": {30 * time.Minute, 3},
		"hours apart":    {2 * time.Hour, 6},
	} {
		t.Run(name, func(t *testing.T) {
			c := fleet(loss.Counts{"shop": 3, "inn": 3, "bank": 994})
			c.remove("shop", 3)
			c.after(10 * time.Second)
			c.after(test.pause)
			c.remove("inn", 3)
			if c.after(10 * time.Second); c.gone != test.gone {
				t.Errorf("%d are deleted, want %d", c.gone, test.gone)
			}
		})
	}
}

// Tenants that never served are not counted. As a part of a burst that is held, they are held with it.
func TestWhatNeverServedWeighsNothing(t *testing.T) {
	c := fleet(loss.Counts{"shop": 20})
	weightless := func(prefix string) {
		for n := range 30 {
			uid := fmt.Sprint(prefix, n)
			c.waiting[uid] = loss.Item{Class: class, UID: uid, Namespace: "shop", Name: uid, Since: c.now}
		}
	}
	weightless("alone-")
	if c.after(10 * time.Second); c.gone != 30 {
		t.Errorf("%d of 30 are deleted", c.gone)
	}
	weightless("together-")
	c.remove("shop", 11)
	if c.after(10 * time.Second); c.gone != 30 || len(c.verdict.Held) != 41 || c.memory.Holds[0].Customers != 11 {
		t.Errorf("%d are deleted, %d are held, want 30 and 41, with 11 customers: %+v", c.gone, len(c.verdict.Held), c.memory.Holds)
	}
}

// A parent weighs what depends on it, and is never taken from its customers without an administrator's approval.
func TestAParentWeighsItsCustomers(t *testing.T) {
	c := fleet(loss.Counts{"shop": 1000})
	off := func(name string, customers int) {
		c.waiting[name] = loss.Item{Class: shared, UID: name, Namespace: "platform", Name: name, Weight: customers, Harm: "disables it", Generation: 2, Since: c.now}
	}
	off("unused", 0)
	off("main", 1)
	if c.after(10 * time.Second); c.gone != 0 || len(c.verdict.Held) != 2 {
		t.Fatalf("a burst with a parent of a customer: %d changes are made, %d held", c.gone, len(c.verdict.Held))
	}
	delete(c.waiting, "main")
	if c.after(10 * time.Second); c.gone != 1 {
		t.Error("one without customers is held")
	}
	off("main", 67)
	c.after(10 * time.Second)
	plan := c.plan(t)
	text := c.memory.Holds[0].Text(loss.Words{Many: "distributions", Shared: true}, loss.Annotations{Approve: "approve", Namespace: "ops", ConfigMap: "budget"})
	if want := "1 harmful change of distributions would take 67 customers out of service, which needs an approval. Nothing was changed. This is plan " + plan + ". To undo a change, restore the previous spec. To approve it, run: kubectl -n ops annotate configmap budget approve=" + plan + " --overwrite"; text != want {
		t.Errorf("it says %s", text)
	}
	i := c.waiting["main"]
	i.Approval = plan
	c.waiting["main"] = i
	if c.judge(); c.gone != 1 {
		t.Error("the object approves it")
	}
	c.approved = []string{plan}
	if c.judge(); c.gone != 2 {
		t.Error("an administrator can't approve it")
	}
	c.remove("shop", 50)
	if c.after(10 * time.Second); c.gone != 52 {
		t.Errorf("it has used up the budget of the tenants: %d of 50 are deleted", c.gone-2)
	}
}

func TestRescue(t *testing.T) {
	c := fleet(loss.Counts{"shop": 1000})
	c.remove("shop", 1000)
	c.after(10 * time.Second)
	c.rescued = []string{c.plan(t)}
	if c.judge(); c.abandoned != 1000 || c.gone > 0 || len(c.memory.Holds) > 0 {
		t.Fatalf("%d are let go, %d are deleted in AWS, plans: %+v", c.abandoned, c.gone, c.memory.Holds)
	}
	key := loss.NameKey(class, "shop", "uid-0001")
	if _, back := c.memory.Names()[key]; !back {
		t.Error("it may not come back")
	}
	if c.after(loss.RescueAge + time.Second); len(c.memory.Names()) > 0 {
		t.Error("it may come back for ever")
	}
}

// A change can be approved, or reverted. There is nothing to abandon.
func TestAChangeCountsAsADeletion(t *testing.T) {
	c := fleet(loss.Counts{"shop": 100})
	for i := range 11 {
		uid := fmt.Sprint("uid", i)
		c.waiting[uid] = loss.Item{Class: class, UID: uid, Weight: 1, Namespace: "shop", Name: uid, Harm: "disables it", Generation: 2, Since: c.now}
	}
	c.after(10 * time.Second)
	plan := c.plan(t)
	c.rescued = []string{plan}
	if c.judge(); c.abandoned+c.gone > 0 {
		t.Errorf("%d changes are abandoned, %d made", c.abandoned, c.gone)
	}
	for uid := range c.waiting {
		delete(c.waiting, uid)
		break
	}
	if c.judge(); c.gone != 10 || len(c.memory.Holds) > 0 {
		t.Errorf("one was reverted, and of the 10 that are within the budget %d are made", c.gone)
	}
}

// A customer's namespace is deleted with all that is in it, and nothing of that asks again.
func TestWhatIsDeletedWithItsNamespaceIsNotHeld(t *testing.T) {
	tenant := loss.Item{Class: "Tenant", UID: "t", Weight: 1, Name: "acme", Owns: "acme", Since: start}
	var inside []loss.Item
	for n := range 20 {
		inside = append(inside, loss.Item{Class: class, UID: fmt.Sprint(n), Weight: 1, Namespace: "acme", Name: fmt.Sprint(n), Since: start})
	}
	w := loss.World{Now: start.Add(time.Minute), Waiting: inside, Living: map[loss.Class]loss.Counts{}}
	if v := loss.Judge(policy(), loss.Memory{}, w); len(v.Held) != 20 {
		t.Errorf("alone, %d of 20 are held", len(v.Held))
	}
	w.Waiting = []loss.Item{tenant}
	w.Living["Tenant"] = loss.Counts{"": 10}
	v := loss.Judge(policy(), loss.Memory{}, w)
	w.Waiting = append(w.Waiting, inside...)
	v = loss.Judge(policy(), v.Memory, w)
	if cleared, _ := v.Memory.Decided(); len(cleared) != 21 || len(v.Held) > 0 {
		t.Errorf("with the Tenant, %d of 21 are let go on, and %d are held", len(cleared), len(v.Held))
	}
}

// A process that has just begun does not know of changes that wait, and forgets no plan for that.
func TestAPlanOfChangesOutlivesTheProcess(t *testing.T) {
	c := fleet(loss.Counts{"shop": 100})
	for i := range 20 {
		uid := fmt.Sprint("uid", i)
		c.waiting[uid] = loss.Item{Class: class, UID: uid, Weight: 1, Namespace: "shop", Name: uid, Harm: "disables it", Generation: 2, Since: c.now}
	}
	c.after(10 * time.Second)
	plan, waiting := c.plan(t), c.waiting
	c.waiting, c.young = map[string]loss.Item{}, true
	for uid, i := range waiting {
		c.after(time.Second)
		if c.plan(t) != plan {
			t.Fatal("the plan has another name")
		}
		i.Since = c.now
		c.waiting[uid] = i
	}
	c.waiting, c.young = map[string]loss.Item{}, false
	if c.after(time.Second); len(c.memory.Holds) > 0 {
		t.Error("all were reverted, and the plan stays")
	}
}

func TestMemoryIsStoredAsItIs(t *testing.T) {
	c := fleet(loss.Counts{"shop": 1000})
	c.remove("shop", 3)
	c.after(10 * time.Second)
	c.remove("shop", 500)
	c.after(10 * time.Second)
	c.rescued = []string{c.plan(t)}
	c.judge()
	c.remove("shop", 490)
	c.after(10 * time.Second)
	text, err := json.Marshal(c.memory)
	if err != nil {
		t.Fatal(err)
	}
	var back loss.Memory
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(c.memory, back); d != "" {
		t.Errorf("(-stored +read):\n%s", d)
	}
	if limit := 32 * 1000; len(text) > limit {
		t.Errorf("a thousand objects take %d bytes, want at most %d", len(text), limit)
	}
}

// lostIn is what the window has cost each namespace.
func lostIn(m loss.Memory, now time.Time) loss.Counts {
	out := loss.Counts{}
	for _, b := range m.Cleared {
		if now.Sub(b.At) < time.Hour {
			out[b.Namespace] += b.Weight
		}
	}
	return out
}

// heldIn is how many wait in a namespace.
func (c *cluster) heldIn(namespace string) (n int) {
	for _, i := range c.waiting {
		if i.Namespace == namespace {
			n++
		}
	}
	return n
}

// Whatever happens, no window loses more than its budget without an approval, and a member of a plan stays one until an
// administrator decides, it ends outside, or the plan shrinks into the budget.
func TestNoWindowLosesMoreThanItsBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(4, 300).Draw(t, "size")
		c := fleet(loss.Counts{"shop": size / 2, "bank": size - size/2})
		type loss struct {
			at time.Time
			n  int
		}
		var losses []loss
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			namespace := rapid.SampledFrom([]string{"shop", "bank"}).Draw(t, "namespace")
			c.remove(namespace, min(c.living[namespace], rapid.IntRange(0, 20).Draw(t, "n")))
			before := c.gone
			c.after(rapid.SampledFrom([]time.Duration{time.Second, 10 * time.Second, time.Minute, 20 * time.Minute}).Draw(t, "pause"))
			losses = append(losses, loss{c.now, c.gone - before})
			lost := 0
			for _, l := range losses {
				if c.now.Sub(l.at) < time.Hour {
					lost += l.n
				}
			}
			of := size - c.gone + lost
			if most := max(10, of*5/100); lost > most {
				t.Fatalf("%d of %d are lost within an hour, more than %d", lost, of, most)
			}
			for ns, l := range lostIn(c.memory, c.now) {
				if had := c.living[ns] + l + c.heldIn(ns); l*2 > had && had > 3 {
					t.Fatalf("%d of %d in namespace %s are lost within an hour: more than half", l, had, ns)
				}
			}
			if lost*2 > of && of > 3 {
				t.Fatalf("%d of %d are lost within an hour: more than half", lost, of)
			}
		}
	})
}
