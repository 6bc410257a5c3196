package sources_test

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

// campaign plays all cases of TestDatabaseFaults. Without it each failure is played on one engine, in turn.
var campaign = flag.Bool("sources.campaign", false, "play each database failure on each engine in each circumstance")

// ailment is a failure that can come and go more than once.
type ailment struct {
	name  string
	spoil func(c *cell, percent int64)
	heal  func(c *cell)
	want  outcome
	// except is what some engines say instead.
	except map[mapping.Provider]outcome
	// cause are words of the message of which one has to be there: what to look at.
	cause []string
}

// notRead are the words for a read that did not come to its end.
var notRead = []string{"connection", "reset", "EOF", "closed", "refused", "socket", "server selection", "read completely", "no response", "lost", "fail"}

func cured(c *cell) { must(c.t, c.table.Wire().Heal()) }

// wholeAgain puts back the rows that a failure took.
func wholeAgain(c *cell) { c.put(usual(0, size)...) }

// ailments are the failures of the campaign.
var ailments = []ailment{
	{name: "no server listens", spoil: func(c *cell, _ int64) { c.table.Wire().Refuse() }, heal: cured, want: pollFailed(), cause: notRead},
	{name: "the connection is reset", spoil: func(c *cell, percent int64) { c.table.Wire().CutAfter(c.length() * percent / 100) }, heal: cured, want: pollFailed(), cause: notRead},
	{name: "the connection hangs", spoil: func(c *cell, percent int64) { c.table.Wire().HangAfter(c.length() * percent / 100) }, heal: cured, want: pollFailed(), cause: notRead},
	{name: "the answer drips", spoil: func(c *cell, percent int64) { c.table.Wire().Drip(16 + percent/5) }, heal: cured, want: pollFailed("within 8s"), cause: notRead},
	{name: "the rights are revoked", spoil: func(c *cell, _ int64) { must(c.t, c.table.Revoke(c.t.Context())) },
		heal: func(c *cell) { must(c.t, c.table.Grant(c.t.Context())) }, want: sourceError(),
		cause: []string{"denied", "permission", "Denied", "not authorized", "NOPERM", "privilege", "rejects the user", "not allowed", "security token"}},
	{name: "the database is another one", spoil: func(c *cell, _ int64) { c.elsewhere() },
		heal: func(c *cell) {
			c.follow(c.table)
			c.settle()
		},
		want:   sourceError(),
		except: map[mapping.Provider]outcome{mapping.Redis: gone}, cause: []string{"nowhere", "no collection", "not found", "empty table", "does not exist", "no database", "not allowed to use the database"}},
	{name: "a failover to an empty replica", spoil: func(c *cell, _ int64) { must(c.t, c.table.HideRows(c.t.Context())) },
		heal: func(c *cell) { must(c.t, c.table.ShowRows(c.t.Context())) }, want: gone, cause: []string{"no rows"}},
	{name: "a replica lags behind by most of the rows", spoil: func(c *cell, _ int64) { c.remove(names(0, most)...) },
		heal: func(c *cell) { c.put(usual(0, most)...) }, want: held(withoutRow(most)), cause: []string{"no longer have a row"}},
	{name: "the table is empty", spoil: func(c *cell, _ int64) { must(c.t, c.table.Truncate(c.t.Context())) }, heal: wholeAgain, want: gone, cause: []string{"no rows"}},
	{name: "a column is renamed", spoil: func(c *cell, _ int64) { rename("domain", "host")(c) }, heal: rename("host", "domain"),
		want:   sourceError(emptied("domain")),
		except: notFound("domain"), cause: []string{"domain"}},
}

// circumstance is how long a failure lasts, and what else happens.
type circumstance struct {
	name string
	// times is how often it comes, and polls how long it lasts each time.
	times, polls int
	// percent is where in an answer it strikes, if it strikes in one.
	percent   int64
	meanwhile func(*cell)
}

var circumstances = []circumstance{
	{name: "for one poll", times: 1, polls: 1, percent: 1},
	{name: "for three polls", times: 1, polls: 3, percent: 25},
	{name: "while the operator starts again", times: 1, polls: 2, percent: 50, meanwhile: func(c *cell) { c.w.Restart() }},
	{name: "twice", times: 2, polls: 1, percent: 75},
	{name: "while a person asks for another interval", times: 1, polls: 2, percent: 95, meanwhile: func(c *cell) { c.w.Annotate(customers, "example.com/looked-at", "yes") }},
}

// TestDatabaseFaults plays each failure on each engine in each circumstance: no tenant is touched while it lasts, the
// source says what is wrong, and once it is over everything continues.
func TestDatabaseFaults(t *testing.T) {
	n := 0
	for i, a := range ailments {
		for j, around := range circumstances {
			for k, engineName := range slices.Sorted(maps.Keys(engines)) {
				n++
				if sampled := j == i%len(circumstances) && k == i%len(engines); !sampled && !*campaign {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/%s", engineName, a.name, around.name), func(t *testing.T) {
					t.Parallel()
					a.play(t, engines[engineName], around)
				})
			}
		}
	}
	t.Logf("%d cases in all", n)
}

func (a ailment) play(t *testing.T, e engine, around circumstance) {
	t.Helper()
	want := a.want
	if other, ok := a.except[e.provider]; ok {
		want = other
	}
	e.play(t, short, func(c *cell) {
		before := c.objects()
		for range around.times {
			a.spoil(c, around.percent)
			c.settle()
			for range around.polls {
				c.poll()
				c.untouched(before)
				c.expect("Ready="+want.ready, "Synced="+want.synced)
				c.says(want.says...)
				c.names(a.cause...)
				if around.meanwhile != nil {
					around.meanwhile(c)
				}
			}
			a.heal(c)
			c.poll()
			c.untouched(before)
			c.expect("Ready=True/PollSucceeded", "Synced=True/InSync")
		}
		c.nothingDeleted()
		c.noSecret(c.told())
		c.put(row(size))
		c.poll()
		c.untouched(before, name(size))
		c.living(names(0, size+1))
		c.removalTakesTwoPolls(name(size))
	})
}

// names looks in the message of Ready for one of the words that name a cause.
func (c *cell) names(words ...string) {
	c.t.Helper()
	message := c.w.Message(customers, "Ready")
	if !slices.ContainsFunc(words, func(word string) bool { return strings.Contains(message, word) }) {
		c.t.Errorf("Ready names no cause, one of %q:\n%s", words, message)
	}
}
