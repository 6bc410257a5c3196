package aws

import (
	"maps"
	"time"
)

// codeOK is the outcome of a call that got its answer.
const codeOK = "OK"

// Entry is one call in the journal.
type Entry struct {
	Seq       uint64    `json:"seq"`
	Time      time.Time `json:"time"`
	Account   string    `json:"account"`
	Operation string    `json:"operation"`
	// ID and Name are of the resource the call was about, where known.
	ID   string `json:"id,omitempty"`
	Name string `json:"name,omitempty"`
	// Caller is the ARN of the session behind temporary credentials. A call that
	// assumes a role has the role in ID, the session's name in Name and the
	// external id it showed.
	Caller     string `json:"caller,omitempty"`
	ExternalID string `json:"externalId,omitempty"`
	// Records are the changes of a ChangeBatch: action, type and name of each.
	Records []string `json:"records,omitempty"`
	// Mutating tells whether the operation can change anything, Committed
	// whether this call did. A call whose answer was lost is committed and has
	// another code than OK.
	Mutating  bool   `json:"mutating"`
	Committed bool   `json:"committed"`
	Status    int    `json:"status"`
	Code      string `json:"code"`
	// Fault is the id of the fault that struck.
	Fault     string `json:"fault,omitempty"`
	RequestID string `json:"requestId"`
}

// OperationCalls counts the calls of one operation by what the client saw.
type OperationCalls struct {
	Total     int            `json:"total"`
	OK        int            `json:"ok"`
	Throttled int            `json:"throttled"`
	Committed int            `json:"committed"`
	Errors    map[string]int `json:"errors"`
}

// journal is a ring of the latest calls.
type journal struct {
	size    int
	next    uint64 // sequence number of the next entry, from 1
	entries []Entry
}

func newJournal(size int) *journal {
	return &journal{size: size, next: 1}
}

func (j *journal) add(e Entry) {
	e.Seq = j.next
	j.next++
	if len(j.entries) < j.size {
		j.entries = append(j.entries, e)
		return
	}
	j.entries[(e.Seq-1)%uint64(j.size)] = e
}

// since returns the entries after a sequence number, oldest first.
func (j *journal) since(seq uint64) []Entry {
	first := uint64(1)
	if kept := uint64(len(j.entries)); j.next > kept {
		first = j.next - kept
	}
	out := []Entry{}
	for n := max(first, seq+1); n < j.next; n++ {
		out = append(out, j.entries[(n-1)%uint64(j.size)])
	}
	return out
}

// record writes a call down. It needs the lock.
func (s *Sim) record(c *call, status int, code string, fault *Fault) {
	e := Entry{
		Time: c.now, Account: c.acct.id, Operation: c.op.name, ID: c.id, Name: c.name, Records: c.records,
		Mutating: c.op.mutating, Committed: c.committed, Status: status, Code: code, RequestID: c.requestID,
	}
	e.ExternalID = c.externalID
	if c.session != nil {
		e.Caller = c.session.arn()
	}
	if fault != nil {
		e.Fault = fault.ID
	}
	s.journal.add(e)
	count := s.stats[c.op.name]
	if count == nil {
		count = &OperationCalls{Errors: map[string]int{}}
		s.stats[c.op.name] = count
	}
	count.Total++
	if code == codeOK {
		count.OK++
	} else {
		count.Errors[code]++
	}
	if c.throttled {
		count.Throttled++
	}
	if c.committed {
		count.Committed++
	}
}

// Calls counts the calls since the start or the last reset, by operation.
func (s *Sim) Calls() map[string]OperationCalls {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make(map[string]OperationCalls, len(s.stats))
	for name, count := range s.stats {
		copied := *count
		copied.Errors = maps.Clone(count.Errors)
		out[name] = copied
	}
	return out
}

// Journal returns the calls, oldest first; the oldest are forgotten when the
// journal is full.
func (s *Sim) Journal() []Entry {
	return s.JournalSince(0)
}

// JournalSince returns the calls after a sequence number.
func (s *Sim) JournalSince(seq uint64) []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.journal.since(seq)
}
