// Package canned answers requests for a service with documents that a test has written,
// where the simulator would not send them: broken, foreign, or in a form that AWS uses
// rarely.
package canned

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Transport answers every request with the same document, and keeps what was sent. It is
// safe for concurrent use.
type Transport struct {
	Status int
	Body   string
	// ContentType is left out of the answer when it is empty.
	ContentType string

	mu       sync.Mutex
	requests []*http.Request
	bodies   []string
}

// RoundTrip implements http.RoundTripper. Every answer has another request id, as AWS's have.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		if err := r.Body.Close(); err != nil {
			return nil, err
		}
	}
	t.mu.Lock()
	t.requests, t.bodies = append(t.requests, r), append(t.bodies, string(body))
	t.mu.Unlock()
	header := http.Header{"X-Amzn-Requestid": {time.Now().String()}}
	if t.ContentType != "" {
		header.Set("Content-Type", t.ContentType)
	}
	return &http.Response{
		StatusCode: t.Status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: header,
		Body: io.NopCloser(strings.NewReader(t.Body)), ContentLength: int64(len(t.Body)), Request: r,
	}, nil
}

// Requests is how many requests were answered.
func (t *Transport) Requests() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.requests)
}

// Last is the last request and its body, nil before the first.
func (t *Transport) Last() (*http.Request, string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.requests) == 0 {
		return nil, ""
	}
	last := len(t.requests) - 1
	return t.requests[last], t.bodies[last]
}
