package crash_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

// kase is one run of one lifecycle with the faults that are meant for it.
type kase struct {
	number    int
	family    string
	lifecycle *lifecycle
	// what names the faults.
	what string
	plan []*fault
	// setUp changes the stage, chaos the calls during the lifecycle.
	setUp  func(o *options)
	chaos  func(r *rand.Rand) func(c call) string
	during func(s *stage)
	after  func(s *stage)
	frozen bool
	// forgives is what the differential check does not mind.
	forgives forgiveness
}

func (k *kase) name() string {
	return fmt.Sprintf("%s/%s/%s", k.family, k.lifecycle.name, k.what)
}

// families in the order of the report.
var families = []string{
	"reference", "kill", "aws", "kube", "terminate", "two kills", "kill and errors", "two active", "frozen", "storm", "away", "dns", "lag", "wiped", "provider", "table",
}

// awsFaults and kubeFaults strike each boundary that they suit.
var (
	kills      = []string{"kill-before", "kill-committed", "kill-answered"}
	awsFaults  = []string{"error-before", "error-committed", "throttle", "stale-etag", "denied", "hang-before", "hang-committed", "late", "reset-before", "reset-committed", "truncated"}
	kubeFaults = []string{"conflict", "busy", "kube-error", "kube-lost", "touched", "reset-before", "reset-committed", "watches-ended"}
)

// allCases lists every case. The same references and the same seed give the same list. Cases that were added
// later come last, so that the others keep their numbers.
func allCases(references map[string]*reference, seed uint64) []*kase {
	list := casesOf(append(plainLifecycles(), dnsLifecycles()...), references, seed)
	list = append(list, casesOf(parentLifecycles(), references, seed)...)
	list = append(list, casesOf(mistakeLifecycles(), references, seed)...)
	list = append(list, casesOf(grantLifecycles(), references, seed)...)
	for _, p := range providers() {
		list = append(list, casesOf(p.lifecycles(), references, seed)...)
	}
	list = append(list, casesOf(invalidationLifecycles(), references, seed)...)
	list = append(list, casesOf(sourceLifecycles(), references, seed)...)
	list = append(list, casesOf(handOverLifecycles(), references, seed)...)
	list = append(list, casesOf(keyLifecycles(), references, seed)...)
	for n, k := range list {
		k.number = n + 1
	}
	return list
}

func casesOf(cycles []*lifecycle, references map[string]*reference, seed uint64) []*kase {
	var list []*kase
	add := func(k *kase) { list = append(list, k) }
	for _, l := range cycles {
		add(&kase{family: "reference", lifecycle: l, what: "undisturbed", setUp: func(o *options) { o.quiet = 2 * sweepInterval }})
	}
	for _, l := range cycles {
		for _, b := range references[l.name].boundaries() {
			for _, family := range []struct {
				name    string
				side    side
				effects []string
			}{{"kill", "", kills}, {"aws", awsSide, awsFaults}, {"kube", kubeSide, kubeFaults}, {"provider", dnsSide, awsFaults}, {"table", tableSide, tableFaults}} {
				if l.crowd && family.side != "" {
					continue
				}
				for _, effect := range family.effects {
					if (family.side == "" || family.side == b.side) && suits(effect, b) {
						add(single(family.name, l, b, effect))
					}
				}
			}
		}
	}
	for _, l := range cycles {
		for _, k := range wholeCases(l, references[l.name].boundaries(), rand.New(rand.NewPCG(seed, uint64(len(list))))) {
			add(k)
		}
	}
	slices.SortStableFunc(list, func(a, b *kase) int {
		return slices.Index(families, a.family) - slices.Index(families, b.family)
	})
	return list
}

func suits(name string, b boundary) bool {
	e, known := effects[name]
	if !known {
		panic("no effect " + name)
	}
	c := call{side: b.side, operation: b.operation, writes: isWrite(b)}
	return e.suits == nil || e.suits(c)
}

func isWrite(b boundary) bool {
	for _, read := range []string{"Get", "List", "Describe", "Assume", "get "} {
		if strings.HasPrefix(b.operation, read) {
			return false
		}
	}
	return true
}

// republishPatience is for a create that was refused after its names were published: the next try
// comes five minutes later.
const republishPatience = 7 * time.Minute

func single(family string, l *lifecycle, b boundary, effect string) *kase {
	k := &kase{family: family, lifecycle: l, what: b.String() + "/" + effect, plan: []*fault{{at: trigger{boundary: b}, effect: effect}}}
	switch {
	case effect == "late":
		// The call itself is no write of the rest that follows.
		k.setUp = func(o *options) { o.late, o.settle = 3*time.Second, 5*time.Second }
		if b.operation == "TagResource" || b.operation == "UntagResource" {
			k.forgives = retags // A write that has not arrived yet is found undone by a read, and repeated.
		}
	case effect == "denied" && b.operation == "CreateDistributionTenant" && l.dns != nil && l.dns.proves:
		k.setUp, k.forgives = func(o *options) { o.patience = republishPatience }, rewrites
	}
	return k
}

