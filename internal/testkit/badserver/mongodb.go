package badserver

import (
	"bufio"
	"encoding/binary"
	"io"
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// The operations of MongoDB's protocol.
const (
	opReply = 1
	opQuery = 2004
	opMsg   = 2013
	// headerLength is that of a message: its length, its number, the number that it answers, and the operation.
	headerLength = 16
)

// header stands before the body of an answer.
func header(length int, answers, operation uint32) []byte {
	h := binary.LittleEndian.AppendUint32(nil, uint32(length))
	for _, n := range []uint32{1, answers, operation} {
		h = binary.LittleEndian.AppendUint32(h, n)
	}
	return h
}

// reply sends one document as the answer to a message.
func reply(to io.Writer, answers, operation uint32, document []byte) error {
	before := make([]byte, 5) // the flags of an OP_MSG, and the kind of its only section
	if operation == opReply {
		before = binary.LittleEndian.AppendUint32(make([]byte, 16), 1) // flags, cursor, start, and the number of documents
	}
	for _, part := range [][]byte{header(headerLength+len(before)+len(document), answers, operation), before, document} {
		if _, err := to.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// hello is what a primary says of itself, with a limit for messages that is none.
var hello = bson.D{
	{Key: "ok", Value: 1}, {Key: "isWritablePrimary", Value: true}, {Key: "helloOk", Value: true}, {Key: "maxBsonObjectSize", Value: int32(math.MaxInt32)},
	{Key: "maxMessageSizeBytes", Value: int32(math.MaxInt32)}, {Key: "maxWriteBatchSize", Value: int32(100_000)},
	{Key: "minWireVersion", Value: int32(0)}, {Key: "maxWireVersion", Value: int32(21)},
}

// speakMongo is a primary, and does its harm with the documents that it finds.
func speakMongo(harm Harm, from *bufio.Reader, to io.Writer, wait func() bool) error {
	answers := map[string][]byte{"": encoded(hello), "find": batch(harm, "firstBatch"), "getMore": batch(harm, "nextBatch")}
	for {
		var head [headerLength]byte
		if _, err := io.ReadFull(from, head[:]); err != nil {
			return err
		}
		body := make([]byte, binary.LittleEndian.Uint32(head[:])-headerLength)
		if _, err := io.ReadFull(from, body); err != nil {
			return err
		}
		id, operation, answer := binary.LittleEndian.Uint32(head[4:]), uint32(opMsg), answers[""]
		if binary.LittleEndian.Uint32(head[12:]) == opQuery {
			operation = opReply
		} else if found := answers[commandOf(body)]; found != nil {
			answer = found
			switch harm {
			case Huge, Flood:
				return harmMongo(harm, id, to, wait)
			case Slow:
				if !wait() {
					return io.EOF
				}
			default:
			}
		}
		if err := reply(to, id, operation, answer); err != nil {
			return err
		}
	}
}

func encoded(document bson.D) []byte {
	bytes, err := bson.Marshal(document)
	if err != nil {
		panic(err) // all documents here are fixed
	}
	return bytes
}

// commandOf is the name of the command in an OP_MSG.
func commandOf(body []byte) string {
	const document = 5
	elements, err := bson.Raw(body[document : document+binary.LittleEndian.Uint32(body[document:])]).Elements()
	if err != nil || len(elements) == 0 {
		return ""
	}
	return elements[0].Key()
}

// batch is an answer to a scan that never ends.
func batch(harm Harm, name string) []byte {
	documents := bson.A{bson.D{{Key: "_id", Value: int64(1)}, {Key: "name", Value: "x"}}}
	switch harm {
	case Loop:
		documents = bson.A{}
	case Fat:
		documents = bson.A{bson.D{{Key: "_id", Value: int64(1)}, {Key: "name", Value: string(fatValue)}}}
	case Deep:
		documents = bson.A{bson.Raw(deep(200_000))}
	default:
	}
	return encoded(bson.D{{Key: "ok", Value: 1}, {Key: "cursor", Value: bson.D{{Key: "id", Value: int64(7)}, {Key: "ns", Value: "db.customers"}, {Key: name, Value: documents}}}})
}

// deep is a document in a document, and so on.
func deep(levels int) []byte {
	const level = 8 // length, type, a name of one letter, and the end
	document := make([]byte, 0, level*levels+5)
	for i := range levels {
		document = binary.LittleEndian.AppendUint32(document, uint32((levels-i)*level+5))
		document = append(document, 3, 'a', 0)
	}
	document = binary.LittleEndian.AppendUint32(document, 5)
	return append(document, make([]byte, levels+1)...)
}

func harmMongo(harm Harm, id uint32, to io.Writer, wait func() bool) error {
	if _, err := to.Write(header(math.MaxInt32, id, opMsg)); err != nil {
		return err
	}
	if harm == Flood {
		return flood(to)
	}
	wait()
	return nil
}
