package crash_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

// troubleTime is how long calls fail one after the other, and syncTime how long nothing gets
// into sync: shorter than the minute after which a change whose id is lost counts as in sync.
const (
	troubleTime = 12 * time.Second
	syncTime    = 20 * time.Second
)

// troubled are the operations that fail for a while.
var troubled = []string{
	changeRecords, "BatchRecords", "ListRecords", "ListZones", "GetChange", "ListResourceRecordSets", "ListHostedZones", "AssumeRole", "GetManagedCertificateDetails", deleteCertificate,
}

// dnsCases are those that don't strike at a call that could be named.
func dnsCases(l *lifecycle, all []boundary) (list []*kase) {
	if l.dns == nil {
		return nil
	}
	add := func(k *kase) *kase {
		k.family, k.lifecycle = "dns", l
		list = append(list, k)
		return k
	}
	operations := troubled
	if l.provider != nil {
		operations = slices.Concat(troubled, l.provider.changes, []string{l.provider.listing}, l.provider.reads)
	}
	for n, operation := range operations {
		if slices.Contains(operations[:n], operation) || !slices.ContainsFunc(all, func(b boundary) bool { return b.operation == operation }) {
			continue
		}
		for _, effect := range []string{"throttle", "denied", "error-before"} {
			add(&kase{what: fmt.Sprintf("%s %s for %s", operation, effect, troubleTime), chaos: lasting(operation, effect), forgives: rewrites})
		}
	}
	if first, some := firstOf(all, l.changesElsewhere()...); some {
		add(&kase{what: fmt.Sprintf("name servers lag %s", syncTime), during: lagsElsewhere(syncTime)})
		k := add(single("dns", l, first, "kill-answered"))
		k.what, k.during = fmt.Sprintf("%s, name servers lag %s", k.what, syncTime), lagsElsewhere(syncTime)
	}
	if first, some := firstOf(all, changeRecords); some {
		add(&kase{what: fmt.Sprintf("not in sync for %s", syncTime), during: neverInSync(syncTime)})
		k := add(single("dns", l, first, "kill-answered"))
		k.what, k.during = fmt.Sprintf("%s, not in sync for %s", k.what, syncTime), neverInSync(syncTime)
		if !l.parks && l.name != "role" && l.provider == nil {
			k := add(single("dns", l, first, "equal-record"))
			k.forgives = anything
		}
	}
	if l.dns.proves {
		for _, other := range []struct {
			what   string
			change func(*sim.Switches)
		}{
			{"resolvers 5s behind", func(sw *sim.Switches) { sw.DNSPropagationDelay = 5 * time.Second }},
			{"the certificate moves no ETag", func(sw *sim.Switches) { sw.CertificateMovesETag = false }},
			{"AWS attaches automatically", func(sw *sim.Switches) { sw.AttachesByItself = true }},
			{"certificates are shown 10s late", func(sw *sim.Switches) { sw.CertificateLag = 10 * time.Second }},
		} {
			if l.parks && other.what == "resolvers 5s behind" {
				continue // For whom CloudFront is late, INSYNC says nothing.
			}
			add(&kase{what: other.what, setUp: func(o *options) { o.switches = other.change }, forgives: rewrites})
		}
	}
	return list
}

func firstOf(all []boundary, operations ...string) (boundary, bool) {
	n := slices.IndexFunc(all, func(b boundary) bool { return slices.Contains(operations, b.operation) })
	if n < 0 {
		return boundary{}, false
	}
	return all[n], true
}

// changesElsewhere are the calls that change records at the provider, none where all are at Route 53.
func (l *lifecycle) changesElsewhere() []string {
	if l.provider == nil {
		return nil
	}
	return l.provider.changes
}

// lasting fails each call of an operation for a while, from the first one on.
func lasting(operation, effect string) func(*rand.Rand) func(call) string {
	return func(*rand.Rand) func(call) string {
		var (
			mu    sync.Mutex
			until time.Time
		)
		return func(c call) string {
			mu.Lock()
			defer mu.Unlock()
			if c.operation != operation {
				return ""
			}
			if until.IsZero() {
				until = time.Now().Add(troubleTime)
			}
			if time.Now().After(until) {
				return ""
			}
			return effect
		}
	}
}

// frozenPublishers stop the leader when it has stored an intent and is about to send it, and with
// the batch on its way. When it is woken, what it would publish may have been taken back.
func frozenPublishers(l *lifecycle, all []boundary) (list []*kase) {
	n := slices.IndexFunc(all, func(b boundary) bool { return b.operation == l.publishes() })
	if n < 0 {
		return nil
	}
	for m, b := range slices.Backward(all[:n]) {
		if b.side == kubeSide && isWrite(b) {
			list = append(list, single("frozen", l, all[m], "freeze-later"))
			break
		}
	}
	if !l.dns.reverses {
		list = append(list, single("frozen", l, all[n], "freeze-before"))
	}
	list = append(list, single("frozen", l, all[n], "freeze-answered"))
	for _, k := range list {
		k.frozen, k.setUp, k.forgives = true, electing, retags
	}
	return list
}
