package dnssuite

import (
	"fmt"
	"slices"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
)

// Records that stay when the process stops at any moment.
var killingRows = []row{
	{"a process that is killed at any change leaves nothing that its ledger does not name", killedAtAnyChange},
}

// killedAtAnyChange has a record come, change and leave, again and again: each time the process is killed at another of the
// calls that this takes, whose answer is lost.
func killedAtAnyChange(r *rig) {
	calls := r.life("whole", 0, false)
	for n := 1; n <= calls; n++ {
		for _, after := range []bool{false, true} {
			r.life(fmt.Sprintf("killed-%d-%t", n, after), n, after)
		}
	}
	r.t.Logf("a record that comes, changes and leaves takes %d calls that change something", calls)
}

// life is that of a record. The process is killed at the call that has a number, never with zero. It returns how many calls
// there were.
func (r *rig) life(labels string, kill int, after bool) int {
	r.t.Helper()
	o, begin := r.add(), r.changes()
	armed, killed := kill == 0, kill == 0
	look := func() {
		r.ledgerNames(o, r.name(labels))
		made := r.changes() - begin
		if !armed && made >= kill-1 {
			r.Lose(after)
			armed = true
		} else if !killed && made >= kill {
			killed = true
			r.restart()
		}
	}
	look()
	r.watch = look
	defer func() { r.watch = nil }()
	next := r.cname(labels)
	next.Value = "dother.cloudfront.net"
	for _, wants := range [][]dns.Record{{r.cname(labels)}, {next}, nil} {
		r.want(o, wants...)
		r.run(30 * time.Minute)
		r.wantState(o, dns.Published)
		for _, w := range wants {
			if got := r.Answers(w.Name, w.Type); !slices.Equal(got, []string{w.Value}) {
				r.t.Errorf("%s: servers answer %v, want %s", labels, got, w.Value)
			}
		}
	}
	r.wantSets(labels + " is gone")
	if !killed {
		r.t.Errorf("%s: there was no call %d", labels, kill)
	}
	return r.changes() - begin
}

// changes counts the calls that change something.
func (r *rig) changes() int {
	n, _ := r.Calls()
	return n
}

// ledgerNames checks that what the zone has at a name, or servers show there, is in the ledger of the object.
func (r *rig) ledgerNames(o *object, name string) {
	r.t.Helper()
	for _, s := range r.Sets(r.Zone.ID) {
		if s.Name == name && (r.IsNote == nil || !r.IsNote(s)) && !slices.ContainsFunc(o.Ledger, func(e dns.Entry) bool { return s.Is(e.Record) }) {
			r.t.Fatalf("the zone has %s %s, and the ledger %v", name, s, o.Ledger)
		}
	}
	if len(o.Ledger) > 0 {
		return
	}
	if got := r.Answers(name, dns.CNAME); len(got) > 0 {
		r.t.Fatalf("servers answer %v for %s, and the ledger is empty", got, name)
	}
}
