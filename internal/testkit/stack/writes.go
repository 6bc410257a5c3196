package stack

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
)

// Write is one write that has reached etcd, other than those to events and leases.
type Write struct {
	// Resource has no group where it is one of Kubernetes' own, such as rolebindings: nor have their keys.
	Resource schema.GroupResource
	// Namespace is empty for what is in none.
	Namespace, Name string
	// Change has a single 1.
	Change Tally
}

// Tally counts the writes to objects by what they changed, and those to events and
// leases.
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

// Add adds a tally up.
func (t Tally) Add(o Tally) Tally {
	return Tally{
		Created: t.Created + o.Created, Spec: t.Spec + o.Spec, Deletion: t.Deletion + o.Deletion,
		Metadata: t.Metadata + o.Metadata, Status: t.Status + o.Status, Gone: t.Gone + o.Gone,
		Events: t.Events + o.Events, Leases: t.Leases + o.Leases,
	}
}

// Where the API server keeps what we count: prefix, then namespace and name.
const (
	etcdPrefix   = "/registry/"
	tenantPrefix = etcdPrefix + "cloudfront-tenant-operator.io/distributiontenants/"
	eventPrefix  = etcdPrefix + "events/"
	leasePrefix  = etcdPrefix + "leases/"
	// fenceKey is of no kind, so that the API server never looks there.
	fenceKey = etcdPrefix + "write-counter-fence/key"
)

// Writes counts every write that reaches etcd, no matter who makes it: it watches all of Kubernetes' keys. A watch of
// the API server would not do, because it may join two writes in one event.
type Writes struct {
	url    string
	cancel context.CancelFunc
	ended  chan struct{}

	mu       sync.Mutex
	moved    chan struct{}
	revision int64
	// tallies are by namespace, kinds by resource.
	tallies map[string]*Tally
	kinds   map[schema.GroupResource]*Tally
	err     error

	observers []func(Write)
}

// CountWrites begins to count, and tells the observers of each write in the order of their revisions. They must return
// soon. Stop ends it.
func (h *Host) CountWrites(ctx context.Context, observers ...func(Write)) (*Writes, error) {
	w := &Writes{url: h.ControlPlane.EtcdURL(), ended: make(chan struct{}), moved: make(chan struct{}),
		tallies: map[string]*Tally{}, kinds: map[schema.GroupResource]*Tally{}, observers: observers}
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

// Tally returns the counts of namespaces, with every write that was finished before the
// call: those to their DistributionTenants, events and leases.
func (w *Writes) Tally(ctx context.Context, namespaces ...string) (Tally, error) {
	return w.read(ctx, func() *Tally {
		var total Tally
		for _, namespace := range namespaces {
			if tally := w.tallies[namespace]; tally != nil {
				total = total.Add(*tally)
			}
		}
		return &total
	})
}

// Kind returns the counts of the objects of a resource in all namespaces, with every
// write that was finished before the call. Kubernetes' own resources have no group here.
func (w *Writes) Kind(ctx context.Context, resource schema.GroupResource) (Tally, error) {
	return w.read(ctx, func() *Tally { return w.kinds[resource] })
}

// read waits until all is counted that was written before. pick is called with the lock.
func (w *Writes) read(ctx context.Context, pick func() *Tally) (Tally, error) {
	// Our writes came before the fence, and etcd reports in order.
	revision, err := w.fence(ctx)
	if err != nil {
		return Tally{}, err
	}
	for {
		w.mu.Lock()
		tally, reached, failure, moved := pick(), w.revision >= revision, w.err, w.moved
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

// fence writes a key that is never read, and returns its revision.
func (w *Writes) fence(ctx context.Context) (int64, error) {
	body, err := w.post(ctx, "/v3/kv/put", map[string]any{"key": []byte(fenceKey)})
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
		return
	}
	if rest, ok := strings.CutPrefix(key, leasePrefix); ok {
		w.tally(rest).Leases++
		return
	}
	if key == fenceKey {
		return
	}
	write := writeOf(e)
	if w.kinds[write.Resource] == nil {
		w.kinds[write.Resource] = &Tally{}
	}
	*w.kinds[write.Resource] = w.kinds[write.Resource].Add(write.Change)
	if rest, ok := strings.CutPrefix(key, tenantPrefix); ok {
		t := w.tally(rest)
		*t = t.Add(write.Change)
	}
	for _, observe := range w.observers {
		observe(write)
	}
}

func (w *Writes) tally(rest string) *Tally {
	namespace, _, _ := strings.Cut(rest, "/")
	if w.tallies[namespace] == nil {
		w.tallies[namespace] = &Tally{}
	}
	return w.tallies[namespace]
}

// writeOf reads the key: the group of custom objects, which has a dot, the resource, and where the object is.
func writeOf(e etcdEvent) Write {
	w := Write{Change: changeOf(e)}
	parts := strings.Split(strings.TrimPrefix(string(e.Entry.Key), etcdPrefix), "/")
	if strings.Contains(parts[0], ".") && len(parts) > 1 {
		w.Resource.Group, parts = parts[0], parts[1:]
	}
	w.Resource.Resource, parts = parts[0], parts[1:]
	if len(parts) > 1 {
		w.Namespace = parts[0]
	}
	if len(parts) > 0 {
		w.Name = parts[len(parts)-1]
	}
	return w
}

// written is what every object has.
type written struct {
	Metadata struct {
		Generation        int64
		DeletionTimestamp *time.Time
	}
	Status any
	// content is the rest of one of Kubernetes' own, many of which have no generation.
	content map[string]any
}

// protobuf begins the objects that are Kubernetes' own.
var protobuf = []byte("k8s\x00")

// read leaves out values that can't be read.
func read(value []byte) (w written) {
	if !bytes.HasPrefix(value, protobuf) {
		_ = json.Unmarshal(value, &w)
		return w
	}
	o, _, err := clientgoscheme.Codecs.UniversalDeserializer().Decode(value, nil, nil)
	if err != nil {
		return w
	}
	if value, err = json.Marshal(o); err != nil {
		return w
	}
	_, _ = json.Unmarshal(value, &w), json.Unmarshal(value, &w.content)
	delete(w.content, "metadata")
	delete(w.content, "status")
	if spec, ok := w.content["spec"].(map[string]any); ok && spec["finalizers"] != nil {
		// Those of a namespace are its controller's, as its status is.
		w.Status = []any{w.Status, spec["finalizers"]}
		delete(spec, "finalizers")
	}
	return w
}

// changeOf says what one write to an object changed.
func changeOf(e etcdEvent) Tally {
	switch {
	case e.Type == "DELETE":
		return Tally{Gone: 1}
	case e.Entry.Version == 1:
		return Tally{Created: 1}
	}
	// A write that can't be read counts as one of metadata: it is one in any case.
	before, after := read(e.Previous.Value), read(e.Entry.Value)
	switch {
	case before.Metadata.DeletionTimestamp == nil && after.Metadata.DeletionTimestamp != nil:
		return Tally{Deletion: 1}
	case before.Metadata.Generation != after.Metadata.Generation || !reflect.DeepEqual(before.content, after.content):
		return Tally{Spec: 1}
	case !reflect.DeepEqual(before.Status, after.Status):
		return Tally{Status: 1}
	}
	return Tally{Metadata: 1}
}
