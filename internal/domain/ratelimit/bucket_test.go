package ratelimit_test

import (
	"container/heap"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ratelimit"
)

// The classes of the tests, as the operator numbers them.
const (
	change = iota
	follow
	correct
	sweep
	poll
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func newBucket(rate float64, burst int) *ratelimit.Bucket {
	return ratelimit.NewBucket(ratelimit.BucketConfig{Rate: rate, Burst: burst, Reserved: follow, Background: sweep}, start)
}

// by is a caller of the namespace that most tests do with.
func by(key string, class int) ratelimit.Caller {
	return ratelimit.Caller{Key: key, Namespace: "shop", Class: class}
}

func at(d time.Duration) time.Time { return start.Add(d) }

// drain takes everything that a class may have at once.
func drain(b *ratelimit.Bucket, now time.Time, class int) int {
	for n := 0; ; n++ {
		if b.Take(now, by("", class)) > 0 {
			return n
		}
	}
}

func TestTakeTellsThePlaceInTheQueue(t *testing.T) {
	type ask struct {
		after time.Duration
		key   string
		class int
		want  time.Duration
	}
	// With 10 a second and the smallest burst, the shared lane is a burst of 1 and, while the
	// others are full, the whole 10 a second.
	const one, two, three = 100 * time.Millisecond, 200 * time.Millisecond, 300 * time.Millisecond
	// When it is not, the nine that are left are a token in every 111.2 ms, told in whole
	// milliseconds rounded up.
	const slow = 112 * time.Millisecond
	// Without the twentieth of the background it is 9.5 a second.
	const bare = 106 * time.Millisecond
	tests := []struct {
		name string
		asks []ask
	}{
		{"a rested bucket lets the first go at once", []ask{{0, "a", change, 0}}},
		{"the second is told when the next token is there", []ask{{0, "a", change, 0}, {0, "b", change, one}}},
		{"each that waits moves those behind it by one token", []ask{
			{0, "a", change, 0}, {0, "b", change, one}, {0, "c", change, two}, {0, "d", change, three},
		}},
		{"who asks again keeps its place", []ask{
			{0, "a", change, 0}, {0, "b", change, one}, {0, "c", change, two}, {0, "b", change, one},
		}},
		{"who comes back in time goes", []ask{{0, "a", change, 0}, {0, "b", change, one}, {one, "b", change, 0}}},
		{"a newcomer does not overtake one of its class that is due", []ask{
			{0, "a", change, 0}, {0, "b", change, one}, {one, "c", change, one}, {one, "b", change, 0},
		}},
		{"a newcomer of a more urgent class does", []ask{
			{0, "a", change, 0}, {0, "b", correct, one}, {one, "c", change, 0}, {one, "b", correct, one},
		}},
		{"the less urgent queue behind all that are more urgent", []ask{
			{0, "a", change, 0}, {0, "s", sweep, 0}, {0, "b", sweep, bare}, {0, "c", correct, bare}, {0, "d", change, bare},
			{0, "b", sweep, 3*bare - 2*time.Millisecond},
		}},
		{"who vanished holds its place until a call was lost for it", []ask{
			{0, "a", change, 0}, {0, "b", change, one}, {two - time.Millisecond, "c", change, one}, {two, "c", change, 0}, {two, "d", change, two},
		}},
		{"a caller without a key gets a delay and holds no place", []ask{
			{0, "a", change, 0}, {0, "", change, one}, {0, "", change, one}, {0, "b", change, one}, {0, "", change, two},
		}},
		{"what becomes more urgent leaves its old place", []ask{
			{0, "a", change, 0}, {0, "b", correct, one}, {0, "c", correct, two}, {0, "b", change, one},
			{0, "d", change, two}, {0, "c", correct, three}, {one, "b", change, 0},
		}},
		{"the background has a call of its own, every two seconds, also while others wait", []ask{
			{0, "a", change, 0}, {0, "s", sweep, 0}, {2 * time.Second, "b", change, 0}, {2 * time.Second, "t", poll, 0},
		}},
		{"and is not slower for it where others leave it more", []ask{
			{0, "s", sweep, 0}, {0, "t", poll, 0}, {0, "u", sweep, bare},
		}},
		{"the reserved class does not wait for the others", []ask{
			{0, "a", change, 0}, {0, "b", change, one}, {0, "f", follow, 0},
		}},
		{"and takes its tenth from them", []ask{
			{0, "a", change, 0}, {0, "f", follow, 0}, {0, "b", change, slow}, {0, "g", follow, time.Second},
		}},
		{"the reserved class leaves the last call of an idle rest to those whose it is", []ask{
			{0, "f", follow, 0}, {0, "g", follow, time.Second}, {0, "a", change, 0},
		}},
		{"a clock that goes backwards gives and takes nothing", []ask{
			{time.Second, "a", change, 0}, {0, "b", change, one}, {time.Second + one, "b", change, 0},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBucket(10, 2)
			for i, a := range tt.asks {
				if got := b.Take(at(a.after), by(a.key, a.class)); got != a.want {
					t.Fatalf("ask %d of %q: delay %v, want %v", i, a.key, got, a.want)
				}
			}
		})
	}
}

func TestAVanishedCallerLosesItsPlace(t *testing.T) {
	const delay = 100 * time.Millisecond
	for after, want := range map[time.Duration]int{0: 1, delay + 5*time.Second: 1, delay + 5*time.Second + time.Millisecond: 0} {
		b := newBucket(10, 2)
		b.Take(start, by("a", change))
		b.Take(start, by("b", change))
		b.Take(at(after), by("", follow))
		if got := b.Waiting(); got != want {
			t.Errorf("%d places %s after they were taken, want %d", got, after, want)
		}
	}
}

func TestNewBucketRaisesWhatMakesNoSense(t *testing.T) {
	b := ratelimit.NewBucket(ratelimit.BucketConfig{Rate: -1, Burst: 0, Reserved: follow, Background: sweep}, start)
	if got := b.Rate(start); got != 0.2 {
		t.Errorf("rate %v, want 0.2: a bucket that never fills would stop the operator for good", got)
	}
	if got := []int{drain(b, start, change), drain(b, start, follow)}; !cmp.Equal(got, []int{1, 1}) {
		t.Errorf("bursts %v, want one call for each lane", got)
	}
}

// Owed calls are paid back before any other caller goes.
func TestOwedCallsAreWaitedFor(t *testing.T) {
	b := newBucket(10, 50)
	drain(b, start, change)
	b.Owe(start, change)
	b.Owe(start, change)
	if got, want := b.Take(start, by("", change)), 300*time.Millisecond; got != want {
		t.Errorf("with two calls owed the next one waits for %v, want %v", got, want)
	}
	if got := b.Take(at(300*time.Millisecond), by("", change)); got != 0 {
		t.Errorf("after that time it waits for another %v", got)
	}
	if got := b.Take(at(300*time.Millisecond), by("", follow)); got != 0 {
		t.Errorf("the reserved class waits for %v: it owes nothing", got)
	}
}

// The reserved class may use what the others leave idle, except for half of their burst.
func TestTheReservedClassBorrowsWhatIsIdle(t *testing.T) {
	b := newBucket(10, 50)
	if got, want := drain(b, start, follow), 5+22; got != want {
		t.Errorf("%d calls of the reserved class at once, want its 5 and half of the others' 44", got)
	}
	if got, want := drain(b, start, change), 22; got != want {
		t.Errorf("%d calls are left to the others, want %d", got, want)
	}
	if got := b.Take(start, by("a", change)); got == 0 {
		t.Fatal("one call too many")
	}
	for now := start; now.Before(at(200 * time.Millisecond)); now = now.Add(10 * time.Millisecond) {
		if got := b.Take(now, by("", follow)); got == 0 {
			t.Fatalf("at %v the reserved class takes tokens that another class is waiting for", now.Sub(start))
		}
	}
}

func TestTheBurstIsDivided(t *testing.T) {
	b := newBucket(10, 50)
	got := []int{drain(b, start, change), drain(b, start, poll), drain(b, start, follow)}
	if !cmp.Equal(got, []int{44, 1, 5}) {
		t.Errorf("bursts of the others, the background and the reserved class are %v, want 44, 1 and 5", got)
	}
}

func TestThrottlingSlowsDownOnce(t *testing.T) {
	b := newBucket(10, 50)
	for i := range 8 {
		b.Throttled(at(time.Second), at(time.Duration(i)*time.Millisecond))
	}
	if got := b.Rate(at(time.Second)); got != 9 {
		t.Errorf("rate %v after eight calls under way were throttled together, want a tenth less", got)
	}
	b.Throttled(at(2*time.Second), at(1500*time.Millisecond))
	if got := b.Rate(at(2 * time.Second)); got != 4.5 {
		t.Errorf("rate %v after a call sent at the new rate was throttled too, want half of 9", got)
	}
	b.Throttled(at(13*time.Second), at(13*time.Second))
	if got, want := b.Rate(at(13*time.Second)), 0.9*5; !cmp.Equal(got, want, cmp.Comparer(near)) {
		t.Errorf("rate %v after a throttle that followed on eleven clean seconds, want a tenth less than 5", got)
	}
}

func TestThrottlingEmptiesAndShrinksTheBurst(t *testing.T) {
	b := newBucket(10, 50)
	b.Throttled(at(500*time.Millisecond), start)
	b.Throttled(at(time.Second), at(600*time.Millisecond))
	if got := drain(b, at(time.Second), change); got != 0 {
		t.Errorf("%d saved calls left after a throttle, want none", got)
	}
	// 9 s at 4.5 a second would fill a full burst, but recovery is not due before 10 s.
	if got := drain(b, at(11*time.Second-time.Millisecond), change); got != 19 {
		t.Errorf("a burst of %d at 0.45 of the rate, want as much of 44", got)
	}
}

func TestRateFallsToTheFloorAndRecovers(t *testing.T) {
	b := newBucket(10, 50)
	now := start
	for range 20 {
		now = now.Add(time.Second)
		b.Throttled(now, now)
	}
	if got := b.Rate(now); got != 0.2 {
		t.Fatalf("rate %v after twenty throttles, want the floor", got)
	}
	for _, tt := range []struct {
		why  string
		wait time.Duration
		want float64
	}{
		{"nothing recovers before ten clean seconds", 10*time.Second - time.Millisecond, 0.2},
		{"the first step is half a call a second", 10 * time.Second, 0.7},
		{"a minute is six steps", time.Minute, 3.2},
		{"the configured rate is the ceiling", time.Hour, 10},
	} {
		if got := b.Rate(now.Add(tt.wait)); !cmp.Equal(got, tt.want, cmp.Comparer(near)) {
			t.Errorf("%s: rate %v after %v, want %v", tt.why, got, tt.wait, tt.want)
		}
	}
}

func TestAThrottleStartsTheCleanSecondsAnew(t *testing.T) {
	b := newBucket(10, 50)
	b.Throttled(at(time.Second), start)
	// The late answer to an old call does not slow down, but these seconds were not clean.
	b.Throttled(at(9*time.Second), start)
	if got := b.Rate(at(12 * time.Second)); got != 9 {
		t.Errorf("rate %v, want 9 until ten seconds after the last throttle", got)
	}
	if got := b.Rate(at(19 * time.Second)); got != 9.5 {
		t.Errorf("rate %v, want 9.5", got)
	}
}

func TestDelaysCountOnTheRecovery(t *testing.T) {
	b := newBucket(10, 50)
	now := start
	for range 20 {
		now = now.Add(time.Second)
		b.Throttled(now, now)
	}
	var delay time.Duration
	for i := range 100 {
		delay = b.Take(now, by(fmt.Sprint(i), change))
	}
	if got := delay.Round(time.Second); got < 60*time.Second || got > 70*time.Second {
		t.Errorf("the hundredth waits %v, want about 65 s: at the floor alone it would be nine minutes", got)
	}
}

func TestLongDelaysAreShortenedInOrder(t *testing.T) {
	b := newBucket(10, 50)
	var delays []time.Duration
	for i := range 9_044 {
		delays = append(delays, b.Take(start, by(fmt.Sprint(i), change)))
	}
	// The last is number 9,000 in the queue, nine hundred seconds at ten a second.
	if last := delays[len(delays)-1]; last != 600*time.Second {
		t.Errorf("the last waits %v, want five minutes and half of the rest: 600 s", last)
	}
	for i := 45; i < len(delays); i++ {
		if delays[i] <= delays[i-1] {
			t.Fatalf("delays %v and %v are not in the order of the queue", delays[i-1], delays[i])
		}
	}
}

func near(a, b float64) bool { return a-b < 1e-6 && b-a < 1e-6 }

// caller comes back exactly when it was told to.
type caller struct {
	ratelimit.Caller

	first, due time.Time
	asked      int
	order      int
}

type agenda []*caller

func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, j int) bool {
	if a[i].due.Equal(a[j].due) {
		return a[i].order < a[j].order
	}
	return a[i].due.Before(a[j].due)
}
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)   { *a = append(*a, x.(*caller)) }
func (a *agenda) Pop() any {
	last := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return last
}

