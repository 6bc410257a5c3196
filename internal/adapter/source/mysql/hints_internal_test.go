package mysql

import (
	"context"
	"crypto/sha256"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
)

// result is what a run returns: rows of a key and a version, the latest change first.
func result(rows ...[2]string) seen {
	var s seen
	for _, row := range rows {
		s.rows = append(s.rows, sha256.Sum256([]byte(row[0]+"\n"+row[1])))
		s.keys = append(s.keys, row[0])
	}
	return s
}

func TestWhichRowsHaveChanged(t *testing.T) {
	before := result([2]string{"c", "1"}, [2]string{"b", "1"}, [2]string{"a", "1"})
	for name, c := range map[string]struct {
		now  seen
		want []string
	}{
		"a changed row":                             {result([2]string{"b", "2"}, [2]string{"c", "1"}, [2]string{"a", "1"}), []string{"b"}},
		"a changed and a new row":                   {result([2]string{"d", "1"}, [2]string{"b", "2"}, [2]string{"c", "1"}), []string{"b", "d"}},
		"one row stays, and others are left out":    {result([2]string{"c", "1"}, [2]string{"e", "1"}, [2]string{"d", "1"}), nil},
		"an older row has come, as one was deleted": {result([2]string{"c", "1"}, [2]string{"b", "1"}, [2]string{"z", "1"}), nil},
		"a row without a key":                       {result([2]string{"", "2"}, [2]string{"c", "1"}, [2]string{"a", "1"}), nil},
		"no rows":                                   {result(), nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := c.now.since(before)
			slices.Sort(got)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// muteServer logs in every client, and then takes what it is sent without an answer.
func muteServer(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	packet := func(number byte, body string) []byte { return append([]byte{byte(len(body)), 0, 0, number}, body...) }
	greeting := "\x0a8.0.0\x00" + "\x01\x00\x00\x00" + "saltsalt\x00" + "\x00\x82\x21\x02\x00" + "\x08\x00\x15" +
		strings.Repeat("\x00", 10) + "saltsaltsalt\x00" + "caching_sha2_password\x00"
	go func() {
		_, _ = server.Write(packet(0, greeting))
		for _, number := range []byte{2, 1} { // the login, and the character set
			_, _ = server.Read(make([]byte, 1<<10))
			_, _ = server.Write(packet(number, "\x00\x00\x00\x02\x00\x00\x00"))
		}
		_, _ = io.Copy(io.Discard, server)
	}()
	return client, nil
}

func TestAListenerWhoseServerDoesNotAnswerEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, err := parse("u@tcp(db.example.com:3306)/d")
		if err != nil {
			t.Fatal(err)
		}
		s := New(store.Config{}).Session(t.Context(), srv)
		s.Dial = muteServer
		if err := s.Connect(); err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		began := time.Now()
		err = s.Soon(srv.prepare)
		if took := time.Since(began); err == nil || !strings.Contains(err.Error(), "db.example.com:3306: no response within the time limit") || took != 10*time.Second {
			t.Errorf("after %s: %v", took, err)
		}
	})
}
