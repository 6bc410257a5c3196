package mongodb_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

const (
	canaryUser     = "canaryuser"
	canaryPassword = "canarypassword"
)

// collected keeps rows, and refuses one after some.
type collected struct {
	rows   []mapping.Row
	refuse error
	after  int
	// each is called with every row.
	each func()
}

func (c *collected) Columns([]mapping.Column) error { return errors.New("MongoDB has no columns") }

func (c *collected) Row(row mapping.Row) error {
	if c.refuse != nil && len(c.rows) == c.after {
		return c.refuse
	}
	c.rows = append(c.rows, row)
	if c.each != nil {
		c.each()
	}
	return nil
}

// script answers a command with a document. Nil is the answer of a server on which all is well, with one document
// in its collection.
type script func(command string, body bson.Raw) bson.D

// server fails as the real one does, where the one that tests run can't.
type server struct {
	listener net.Listener
	answer   script
}

func newServer(t *testing.T, answer script) *server {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	s := &server{listener: listener, answer: answer}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go s.serve(conn)
		}
	}()
	return s
}

func (s *server) query(t *testing.T, options string) mapping.Query {
	t.Helper()
	return mapping.Query{
		Connection: mapping.NewSecret(fmt.Sprintf("mongodb://%s/canarydatabase?directConnection=true%s", s.listener.Addr(), options)),
		MongoDB:    mapping.MongoDBQuery{Database: "canarydatabase", Collection: "customers"},
	}
}

const (
	opMsg, opQuery, opReply = 2013, 2004, 1
	headerLength            = 16
)

func (s *server) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	for {
		header := make([]byte, headerLength)
		if _, err := io.ReadFull(conn, header); err != nil {
			return
		}
		body := make([]byte, binary.LittleEndian.Uint32(header)-headerLength)
		if _, err := io.ReadFull(conn, body); err != nil {
			return
		}
		answer := s.reply(header, body)
		if answer == nil {
			return
		}
		if _, err := conn.Write(answer); err != nil {
			return
		}
	}
}

// reply answers a message: the old form of hello, or a command.
func (s *server) reply(header, body []byte) []byte {
	var content []byte
	kind := binary.LittleEndian.Uint32(header[12:])
	switch kind {
	case opQuery:
		kind = opReply
		content = make([]byte, 20)
		binary.LittleEndian.PutUint32(content[16:], 1)
		content = append(content, marshal(s.document("hello", nil))...)
	case opMsg:
		command := bson.Raw(body[5:])
		elements, err := command.Elements()
		if err != nil {
			return nil
		}
		document := s.document(elements[0].Key(), command)
		if document == nil {
			return nil
		}
		content = append(make([]byte, 5), marshal(document)...)
	}
	out := make([]byte, headerLength, headerLength+len(content))
	binary.LittleEndian.PutUint32(out, uint32(cap(out)))
	copy(out[8:], header[4:8])
	binary.LittleEndian.PutUint32(out[12:], kind)
	return append(out, content...)
}

func marshal(document bson.D) []byte {
	raw, err := bson.Marshal(document)
	if err != nil {
		panic(err) // the types of this file always marshal
	}
	return raw
}

func (s *server) document(command string, body bson.Raw) bson.D {
	if document := s.answer(command, body); document != nil {
		if len(document) == 0 {
			return nil
		}
		return document
	}
	switch command {
	case "hello", "isMaster":
		return hello(true)
	case "find":
		return cursor("firstBatch", 0, bson.D{{Key: "_id", Value: "a"}, {Key: "name", Value: "a"}})
	case "listCollections":
		return cursor("firstBatch", 0, bson.D{{Key: "name", Value: "customers"}, {Key: "type", Value: "collection"}})
	}
	return bson.D{{Key: "ok", Value: 1.0}}
}

func hello(primary bool) bson.D {
	return bson.D{
		{Key: "isWritablePrimary", Value: primary},
		{Key: "secondary", Value: !primary},
		{Key: "setName", Value: "rs0"},
		{Key: "maxWireVersion", Value: int32(21)},
		{Key: "minWireVersion", Value: int32(0)},
		{Key: "maxBsonObjectSize", Value: int32(16 << 20)},
		{Key: "maxMessageSizeBytes", Value: int32(48 << 20)},
		{Key: "maxWriteBatchSize", Value: int32(1000)},
		{Key: "ok", Value: 1.0},
	}
}

// spoken is the greeting of a server that speaks no newer wire version.
func spoken(greeting bson.D, version int32) bson.D {
	for i, e := range greeting {
		if e.Key == "maxWireVersion" {
			greeting[i].Value = version
		}
	}
	return greeting
}

func cursor(batch string, id int64, documents ...bson.D) bson.D {
	content := bson.A{}
	for _, d := range documents {
		content = append(content, d)
	}
	return bson.D{
		{Key: "cursor", Value: bson.D{{Key: "id", Value: id}, {Key: "ns", Value: "canarydatabase.customers"}, {Key: batch, Value: content}}},
		{Key: "ok", Value: 1.0},
	}
}

func refuse(code int32, name string) bson.D {
	return bson.D{
		{Key: "ok", Value: 0.0},
		{Key: "code", Value: code},
		{Key: "codeName", Value: name},
		{Key: "errmsg", Value: "not authorized on canarydatabase to execute command { find: 1, lsid: 2 }"},
	}
}

// hangUp closes the connection instead of an answer.
var hangUp = bson.D{}