// serve lets every caller come back as told until all were served, and returns them in the order in which they were,
// and when the last one was.
func serve(b *ratelimit.Bucket, callers []*caller) (gone []*caller, end time.Time) {
	return serveLate(b, callers, 0)
}

// serveLate does the same with callers that come back late.
func serveLate(b *ratelimit.Bucket, callers []*caller, late time.Duration) (gone []*caller, end time.Time) {
	waiting := agenda(callers)
	heap.Init(&waiting)
	for len(waiting) > 0 && waiting[0].due.Before(at(time.Hour)) {
		c := waiting[0]
		c.asked++
		delay := b.Take(c.due, c.Caller)
		if delay == 0 {
			end = c.due
			gone = append(gone, c)
			heap.Pop(&waiting)
			continue
		}
		c.due = c.due.Add(delay + late)
		heap.Fix(&waiting, 0)
	}
	return gone, end
}

func genCallers(t *rapid.T, classes []int) []*caller {
	n := rapid.IntRange(1, 300).Draw(t, "callers")
	callers := make([]*caller, n)
	for i := range callers {
		callers[i] = &caller{
			Caller: ratelimit.Caller{
				Key: fmt.Sprint(i), Class: rapid.SampledFrom(classes).Draw(t, "class"),
				Namespace: rapid.SampledFrom([]string{"", "shop", "shop", "shop", "blog"}).Draw(t, "namespace"),
			},
			order: i, first: at(time.Duration(rapid.IntRange(0, 20_000).Draw(t, "first ask")) * time.Millisecond),
		}
		callers[i].due = callers[i].first
	}
	return callers
}

