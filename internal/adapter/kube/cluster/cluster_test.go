package cluster_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	adapter "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/kube/cluster"
	domain "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/cluster"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

const namespace = "operator"

// ca makes a certificate of the key.
func ca(t *testing.T, key *ecdsa.PrivateKey, serial int64) string {
	t.Helper()
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour), IsCA: true}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}))
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// identify reads the identity of a cluster whose API server answers that, and which has that CA.
func identify(t *testing.T, status int, body, ca string) (domain.Identity, error) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/.well-known/openid-configuration" {
			t.Errorf("asks for %s", r.URL.Path)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}))
	t.Cleanup(server.Close)
	kube, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	objects := fake.NewClientBuilder()
	if ca != "" {
		objects = objects.WithObjects(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: adapter.RootCA}, Data: map[string]string{"ca.crt": ca}})
	}
	return adapter.Identify(t.Context(), kube.Discovery().RESTClient(), objects.Build(), namespace, "c1")
}

const discovery = `{"issuer":"https://issuer","jwks_uri":"https://issuer/keys"}`

func TestIdentify(t *testing.T) {
	t.Parallel()
	one, two := newKey(t), newKey(t)
	read := func(status int, body, ca string) domain.Identity {
		t.Helper()
		i, err := identify(t, status, body, ca)
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	whole := read(http.StatusOK, discovery, ca(t, one, 1))
	if whole.ID != "c1" || whole.Issuer != "https://issuer" || len(whole.Keys) != 1 {
		t.Errorf("got %+v", whole)
	}
	if d := cmp.Diff(whole, read(http.StatusOK, discovery, ca(t, one, 2)+ca(t, one, 3))); d != "" {
		t.Errorf("a renewed certificate of the same key is another identity:\n%s", d)
	}
	if d := cmp.Diff(read(http.StatusOK, discovery, ca(t, one, 1)+ca(t, two, 1)), read(http.StatusOK, discovery, ca(t, two, 1)+ca(t, one, 1))); d != "" {
		t.Errorf("the order of the certificates matters:\n%s", d)
	}
	if other := read(http.StatusOK, discovery, ca(t, two, 1)); other.Fingerprint() == whole.Fingerprint() {
		t.Error("another CA has the same fingerprint")
	}
	if odd := read(http.StatusOK, discovery, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"); len(odd.Keys) != 1 {
		t.Errorf("of a certificate that can't be read is known: %+v", odd)
	}
	for _, status := range []int{http.StatusNotFound, http.StatusForbidden} {
		if i := read(status, `{"kind":"Status"}`, ""); i.Issuer != "" || i.Keys != nil {
			t.Errorf("%d: got %+v", status, i)
		}
	}
}

// An API server that fails for a while has not lost its issuer.
func TestAnOutageIsNoAnswer(t *testing.T) {
	t.Parallel()
	if i, err := identify(t, http.StatusInternalServerError, "", ""); err == nil {
		t.Errorf("got %+v", i)
	}
	if i, err := identify(t, http.StatusOK, "<html>", ""); err == nil {
		t.Errorf("got %+v", i)
	}
}

func TestStore(t *testing.T) {
	t.Parallel()
	ctx, kube := t.Context(), fake.NewClientBuilder().Build()
	s := adapter.Store{Client: kube, Live: kube, Key: client.ObjectKey{Namespace: namespace, Name: "cluster"}}
	load := func() (*domain.Stored, string) {
		t.Helper()
		stored, version, err := s.Load(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return stored, version
	}
	if stored, version := load(); stored != nil || version != "" {
		t.Errorf("at first there is %+v", stored)
	}
	first := domain.Identity{ID: "c1", Issuer: "https://a", Keys: []string{"k1", "k2"}}
	if err := s.Save(ctx, first, ""); err != nil {
		t.Fatal(err)
	}
	if err := s.Save(ctx, first, ""); !errors.Is(err, port.ErrClusterStale) {
		t.Errorf("the second to create it gets %v", err)
	}
	annotate(ctx, t, kube, s.Key, "f1")
	stored, version := load()
	if d := cmp.Diff(&domain.Stored{Identity: first, Accepted: "f1"}, stored); d != "" {
		t.Errorf("stored (-want +got):\n%s", d)
	}
	annotate(ctx, t, kube, s.Key, "f2")
	next := domain.Identity{ID: "c1", Issuer: "https://b"}
	if err := s.Save(ctx, next, version); !errors.Is(err, port.ErrClusterStale) {
		t.Errorf("who does not know the last version gets %v", err)
	}
	_, version = load()
	if err := s.Save(ctx, next, version); err != nil {
		t.Fatal(err)
	}
	// The answer of the administrator stays.
	if stored, _ := load(); cmp.Diff(&domain.Stored{Identity: domain.Identity{ID: "c1", Issuer: "https://b", Keys: []string{}}, Accepted: "f2"}, stored) != "" {
		t.Errorf("stored is %+v", stored)
	}
}

// What the operator says of itself stays when the identity of the cluster is stored again, and the other way around.
func TestTell(t *testing.T) {
	t.Parallel()
	ctx, kube := t.Context(), fake.NewClientBuilder().Build()
	s := adapter.Store{Client: kube, Live: kube, Key: client.ObjectKey{Namespace: namespace, Name: "cluster"}}
	facts := map[string]string{adapter.KeyAccount: "111122223333"}
	if err := s.Tell(ctx, facts); err != nil {
		t.Errorf("without a ConfigMap: %v", err)
	}
	if err := s.Save(ctx, domain.Identity{ID: "c1", Issuer: "https://a"}, ""); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Tell(ctx, facts); err != nil {
			t.Fatal(err)
		}
	}
	_, version, err := s.Load(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Save(ctx, domain.Identity{ID: "c1", Issuer: "https://b"}, version); err != nil {
		t.Fatal(err)
	}
	var c corev1.ConfigMap
	if err := kube.Get(ctx, s.Key, &c); err != nil {
		t.Fatal(err)
	}
	if c.Data[adapter.KeyAccount] != "111122223333" || c.Data[adapter.KeyIssuer] != "https://b" {
		t.Errorf("it has %v", c.Data)
	}
}

// A ConfigMap that may not be read is an outage, except for the copy.
func TestWhatMayNotBeRead(t *testing.T) {
	t.Parallel()
	kube := interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
		return apierrors.NewForbidden(corev1.Resource("configmaps"), "cluster", nil)
	}})
	s := adapter.Store{Client: kube, Live: kube, Key: client.ObjectKey{Namespace: "kube-system", Name: "cluster"}}
	if _, _, err := s.Load(t.Context()); err == nil {
		t.Error("it is taken for missing")
	}
	s.Optional = true
	if stored, version, err := s.Load(t.Context()); stored != nil || version != "" || err != nil {
		t.Errorf("the copy is %+v %s (%v)", stored, version, err)
	}
}

func annotate(ctx context.Context, t *testing.T, kube client.Client, key client.ObjectKey, value string) {
	t.Helper()
	var c corev1.ConfigMap
	if err := kube.Get(ctx, key, &c); err != nil {
		t.Fatal(err)
	}
	c.Annotations = map[string]string{v1alpha1.AnnotationAcceptCluster: value}
	if err := kube.Update(ctx, &c); err != nil {
		t.Fatal(err)
	}
}
