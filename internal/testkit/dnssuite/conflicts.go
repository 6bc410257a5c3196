package dnssuite

import (
	"strings"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
)

// How the workers treat the records of others.
var conflictRows = []row{
	{"what is there is not replaced, and the object is told of it", conflict},
	{"what comes between listing and change is not replaced either", lateConflict},
	{"an equal record of someone else is used, and never deleted", equalRecord},
	{"an equal record that comes between listing and change is not ours either", lateEqualRecord},
	{"a record that was changed meanwhile is not deleted", changedMeanwhile},
	{"a record that is changed after the listing is not deleted", changedAfterListing},
	{"a record that was only spelled in another way is still ours", spelledOtherwise},
	{"drift is corrected where that is wanted, and only told of otherwise", drift},
	{"a takeover replaces what is there, and puts it back in the end", takesOver},
	{"a takeover that finds something else than was listed does not lose that", takesOverLater},
}

// blocked checks that the object knows what is in its way.
func (r *rig) blocked(o *object, by dns.RecordSet) {
	r.t.Helper()
	s := r.wantPhase(o, dns.Blocked)
	if !strings.Contains(s.Found, by.Type) || !strings.Contains(s.Found, by.Values[0]) {
		r.t.Errorf("the object is told of %q, want the %s to %s", s.Found, by.Type, by.Values[0])
	}
}

// unseen handles the rows about records of others where the adapter sees none: what is there stays, and the object does not
// count as published. It reports whether that is so.
func (r *rig) unseen(there dns.RecordSet) bool {
	r.t.Helper()
	if r.Can.NoForeign == "" {
		return false
	}
	r.t.Log(r.Can.NoForeign)
	r.Put(r.Zone.ID, there)
	o := r.add(r.cname("a"))
	r.run(30 * time.Minute)
	r.wantSets("something is there", there)
	for _, e := range o.Ledger {
		if e.State == dns.Published {
			r.t.Errorf("%s counts as published, and %s is there", e.Name, show(there))
		}
	}
	r.want(o)
	r.run(30 * time.Minute)
	r.wantState(o, "")
	r.wantSets("the object is gone", there)
	return true
}

func conflict(r *rig) {
	there := r.foreign("a")
	if r.unseen(there) {
		return
	}
	for says, there := range map[string]dns.RecordSet{
		"a CNAME": there, "addresses": r.set("b", dns.A, "192.0.2.1", "192.0.2.2"), "a text": r.set("c", dns.TXT, "text"),
		"a mail server": r.set("d", "MX", "10 mail.example.net"),
	} {
		r.Put(r.Zone.ID, there)
		label, _, _ := strings.Cut(there.Name, ".")
		o := r.add(r.cname(label))
		r.wantNoChange(says+" is there", func() { r.look() })
		r.wantState(o, "")
		r.blocked(o, there)
		r.want(o)
		r.wantNoChange("the object is gone", func() { r.look() })
		r.Remove(r.Zone.ID, there.Key)
	}
	o := r.add(r.cname("a"))
	r.look()
	r.wantState(o, dns.Published)
	r.wantSets("there is room", r.cname("a").Set())
}

func lateConflict(r *rig) {
	there := r.foreign("a")
	if r.unseen(there) {
		return
	}
	first := r.publish("first")
	// Records that lead to another place in CloudFront are someone else's, too.
	other := r.foreign("b")
	other.Values = []string{"dother.cloudfront.net"}
	r.Put(r.Zone.ID, there)
	r.Put(r.Zone.ID, other)
	a, b := r.add(r.cname("a")), r.add(r.cname("b"))
	r.run(5 * time.Minute)
	r.blocked(a, there)
	r.blocked(b, other)
	r.wantSets("something came", there, other, r.cname("first").Set())
	r.Remove(r.Zone.ID, there.Key)
	r.Remove(r.Zone.ID, other.Key)
	r.look()
	for _, o := range []*object{first, a, b} {
		r.wantState(o, dns.Published)
	}
	r.wantSets("there is room", r.cname("a").Set(), r.cname("b").Set(), r.cname("first").Set())
}

func equalRecord(r *rig) {
	there := r.cname("a").Set()
	if r.unseen(r.foreign("a")) {
		return
	}
	r.Put(r.Zone.ID, there)
	o := r.add(r.cname("a"))
	r.wantNoChange("an equal record is there", func() { r.look() })
	r.wantState(o, "")
	r.wantPhase(o, dns.There)
	r.want(o)
	r.wantNoChange("the object is gone", func() { r.look() })
}