// Callers who do as they are told are all served, in order within their class and namespace, and without wasted time.
func TestEveryoneIsServed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate, burst := float64(rapid.IntRange(1, 50).Draw(t, "rate")), rapid.IntRange(1, 60).Draw(t, "burst")
		b := newBucket(rate, burst)
		classes := []int{change, correct}
		// While others fill the floor, forecasts are a little too long: a caller that was told to come later may come
		// sooner, and is served where the token of the one before it is kept.
		exact := rapid.Bool().Draw(t, "exact")
		if !exact {
			classes = append(classes, sweep, poll)
		}
		callers := genCallers(t, classes)
		gone, end := serve(b, callers)
		if b.Waiting() != 0 {
			t.Fatalf("%d places left after all were served", b.Waiting())
		}
		// 20 s of arrivals, then at most everything that is left at 0.85 of the rate,
		// with a millisecond of rounding for each.
		latest := at(20*time.Second + time.Duration(float64(len(callers))*(float64(time.Second)/(rate*0.85)+float64(time.Millisecond))))
		if end.After(latest) {
			t.Fatalf("the last of %d went after %v, want before %v", len(callers), end.Sub(start), latest.Sub(start))
		}
		last := map[ratelimit.Caller]*caller{}
		for _, c := range gone {
			line := ratelimit.Caller{Namespace: c.Namespace, Class: c.Class}
			if p := last[line]; exact && p != nil && p.asked > 1 && c.asked > 1 && p.first.After(c.first) {
				t.Fatalf("%s of %q and class %d asked first at %v and went after %s, who asked at %v", c.Key, c.Namespace, c.Class,
					c.first.Sub(start), p.Key, p.first.Sub(start))
			}
			last[line] = c
		}
	})
}

