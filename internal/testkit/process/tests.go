package process

import (
	"flag"
	"fmt"
)

// TestsAtOnce lets n tests of a package run at the same time, unless the command line says how many: those that
// wait for processes need no processor meanwhile. It is for TestMain.
func TestsAtOnce(n int) error {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if given {
		return nil
	}
	if err := flag.Set("test.parallel", fmt.Sprint(n)); err != nil {
		return fmt.Errorf("setting how many tests run at the same time: %w", err)
	}
	return nil
}
