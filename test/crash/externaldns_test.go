package crash_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	realdns "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/externaldns"
)

const (
	createEndpoint = "CreateDNSEndpoint"

	// roundEvery is how often ExternalDNS does something.
	roundEvery = 300 * time.Millisecond
)

var endpointList = schema.GroupVersionKind{Group: "externaldns.k8s.io", Version: "v1alpha1", Kind: "DNSEndpointList"}

func externalDNSProvider() *provider {
	return &provider{
		name: v1alpha1.DNSProviderExternalDNS, prefix: "ext", title: "ExternalDNS",
		changes: []string{createEndpoint, "UpdateDNSEndpoint", "DeleteDNSEndpoint"}, reads: []string{"GetDNSEndpoint"}, listing: "ListDNSEndpoints",
		start: newExternalDNS, listen: func(*replica) (string, error) { return "", nil }, understand: understandEndpoints, short: 2,
		inCluster: func(r *http.Request) bool { return strings.Contains(r.URL.Path, "/dnsendpoints") },
	}
}

// externalDNS is an ExternalDNS that publishes the DNSEndpoints of a case in a BIND with a secondary.
type externalDNS struct {
	*bindService

	external *realdns.ExternalDNS
	// ending is closed when there are to be no more rounds, and ended once there are none.
	ending, ended chan struct{}
}

func newExternalDNS(s *stage) (service, error) {
	servers, err := newBind(s)
	if err != nil {
		return nil, err
	}
	x := &externalDNS{bindService: servers.(*bindService), ending: make(chan struct{}), ended: make(chan struct{})}
	x.external, err = realdns.Start(s.ctx, realdns.Options{
		Config: s.rig.config, Namespace: s.namespace, LabelFilter: "edge=true", Server: x.primary, Zones: []string{bindZone}, Owner: clusterID,
	})
	if err != nil {
		_ = x.bindService.close() // the first error counts
		return nil, err
	}
	go x.rounds()
	return x, nil
}

// rounds has ExternalDNS do what it does from time to time, and the secondary have what is new a second later.
func (x *externalDNS) rounds() {
	defer close(x.ended)
	ticker := time.NewTicker(roundEvery)
	defer ticker.Stop()
	before := x.bindService.records()
	for {
		select {
		case <-x.ending:
			return
		case <-ticker.C:
		}
		if err := x.external.Round(x.stage.ctx); err != nil && x.stage.ctx.Err() == nil {
			x.stage.violate("harness", "%v", err)
		}
		if now := x.bindService.records(); !slices.Equal(before, now) {
			before = now
			x.stage.later(syncDelay, x.refresh)
		}
	}
}

func (x *externalDNS) close() error {
	close(x.ending)
	<-x.ended
	err := x.external.Close()
	if failure := x.bindService.close(); err == nil {
		err = failure
	}
	return err
}

func (x *externalDNS) account(string) (entry map[string]any, secret map[string]string) {
	return map[string]any{"nameServers": []string{x.primary.Address(), x.secondary.Address()}, "externalDNS": map[string]any{
		"namespace": x.stage.namespace, "labels": map[string]string{"edge": "true"}, "domains": []string{bindZone},
	}}, nil
}

// records are those of the zone, and the objects. The notes of ExternalDNS are no one's.
func (x *externalDNS) records() []placed {
	out := slices.DeleteFunc(x.bindService.records(), func(r placed) bool {
		return r.kind == "TXT" && strings.Contains(r.value, "heritage=external-dns")
	})
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(endpointList)
	if err := x.stage.rig.kube.List(x.stage.ctx, list, client.InNamespace(x.stage.namespace)); err != nil && x.stage.ctx.Err() == nil {
		x.stage.violate("harness", "listing DNSEndpoints: %v", err)
	}
	for i := range list.Items {
		o := &list.Items[i]
		object := placed{
			name: o.GetName(), kind: endpointKind, note: o.GetAnnotations()["cloudfront-tenant-operator.io/object"],
			version: fmt.Sprint(o.GetUID(), " ", o.GetResourceVersion()),
		}
		for _, r := range standsFor(o) {
			object.value, object.ttl = object.value+r.value, r.ttl
		}
		out = append(out, object)
	}
	return out
}

// endpointKind is what is no record, but stands for one.
const endpointKind = "DNSEndpoint"

func (x *externalDNS) wants(domain string, o *tenantObject) []placed {
	return []placed{
		{name: domain, kind: "CNAME", value: endpoint, ttl: usualTTL},
		{name: domain, kind: endpointKind, value: endpoint, ttl: usualTTL, note: o.Namespace + "/" + o.Name},
	}
}

// standsFor are the records that an object stands for.
func standsFor(o *unstructured.Unstructured) (out []placed) {
	all, _, _ := unstructured.NestedSlice(o.Object, "spec", "endpoints")
	for _, one := range all {
		var e struct {
			DNSName, RecordType string
			RecordTTL           int64
			Targets             []string
		}
		text, err := json.Marshal(one)
		if err == nil {
			err = json.Unmarshal(text, &e)
		}
		if err != nil {
			return []placed{{kind: err.Error()}}
		}
		out = append(out, placed{name: e.DNSName, kind: e.RecordType, value: strings.Join(e.Targets, " "), ttl: e.RecordTTL})
	}
	return out
}

// batch is what an object stands for no more, and what it stands for from now on.
func (x *externalDNS) batch(c call, now []placed) (b sentBatch) {
	made := &unstructured.Unstructured{}
	name := pathOf(c)[strings.LastIndex(pathOf(c), "/")+1:]
	var after []placed
	if c.operation != "DeleteDNSEndpoint" {
		if err := json.Unmarshal(c.body, made); err != nil {
			return sentBatch{Changes: []sentChange{{Action: err.Error()}}}
		}
		name, after = made.GetName(), standsFor(made)
	}
	var before []placed
	for _, o := range now {
		if o.kind == endpointKind && o.name == name && o.value != "" {
			before = append(before, placed{name: name, kind: "CNAME", value: o.value, ttl: o.ttl})
		}
	}
	for _, r := range before {
		if !slices.Contains(after, r) {
			b.Changes = append(b.Changes, r.change("DELETE"))
		}
	}
	for _, r := range after {
		if !slices.Contains(before, r) {
			b.Changes = append(b.Changes, r.change("CREATE"))
		}
	}
	return b
}

// ServeHTTP implements http.Handler.
func (x *externalDNS) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x.stage.rig.kubeProxy.ServeHTTP(w, r)
}

// understandEndpoints names an operation by the verb. A name follows the kind.
func understandEndpoints(c *call, r *http.Request) {
	verb := map[string]string{http.MethodPost: "Create", http.MethodPut: "Update", http.MethodDelete: "Delete", http.MethodGet: "Get"}[r.Method]
	c.counted, c.writes, c.operation = true, r.Method != http.MethodGet, verb+endpointKind
	if verb == "Get" && strings.HasSuffix(r.URL.Path, "/dnsendpoints") {
		c.operation = "ListDNSEndpoints"
	}
}

func (x *externalDNS) refuse(e *exchange, _ int, code string) {
	switch code {
	case "Throttling":
		kubeError(e.w, http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests)
	case "AccessDenied":
		kubeError(e.w, http.StatusForbidden, metav1.StatusReasonForbidden)
	default:
		kubeError(e.w, http.StatusInternalServerError, metav1.StatusReasonInternalError)
	}
}
