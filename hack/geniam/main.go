// Geniam writes the IAM policies that the operator needs and the page that explains them,
// from the calls to AWS that its code makes. A call that the table of permissions does not
// know, and a permission that nothing needs, end it with an error.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// root is the folder of the module, seen from where make runs.
const root = "."

// policyDir and pagePath are where the output goes.
const (
	policyDir = "config/iam"
	pagePath  = "docs/reference/iam.md"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "geniam:", err)
		os.Exit(1)
	}
}

func run() error {
	used, err := calls(context.Background(), root)
	if err != nil {
		return err
	}
	files, err := generate(used)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(root, filepath.Dir(terraformPath)), 0o755); err != nil {
		return fmt.Errorf("creating the directory for policies: %w", err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			return fmt.Errorf("writing the generated files: %w", err)
		}
	}
	return nil
}