// wholeCases are those that concern a lifecycle as a whole, or a few of its boundaries.
func wholeCases(l *lifecycle, all []boundary, r *rand.Rand) (list []*kase) {
	var changes []boundary
	for _, b := range all {
		if isWrite(b) {
			changes = append(changes, b)
		}
	}
	for _, b := range changes {
		k := single("terminate", l, b, "term")
		list = append(list, k)
	}
	for range min(4, len(changes)) {
		b, next, effect := changes[r.IntN(len(changes))], 1+r.IntN(4), kills[r.IntN(2)]
		list = append(list, &kase{
			family: "two kills", lifecycle: l, what: fmt.Sprintf("%s/%s and %d calls later", b, effect, next),
			plan: []*fault{{at: trigger{boundary: b}, effect: effect}, {at: trigger{next: next}, effect: "kill-answered"}},
		})
	}
	for _, b := range outsideChanges(changes) {
		plan := []*fault{{at: trigger{boundary: b}, effect: "kill-committed"}}
		for range 4 {
			plan = append(plan, &fault{at: trigger{next: 1}, effect: "unreadable"})
		}
		list = append(list, &kase{family: "kill and errors", lifecycle: l, what: b.String() + "/kill-committed, then errors", plan: plan})
	}
	list = append(list, twoActive(l, changes)...)
	list = append(list, frozenCases(l, changes, all)...)
	list = append(list, dnsCases(l, all)...)
	for n := range 2 {
		list = append(list, &kase{family: "storm", lifecycle: l, what: fmt.Sprintf("API server, dice %d", n+1), chaos: kubeStorm, during: watchesDrop})
	}
	list = append(list, &kase{family: "storm", lifecycle: l, what: "AWS", chaos: awsStorm})
	if l.sourced {
		list = append(list, &kase{family: "storm", lifecycle: l, what: "state table", chaos: tableStorm})
	}
	if l.provider != nil {
		list = append(list, &kase{family: "storm", lifecycle: l, what: string(l.provider.name), chaos: providerStorm, forgives: rewrites})
	}
	if len(changes) > 0 {
		list = append(list, single("away", l, changes[0], "kube-away"), single("away", l, changes[0], "aws-away"))
		if l.provider != nil {
			list = append(list, single("away", l, changes[0], "dns-away"))
		}
		if l.sourced {
			list = append(list, single("away", l, changes[0], "table-away"))
		}
	}
	list = append(list, lagCases(l, changes)...)
	return append(list, wipedCases(l, changes)...)
}

// twoActive has two operators work with no leader election. With DNS that is not supported: records have no tags, so
// each takes what the other has just published for a foreign record. Neither may the end depend on polls that confirm each
// other: each process starts over when the other one has polled.
func twoActive(l *lifecycle, changes []boundary) []*kase {
	if l.dns != nil || l.polls {
		return nil
	}
	two := func(o *options) { o.replicas = 2 }
	list := []*kase{{family: "two active", lifecycle: l, what: "undisturbed", setUp: two, forgives: retags}}
	for _, effect := range []string{"kill-committed", "error-committed"} {
		if b, ok := firstSuiting(effect, changes); ok {
			k := single("two active", l, b, effect)
			k.setUp, k.forgives = two, retags
			list = append(list, k)
		}
	}
	return list
}

func awsWrites(changes []boundary) (out []boundary) {
	for _, b := range changes {
		if b.side == awsSide {
			out = append(out, b)
		}
	}
	return out
}

// outsideChanges are the writes to AWS and to a DNS provider.
func outsideChanges(changes []boundary) []boundary {
	return slices.DeleteFunc(slices.Clone(changes), func(b boundary) bool { return b.side == kubeSide })
}

func firstSuiting(effect string, all []boundary) (boundary, bool) {
	for _, b := range all {
		if suits(effect, b) {
			return b, true
		}
	}
	return boundary{}, false
}

