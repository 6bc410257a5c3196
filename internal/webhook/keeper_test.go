package webhook_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/webhook"
)

// The leader makes and renews certificates, and each replica serves them.
func TestOneReplicaRenewsAndAllServe(t *testing.T) {
	t.Parallel()
	kube, err := client.New(kubeConfig, client.Options{Scheme: scheme(t)})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, kube: kube, namespace: "default"}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: "kept"}}
	r.create(secret)
	r.configure(1)
	now := clocktesting.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	replica := func(elected chan struct{}) *webhook.Keeper {
		return webhook.NewKeeper(webhook.KeeperOptions{
			Client: kube, Live: kube, Clock: now, Elected: elected, Host: "localhost", Secret: client.ObjectKeyFromObject(secret), Configuration: r.namespace,
		})
	}
	waiting, elected := make(chan struct{}), make(chan struct{})
	close(elected)
	follower, leader := replica(waiting), replica(elected)
	keep := func(k *webhook.Keeper) {
		t.Helper()
		if err := k.Keep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if follower.Ready(nil) == nil {
		t.Error("a replica that has not looked for the certificate says that it is ready")
	}
	keep(follower)
	if err := follower.Ready(nil); err != nil {
		t.Errorf("a replica waits for a certificate that only the leader makes: %v", err)
	}
	if _, err := handshake(t, follower); err == nil {
		t.Error("a replica that does not lead has made a certificate")
	}
	keep(leader)
	first := serves(t, r, leader, now.Now())
	// The follower has it when it is asked, and does not wait for the next minute.
	if !bytes.Equal(serves(t, r, follower, now.Now()), first) {
		t.Error("the replicas serve different certificates")
	}

	// After two thirds of ten years the authority is due. It is trusted before it is used.
	now.Step(7 * 365 * 24 * time.Hour)
	keep(leader)
	if n := bytes.Count(trusted(t, r), []byte("BEGIN")); n != 2 {
		t.Errorf("%d authorities are trusted, want the former and the new one", n)
	}
	keep(leader)
	if second := serves(t, r, leader, now.Now()); bytes.Equal(second, first) {
		t.Error("the certificate was not renewed")
	}
	keep(follower)
	serves(t, r, follower, now.Now())

	// Removed parts come back.
	var c admissionregistrationv1.ValidatingWebhookConfiguration
	if err := kube.Get(t.Context(), client.ObjectKey{Name: r.namespace}, &c); err != nil {
		t.Fatal(err)
	}
	c.Webhooks[0].ClientConfig.CABundle = nil
	if err := kube.Update(t.Context(), &c); err != nil {
		t.Fatal(err)
	}
	keep(leader)
	serves(t, r, leader, now.Now())
}

// serves returns the certificate of a replica, which the API server has to trust.
func serves(t *testing.T, r *rig, k *webhook.Keeper, now time.Time) []byte {
	t.Helper()
	c, err := handshake(t, k)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(trusted(t, r))
	if _, err := c.Verify(x509.VerifyOptions{DNSName: "localhost", Roots: pool, CurrentTime: now}); err != nil {
		t.Errorf("the API server does not trust the certificate: %v", err)
	}
	return c.Raw
}

// handshake returns the certificate that a replica shows to a client.
func handshake(t *testing.T, k *webhook.Keeper) (*x509.Certificate, error) {
	t.Helper()
	near, far := net.Pipe()
	defer func() { _ = errors.Join(near.Close(), far.Close()) }()
	go func() {
		_ = tls.Server(far, &tls.Config{GetCertificate: k.GetCertificate}).HandshakeContext(t.Context())
	}()
	c := tls.Client(near, &tls.Config{InsecureSkipVerify: true})
	if err := c.HandshakeContext(t.Context()); err != nil {
		return nil, err
	}
	return c.ConnectionState().PeerCertificates[0], nil
}

func trusted(t *testing.T, r *rig) []byte {
	t.Helper()
	var c admissionregistrationv1.ValidatingWebhookConfiguration
	if err := r.kube.Get(t.Context(), client.ObjectKey{Name: r.namespace}, &c); err != nil {
		t.Fatal(err)
	}
	return c.Webhooks[0].ClientConfig.CABundle
}