// However much one namespace asks for, a caller of another waits for its own namespace's turns only: in each of them
// every namespace goes once.
func TestNoNamespaceStarves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		class := rapid.SampledFrom([]int{change, follow, correct, sweep}).Draw(t, "class")
		callers := genCallers(t, []int{class})
		for i := range rapid.IntRange(0, 300).Draw(t, "crowd") {
			callers = append(callers, &caller{
				Caller: ratelimit.Caller{Key: fmt.Sprint("crowd-", i), Namespace: "crowd", Class: class}, first: start, due: start, order: -1,
			})
		}
		share := map[int]float64{change: 8.5, correct: 8.5, follow: 1, sweep: 9}[class]
		gone, _ := serve(newBucket(10, 50), callers)
		for _, c := range gone {
			if c.Namespace == "crowd" {
				continue
			}
			turns := 2
			for _, other := range gone {
				if other.Namespace == c.Namespace && !other.first.After(c.first) && other.due.After(c.first) {
					turns++
				}
			}
			// Four namespaces, each with one call in a turn, and a millisecond of rounding for each call.
			most := time.Duration(4 * float64(turns) * (float64(time.Second)/share + float64(time.Millisecond)))
			if waited := c.due.Sub(c.first); waited > most {
				t.Fatalf("%s of %q waited %v for %d turns, want at most %v", c.Key, c.Namespace, waited, turns, most)
			}
		}
	})
}

