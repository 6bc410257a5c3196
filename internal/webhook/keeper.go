package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// interval is how often the Secret is read. A certificate is renewed a month before it expires.
const interval = time.Minute

// KeeperOptions are what a keeper is made from.
type KeeperOptions struct {
	Client client.Client
	// Live reads past the cache.
	Live client.Reader
	// Secret has the certificates. It must exist: a process that may create Secrets may create one with the token of
	// another service account. Configuration is that of the webhook, and Host the name by which the API server calls
	// it.
	Secret        client.ObjectKey
	Configuration string
	Host          string
	// Elected is closed once this replica leads: then it renews the certificates.
	Elected <-chan struct{}
	Clock   clock.WithTicker
}

// Keeper has the certificate of the webhook in each replica, and in the leader renews it.
// github.com/open-policy-agent/cert-controller does so, too, but reads every Secret of the namespace and every
// ValidatingWebhookConfiguration of the cluster into a cache, where this needs one of each by name; it serves from
// files; and it replaces the authority and its certificate at once, so that no certificate is trusted until all
// replicas have the new one.
type Keeper struct {
	KeeperOptions

	serving atomic.Pointer[tls.Certificate]
	tried   atomic.Bool
}

// NewKeeper makes a keeper without a certificate.
func NewKeeper(o KeeperOptions) *Keeper { return &Keeper{KeeperOptions: o} }

// NeedLeaderElection says that every replica serves.
func (k *Keeper) NeedLeaderElection() bool { return false }

// GetCertificate is for a TLS server. A replica that has none looks for it once more: the leader may have made one since.
func (k *Keeper) GetCertificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	if c := k.serving.Load(); c != nil {
		return c, nil
	}
	ctx, cancel := context.WithTimeout(hello.Context(), patience)
	defer cancel()
	s, err := k.read(ctx)
	if err := errors.Join(err, k.serve(s.Data)); err != nil {
		return nil, err
	}
	if c := k.serving.Load(); c != nil {
		return c, nil
	}
	return nil, errors.New("there is no certificate yet")
}

func (k *Keeper) read(ctx context.Context) (s corev1.Secret, err error) {
	if err := k.Live.Get(ctx, k.Secret, &s); err != nil {
		return s, fmt.Errorf("reading the Secret %s: %w", k.Secret, err)
	}
	return s, nil
}

// Ready fails until the certificate was looked for: a replica that the API server asks before that can't answer. It does not
// wait for a certificate, which the leader may be unable to make.
func (k *Keeper) Ready(*http.Request) error {
	if !k.tried.Load() {
		return errors.New("the webhook's certificate has not been read yet")
	}
	return nil
}

// Start implements manager.Runnable. A failure is retried: until then the API server continues without the webhook.
func (k *Keeper) Start(ctx context.Context) error {
	log := ctrl.Log.WithName("webhook")
	ticker := k.Clock.NewTicker(interval)
	defer ticker.Stop()
	elected := k.Elected
	for said := ""; ; {
		if err := k.Keep(ctx); err != nil && ctx.Err() == nil && err.Error() != said {
			said = err.Error()
			log.Error(err, "The webhook's certificate could not be read or renewed. Objects are accepted without its warnings")
		} else if err == nil {
			said = ""
		}
		select {
		case <-ctx.Done():
			return nil
		case <-elected:
			elected = nil // once is enough
		case <-ticker.C():
		}
	}
}

// Keep reads the certificates and, in the leader, renews what is due and has the API server trust it. The Secret comes
// first: the API server never trusts an authority that was not stored.
func (k *Keeper) Keep(ctx context.Context) error {
	defer k.tried.Store(true)
	s, err := k.read(ctx)
	if err != nil {
		return err
	}
	if !k.leads() {
		return k.serve(s.Data)
	}
	if len(s.Data[KeyAuthorities]) > 0 {
		// A new certificate may be of an authority that is not trusted yet.
		if err := k.trust(ctx, s.Data[KeyAuthorities]); err != nil {
			return errors.Join(err, k.serve(s.Data))
		}
	}
	data, changed, err := renew(s.Data, k.Host, k.Clock.Now())
	if err != nil {
		return err
	}
	if changed {
		s.Data = data
		// A conflict means that another replica has written it, or the chart.
		if err := k.Client.Update(ctx, &s); err != nil {
			return fmt.Errorf("storing the webhook's certificate in the Secret %s: %w", k.Secret, err)
		}
	}
	if err := k.serve(data); err != nil {
		return err
	}
	return k.trust(ctx, data[KeyAuthorities])
}

func (k *Keeper) leads() bool {
	select {
	case <-k.Elected:
		return true
	default:
		return false
	}
}

func (k *Keeper) serve(data map[string][]byte) error {
	if len(data[KeyCertificate]) == 0 {
		return nil // the leader has not been here yet
	}
	c, err := tls.X509KeyPair(data[KeyCertificate], data[KeyPrivateKey])
	if err != nil {
		return fmt.Errorf("reading the webhook's certificate in the Secret %s: %w", k.Secret, err)
	}
	k.serving.Store(&c)
	return nil
}

// trust has the API server trust the authorities.
func (k *Keeper) trust(ctx context.Context, authorities []byte) error {
	var c admissionregistrationv1.ValidatingWebhookConfiguration
	if err := k.Live.Get(ctx, client.ObjectKey{Name: k.Configuration}, &c); err != nil {
		return fmt.Errorf("reading the ValidatingWebhookConfiguration %s: %w", k.Configuration, err)
	}
	before, changed := c.DeepCopy(), false
	for i := range c.Webhooks {
		if config := &c.Webhooks[i].ClientConfig; !bytes.Equal(config.CABundle, authorities) {
			config.CABundle, changed = authorities, true
		}
	}
	if !changed {
		return nil
	}
	// The patch has the whole list of webhooks, so it must not undo a change that was made meanwhile.
	if err := k.Client.Patch(ctx, &c, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("writing the authority into the ValidatingWebhookConfiguration %s: %w", k.Configuration, err)
	}
	return nil
}
