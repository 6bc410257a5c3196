package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/process"
)

// pageProgram is the example of a page on which customers add domains.
const pageProgram = "onboarding"

// startPage starts the page, and keeps its address.
func (w *world) startPage(ctx context.Context) error {
	return process.RetryInUse(func() error {
		ports, err := w.tools.Ports(ctx, 1)
		if err != nil {
			return err
		}
		child, err := w.tools.Start(process.Command{
			Path: filepath.Join(w.bin(), pageProgram), Args: []string{"--listen=" + ports.Address(0), "--namespace=" + namespace, "--distribution=" + platform},
			Env: append(os.Environ(), "KUBECONFIG="+w.kubeconfig()), LogFile: filepath.Join(w.logs, pageProgram+".log"),
		})
		if err != nil {
			return err
		}
		go w.watch(ctx, child)
		w.page = "http://" + ports.Address(0)
		return nil
	})
}
