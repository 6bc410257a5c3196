package webhook

import (
	"bytes"
	"crypto/x509"
	"maps"
	"testing"
	"time"
)

const host = "operator-webhook.operator.svc"

// verifies reports whether one who trusts the authorities takes the certificate.
func verifies(t *testing.T, authorities, certificate []byte, now time.Time) bool {
	t.Helper()
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authorities)
	serving := parse(certificate)
	if len(serving) == 0 {
		return false
	}
	_, err := serving[0].Verify(x509.VerifyOptions{DNSName: host, Roots: pool, CurrentTime: now})
	return err == nil
}

func renewed(t *testing.T, data map[string][]byte, name string, now time.Time) (map[string][]byte, bool) {
	t.Helper()
	out, changed, err := renew(maps.Clone(data), name, now)
	if err != nil {
		t.Fatal(err)
	}
	return out, changed
}

// Over thirty years, looked at once a day, each certificate is accepted by clients that trust the authorities of the
// day before, and by clients that trust the present ones: either side may learn of a change first.
func TestNoDayWithoutACertificateThatIsTrusted(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	data, changed := renewed(t, nil, host, now)
	if !changed || !verifies(t, data[KeyAuthorities], data[KeyCertificate], now) {
		t.Fatal("the first certificate is not taken")
	}
	authorities, certificates := 0, 0
	for range 30 * 365 {
		now = now.Add(24 * time.Hour)
		before := data
		data, _ = renewed(t, before, host, now)
		if now.Day() != 1 && maps.EqualFunc(before, data, bytes.Equal) {
			continue
		}
		for _, trusted := range [][]byte{before[KeyAuthorities], data[KeyAuthorities]} {
			for _, served := range [][]byte{before[KeyCertificate], data[KeyCertificate]} {
				if !verifies(t, trusted, served, now) {
					t.Fatalf("on %s a certificate is not taken", now)
				}
			}
		}
		if !bytes.Equal(before[KeyAuthorities], data[KeyAuthorities]) {
			authorities++
		}
		if !bytes.Equal(before[KeyCertificate], data[KeyCertificate]) {
			certificates++
		}
		if n := len(parse(data[KeyAuthorities])); n > 2 {
			t.Fatalf("on %s there are %d authorities", now, n)
		}
	}
	if authorities != 4 || certificates < 30*365/60 || certificates > 30*365/60+10 {
		t.Errorf("%d authorities and %d certificates were made", authorities, certificates)
	}
}

func TestWhatIsMadeAgain(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	good, _ := renewed(t, nil, host, now)
	other, _ := renewed(t, nil, host, now)
	with := func(key string, value []byte) map[string][]byte {
		out := maps.Clone(good)
		out[key] = value
		return out
	}
	for name, tt := range map[string]struct {
		data    map[string][]byte
		host    string
		later   time.Duration
		changed bool
		// keeps says that the authority stays.
		keeps bool
	}{
		"nothing that is in order":               {good, host, 0, false, true},
		"a certificate for another name":         {good, "other.operator.svc", 0, true, true},
		"a certificate of another authority":     {with(KeyCertificate, other[KeyCertificate]), host, 0, true, true},
		"a certificate without its key":          {with(KeyPrivateKey, nil), host, 0, true, true},
		"a certificate that is none":             {with(KeyCertificate, []byte("none")), host, 0, true, true},
		"an authority without its key":           {with(KeyAuthorityKey, nil), host, 0, true, false},
		"an authority with another's key":        {with(KeyAuthorityKey, other[KeyAuthorityKey]), host, 0, true, false},
		"an authority that is none":              {with(KeyAuthorities, []byte("none")), host, 0, true, false},
		"everything, after a pause of ten years": {good, host, authorityLife + time.Hour, true, false},
		"a certificate, after a pause of a year": {good, host, 365 * 24 * time.Hour, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, changed := renewed(t, tt.data, tt.host, now.Add(tt.later))
			if changed != tt.changed {
				t.Errorf("changed: %t", changed)
			}
			if keeps := bytes.Equal(got[KeyAuthorities], good[KeyAuthorities]); keeps != tt.keeps {
				t.Errorf("the authority stays: %t", keeps)
			}
			if tt.host == host && !verifies(t, got[KeyAuthorities], got[KeyCertificate], now.Add(tt.later)) {
				t.Error("the certificate is not taken")
			}
		})
	}
}
