package operator

import (
	"os"
	"runtime"
	"runtime/debug"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/config"
)

// gcPercent lets garbage grow to a fifth of what is in use instead of to as much again. The operator keeps a fleet in
// memory and waits for AWS most of the time: it has more CPU to spare than memory. The environment's GOGC wins.
const gcPercent = 20

func saveMemory(c config.Config) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if c.PprofAddress == "" || c.PprofAddress == "0" {
		runtime.MemProfileRate = 0 // a profile takes memory, even if it can't be read
	}
}
