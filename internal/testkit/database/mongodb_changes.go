package database

import (
	"strconv"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// longestAwait bounds how long a getMore waits for a change, so that a reader that is gone is not waited for.
const longestAwait = time.Second

// changes is the change stream of a collection as a replica set has it: the engine has none. It knows the writes that go
// through the table. The zero value tells nothing, and leaves the engine to refuse.
type changes struct {
	mu      sync.Mutex
	on      bool
	events  []bson.D
	cursors map[int64]int
	// more is closed and replaced when there are more events.
	more chan struct{}
}

// start turns the stream on.
func (c *changes) start() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.on {
		c.on, c.cursors, c.more = true, map[int64]int{}, make(chan struct{})
	}
}

// tell adds an event for each document; one without a key is of the whole collection.
func (c *changes) tell(operation string, ids ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.on {
		return
	}
	for _, id := range ids {
		event := bson.D{{Key: "_id", Value: token(len(c.events) + 1)}, {Key: "operationType", Value: operation}}
		if id != nil {
			event = append(event, bson.E{Key: "documentKey", Value: bson.D{{Key: "_id", Value: id}}})
		}
		c.events = append(c.events, event)
	}
	close(c.more)
	c.more = make(chan struct{})
}

// token is the place after the first n events.
func token(n int) bson.D { return bson.D{{Key: "_data", Value: strconv.Itoa(n)}} }

// answer answers the commands of a stream; told is false for all others.
func (c *changes) answer(command bson.Raw) (document bson.D, told bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.on {
		return nil, false
	}
	if options, ok := command.Lookup("pipeline", "0", "$changeStream").DocumentOK(); ok {
		return c.open(options), true
	}
	id, ok := command.Lookup("getMore").Int64OK()
	if _, known := c.cursors[id]; !ok || !known {
		return nil, false
	}
	c.await(id, command)
	from := c.cursors[id]
	to := min(len(c.events), from+101)
	c.cursors[id] = to
	return page("nextBatch", id, c.events[from:to], to), true
}

func (c *changes) open(options bson.Raw) bson.D {
	from := len(c.events)
	if place, ok := options.Lookup("resumeAfter", "_data").StringValueOK(); ok {
		if n, err := strconv.Atoi(place); err == nil {
			from = n
		}
	}
	id := int64(1)<<40 + int64(len(c.cursors))
	c.cursors[id] = from
	return page("firstBatch", id, nil, from)
}

// await waits for an event after those that the cursor has shown, for as long as the reader wants to.
func (c *changes) await(id int64, command bson.Raw) {
	wait := longestAwait
	if ms, ok := command.Lookup("maxTimeMS").AsInt64OK(); ok {
		wait = min(wait, time.Duration(ms)*time.Millisecond)
	}
	more := c.more
	if c.cursors[id] < len(c.events) {
		return
	}
	c.mu.Unlock()
	defer c.mu.Lock()
	select {
	case <-more:
	case <-time.After(wait):
	}
}

func page(batch string, id int64, events []bson.D, to int) bson.D {
	content := bson.A{}
	for _, event := range events {
		content = append(content, event)
	}
	return bson.D{{Key: "cursor", Value: bson.D{
		{Key: "id", Value: id}, {Key: "ns", Value: canaryDatabase + ".customers"}, {Key: batch, Value: content},
		{Key: "postBatchResumeToken", Value: token(to)},
	}}, {Key: "ok", Value: 1.0}}
}
