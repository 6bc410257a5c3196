package dnssuite

import (
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
)

// How records leave, and which names a zone leaves to others.
var leavingRows = []row{
	{"a record leaves the zone before the ledger lets it go", retracts},
	{"a record with another target takes the place of the one before", retargets},
}

func retracts(r *rig) {
	o := r.publish("a")
	r.watch = func() {
		if len(o.Ledger) > 0 {
			return
		}
		r.wantSets("the ledger is empty")
		if got := r.Answers(r.name("a"), dns.CNAME); len(got) > 0 {
			r.t.Fatalf("the ledger is empty, and servers answer %v", got)
		}
	}
	if r.Stall != nil {
		r.Stall(true)
	}
	r.want(o)
	if len(o.Ledger) == 0 {
		r.t.Fatal("the ledger let the record go at once")
	}
	if r.Stall != nil {
		r.run(30 * time.Minute)
		r.wantPhase(o, dns.Leaving)
		r.Stall(false)
	}
	r.run(10 * time.Minute)
	r.wantState(o, "")
	r.wantSets("gone")
}

func retargets(r *rig) {
	o := r.publish("a")
	next := r.cname("a")
	next.Value = "dother.cloudfront.net"
	r.want(o, next)
	r.run(10 * time.Minute)
	r.wantState(o, dns.Published)
	r.wantSets("another target", next.Set())
	if got := r.Answers(next.Name, dns.CNAME); len(got) != 1 || got[0] != next.Value {
		r.t.Errorf("servers answer %v, want %s", got, next.Value)
	}
}

var delegationRows = []row{
	{"below a delegation nothing is published, and the object is told of it", delegated},
	{"a delegation that comes later hides a record, and does not keep it from leaving", delegatedLater},
}

func (r *rig) nameServers() dns.RecordSet {
	return r.set("sub", "NS", "ns1.example.net", "ns2.example.net")
}

func (r *rig) wantDelegated(o *object) {
	r.t.Helper()
	if s := r.wantPhase(o, dns.Blocked); s.Delegated != r.name("sub") || !s.Fixed {
		r.t.Errorf("the object is told %+v, want that %s is delegated", s, r.name("sub"))
	}
}

func delegated(r *rig) {
	if r.seesNothingForeign() {
		return
	}
	r.Put(r.Zone.ID, r.nameServers())
	at, below, next := r.add(r.cname("sub")), r.add(r.cname("deep.below.sub")), r.add(r.cname("notsub"))
	below.Takeover = true
	r.look()
	r.wantDelegated(at)
	r.wantDelegated(below)
	r.wantState(at, "")
	r.wantState(below, "")
	r.wantState(next, dns.Published)
	r.wantSets("delegated", r.nameServers(), r.cname("notsub").Set())
	r.Remove(r.Zone.ID, r.nameServers().Key)
	r.look()
	r.wantState(at, dns.Published)
	r.wantState(below, dns.Published)
	r.wantSets("not delegated any more", r.cname("sub").Set(), r.cname("deep.below.sub").Set(), r.cname("notsub").Set())
}

func delegatedLater(r *rig) {
	if r.seesNothingForeign() {
		return
	}
	o := r.publish("www.sub")
	r.Put(r.Zone.ID, r.nameServers())
	r.look()
	r.wantDelegated(o)
	r.wantSets("delegated", r.nameServers(), r.cname("www.sub").Set())
	r.want(o)
	r.look()
	r.wantState(o, "")
	r.wantSets("the object is gone", r.nameServers())
}
