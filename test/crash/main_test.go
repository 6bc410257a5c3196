// Package crash runs the built operator, on a real API server and against the simulated
// AWS, through the lives of tenants, distributions and connection groups again and again,
// and at each call that it makes ends it, or spoils the call. Each case is followed by checks of what has to be true
// then; how to read the report and to replay a case is described in docs/contributing/campaign.md.
//
// What only this proves: that the binary, as it is shipped, survives as a process. It is killed, stopped and woken between
// any two of its calls, loses its lease to another process and wakes with a write on its way, and meets the finalizers,
// locks, watches and leases of a real API server. test/model plays the same noise with more objects and for far longer,
// but in one process, with a clock of its own, and a crash there only forgets what was in memory.
package crash_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/controlplane"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/module"
)

// patience bounds each wait for the operator. The longest that it may take by design is
// the grace period after a create mark, and a lease that has to expire.
const patience = 4 * time.Minute

var (
	count    = flag.Int("crash.cases", 0, "run about so many cases of all families, of those that -crash.case names if it is set; -1 for all of them; 0 for a short selection")
	only     = flag.String("crash.case", "", "run the case of this number, or those whose name contains this text, or one of several between bars, and print what happened")
	forTime  = flag.Duration("crash.for", 0, "begin no case after this time")
	skip     = flag.Int("crash.skip", 0, "leave out the first so many cases, which have run elsewhere")
	resume   = flag.Bool("crash.resume", false, "leave out the cases whose results are in the report already")
	parallel = flag.Int("crash.parallel", 10, "how many cases run at the same time")
	seed     = flag.Uint64("crash.seed", 1, "seed of what is drawn by chance")
	report   = flag.String("crash.report", "", "write the results as JSON to this file, or all calls of a soak that fails")
	list     = flag.Bool("crash.list", false, "list the cases instead of running them")
	update   = flag.Bool("crash.update", false, "rewrite testdata/references.json")
	// levelsReport is not the report of the cases: what both continue is not the same.
	levelsReport = flag.String("crash.levels", "", "let TestLevels tell which levels of tests notice which mistakes, and continue this report")

	theRig *rig
)

func TestMain(m *testing.M) {
	flag.Parse()
	ctrl.SetLogger(logr.Discard())
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "cloudfront-tenant-operator-crash-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer stopStore()
	return controlplane.RunTests(m, controlplane.Options{}, func(cp *controlplane.ControlPlane) (err error) {
		if theRig, err = newRig(ctx, cp, dir); err != nil {
			return err
		}
		return module.Program(ctx, theRig.root, "operator", operatorBinary(), module.OperatorRaces())
	})
}

// operatorBinary returns the path of the built operator. A test that runs it depends on its sources.
func operatorBinary() string {
	module.DependOn(theRig.root)
	return filepath.Join(theRig.dir, "operator")
}
