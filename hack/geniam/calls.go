package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Call is an operation of an AWS service: "cloudfront:GetDistribution".
type Call string

// calls lists the operations that the operator of the module in dir can ask AWS for, sorted.
func calls(ctx context.Context, dir string) ([]Call, error) {
	operator, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "go", "run", ".", operator)
	cmd.Dir, cmd.Stderr = filepath.Join(operator, "hack", "sdkcalls"), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("looking for the calls of the AWS SDK: %w", err)
	}
	var found []Call
	for line := range strings.Lines(string(out)) {
		found = append(found, Call(strings.TrimSpace(line)))
	}
	return found, nil
}
