package dnssuite

import (
	"runtime"
	"sync"
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
)

// variant is a kind of provider that the toy can be.
type variant struct {
	traits dns.Traits
	one    bool
	can    Can
}

var variants = map[string]variant{
	"in batches, with aliases": {
		dns.Traits{Batch: dns.Limits{Records: 100, Characters: 10_000}, PageSize: 5, ListZones: "zones", ListRecords: "records"}, false,
		Can{Batch: 100, Page: 5, Atomic: true},
	},
	"in batches, flattened": {
		dns.Traits{Batch: dns.Limits{Records: 200, Characters: 20_000}, PageSize: 5, ListZones: "zones", ListRecords: "records", Apex: dns.FlattenedApex}, false,
		Can{Batch: 200, Page: 5, Atomic: true, NoAlias: "the DNS provider toy has no alias records for a.toy.example: use Auto or CNAME"},
	},
	"one by one": {
		dns.Traits{Batch: dns.Limits{Records: 50, Characters: 10_000}, PageSize: 5, ListZones: "zones", ListRecords: "records", Apex: dns.NoApex}, true,
		Can{
			Batch: 1, Page: 5,
			NoAlias: "the DNS provider toy has no alias records for a.toy.example: use Auto or CNAME",
			NoApex: "toy.example is the apex of its zone, and the DNS provider toy can't lead an apex to CloudFront: " +
				"use a name below it such as www.toy.example, or host the zone at a provider that can, for example route53 or cloudflare",
		},
	},
}

// The second subject, in all kinds.
func TestTheToy(t *testing.T) {
	for name, v := range variants {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			Run(t, func(t *testing.T) *Subject {
				t.Helper()
				return newToy(v.traits, v.one).subject(t, v.can)
			})
		})
	}
}

// catches says which rows notice a flaw. TestTheToy shows that they notice nothing without it.
var catches = map[flaw][]func(*rig){
	deletesAnything:    {deletesExactly, changedAfterListing, takesOverLater},
	deletesOtherTTL:    {deletesExactly},
	createsOver:        {createsOverNothing, lateConflict, lateEqualRecord},
	createsBeside:      {createsOverNothing},
	losesLastPage:      {listsPages, listsWhileWriting},
	repeatsAtPageEnd:   {listsPages, listsWhileWriting},
	countsPages:        {listsWhileWriting},
	cutsSets:           {listsPages},
	emptyWhenThrottled: {throttled},
	emptyWhenGone:      {gone, vanishes},
	invalidWhenGone:    {gone},
	sureWhenLost:       {lost},
	retriesWhenLost:    {lost, func(r *rig) { losesAnswers(r, true) }},
	forgetsWhenLost:    {lost, func(r *rig) { losesAnswers(r, false) }},
	partsAsNone:        {allOrNone},
	syncAtOnce:         {publishes, retracts},
	neverInSync:        {creating},
	readsNeighbours:    {readsNames},
	readsServers:       {creating},
	hidesSOA:           {listsSOA, delegated},
	hidesNS:            {delegated, delegatedLater},
	hidesOthers:        {readsNames, conflict, equalRecord},
	escapesStars:       {creating, namesOfAllKinds},
	keepsQuotes:        {readsValues},
	keepsDots:          {readsValues},
	losesSpelling:      {spelledOtherwise},
	roundsTTL:          {creating, restarts},
	deniedAsTransient:  {denied, deniesWorker},
	existsAsInvalid:    {createsOverNothing, lateEqualRecord},
	existsAsDone:       {createsOverNothing, lateEqualRecord},
	movingTexts:        {stableTexts},
	endlessTexts:       {stableTexts},
	wrongZone:          {leavesOtherZones},
	dropsInBatches:     {creating, namesOfAllKinds},
	oneByOne:           {manyObjects},
	noOwner:            {notesOwner},
	nameOnly:           {notesOwner},
	writesWhileListing: {quiet},
	dotsInZones:        {listsZones},
	hidesTwin:          {listsZones, twins},
	throttlesAfter:     {throttled},
}

// Damage the provider, and the suite has to notice.
func TestTheSuiteNoticesFlaws(t *testing.T) {
	for f, plays := range catches {
		t.Run(string(f), func(t *testing.T) {
			t.Parallel()
			for n, play := range plays {
				for name, v := range variants {
					if v.one && f == oneByOne {
						continue // that is no flaw there
					}
					if !fails(t, play, newToy(v.traits, v.one, f), v.can) {
						t.Errorf("row %d of those that should notice does not, at a provider %s", n, name)
					}
				}
			}
		})
	}
}

// fails plays a row on a toy and reports whether it fails.
func fails(t *testing.T, play func(*rig), p *toy, can Can) bool {
	t.Helper()
	seen := &witness{TB: t}
	var played sync.WaitGroup
	played.Go(func() { // a row that ends at once ends its goroutine
		play(newRig(seen, p.subject(seen, can)))
	})
	played.Wait()
	return seen.failed
}

// witness is a test that only remembers that it has failed.
type witness struct {
	testing.TB
	failed bool
}

func (w *witness) Helper()               {}
func (w *witness) Log(...any)            {}
func (w *witness) Logf(string, ...any)   {}
func (w *witness) Error(...any)          { w.failed = true }
func (w *witness) Errorf(string, ...any) { w.failed = true }
func (w *witness) Fatal(...any)          { w.failed = true; runtime.Goexit() }
func (w *witness) Fatalf(string, ...any) { w.failed = true; runtime.Goexit() }
