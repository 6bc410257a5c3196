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

// token is a service account's token in a file.
type token struct {
	namespace, account, path string
	client                   kubernetes.Interface
}

// ServiceAccountToken requests a token, writes it to path, and keeps it fresh until the control
// plane stops, as a kubelet does for a pod. The context bounds the first request only.
func (cp *ControlPlane) ServiceAccountToken(ctx context.Context, namespace, account, path string, clk clock.Clock) error {
	client, err := kubernetes.NewForConfig(cp.RESTConfig())
	if err != nil {
		return fmt.Errorf("creating a client: %w", err)
	}
	t := &token{namespace: namespace, account: account, path: path, client: client}
	if err := t.refresh(ctx); err != nil {
		return err
	}
	// The timer starts here and not in the goroutine, before which a test could move its clock.
	timer := clk.NewTimer(refreshAfter)
	cp.background.Go(func() { t.keep(context.WithoutCancel(ctx), timer, cp.ending) })
	return nil
}

func (t *token) keep(ctx context.Context, timer clock.Timer, ending <-chan struct{}) {
	defer timer.Stop()
	for {
		select {
		case <-ending:
			return
		case <-timer.C():
		}
		next := refreshAfter
		if t.refresh(ctx) != nil {
			next = refreshRetry // the API server refuses a token that is too old
		}
		timer.Reset(next)
	}
}

// refresh replaces the file in one step, so that no reader gets half a token.
func (t *token) refresh(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, refreshRetry)
	defer cancel()
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
