package process

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
)

// FreePorts picks loopback ports below the range from which the kernel hands out
// client ports: a while passes until somebody listens, and meanwhile connections
// of others must not take them.
func FreePorts(ctx context.Context, wanted int) ([]int, error) {
	const lowest, count, tries = 20000, 12000, 100
	var found []int
	for range tries {
		port := lowest + rand.IntN(count)
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		// Held until all are found, so that they differ.
		defer listener.Close()
		if found = append(found, port); len(found) == wanted {
			return found, nil
		}
	}
	return nil, errors.New("finding free ports: none is left between 20000 and 32000")
}