// frozenCases stop the leader with a write on its way, or with one just done.
func frozenCases(l *lifecycle, changes, all []boundary) (list []*kase) {
	if l.dns != nil {
		return frozenPublishers(l, all)
	}
	for _, effect := range []string{"freeze-before", "freeze-answered"} {
		seen := 0
		for _, b := range changes {
			if b.side != awsSide && effect == "freeze-before" || seen == 2 {
				continue
			}
			if l.hasty && effect == "freeze-before" && strings.HasPrefix(b.operation, "Create") {
				continue // It would be on its way for longer than the grace period, which no design survives.
			}
			seen++
			k := single("frozen", l, b, effect)
			k.frozen, k.setUp, k.forgives = true, electing, retags
			list = append(list, k)
		}
	}
	for _, b := range all {
		// It continues with what it read before it was stopped, or its row arrives late.
		if (b.side == kubeSide && !isWrite(b) || b.side == tableSide) && b.n == 1 {
			k := single("frozen", l, b, "freeze-before")
			k.frozen, k.setUp, k.forgives = true, electing, retags
			list = append(list, k)
		}
	}
	return list
}

func electing(o *options) {
	o.replicas = 2
	o.elect = true
}

// kubeStorm lets one in twenty requests to the API server fail.
func kubeStorm(r *rand.Rand) func(call) string {
	return dice(r, 20, kubeSide, []string{"conflict", "busy", "kube-error", "kube-lost", "reset-before"})
}

// awsStorm lets one in five calls to AWS fail.
func awsStorm(r *rand.Rand) func(call) string {
	return dice(r, 5, awsSide, []string{"error-before", "error-committed", "throttle", "reset-before", "reset-committed", "truncated"})
}

// providerStorm is the same for the DNS provider, which hears of a lifecycle in far fewer calls.
func providerStorm(r *rand.Rand) func(call) string {
	return dice(r, 3, dnsSide, []string{"error-before", "error-committed", "throttle", "reset-before", "reset-committed", "truncated"})
}

// tableStorm lets no row be written to a state table.
func tableStorm(r *rand.Rand) func(call) string {
	return dice(r, 1, tableSide, []string{"error-before", "throttle", "denied", "reset-before"})
}

func dice(r *rand.Rand, sides int, s side, names []string) func(call) string {
	return func(c call) string {
		if c.side != s || r.IntN(sides) > 0 {
			return ""
		}
		name := names[r.IntN(len(names))]
		if e := effects[name]; e.suits != nil && !e.suits(c) {
			return ""
		}
		return name
	}
}

// watchesDrop ends all watches once a second.
func watchesDrop(s *stage) {
	var again func()
	again = func() {
		if s.ctx.Err() == nil && s.stormy() {
			s.gate.dropWatches()
			s.later(time.Second, again)
		}
	}
	s.later(time.Second, again)
}

// lagCases have AWS show old or no news for a while, with and without a kill.
func lagCases(l *lifecycle, changes []boundary) (list []*kase) {
	for _, lag := range []struct {
		name   string
		change func(*sim.Switches)
	}{
		{"list 30s", func(sw *sim.Switches) { sw.ListLag = 30 * time.Second }},
		{"new tenants hidden 20s", func(sw *sim.Switches) { sw.GetLag, sw.ListLag = 20*time.Second, 20*time.Second }},
		{"updates 15s", func(sw *sim.Switches) { sw.UpdateLag, sw.ListLag = 15*time.Second, 15*time.Second }},
		{"deletes 15s", func(sw *sim.Switches) { sw.DeleteLag, sw.ListLag = 15*time.Second, 15*time.Second }},
		{"other ETags", func(sw *sim.Switches) { sw.SummaryETagDiffers, sw.DeployMovesETag, sw.TagMovesETag = true, true, true }},
	} {
		set := func(o *options) { o.switches, o.settle = lag.change, 35*time.Second }
		list = append(list, &kase{family: "lag", lifecycle: l, what: lag.name, setUp: set, forgives: rewrites})
		if writes := awsWrites(changes); len(writes) > 0 {
			k := single("lag", l, writes[0], "kill-committed")
			k.what, k.setUp, k.forgives = lag.name+"/"+k.what, set, rewrites
			list = append(list, k)
		}
	}
	return list
}

// wipedCases remove all status: after a write, at the end, and while no operator runs.
func wipedCases(l *lifecycle, changes []boundary) (list []*kase) {
	if l.dns != nil {
		return nil // Only status knows which records are ours: records whose ledger is lost stay forever.
	}
	for _, effect := range []string{"wipe", "wipe-killed"} {
		// Which tags are ours only status knows: one that is lost while a tag is on its way out leaves the tag behind.
		if len(changes) > 0 && !l.untags {
			list = append(list, single("wiped", l, changes[len(changes)/2], effect))
		}
	}
	list = append(list,
		&kase{family: "wiped", lifecycle: l, what: "at the end", after: func(s *stage) { s.wipe() }},
		&kase{family: "wiped", lifecycle: l, what: "at the end, no operator running", after: func(s *stage) { s.whileDown(s.wipe) }},
	)
	for _, k := range list {
		if l.parents && l.meddles {
			k.forgives = forgets
		}
	}
	return list
}