func lateEqualRecord(r *rig) {
	there := r.cname("a").Set()
	if r.unseen(r.foreign("a")) {
		return
	}
	r.publish("first")
	r.Put(r.Zone.ID, there)
	o := r.add(r.cname("a"))
	r.run(5 * time.Minute)
	r.wantState(o, "")
	if s := r.wantPhase(o, dns.There); s.Foreign {
		r.t.Error("it is still said to be foreign, although the ledger has let it go")
	}
	r.want(o)
	r.look()
	r.wantSets("the object is gone", there, r.cname("first").Set())
}

func changedMeanwhile(r *rig) {
	if r.unseen(r.foreign("a")) {
		return
	}
	o := r.publish("a")
	r.setCorrect(o, false)
	r.Put(r.Zone.ID, r.foreign("a"))
	r.look()
	r.want(o)
	r.wantNoChange("the record leads elsewhere", func() { r.look() })
	r.wantState(o, "")
	r.wantSets("the object is gone", r.foreign("a"))
}

func changedAfterListing(r *rig) {
	if r.unseen(r.foreign("a")) {
		return
	}
	o := r.publish("a")
	r.Put(r.Zone.ID, r.foreign("a"))
	r.want(o)
	r.run(5 * time.Minute)
	r.wantState(o, "")
	r.wantSets("the object is gone", r.foreign("a"))
}

func spelledOtherwise(r *rig) {
	if r.unseen(r.foreign("a")) {
		return
	}
	o := r.publish("a")
	spelled := r.cname("a").Set()
	spelled.Values = []string{"DMain.CloudFront.net"}
	r.Put(r.Zone.ID, spelled)
	r.wantNoChange("it means the same", func() { r.look() })
	r.wantPhase(o, dns.There)
	r.want(o)
	r.run(10 * time.Minute)
	r.wantState(o, "")
	r.wantSets("the object is gone")
}

func (r *rig) setCorrect(o *object, correct bool) {
	o.Correct = correct
	o.Version++
	r.pass(o)
}

func drift(r *rig) {
	if r.unseen(r.foreign("a")) {
		return
	}
	o := r.publish("a")
	r.setCorrect(o, false)
	r.Put(r.Zone.ID, r.foreign("a"))
	r.wantNoChange("drift is only told of", func() { r.look() })
	r.blocked(o, r.foreign("a"))
	r.wantState(o, dns.Published)
	r.setCorrect(o, true)
	r.run(5 * time.Minute)
	r.wantPhase(o, dns.There)
	r.wantSets("changed, and corrected", r.cname("a").Set())
	r.Remove(r.Zone.ID, r.cname("a").Key())
	r.look()
	r.wantPhase(o, dns.There)
	r.wantSets("deleted, and corrected", r.cname("a").Set())
	otherTTL := r.cname("a").Set()
	otherTTL.TTL = 2 * ttl
	r.Put(r.Zone.ID, otherTTL)
	r.look()
	r.wantSets("another TTL, and corrected", r.cname("a").Set())
}

func takesOver(r *rig) {
	if r.unseen(r.foreign("a")) {
		return
	}
	r.Put(r.Zone.ID, r.foreign("a"))
	r.Put(r.Zone.ID, r.set("b", dns.A, "192.0.2.1", "192.0.2.2"))
	r.Put(r.Zone.ID, r.set("b", dns.AAAA, "2001:db8::1"))
	before := r.sets()
	o := r.add()
	o.Takeover = true
	r.want(o, r.cname("a"), r.cname("b"))
	r.run(10 * time.Minute)
	r.wantState(o, dns.Published)
	r.wantSets("taken over", r.cname("a").Set(), r.cname("b").Set())
	r.restart()
	r.run(5 * time.Minute)
	r.want(o)
	r.run(10 * time.Minute)
	r.wantState(o, "")
	r.wantLines("put back", before)
	mail := r.set("c", "MX", "10 mail.example.net")
	r.Put(r.Zone.ID, mail)
	r.want(o, r.cname("c"))
	r.wantNoChange("a record of another purpose is in the way", func() { r.look() })
	r.blocked(o, mail)
}

func takesOverLater(r *rig) {
	if r.unseen(r.foreign("a")) {
		return
	}
	r.publish("first")
	r.Put(r.Zone.ID, r.foreign("a"))
	r.look()
	o := r.add()
	o.Takeover = true
	r.want(o, r.cname("a"))
	later := r.foreign("a")
	later.Values = []string{"later.example.net"}
	r.Put(r.Zone.ID, later)
	r.run(30 * time.Minute)
	r.wantState(o, dns.Published)
	r.wantSets("taken over", r.cname("a").Set(), r.cname("first").Set())
	r.want(o)
	r.run(10 * time.Minute)
	r.wantState(o, "")
	r.wantSets("put back", later, r.cname("first").Set())
}
