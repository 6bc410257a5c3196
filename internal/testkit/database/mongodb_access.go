package database

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
)

const (
	opMsg        = 2013
	headerLength = 16
	maxMessage   = 48 << 20
)

// The commands that need no user, and those that one with the role "read" may give.
var (
	anonymousCommands = []string{"hello", "isMaster", "ismaster", "ping", "buildInfo", "endSessions"}
	readCommands      = []string{
		"find", "getMore", "killCursors", "aggregate", "count", "distinct", "listCollections", "listIndexes",
		"listDatabases", "collStats", "dbStats", "connectionStatus",
	}
)

// refusal is MongoDB's answer to a user without the right.
type refusal struct {
	code     int32
	codeName string
	message  string
}

var (
	wrongPassword = &refusal{code: 18, codeName: "AuthenticationFailed", message: "Authentication failed."}
	unauthorized  = &refusal{code: 13, codeName: "Unauthorized", message: "not authorized on " + canaryDatabase + " to execute command"}
)

// filter asks for the table's user and password, and refuses what a reader may not do, as MongoDB
// would. The engine itself lets every client in.
func (m *mongoTable) filter(client, server io.Writer, from io.Reader) error {
	authenticated := false
	for {
		message, err := readMessage(from)
		if err != nil {
			return err
		}
		command, ok := commandOf(message)
		if !ok { // the old form of hello
			if _, err := server.Write(message); err != nil {
				return err
			}
			continue
		}
		refused := m.judge(command, &authenticated)
		switch document, told := m.changes.answer(command); {
		case refused != nil:
			_, err = client.Write(answer(message, refused.document()))
		case told:
			_, err = client.Write(answer(message, document))
		default:
			_, err = server.Write(message)
		}
		if err != nil {
			return err
		}
	}
}

func (m *mongoTable) judge(command bson.Raw, authenticated *bool) *refusal {
	first, err := command.IndexErr(0)
	if err != nil {
		return nil
	}
	name := first.Key()
	switch {
	case slices.Contains(anonymousCommands, name):
		return nil
	case name == "saslStart":
		_, payload := command.Lookup("payload").Binary()
		if !m.allowed.Load() || !bytes.Equal(payload, []byte("\x00"+m.t.user+"\x00"+m.t.password)) {
			return wrongPassword
		}
		*authenticated = true
		return nil
	case !*authenticated || !m.allowed.Load():
		return unauthorized
	case m.refuses(first, name):
		return unauthorized
	case m.t.options.Writable || slices.Contains(readCommands, name):
		return nil
	default:
		return unauthorized
	}
}

// refuses reports whether a command needs rights on the state table that the user does not have.
func (m *mongoTable) refuses(command bson.RawElement, name string) bool {
	of := m.stateRights.Load()
	if of == nil {
		return false
	}
	collection, named := command.Value().StringValueOK()
	reads := of.rights == ReadRights && slices.Contains(readCommands, name)
	return named && collection == of.name && of.rights != WriteRights && !reads
}

func readMessage(from io.Reader) ([]byte, error) {
	header := make([]byte, headerLength)
	if _, err := io.ReadFull(from, header); err != nil {
		return nil, err
	}
	length := binary.LittleEndian.Uint32(header)
	if length < headerLength || length > maxMessage {
		return nil, errors.New("this is no message")
	}
	message := append(header, make([]byte, length-headerLength)...)
	_, err := io.ReadFull(from, message[headerLength:])
	return message, err
}

// commandOf returns the body of an OP_MSG: flags, the kind of the section 0, and a document.
func commandOf(message []byte) (bson.Raw, bool) {
	const body = headerLength + 5
	if binary.LittleEndian.Uint32(message[12:]) != opMsg || len(message) < body+4 || message[body-1] != 0 {
		return nil, false
	}
	length := int(binary.LittleEndian.Uint32(message[body:]))
	if length < 5 || body+length > len(message) {
		return nil, false
	}
	return bson.Raw(message[body : body+length]), true
}

func (r *refusal) document() bson.D {
	return bson.D{{Key: "ok", Value: 0.0}, {Key: "errmsg", Value: r.message}, {Key: "code", Value: r.code}, {Key: "codeName", Value: r.codeName}}
}

// answer answers a request with a document.
func answer(request []byte, with bson.D) []byte {
	document, err := bson.Marshal(with)
	if err != nil {
		panic(err) // the types of this package always marshal
	}
	out := make([]byte, headerLength+5, headerLength+5+len(document))
	binary.LittleEndian.PutUint32(out, uint32(cap(out)))
	copy(out[8:], request[4:8]) // in answer to
	binary.LittleEndian.PutUint32(out[12:], opMsg)
	return append(out, document...)
}
