package child

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

// encodeRequest writes a request with all of its query.
func encodeRequest(r request) ([]byte, error) {
	r.Connection = []byte(r.Query.Connection.Reveal())
	return encoding.Marshal(r)
}

func decodeRequest(body []byte) (request, error) {
	var r request
	if err := decoding.Unmarshal(body, &r); err != nil {
		return request{}, fmt.Errorf("decoding the request: %w", err)
	}
	r.Query.Connection = mapping.NewSecret(string(r.Connection))
	return r, nil
}

// What one row may be. Kubernetes takes no object of more than 1.5 MiB, and a tenant is far smaller: anything beyond
// these bounds is a mistake or an attack, and must not fill the operator's memory.
const (
	// largestFrame is a row with all its names and values.
	largestFrame = 1 << 20
	// largestValue is one value of a row. A larger value can't be used, and costs nothing if it isn't.
	largestValue = 256 << 10
	// largestKey is the key by which people find a row.
	largestKey = 1 << 10
	// deepest is how many lists and objects may be inside each other: the decoder takes some stack for each.
	deepest = 64
	// overhead is the most that the encoding adds to a text: a byte for its type, and its length.
	overhead = 5
)

// The values for which there is no room. They name what is wrong in the words in which other types do.
const (
	tooLarge = mapping.Unsupported("value larger than 256 KiB")
	tooDeep  = mapping.Unsupported("value nested deeper than 64 levels")
)

// The tags of the values that CBOR has no type for. Its own times have no years beyond 9999.
const (
	tagUnsupported = 65000
	tagTime        = 65001
)

var (
	errTooLarge  = errors.New("there is no room for the value")
	errMalformed = errors.New("the message of the child process is malformed")
)

var (
	encoding = must(cbor.EncOptions{}.EncMode())
	decoding = must(cbor.DecOptions{
		IntDec: cbor.IntDecConvertSignedOrFail, DefaultMapType: reflect.TypeFor[map[string]any](), UTF8: cbor.UTF8DecodeInvalid,
		// The row is an object in a list, and a value at the end may have a tag.
		MaxNestedLevels: deepest + 3, MaxArrayElements: largestValue, MaxMapPairs: largestValue,
	}.DecMode())
)

// must is for options, which are the same in every run.
func must[T any](mode T, err error) T {
	if err != nil {
		panic(err)
	}
	return mode
}

// wire counts down the room for a value while it gives it the form that is encoded: a value that is too large is not
// copied.
type wire struct{ room int }

// value returns the form, or the words for what has none.
func (w *wire) value(v any, depth int) (form any, missing mapping.Unsupported) {
	if w.room--; w.room < 0 {
		return nil, tooLarge
	}
	switch v := v.(type) {
	case nil, bool, int64, float64:
		return v, ""
	case string:
		if w.room -= len(v); w.room < 0 {
			return nil, tooLarge
		}
		return v, ""
	case mapping.Unsupported:
		return cbor.Tag{Number: tagUnsupported, Content: string(v)}, ""
	case time.Time:
		data, err := v.MarshalBinary()
		if err != nil {
			return w.value(mapping.Unsupported("time zone"), depth)
		}
		return cbor.Tag{Number: tagTime, Content: data}, ""
	case []any:
		return w.list(v, depth)
	case map[string]any:
		return w.object(v, depth)
	}
	return w.value(mapping.Unsupported(fmt.Sprintf("%T", v)), depth)
}

func (w *wire) list(v []any, depth int) (form any, missing mapping.Unsupported) {
	switch {
	case depth == deepest:
		return nil, tooDeep
	case len(v) > w.room:
		return nil, tooLarge
	}
	out := make([]any, len(v))
	for i, element := range v {
		if out[i], missing = w.value(element, depth+1); missing != "" {
			return nil, missing
		}
	}
	return out, ""
}

func (w *wire) object(v map[string]any, depth int) (form any, missing mapping.Unsupported) {
	if depth == deepest {
		return nil, tooDeep
	}
	out := map[string]any{}
	for name, element := range v {
		if w.room -= len(name); w.room < 0 {
			return nil, tooLarge
		}
		if out[name], missing = w.value(element, depth+1); missing != "" {
			return nil, missing
		}
	}
	return out, ""
}

// bounded encodes a value, or if there is no room for it, the words that say so.
func bounded(v any, room int) (cbor.RawMessage, error) {
	form, missing := (&wire{room: room}).value(v, 0)
	if missing == "" {
		body, err := encoding.Marshal(form)
		if err != nil || len(body) <= room {
			return body, err
		}
		missing = tooLarge
	}
	return encoding.Marshal(cbor.Tag{Number: tagUnsupported, Content: string(missing)})
}

