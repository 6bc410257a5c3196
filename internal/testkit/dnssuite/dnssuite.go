// Package dnssuite tests what every adapter of port.DNS has to do. It drives the adapter alone and under the real
// workers, and reads the zone past the adapter.
package dnssuite

import (
	"strings"
	"testing"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// Subject is a provider under test, in a world of its own. Its functions fail the test where they can't do what they say.
//
// The zones hold nothing but what makes them zones: SOA and NS at their own names, and what signs them.
type Subject struct {
	// DNS is the adapter, and Access the identity that reads and changes its zones, with the provider as objects name it.
	DNS    port.DNS
	Access dns.Access
	// Clock is the one that the adapter and a simulator have. The suite moves it.
	Clock *clocktesting.FakeClock

	// Zone is where most rows play, Other a zone of another name. ID and Name have to be set.
	Zone, Other dns.Zone
	// Twin is another zone of the name of Zone. Without one Can.NoTwin says why.
	Twin dns.Zone

	// Put writes a set as a stranger would, in place of the one of its key, and Remove deletes one.
	Put    func(zoneID string, s dns.RecordSet)
	Remove func(zoneID string, k dns.Key)
	// Sets returns all that a zone holds, read past the adapter, in any order; names and values are in the form of the
	// domain. Exact and Routed are not looked at. SOA and NS at the zone's own name, and what signs the
	// zone, may be left out.
	Sets func(zoneID string) []dns.RecordSet
	// IsNote reports whether a set is no record of anyone, but the adapter's note of who has one. Nil: there are none.
	IsNote func(s dns.RecordSet) bool
	// Owner returns the owner that the provider shows next to the set of a key, for example in a comment, and empty where
	// it shows none. Nil: the provider has no room for that.
	Owner func(zoneID string, k dns.Key) string

	// Lose loses the next call that changes something, after it was carried out or before.
	Lose func(after bool)
	// Throttle makes the provider ask for a slower pace at the next n calls; with zero it stops doing so. Nil: Can.NoThrottle
	// says why there is no such thing.
	Throttle func(n int)
	// Deny takes the permission to change anything from the identity, or gives it back.
	Deny func(denied bool)
	// DropZone deletes Zone.
	DropZone func()
	// Stall keeps what is changed from the servers, until it ends. Nil: servers have it with the answer.
	Stall func(stalled bool)
	// Settle waits until servers have what was changed, where that takes real time. Nil: it takes the clock's, if any.
	Settle func()
	// Answers are the values that the servers of Zone show for a name, sorted. For the addresses of an alias, or of a CNAME
	// that is flattened, anything but nothing will do.
	Answers func(name, kind string) []string
	// Calls counts the calls that the provider has had, and those of them that may change something, whatever became of them.
	// Those of the functions above may count, too: the suite calls none of these where it counts.
	Calls func() (mutating, all int)

	// Poison is a full name for which the provider takes no record in Zone, and which it reads like any other.
	Poison string
	// Odd are more names, without that of the zone and in the form of the domain, that people have and the provider's API
	// spells in its own way.
	Odd []string

	Can Can
}

// Can is what a provider can do. A missing capability has a text instead of a flag: the message to users or, if there
// is none, the reason. An empty text says that it can.
type Can struct {
	// Batch is how many names one call publishes at best: one, where each record takes a call of its own.
	Batch int
	// Page is how many records a page of a listing has in this world: few, so that listings have several. Zero: a listing
	// has one page, whatever there is.
	Page int
	// Atomic says that a batch of which anything is refused changes nothing.
	Atomic bool

	// NoApex is what an object with the zone's own name is told, NoAlias one with the record type Alias.
	NoApex, NoAlias string
	// NoTwin is why there can't be two zones of one name.
	NoTwin string
	// NoForeign is why the adapter does not see the records of others.
	NoForeign string
	// NoOwner is why the provider shows no owner of a record.
	NoOwner string
	// NoTTL is why a set is deleted that differs in its TTL only from the one that was read.
	NoTTL string
	// NoGone is why it can't be told that a zone does not exist. It counts as one that may not be read then.
	NoGone string
	// NoThrottle is why the provider never asks for a slower pace.
	NoThrottle string
	// NoExact is why the record of a name is deleted, whatever it has become since it was published.
	NoExact string
	// NoText is why no TXT record is published.
	NoText string
	// LongLabel is what users are told of a name whose first label has 63 characters.
	LongLabel string
	// Many is how many objects one zone has in the rows about numbers, 500 if zero; a world that takes real time for each has
	// fewer.
	Many int
	// Deletion is how many calls it takes to delete a name that is not in a batch; one if zero.
	Deletion int
}

// row is a line of the suite: what an adapter has to do, in a sentence.
type row struct {
	says string
	play func(r *rig)
}

// rows are all lines of the suite, in the order of a record's life.
func rows() []row {
	var all []row
	for _, part := range [][]row{
		readingRows, changingRows, failingRows,
		publishingRows, conflictRows, leavingRows, delegationRows, namingRows, killingRows, costRows,
	} {
		all = append(all, part...)
	}
	return all
}

// Run runs the whole suite. Each row has a world of its own, which newSubject makes.
func Run(t *testing.T, newSubject func(t *testing.T) *Subject) {
	t.Helper()
	for _, one := range rows() {
		t.Run(strings.ReplaceAll(one.says, "/", " "), func(t *testing.T) {
			s := newSubject(t)
			r := newRig(t, s)
			one.play(r)
		})
	}
}
