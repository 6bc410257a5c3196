package child

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

// What one row may be. Kubernetes takes no object of more than 1.5 MiB, and a tenant is far smaller: whatever exceeds these
// bounds is a mistake or an attack, and must not fill the operator's memory.
const (
	// largestFrame is a row with all its names and values.
	largestFrame = 1 << 20
	// largestValue is one value of a row. What is larger can't be used, and costs nothing where it isn't.
	largestValue = 256 << 10
	// largestKey is the key by which people find a row.
	largestKey = 1 << 10
	// deepest is how many lists and objects may be inside each other: who decodes them takes some stack for each.
	deepest = 64
)

// The values for which there is no room. They name what is wrong in the words in which other types do.
const (
	tooLarge = mapping.Unsupported("value larger than 256 KiB")
	tooDeep  = mapping.Unsupported("value nested deeper than 64 levels")
)

// The tags of values.
const (
	tagNil byte = iota
	tagFalse
	tagTrue
	tagInteger
	tagFloat
	tagText
	tagUnsupported
	tagTime
	tagList
	tagObject
)

var (
	errTooLarge  = errors.New("there is no room for the value")
	errTooDeep   = errors.New("the value is nested too deep")
	errMalformed = errors.New("the message of the child process is malformed")
)

// encoder appends values to a buffer that does not grow past its bound.
type encoder struct {
	buffer []byte
	bound  int
}

func (e *encoder) append(data ...byte) error {
	if len(e.buffer)+len(data) > e.bound {
		return errTooLarge
	}
	e.buffer = append(e.buffer, data...)
	return nil
}

func (e *encoder) count(n int) error { return e.append(binary.AppendUvarint(nil, uint64(n))...) } //nolint:gosec // a length

func (e *encoder) text(s string) error {
	if len(e.buffer)+len(s) > e.bound {
		return errTooLarge
	}
	if err := e.count(len(s)); err != nil {
		return err
	}
	return e.append([]byte(s)...)
}

func (e *encoder) tagged(tag byte, s string) error {
	if err := e.append(tag); err != nil {
		return err
	}
	return e.text(s)
}

// value appends a value of the types that rows have.
func (e *encoder) value(v any, depth int) error {
	if depth > deepest {
		return errTooDeep
	}
	switch v := v.(type) {
	case nil:
		return e.append(tagNil)
	case bool:
		if v {
			return e.append(tagTrue)
		}
		return e.append(tagFalse)
	case int64:
		return e.append(binary.AppendVarint([]byte{tagInteger}, v)...)
	case float64:
		return e.append(binary.BigEndian.AppendUint64([]byte{tagFloat}, math.Float64bits(v))...)
	case string:
		return e.tagged(tagText, v)
	case mapping.Unsupported:
		return e.tagged(tagUnsupported, string(v))
	case time.Time:
		data, err := v.MarshalBinary()
		if err != nil {
			return e.tagged(tagUnsupported, "time zone")
		}
		return e.tagged(tagTime, string(data))
	case []any:
		return e.list(v, depth)
	case map[string]any:
		return e.object(v, depth)
	}
	return e.tagged(tagUnsupported, fmt.Sprintf("%T", v))
}

