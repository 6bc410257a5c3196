package stack

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/equality"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

// Tally counts the writes to the DistributionTenants of a namespace by what they changed,
// and those to its events and leases.
type Tally struct {
	// Created, Spec and Deletion are what users do.
	Created, Spec, Deletion int
	// Metadata, Status and Gone are what the operator does: finalizer and annotations,
	// status, and the finalizer's removal, with which the object goes.
	Metadata, Status, Gone int
	Events, Leases         int
}

// Ours is the number of writes by the operator to the objects themselves.
func (t Tally) Ours() int { return t.Metadata + t.Status + t.Gone }

// Since subtracts a tally that was taken before.
func (t Tally) Since(before Tally) Tally {
	return Tally{
		Created: t.Created - before.Created, Spec: t.Spec - before.Spec, Deletion: t.Deletion - before.Deletion,
		Metadata: t.Metadata - before.Metadata, Status: t.Status - before.Status, Gone: t.Gone - before.Gone,
		Events: t.Events - before.Events, Leases: t.Leases - before.Leases,
	}
}

// Where the API server keeps what we count: prefix, then namespace and name.
const (
	etcdPrefix   = "/registry/"
	tenantPrefix = etcdPrefix + "cloudfront-tenant-operator.io/distributiontenants/"
	eventPrefix  = etcdPrefix + "events/"
	leasePrefix  = etcdPrefix + "leases/"
	// fencePrefix is of no kind, so that the API server never looks there.
	fencePrefix = etcdPrefix + "write-counter-fence/"
)

// Writes counts every write that reaches etcd, whoever makes it: it watches all of
// Kubernetes' keys. A watch of the API server would not do, because it may join two
// writes in one event.
type Writes struct {
	url    string
	cancel context.CancelFunc
	ended  chan struct{}

	mu       sync.Mutex
	moved    chan struct{}
	revision int64
	tallies  map[string]*Tally
	err      error
}

// CountWrites begins to count. Stop ends it.
func (h *Host) CountWrites(ctx context.Context) (*Writes, error) {
	w := &Writes{url: h.ControlPlane.EtcdURL(), ended: make(chan struct{}), moved: make(chan struct{}), tallies: map[string]*Tally{}}
	now, err := w.fence(ctx)
	if err != nil {
		return nil, err
	}
	ctx, w.cancel = context.WithCancel(context.WithoutCancel(ctx))
	create := map[string]any{"create_request": map[string]any{
		"key": []byte(etcdPrefix), "range_end": []byte(strings.TrimSuffix(etcdPrefix, "/") + "0"),
		"start_revision": now + 1, "prev_kv": true,
	}}
	stream, err := w.post(ctx, "/v3/watch", create)
	if err != nil {
		w.cancel()
		return nil, err
	}
	go w.follow(stream)
	return w, nil
}

// Stop ends the count.
func (w *Writes) Stop() {
	w.cancel()
	<-w.ended
}

// Tally returns the counts of a namespace, with every write that was finished before the call.
func (w *Writes) Tally(ctx context.Context, namespace string) (Tally, error) {
	// What is ours was written before the fence, and etcd reports in order.
	revision, err := w.fence(ctx)
	if err != nil {
		return Tally{}, err
	}
	for {
		w.mu.Lock()
		tally, reached, failure, moved := w.tallies[namespace], w.revision >= revision, w.err, w.moved
		if tally == nil {
			tally = &Tally{}
		}
		counted := *tally
		w.mu.Unlock()
		switch {
		case failure != nil:
			return Tally{}, failure
		case reached:
			return counted, nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return Tally{}, fmt.Errorf("counting writes: %w", context.Cause(ctx))
		}
	}
}

// fence writes a key that nobody reads, and returns its revision.
func (w *Writes) fence(ctx context.Context) (int64, error) {
	body, err := w.post(ctx, "/v3/kv/put", map[string]any{"key": []byte(fencePrefix + "key")})
	if err != nil {
		return 0, err
	}
	defer body.Close()
	var answer struct{ Header etcdHeader }
	if err := json.NewDecoder(body).Decode(&answer); err != nil {
		return 0, fmt.Errorf("writing to etcd: %w", err)
	}
	return answer.Header.Revision, nil
}

// etcd answers over its JSON gateway, with numbers as strings and bytes in base64.
type (
	etcdHeader struct {
		Revision int64 `json:"revision,string"`
	}
	etcdEntry struct {
		Key      []byte `json:"key"`
		Value    []byte `json:"value"`
		Version  int64  `json:"version,string"`
		Revision int64  `json:"mod_revision,string"`
	}
	etcdEvent struct {
		Type     string    `json:"type"` // DELETE, or empty for a write
		Entry    etcdEntry `json:"kv"`
		Previous etcdEntry `json:"prev_kv"`
	}
	etcdResponse struct {
		Error  json.RawMessage `json:"error"`
		Result struct {
			Canceled bool        `json:"canceled"`
			Reason   string      `json:"cancel_reason"`
			Events   []etcdEvent `json:"events"`
		} `json:"result"`
	}
)

func (w *Writes) post(ctx context.Context, path string, in any) (io.ReadCloser, error) {
	body, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("asking etcd: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(response.Body) // what it says is only for the message
		_ = response.Body.Close()
		return nil, fmt.Errorf("asking etcd: %s: %s", response.Status, text)
	}
	return response.Body, nil
}

func (w *Writes) follow(stream io.ReadCloser) {
	defer close(w.ended)
	defer stream.Close()
	decoder := json.NewDecoder(stream)
	for {
		var r etcdResponse
		err := decoder.Decode(&r)
		switch {
		case err == nil && len(r.Error) > 0:
			err = fmt.Errorf("%s", r.Error)
		case err == nil && r.Result.Canceled:
			err = errors.New(r.Result.Reason)
		}
		w.mu.Lock()
		if err != nil {
			w.err = fmt.Errorf("watching etcd: %w", err)
		}
		for _, e := range r.Result.Events {
			w.count(e)
			// Not the header's revision: that is etcd's, which may be ahead of the stream.
			w.revision = max(w.revision, e.Entry.Revision)
		}
		close(w.moved)
		w.moved = make(chan struct{})
		w.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// count needs the lock.
func (w *Writes) count(e etcdEvent) {
	key := string(e.Entry.Key)
	if rest, ok := strings.CutPrefix(key, eventPrefix); ok {
		w.tally(rest).Events++
	} else if rest, ok := strings.CutPrefix(key, leasePrefix); ok {
		w.tally(rest).Leases++
	} else if rest, ok := strings.CutPrefix(key, tenantPrefix); ok {
		w.tally(rest).add(e)
	}
}

func (w *Writes) tally(rest string) *Tally {
	namespace, _, _ := strings.Cut(rest, "/")
	if w.tallies[namespace] == nil {
		w.tallies[namespace] = &Tally{}
	}
	return w.tallies[namespace]
}

func (t *Tally) add(e etcdEvent) {
	var before, after v1alpha1.DistributionTenant
	switch {
	case e.Type == "DELETE":
		t.Gone++
		return
	case e.Entry.Version == 1:
		t.Created++
		return
	}
	// What can't be read counts as a write of metadata: it is one in any case.
	_, _ = json.Unmarshal(e.Previous.Value, &before), json.Unmarshal(e.Entry.Value, &after)
	switch {
	case before.DeletionTimestamp.IsZero() && !after.DeletionTimestamp.IsZero():
		t.Deletion++
	case before.Generation != after.Generation:
		t.Spec++
	case !equality.Semantic.DeepEqual(before.Status, after.Status):
		t.Status++
	default:
		t.Metadata++
	}
}
