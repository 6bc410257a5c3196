package redis_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

// collected keeps rows, and refuses one after some.
type collected struct {
	rows   []mapping.Row
	refuse error
	after  int
}

func (c *collected) Columns([]mapping.Column) error { return errors.New("Redis has no columns") }

func (c *collected) Row(row mapping.Row) error {
	if c.refuse != nil && len(c.rows) == c.after {
		return c.refuse
	}
	c.rows = append(c.rows, row)
	return nil
}

// script answers commands in the form of the protocol. Empty answers are those of a healthy server without keys; hangUp
// closes the connection, and silent says nothing.
type script func(command string, arguments []string) string

const (
	hangUp = "hang up"
	silent = "silent"
)

func bulk(s string) string { return fmt.Sprintf("$%d\r\n%s\r\n", len(s), s) }

func array(items ...string) string {
	return fmt.Sprintf("*%d\r\n%s", len(items), strings.Join(items, ""))
}

func bulks(items ...string) string {
	for i := range items {
		items[i] = bulk(items[i])
	}
	return array(items...)
}

// scanned is an answer to SCAN.
func scanned(cursor string, keys ...string) string { return array(bulk(cursor), bulks(keys...)) }

func hello(mode, role string) string { return bulks("server", "redis", "mode", mode, "role", role) }

func usual(command string) string {
	switch command {
	case "HELLO":
		return hello("standalone", "master")
	case "INFO":
		return bulk("run_id:1\r\nredis_mode:standalone\r\nrole:master\r\nloading:0\r\nmaster_replid:2\r\n")
	case "SCAN":
		return scanned("0")
	case "TYPE":
		return "+hash\r\n"
	case "HGETALL":
		return bulks("name", "a")
	}
	return "+OK\r\n"
}

// server is one that fails where the real one would need a day to.
type server struct {
	listener    net.Listener
	connections atomic.Int64
	answer      script
}

func newServer(t *testing.T, answer script) *server {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{listener: listener, answer: answer}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			s.connections.Add(1)
			go s.serve(conn)
		}
	}()
	return s
}

const (
	canaryUser     = "canaryuser"
	canaryPassword = "canarypassword"
)

func (s *server) query() mapping.Query {
	return mapping.Query{
		Connection: mapping.NewSecret(fmt.Sprintf("redis://%s:%s@%s/7", canaryUser, canaryPassword, s.listener.Addr())),
		Redis:      mapping.RedisQuery{KeyPattern: "customer:*"},
	}
}

func (s *server) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	from := bufio.NewReader(conn)
	for {
		words, err := readCommand(from)
		if err != nil {
			return
		}
		name := strings.ToUpper(words[0])
		answer := s.answer(name, words[1:])
		switch answer {
		case hangUp:
			return
		case silent:
			continue
		case "":
			answer = usual(name)
		}
		if _, err := io.WriteString(conn, answer); err != nil {
			return
		}
	}
}

func readCommand(from *bufio.Reader) ([]string, error) {
	count, err := readNumber(from, "*")
	if err != nil {
		return nil, err
	}
	words := make([]string, count)
	for i := range words {
		length, err := readNumber(from, "$")
		if err != nil {
			return nil, err
		}
		word := make([]byte, length+2)
		if _, err := io.ReadFull(from, word); err != nil {
			return nil, err
		}
		words[i] = string(word[:length])
	}
	return words, nil
}

func readNumber(from *bufio.Reader, mark string) (int, error) {
	line, err := from.ReadString('\n')
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(line, mark)))
}
