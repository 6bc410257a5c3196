package redis

import (
	"errors"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// A server that says nothing is not there any more, and one that says something now and then is.
func TestAudible(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, there := net.Pipe()
		defer there.Close()
		conn := audible{Conn: here, silence: silence}
		defer conn.Close()
		go func() {
			for range 3 {
				time.Sleep(silence - time.Second)
				_, _ = there.Write([]byte("."))
			}
		}()
		began := time.Now()
		for range 3 {
			if _, err := conn.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
		}
		_, err := conn.Read(make([]byte, 1))
		if took := time.Since(began); !errors.Is(err, os.ErrDeadlineExceeded) || took != 4*silence-3*time.Second {
			t.Errorf("after %s of silence: %v", took, err)
		}
	})
}
