// Command helm installs charts. It is built here because it shares most of its code with the control plane,
// so that building it takes a minute and not four.
package main

import (
	"errors"
	"log/slog"
	"os"

	helm "helm.sh/helm/v4/pkg/cmd"
	"helm.sh/helm/v4/pkg/kube"
)

func main() {
	// The owner of the fields that helm applies; by default it is the name of the binary.
	kube.ManagedFieldsManager = "helm"
	root, err := helm.NewRootCmd(os.Stdout, os.Args[1:], helm.SetupLogging)
	if err != nil {
		slog.Error("Starting failed", "error", err)
		os.Exit(1)
	}
	if err := root.Execute(); err != nil { // helm has printed it
		status := 1
		if failed, ok := errors.AsType[helm.CommandError](err); ok {
			status = failed.ExitCode
		}
		os.Exit(status)
	}
}
