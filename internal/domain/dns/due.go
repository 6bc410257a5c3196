package dns

import "time"

// Job is what can be due in a zone.
type Job int

// The jobs, the most urgent first.
const (
	Idle Job = iota
	// Reading one name comes first: batches wait for it.
	Reading
	Sending
	Polling
	Listing
	// Expiring makes no call: a pause has ended.
	Expiring
)

// rest is how long nothing is due in a zone that has nothing to do.
const rest = time.Hour

// Due says what is due first, and when. Of what is due already the first in the order of the jobs comes first.
func (z *ZoneState) Due(now time.Time) (first time.Time, what Job) {
	first = now.Add(rest)
	consider := func(due time.Time, some bool, j Job) {
		if due.Before(now) {
			due = now
		}
		if some && due.Before(first) {
			first, what = due, j
		}
	}
	read, some := z.doubts.due()
	consider(read, some, Reading)
	send, some := z.outbox.due()
	consider(send, some, Sending)
	poll := z.flights.due()
	consider(poll.at(), poll != nil, Polling)
	consider(z.listings.due(), true, Listing)
	over, some := z.expiryDue()
	consider(over, some, Expiring)
	return first, what
}

func (e Begun) happen(z *ZoneState) {
	switch e.Job {
	case Reading:
		z.doubts.begin()
	case Sending:
		z.outbox.begin()
	case Polling:
		z.flights.begin()
	case Listing:
		z.beginPage()
	case Expiring:
		z.expire()
	case Idle:
	}
}

// expiryDue says when the next pause ends.
func (z *ZoneState) expiryDue() (first time.Time, some bool) {
	consider := func(t time.Time) {
		if !some || t.Before(first) {
			first, some = t, true
		}
	}
	for _, f := range z.flights.all {
		if f.id == "" && !f.until.IsZero() {
			consider(f.until)
		}
	}
	for _, r := range z.outbox.refused {
		if !r.over {
			consider(r.next)
		}
	}
	for _, i := range z.rights.identities {
		if i.changeErr != nil && !i.changeOver {
			consider(i.changeNext)
		}
	}
	return first, some
}

// expire ends the pauses that are over.
func (z *ZoneState) expire() {
	z.flights.land()
	for key, r := range z.outbox.refused {
		if !r.over && !z.at.Now.Before(r.next) {
			r.over = true
			z.touch(key.name)
		}
	}
	for access, i := range z.rights.identities {
		if i.changeErr != nil && !i.changeOver && !z.at.Now.Before(i.changeNext) {
			i.changeOver = true
			z.rights.touchIdentity(access)
		}
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
