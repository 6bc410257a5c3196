// Package webhook answers the API server before a DistributionTenant is stored: with warnings and, for the checks that
// an administrator has chosen, with a refusal. It makes answers earlier, and guarantees nothing: whatever it says, and
// whether it answers at all, the controllers judge for themselves.
package webhook

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/advice"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

const (
	// Path is where the webhook is served.
	Path = "/validate-distributiontenant"
	// patience is for everything together. The API server waits two seconds.
	patience = 1500 * time.Millisecond
	// maxDomains is how many domains of an object DNS is asked about.
	maxDomains = 3
	// maxLooks is how many objects DNS is asked about at a time. Above it, objects are judged without.
	maxLooks = 16
	// maxWarnings and maxWarning keep an answer small: the API server shortens warnings of more than 4096 characters
	// together.
	maxWarnings = 10
	maxWarning  = 400
)

// Result is how a request was answered.
type Result string

// The results. Skipped requests are those that no check is for.
const (
	Skipped Result = "skipped"
	Silent  Result = "allowed"
	Warned  Result = "warned"
	Refused Result = "denied"
)

// Look is what became of asking DNS.
type Look string

// What becomes of it. Busy means that too many others were being looked at.
const (
	LookAnswered Look = "answered"
	LookFailed   Look = "failed"
	LookBusy     Look = "busy"
)

// Observer counts.
type Observer interface {
	Answered(r Result)
	Warned(c advice.Check)
	Looked(l Look)
}

// Options are what a webhook is made from.
type Options struct {
	// Cache is one that was given to Follow.
	Cache client.Reader
	// Claims has the DomainClaims, from a cache as well. Nil: they have no effect.
	Claims client.Reader
	// Scheme knows them.
	Scheme *runtime.Scheme
	// Ungranted says why the namespace of a tenant may not have what it asks for; empty if it may. Nil: every one may.
	Ungranted func(ctx context.Context, o *v1alpha1.DistributionTenant) string
	// Distribution is what is remembered of a distribution in the account of a namespace, without a call to AWS.
	Distribution func(ctx context.Context, namespace, id string) (d distributiontenant.Distribution, known bool)
	// Endpoint is the routing endpoint of a connection group there, or of the default one, if it is remembered; else empty.
	Endpoint func(ctx context.Context, namespace, groupID string) string
	// DNS may be nil: then it is not asked.
	DNS port.PublicDNS
	// Deny are the checks that refuse.
	Deny []advice.Check
	// Self is the operator's own user; empty if it is not known.
	Self     string
	Observer Observer
}

// Handler answers requests.
type Handler struct {
	Options

	decoder admission.Decoder
	looks   chan struct{}
}

var _ admission.Handler = (*Handler)(nil)

// New makes a handler.
func New(o Options) *Handler {
	return &Handler{Options: o, decoder: admission.NewDecoder(o.Scheme), looks: make(chan struct{}, maxLooks)}
}

// Serve answers the API server, each time on a connection of its own: one that was kept would be cut off with a request on
// its way when this replica ends, and a request of admission is not sent twice.
func Serve(h *Handler) http.Handler {
	served := &admission.Webhook{Handler: h}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		served.ServeHTTP(w, r)
	})
}

// Handle implements admission.Handler. Requests that can't be judged are allowed.
func (h *Handler) Handle(ctx context.Context, req admission.Request) admission.Response {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	now, before, ok := h.objects(req)
	if !ok {
		h.Observer.Answered(Skipped)
		return admission.Allowed("")
	}
	warnings := advice.Of(desired(now), h.gather(ctx, now, before))
	for _, w := range warnings {
		h.Observer.Warned(w.Check)
	}
	if denied := advice.Denied(warnings, h.Deny); len(denied) > 0 {
		h.Observer.Answered(Refused)
		return refusal(denied)
	}
	response := admission.Allowed("")
	if len(warnings) == 0 {
		h.Observer.Answered(Silent)
		return response
	}
	h.Observer.Answered(Warned)
	return response.WithWarnings(texts(warnings)...)
}

// objects reads the object and, for an update, what it was. It is not ok for a request that no check is for.
func (h *Handler) objects(req admission.Request) (now, before *v1alpha1.DistributionTenant, ok bool) {
	if h.Self != "" && req.UserInfo.Username == h.Self {
		return nil, nil, false
	}
	now, before = &v1alpha1.DistributionTenant{}, &v1alpha1.DistributionTenant{}
	switch req.Operation {
	case admissionv1.Create:
		if err := h.decoder.Decode(req, now); err != nil {
			return nil, nil, false
		}
	case admissionv1.Update:
		if err := h.decoder.Decode(req, now); err != nil {
			return nil, nil, false
		}
		if err := h.decoder.DecodeRaw(req.OldObject, before); err != nil {
			return nil, nil, false
		}
	default:
		return nil, nil, false
	}
	now.Namespace = req.Namespace
	return now, before, now.DeletionTimestamp.IsZero() && !equality.Semantic.DeepEqual(now.Spec, before.Spec)
}

func texts(warnings []advice.Warning) []string {
	var out []string
	for _, w := range warnings[:min(len(warnings), maxWarnings)] {
		out = append(out, prose.Fit(w.Message, maxWarning))
	}
	return out
}

func refusal(denied []advice.Warning) admission.Response {
	// Each on its own line: they are sentences, and each begins with its field.
	response := admission.Denied(strings.Join(texts(denied), "\n"))
	response.Result.Code = http.StatusForbidden
	return response
}

// desired is what the checks need of an object.
func desired(o *v1alpha1.DistributionTenant) advice.Desired {
	d := advice.Desired{
		Namespace: o.Namespace, DistributionID: o.Spec.DistributionID, Parameters: map[string]string{}, Publishes: o.Spec.DNS != nil,
	}
	if r := o.Spec.DistributionRef; r != nil {
		d.DistributionRef = r.Name
	}
	for _, p := range o.Spec.Parameters {
		d.Parameters[p.Name] = p.Value
	}
	if r := o.Spec.ManagedCertificateRequest; r != nil {
		d.Managed, d.Hosted = true, r.ValidationTokenHost == v1alpha1.ValidationTokenHostCloudFront
	}
	return d
}

// added are the domains that an object did not have before.
func added(now, before *v1alpha1.DistributionTenant) []string {
	var out []string
	for _, d := range now.Spec.Domains {
		if !slices.Contains(before.Spec.Domains, d) {
			out = append(out, d.Domain)
		}
	}
	return out
}
