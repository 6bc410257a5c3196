package controlplane

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
)

type ports struct{ etcd, apiServer, controllerManager int }

// freePorts picks ports below the range from which the kernel hands out client
// ports: seconds pass until the API server listens, and meanwhile thousands of
// connections of other tests must not take its port.
func freePorts(ctx context.Context) (ports, error) {
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
		if found = append(found, port); len(found) == 3 {
			return ports{etcd: found[0], apiServer: found[1], controllerManager: found[2]}, nil
		}
	}
	return ports{}, errors.New("finding free ports: none is left between 20000 and 32000")
}