func (e *encoder) list(v []any, depth int) error {
	if err := e.append(tagList); err != nil {
		return err
	}
	if err := e.count(len(v)); err != nil {
		return err
	}
	for _, element := range v {
		if err := e.value(element, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (e *encoder) object(v map[string]any, depth int) error {
	if err := e.append(tagObject); err != nil {
		return err
	}
	if err := e.count(len(v)); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if err := e.text(name); err != nil {
			return err
		}
		if err := e.value(v[name], depth+1); err != nil {
			return err
		}
	}
	return nil
}

// bounded appends a value, or in its stead the word that it has no room.
func (e *encoder) bounded(v any, room int) error {
	start, bound := len(e.buffer), e.bound
	e.bound = min(bound, start+room)
	err := e.value(v, 1)
	e.bound = bound
	if err == nil {
		return nil
	}
	e.buffer = e.buffer[:start]
	if errors.Is(err, errTooDeep) {
		return e.value(tooDeep, 1)
	}
	return e.value(tooLarge, 1)
}

// encodeRow writes a row. All names are in it: what has no room for its value says so.
func encodeRow(row mapping.Row) ([]byte, error) {
	e := encoder{bound: largestFrame}
	if err := e.text(strings.ToValidUTF8(row.Key[:min(len(row.Key), largestKey)], "")); err != nil {
		return nil, err
	}
	if err := e.count(len(row.Values)); err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(row.Values))
	// What the names and the words for values without room may take is set apart.
	reserved := 0
	for _, name := range names {
		reserved += len(name) + binary.MaxVarintLen32 + len(tooDeep) + 2
	}
	for _, name := range names {
		reserved -= len(name) + binary.MaxVarintLen32 + len(tooDeep) + 2
		if err := e.text(name); err != nil {
			return nil, err
		}
		if err := e.bounded(row.Values[name], min(largestValue, e.bound-len(e.buffer)-reserved)); err != nil {
			return nil, err
		}
	}
	return e.buffer, nil
}

// decoder takes a message apart. What it allocates is bounded by the length of the message, whatever that says of itself.
type decoder struct{ rest []byte }

func (d *decoder) byte() (byte, error) {
	if len(d.rest) == 0 {
		return 0, errMalformed
	}
	b := d.rest[0]
	d.rest = d.rest[1:]
	return b, nil
}

// count is a number of things, each of which takes a byte at least.
func (d *decoder) count() (int, error) {
	n, size := binary.Uvarint(d.rest)
	if size <= 0 || n > uint64(len(d.rest)-size) {
		return 0, errMalformed
	}
	d.rest = d.rest[size:]
	return int(n), nil //nolint:gosec // not above the length of the message
}

func (d *decoder) text() (string, error) {
	n, err := d.count()
	if err != nil {
		return "", err
	}
	text := string(d.rest[:n])
	d.rest = d.rest[n:]
	return text, nil
}

func (d *decoder) value(depth int) (any, error) {
	tag, err := d.byte()
	if err != nil || depth > deepest {
		return nil, errMalformed
	}
	switch tag {
	case tagNil:
		return nil, nil
	case tagFalse, tagTrue:
		return tag == tagTrue, nil
	case tagInteger, tagFloat:
		return d.number(tag)
	case tagList:
		return d.list(depth)
	case tagObject:
		return d.object(depth)
	}
	text, err := d.text()
	if err != nil {
		return nil, err
	}
	switch tag {
	case tagText:
		return text, nil
	case tagUnsupported:
		return mapping.Unsupported(text), nil
	case tagTime:
		var t time.Time
		if err := t.UnmarshalBinary([]byte(text)); err != nil {
			return nil, errMalformed
		}
		return t, nil
	}
	return nil, errMalformed
}

func (d *decoder) number(tag byte) (any, error) {
	if tag == tagInteger {
		n, size := binary.Varint(d.rest)
		if size <= 0 {
			return nil, errMalformed
		}
		d.rest = d.rest[size:]
		return n, nil
	}
	const size = 8
	if len(d.rest) < size {
		return nil, errMalformed
	}
	f := math.Float64frombits(binary.BigEndian.Uint64(d.rest))
	d.rest = d.rest[size:]
	return f, nil
}

func (d *decoder) list(depth int) ([]any, error) {
	n, err := d.count()
	if err != nil {
		return nil, err
	}
	values := make([]any, n)
	for i := range values {
		if values[i], err = d.value(depth + 1); err != nil {
			return nil, err
		}
	}
	return values, nil
}

func (d *decoder) object(depth int) (map[string]any, error) {
	n, err := d.count()
	if err != nil {
		return nil, err
	}
	// A map takes far more than the two bytes that announce an entry: it grows with what is there.
	values := map[string]any{}
	for range n {
		name, err := d.text()
		if err != nil {
			return nil, err
		}
		if values[name], err = d.value(depth + 1); err != nil {
			return nil, err
		}
	}
	return values, nil
}

func decodeRow(message []byte) (mapping.Row, error) {
	d := decoder{rest: message}
	key, err := d.text()
	if err != nil {
		return mapping.Row{}, err
	}
	values, err := d.object(0)
	if err != nil || len(d.rest) > 0 {
		return mapping.Row{}, errMalformed
	}
	return mapping.Row{Key: key, Values: values}, nil
}

// The kinds of frames.
const (
	frameRequest byte = 'q'
	frameColumns byte = 'c'
	frameRow     byte = 'r'
	frameEnd     byte = 'e'
)

// headerSize is a kind and the length of what follows.
const headerSize = 5

func writeFrame(w io.Writer, kind byte, body []byte) error {
	header := binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(body))) //nolint:gosec // at most largestFrame
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
