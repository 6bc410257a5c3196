package webhook

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// How long certificates are valid. Each is renewed after two thirds of its time.
const (
	authorityLife = 10 * 365 * 24 * time.Hour
	servingLife   = 90 * 24 * time.Hour
	// skew is how far the clocks of the API servers may be behind.
	skew = time.Hour
)

// The keys of the Secret. KeyAuthorities are the certificates that the API server trusts: the present authority first,
// then former ones until they expire. Of those the private key is gone.
const (
	KeyAuthorities  = "ca.crt"
	KeyAuthorityKey = "ca.key"
	KeyCertificate  = corev1.TLSCertKey
	KeyPrivateKey   = corev1.TLSPrivateKeyKey
)

const (
	pemCertificate = "CERTIFICATE"
	pemKey         = "PRIVATE KEY"
)

// renew returns what the Secret has to contain, and whether that differs from what it does. A new authority and the
// first certificate of it are two steps: in between the API server learns to trust it.
func renew(data map[string][]byte, host string, now time.Time) (map[string][]byte, bool, error) {
	authorities := parse(data[KeyAuthorities])
	authority, err := tls.X509KeyPair(data[KeyAuthorities], data[KeyAuthorityKey])
	switch {
	case err != nil || len(authorities) == 0 || !now.Before(authorities[0].NotAfter):
		// Nothing could be verified by it any more, so nothing is kept.
		fresh, key, err := newAuthority(now)
		if err != nil {
			return nil, false, err
		}
		return issue(map[string][]byte{KeyAuthorities: fresh, KeyAuthorityKey: key}, host, now)
	case due(authorities[0], now):
		fresh, key, err := newAuthority(now)
		if err != nil {
			return nil, false, err
		}
		for _, former := range authorities {
			if now.Before(former.NotAfter) {
				fresh = append(fresh, pem.EncodeToMemory(&pem.Block{Type: pemCertificate, Bytes: former.Raw})...)
			}
		}
		return map[string][]byte{
			KeyAuthorities: fresh, KeyAuthorityKey: key, KeyCertificate: data[KeyCertificate], KeyPrivateKey: data[KeyPrivateKey],
		}, true, nil
	}
	serving := parse(data[KeyCertificate])
	_, err = tls.X509KeyPair(data[KeyCertificate], data[KeyPrivateKey])
	if err == nil && len(serving) > 0 && !due(serving[0], now) && serving[0].VerifyHostname(host) == nil && serving[0].CheckSignatureFrom(authority.Leaf) == nil {
		return data, false, nil
	}
	return issue(map[string][]byte{KeyAuthorities: data[KeyAuthorities], KeyAuthorityKey: data[KeyAuthorityKey]}, host, now)
}

// due reports whether two thirds of a certificate's time are over.
func due(c *x509.Certificate, now time.Time) bool {
	return !now.Before(c.NotBefore.Add(c.NotAfter.Sub(c.NotBefore) / 3 * 2))
}

func newAuthority(now time.Time) (certificate, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("generating a key: %w", err)
	}
	template := template("cloudfront-tenant-operator-webhook-ca", now, authorityLife)
	template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
	raw, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		return nil, nil, fmt.Errorf("creating the certificate authority: %w", err)
	}
	return encode(raw, private)
}

// issue adds a certificate for the host.
func issue(data map[string][]byte, host string, now time.Time) (map[string][]byte, bool, error) {
	authority, err := tls.X509KeyPair(data[KeyAuthorities], data[KeyAuthorityKey])
	if err != nil {
		return nil, false, fmt.Errorf("reading the certificate authority: %w", err)
	}
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, false, fmt.Errorf("generating a key: %w", err)
	}
	template := template(host, now, servingLife)
	template.DNSNames = []string{host}
	template.KeyUsage, template.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	raw, err := x509.CreateCertificate(rand.Reader, template, authority.Leaf, private.Public(), authority.PrivateKey)
	if err != nil {
		return nil, false, fmt.Errorf("creating the certificate: %w", err)
	}
	data[KeyCertificate], data[KeyPrivateKey], err = encode(raw, private)
	return data, true, err
}

func template(name string, now time.Time, life time.Duration) *x509.Certificate {
	return &x509.Certificate{
		// The time makes a serial number that no other certificate has.
		SerialNumber: big.NewInt(now.UnixNano()), NotBefore: now.Add(-skew), NotAfter: now.Add(life),
		// A name of more than 64 characters is not one in X.509. The host is in the alternative names.
		Subject: pkix.Name{CommonName: name[:min(len(name), 64)]},
	}
}

func encode(raw []byte, private *ecdsa.PrivateKey) (certificate, key []byte, err error) {
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, nil, fmt.Errorf("encoding a key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: pemCertificate, Bytes: raw}), pem.EncodeToMemory(&pem.Block{Type: pemKey, Bytes: der}), nil
}

// parse reads certificates up to the first invalid one.
func parse(content []byte) []*x509.Certificate {
	var out []*x509.Certificate
	for block, rest := pem.Decode(bytes.TrimSpace(content)); block != nil; block, rest = pem.Decode(rest) {
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return out
		}
		out = append(out, c)
	}
	return out
}
