package main

import (
	"embed"
	"encoding/json"
	"io/fs"
	"log"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

//go:embed page
var page embed.FS

// label marks the objects that the page has made. It shows no others.
const label = "onboarding.example/made-by-page"

// server is the page and its JSON.
type server struct {
	kube                    client.Client
	namespace, distribution string
}

// handler answers all requests. A page of another site can't make a browser add domains.
func (s *server) handler() http.Handler {
	files, err := fs.Sub(page, "page")
	if err != nil {
		panic(err) // the folder is embedded
	}
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(files))
	mux.HandleFunc("POST /domains", s.add)
	mux.HandleFunc("GET /domains/{domain}", s.show)
	return http.NewCrossOriginProtection().Handler(secured(mux))
}

// secured allows the page only what it needs.
func secured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'self'; img-src data:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Referrer-Policy", "no-referrer")
		next.ServeHTTP(w, r)
	})
}

// add creates the object for a domain, or finds the one that is there.
func (s *server) add(w http.ResponseWriter, r *http.Request) {
	var wanted struct {
		Domain string `json:"domain"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 4096)).Decode(&wanted); err != nil {
		answer(w, http.StatusBadRequest, failure{errDomain.Error()})
		return
	}
	domain, err := parseDomain(wanted.Domain)
	if err != nil {
		answer(w, http.StatusBadRequest, failure{err.Error()})
		return
	}
	err = s.kube.Create(r.Context(), s.tenant(domain))
	switch {
	case apierrors.IsInvalid(err):
		answer(w, http.StatusBadRequest, failure{errDomain.Error()})
		return
	case err != nil && !apierrors.IsAlreadyExists(err):
		fail(w, err)
		return
	}
	s.tell(w, r, domain)
}

// tenant is the object for a domain.
func (s *server) tenant(domain string) *v1alpha1.DistributionTenant {
	return &v1alpha1.DistributionTenant{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: objectName(domain), Labels: map[string]string{label: "true"}},
		Spec: v1alpha1.DistributionTenantSpec{
			DistributionRef: &v1alpha1.ObjectReference{Name: s.distribution},
			Domains:         []v1alpha1.TenantDomain{{Domain: domain}},
			ManagedCertificateRequest: &v1alpha1.ManagedCertificateRequest{
				ValidationTokenHost: v1alpha1.ValidationTokenHostCloudFront,
			},
		},
	}
}

func (s *server) show(w http.ResponseWriter, r *http.Request) {
	domain, err := parseDomain(r.PathValue("domain"))
	if err != nil {
		answer(w, http.StatusNotFound, failure{errDomain.Error()})
		return
	}
	s.tell(w, r, domain)
}

// tell answers how far a domain is.
func (s *server) tell(w http.ResponseWriter, r *http.Request, domain string) {
	var t v1alpha1.DistributionTenant
	err := s.kube.Get(r.Context(), client.ObjectKey{Namespace: s.namespace, Name: objectName(domain)}, &t)
	switch {
	case apierrors.IsNotFound(err) || err == nil && t.Labels[label] == "":
		answer(w, http.StatusNotFound, failure{"This domain was not added here."})
	case err != nil:
		fail(w, err)
	default:
		answer(w, http.StatusOK, progressOf(&t, domain))
	}
}

// failure is the answer to a request that can't be served.
type failure struct {
	Error string `json:"error"`
}

// fail tells a customer that it is not their mistake. Why is for the log.
func fail(w http.ResponseWriter, err error) {
	log.Print(err)
	answer(w, http.StatusBadGateway, failure{"That did not work. Please try again in a minute."})
}

func answer(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) // the browser has gone away
}
