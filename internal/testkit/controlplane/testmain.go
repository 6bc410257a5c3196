package controlplane

import (
	"context"
	"fmt"
	"os"
)

// RunTests runs the tests of a package against one control plane, and returns
// their exit code. It is for TestMain:
//
//	func TestMain(m *testing.M) {
//		os.Exit(controlplane.RunTests(m, controlplane.Options{}, func(cp *controlplane.ControlPlane) error {
//			config = cp.RESTConfig()
//			return nil
//		}))
//	}
//
// A start takes seconds, so tests share a control plane and take a namespace each.
func RunTests(m interface{ Run() int }, opts Options, setup func(*ControlPlane) error) (code int) {
	cp, err := Start(context.Background(), opts)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		if err := cp.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}()
	if err := setup(cp); err != nil {
		fmt.Fprintln(os.Stderr, "setting up the control plane:", err)
		return 1
	}
	return m.Run()
}