// message is a row as it is sent, and what is read of it.
type message[Value any] struct {
	_      struct{} `cbor:",toarray"`
	Key    string
	Values map[string]Value
}

// encodeRow writes a row. All names are in it: what has no room for its value says so.
func encodeRow(row mapping.Row) ([]byte, error) {
	m := message[cbor.RawMessage]{
		Key: strings.ToValidUTF8(row.Key[:min(len(row.Key), largestKey)], ""), Values: make(map[string]cbor.RawMessage, len(row.Values)),
	}
	names := slices.Sorted(maps.Keys(row.Values))
	// What the names and the words for values without room may take is set apart.
	left := largestFrame - len(m.Key) - 3*overhead
	for _, name := range names {
		left -= reserved(name)
	}
	if left < 0 {
		return nil, errTooLarge
	}
	for _, name := range names {
		value, err := bounded(row.Values[name], min(largestValue, left))
		if err != nil {
			return nil, fmt.Errorf("encoding a value: %w", err)
		}
		left -= max(0, len(value)-reserved(""))
		m.Values[name] = value
	}
	return encoding.Marshal(m)
}

// reserved is what a value takes at least, with its name: the words that it has no room.
func reserved(name string) int { return len(name) + len(tooDeep) + 3*overhead }

func decodeRow(body []byte) (mapping.Row, error) {
	var m message[any]
	if decoding.Unmarshal(body, &m) != nil {
		return mapping.Row{}, errMalformed
	}
	row := mapping.Row{Key: m.Key, Values: map[string]any{}}
	for name, form := range m.Values {
		value, err := valueOf(form)
		if err != nil {
			return mapping.Row{}, err
		}
		row.Values[name] = value
	}
	return row, nil
}

// valueOf is the value of a form.
func valueOf(form any) (any, error) {
	var err error
	switch form := form.(type) {
	case nil, bool, int64, float64, string:
		return form, nil
	case []any:
		for i := range form {
			if form[i], err = valueOf(form[i]); err != nil {
				return nil, err
			}
		}
		return form, nil
	case map[string]any:
		for name := range form {
			if form[name], err = valueOf(form[name]); err != nil {
				return nil, err
			}
		}
		return form, nil
	case cbor.Tag:
		return tagged(form)
	}
	return nil, errMalformed
}

func tagged(tag cbor.Tag) (any, error) {
	switch content := tag.Content.(type) {
	case string:
		if tag.Number == tagUnsupported {
			return mapping.Unsupported(content), nil
		}
	case []byte:
		var t time.Time
		if tag.Number == tagTime && t.UnmarshalBinary(content) == nil {
			return t, nil
		}
	}
	return nil, errMalformed
}

func encodeColumns(columns []mapping.Column) ([]byte, error) {
	body, err := encoding.Marshal(columns)
	if err == nil && len(body) > largestFrame {
		return nil, errTooLarge
	}
	return body, err
}

func decodeColumns(body []byte) (columns []mapping.Column, err error) {
	if decoding.Unmarshal(body, &columns) != nil {
		return nil, errMalformed
	}
	return columns, nil
}

// The kinds of frames.
const (
	frameRequest byte = 'q'
	frameColumns byte = 'c'
	frameRow     byte = 'r'
	frameReady   byte = 'l'
	frameHint    byte = 'h'
	frameRefusal byte = 'w'
	frameEnd     byte = 'e'
)

// headerSize is a kind and the length of what follows.
const headerSize = 5

func writeFrame(w io.Writer, kind byte, body []byte) error {
	header := binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(body)))
	if _, err := w.Write(append(header, body...)); err != nil {
		return fmt.Errorf("writing to the pipe: %w", err)
	}
	return nil
}

// readFrame reads a frame of bounded length into the buffer. The body holds until the next one.
func readFrame(r io.Reader, buffer *bytes.Buffer, bound uint32) (byte, []byte, error) {
	var header [headerSize]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return 0, nil, fmt.Errorf("reading from the pipe: %w", err)
	}
	length := binary.BigEndian.Uint32(header[1:])
	if length > bound {
		return 0, nil, errMalformed
	}
	buffer.Reset()
	if _, err := io.CopyN(buffer, r, int64(length)); err != nil {
		return 0, nil, fmt.Errorf("reading from the pipe: %w", err)
	}
	return header[0], buffer.Bytes(), nil
}