// However much the others ask for, the background gets on with a twentieth.
func TestTheBackgroundHasItsFloor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		background, crowd := genCallers(t, []int{sweep, poll}), genCallers(t, []int{change, correct})
		for i := range 2_000 {
			crowd = append(crowd, &caller{Caller: by(fmt.Sprint("more-", i), change)})
		}
		for i, c := range crowd {
			c.Key, c.due, c.order = fmt.Sprint("crowd-", i), start, -1
		}
		gone, _ := serve(newBucket(10, 50), append(crowd, background...))
		var last time.Time
		for _, c := range gone {
			if c.Class >= sweep {
				last = c.due
			}
		}
		latest := at(20*time.Second + time.Duration(len(background))*(2*time.Second+time.Millisecond))
		if last.After(latest) {
			t.Fatalf("the last of %d went after %v, want before %v", len(background), last.Sub(start), latest.Sub(start))
		}
	})
}

// One change of a namespace is not kept waiting by ten thousand of another.
func TestACrowdDelaysOthersByTwoCalls(t *testing.T) {
	b := newBucket(10, 50)
	for i := range 10_000 {
		b.Take(start, by(fmt.Sprint(i), change))
	}
	if got := b.Take(start, ratelimit.Caller{Key: "x", Namespace: "blog", Class: change}); got != 300*time.Millisecond {
		t.Errorf("a single change of another namespace waits for %v, want 300 ms: two calls of the crowd, and its own", got)
	}
}

// Nothing that callers do makes the bucket give out more than rate and burst.
func TestTheRateIsNeverExceeded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate, burst := float64(rapid.IntRange(1, 50).Draw(t, "rate")), rapid.IntRange(3, 60).Draw(t, "burst")
		b := newBucket(rate, burst)
		now, calls := start, 0
		for range rapid.IntRange(1, 300).Draw(t, "asks") {
			now = now.Add(time.Duration(rapid.IntRange(0, 300).Draw(t, "ms")) * time.Millisecond)
			class := rapid.IntRange(change, poll).Draw(t, "class")
			namespace := rapid.SampledFrom([]string{"", "shop", "blog"}).Draw(t, "namespace")
			key := rapid.SampledFrom([]string{"", "a", "b", "c", "d"}).Draw(t, "key")
			if rapid.IntRange(0, 50).Draw(t, "throttle") == 0 {
				b.Throttled(now, now)
			}
			if b.Take(now, ratelimit.Caller{Key: key + namespace, Namespace: namespace, Class: class}) == 0 {
				calls++
			}
			passed := now.Sub(start).Seconds()
			if most := float64(burst) + passed*rate; float64(calls) > most+0.01 {
				t.Fatalf("%d calls in %v s, want at most %v", calls, passed, most)
			}
		}
	})
}

