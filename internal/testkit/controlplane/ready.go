package controlplane

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/process"
)

// stopTimeout is how long a component may take to exit after the signal. The API server would wait a minute for open
// watches; killing it loses nothing, as its data are thrown away.
const stopTimeout = 2 * time.Second

// run starts a component and waits until all urls answer 200, in their order.
func (cp *ControlPlane) run(ctx context.Context, name string, flags []string, urls ...string) (*process.Child, error) {
	child, err := cp.processes.Start(process.Command{
		Path: filepath.Join(cp.binDir, name), Args: flags, Dir: cp.tempDir,
		LogFile: filepath.Join(cp.logDir, name+".log"), StopTimeout: stopTimeout,
	})
	if err != nil {
		return nil, err
	}
	for _, url := range urls {
		if err := cp.await(ctx, child, url); err != nil {
			return nil, fmt.Errorf("waiting for %s: %w; its last lines were:\n%s", name, err, child.LogTail(15))
		}
	}
	return child, nil
}

// await polls url until it answers 200, the child ends or the context does.
func (cp *ControlPlane) await(ctx context.Context, child *process.Child, url string) error {
	roots := x509.NewCertPool()
	roots.AddCert(cp.authority.cert)
	client := &http.Client{
		Timeout: 5 * time.Second,
		// Kept connections would outlive us as goroutines.
		Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: roots}},
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		failure := cp.probe(ctx, client, url)
		if failure == nil {
			return nil
		}
		select {
		case <-child.Ended():
			return fmt.Errorf("it ended: %w", endError(child.Err()))
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", context.Cause(ctx), failure)
		case <-tick.C:
		}
	}
}

// endError gives an exit without an error the words that it lacks.
func endError(err error) error {
	if err == nil {
		return errors.New("exit status 0")
	}
	return err
}

func (cp *ControlPlane) probe(ctx context.Context, client *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+cp.adminToken)
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<10))
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s: %s", url, response.Status, body)
	}
	return nil
}
