package world

import (
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/kube/domainclaim"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/claim"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/claims"
)

// kindDomainClaim is only noted: its objects have no passes.
const kindDomainClaim = "DomainClaim"

// claims makes the registry of domains, where the world has one.
func (w *World) claims() *claims.Registry {
	holds := w.options.Claims
	if holds == nil {
		return nil
	}
	return claims.New(claims.Options{
		Store: domainclaim.Store{Client: w.kube, Live: w.Kube}, Clock: w.Clock, Hold: holds.Own, HoldCustomer: holds.Customer,
		Wake: func(keys ...claim.Key) {
			for _, key := range keys {
				if s := w.objects[ID{Kind: key.Kind, ObjectKey: client.ObjectKey{Namespace: key.Namespace, Name: key.Name}}]; s != nil {
					s.due = w.Clock.Now()
				}
			}
		},
		Failed: func(err error) { w.t.Logf("keeping the claims: %v", err) },
	})
}

// learnDomains is what a fresh process does before its first pass.
func (w *World) learnDomains() {
	w.t.Helper()
	for _, o := range w.list() {
		w.process.controller.LearnKeys(o)
	}
	if w.process.claims == nil {
		return
	}
	w.showClaims()
	for _, o := range w.list() {
		w.process.controller.Learn(o)
	}
	for _, namespace := range w.namespaces {
		var list v1alpha1.DistributionList
		w.listIn(namespace, &list)
		for n := range list.Items {
			w.process.distributions.Learn(&list.Items[n])
		}
		var groups v1alpha1.ConnectionGroupList
		w.listIn(namespace, &groups)
		for n := range groups.Items {
			w.process.groups.Learn(&groups.Items[n])
		}
	}
}

// DomainClaims are those for the world's namespaces.
func (w *World) DomainClaims() (all []*v1alpha1.DomainClaim) {
	w.t.Helper()
	var list v1alpha1.DomainClaimList
	if err := w.Kube.List(w.t.Context(), &list); err != nil {
		w.t.Fatalf("listing the claims: %v", err)
	}
	for n := range list.Items {
		if slices.Contains(w.namespaces, list.Items[n].Spec.Namespace) {
			all = append(all, &list.Items[n])
		}
	}
	return all
}

// showClaims tells the operator what its informer would.
func (w *World) showClaims() {
	w.t.Helper()
	alive := map[string]bool{}
	for _, o := range w.DomainClaims() {
		alive[o.Name+string(o.UID)] = true
		w.process.claims.Changed(domainclaim.Of(o))
	}
	for _, c := range w.process.claims.Claims() {
		if !alive[claim.Name(c.Domain)+c.UID] {
			w.process.claims.Gone(c)
		}
	}
}