// However much the others ask for, the reserved class has its tenth, and while they wait no more.
func TestTheReservedClassHasItsTenth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		followers, crowd := genCallers(t, []int{follow}), genCallers(t, []int{change})
		for _, c := range crowd {
			c.Key, c.due = "crowd-"+c.Key, start
		}
		for _, f := range followers {
			f.order += len(crowd)
		}
		gone, _ := serve(newBucket(10, 50), append(crowd, followers...))
		var crowdGone, lastFollower time.Time
		for _, c := range gone {
			if c.Class == change {
				crowdGone = c.due
			} else {
				lastFollower = c.due
			}
		}
		beside := 0
		for _, c := range gone {
			if c.Class == follow && c.due.Before(crowdGone) {
				beside++
			}
		}
		if most := 5 + crowdGone.Sub(start).Seconds(); float64(beside) > most+0.01 {
			t.Fatalf("%d reserved calls in the %v in which others waited, want at most %v", beside, crowdGone.Sub(start), most)
		}
		// 20 s of arrivals, and then one a second, with a millisecond of rounding for each.
		latest := at(20*time.Second + time.Duration(len(followers))*1001*time.Millisecond)
		if lastFollower.After(latest) {
			t.Fatalf("the last of %d went after %v, want before %v", len(followers), lastFollower.Sub(start), latest.Sub(start))
		}
	})
}

func TestTenThousandWaitWithFewQuestions(t *testing.T) {
	b := newBucket(10, 50)
	callers := make([]*caller, 10_000)
	for i := range callers {
		callers[i] = &caller{Caller: by(fmt.Sprint(i), correct), order: i, due: start}
	}
	gone, end := serve(b, callers)
	questions := 0
	for _, c := range gone {
		questions += c.asked
	}
	// Delays above five minutes are halved, so the last callers ask a few times.
	if questions > 4*len(callers) {
		t.Errorf("%d questions of %d callers, want at most four each", questions, len(callers))
	}
	if want := at(996 * time.Second); end.Sub(want).Abs() > 15*time.Second {
		t.Errorf("the last went after %v, want about %v (9,955 at ten a second)", end.Sub(start), want.Sub(start))
	}
}

// Where the reserved class asks now and then, callers that wait use what it leaves: no token is lost because they were
// told to come back too late.
func TestACrowdUsesTheWholeRate(t *testing.T) {
	const rate, burst, crowd, listing = 25, 50, 3000, 30
	var callers []*caller
	for i := range crowd {
		callers = append(callers, &caller{Caller: by(fmt.Sprint(i), change), order: i, due: at(time.Duration(i) * 3 * time.Millisecond)})
	}
	for round := range 10 {
		for i := range listing {
			callers = append(callers, &caller{
				Caller: by(fmt.Sprintf("page %d/%d", round, i), follow), order: len(callers), due: at(time.Duration(round) * 24 * time.Second),
			})
		}
	}
	gone, _ := serve(newBucket(rate, burst), callers)
	calls, questions, end := 0, 0, start
	for i, c := range gone {
		if c.Class == change {
			calls, end, questions = i+1, c.due, questions+c.asked
		}
	}
	if want := at(time.Duration(float64(calls-burst) / rate * float64(time.Second))); end.Sub(want) > time.Second {
		t.Errorf("the last of the crowd went after %v, want %v for %d calls", end.Sub(start), want.Sub(start), calls)
	}
	if questions > 4*crowd {
		t.Errorf("%d questions of %d callers, want at most four each", questions, crowd)
	}
}

// A work queue that is too long for the workers makes all callers come back late. They have lost their places, which
// others hold who are late as well: no one would go.
func TestACrowdThatIsLateUsesTheRate(t *testing.T) {
	const rate, burst, crowd, late = 25, 50, 3000, 20 * time.Second
	callers := make([]*caller, crowd)
	for i := range callers {
		callers[i] = &caller{Caller: by(fmt.Sprint(i), change), order: i, due: at(time.Duration(i) * 10 * time.Millisecond)}
	}
	gone, end := serveLate(newBucket(rate, burst), callers, late)
	if want := at(crowd / rate * time.Second); len(gone) < crowd || end.Sub(want) > 2*late {
		t.Errorf("%d of %d went, the last after %v, want all after %v and a little more", len(gone), crowd, end.Sub(start), want.Sub(start))
	}
}

func BenchmarkTakeBehindTenThousand(b *testing.B) {
	bucket := newBucket(10, 50)
	keys := make([]string, 10_000)
	for i := range keys {
		keys[i] = fmt.Sprint(i)
		bucket.Take(start, by(keys[i], correct))
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		bucket.Take(start, by(keys[i%len(keys)], correct))
	}
}
