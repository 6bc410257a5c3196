package controlplane

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
)

const (
	// tokenLifetime is the shortest that the API server grants: a token that leaks from a log or a
	// folder is soon worth nothing, and each longer run sees a refresh.
	tokenLifetime = 10 * time.Minute
	// refreshAfter leaves two minutes for failures, and for readers who look at the file once a minute.
	refreshAfter = tokenLifetime * 8 / 10
	// refreshRetry is how soon a failed refresh is tried again.
	refreshRetry = 10 * time.Second
)

// Token is a service account's token in a file, kept fresh as the kubelet does it for a pod.
type Token struct {
	namespace, account, path string
	client                   kubernetes.Interface
	clock                    clock.Clock
	cancel                   context.CancelFunc
	ended                    chan struct{}
}

// ServiceAccountToken requests a token, writes it to path, and keeps it fresh until Stop. The
// context bounds the first request only.
func (cp *ControlPlane) ServiceAccountToken(ctx context.Context, namespace, account, path string, clk clock.Clock) (*Token, error) {
	client, err := kubernetes.NewForConfig(cp.RESTConfig())
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	t := &Token{namespace: namespace, account: account, path: path, client: client, clock: clk, ended: make(chan struct{})}
	if err := t.refresh(ctx); err != nil {
		return nil, err
	}
	// The timer starts here and not in the goroutine, where a test's clock could be moved before it.
	timer := clk.NewTimer(refreshAfter)
	keeping, cancel := context.WithCancel(context.WithoutCancel(ctx))
	t.cancel = cancel
	go t.keep(keeping, timer)
	return t, nil
}

// Stop ends the refreshing and leaves the file.
func (t *Token) Stop() {
	t.cancel()
	<-t.ended
}

func (t *Token) keep(ctx context.Context, timer clock.Timer) {
	defer close(t.ended)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C():
		}
		next := refreshAfter
		if t.refresh(ctx) != nil {
			next = refreshRetry // whoever uses a token that is too old is told so by the API server
		}
		timer.Reset(next)
	}
}

// refresh replaces the file in one step, so that nobody reads half a token.
func (t *Token) refresh(ctx context.Context) error {
	seconds := int64(tokenLifetime.Seconds())
	answer, err := t.client.CoreV1().ServiceAccounts(t.namespace).CreateToken(ctx, t.account,
		&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("requesting a token for the service account %s/%s: %w", t.namespace, t.account, err)
	}
	next, err := os.CreateTemp(filepath.Dir(t.path), filepath.Base(t.path)+".")
	if err != nil {
		return fmt.Errorf("writing a token: %w", err)
	}
	defer next.Close()
	if _, err := next.WriteString(answer.Status.Token); err != nil {
		return fmt.Errorf("writing a token: %w", err)
	}
	if err := os.Rename(next.Name(), t.path); err != nil {
		return fmt.Errorf("writing a token: %w", err)
	}
	return nil
}

// TokenFileConfig returns a configuration that authenticates with what a file holds, and follows
// its changes.
func (cp *ControlPlane) TokenFileConfig(path string) *rest.Config {
	config := cp.TokenConfig("")
	config.BearerTokenFile = path
	return config
}
