package child

import (
	"bytes"
	"errors"
	"io"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

// anyValue draws a value of the types that rows have.
func anyValue(depth int) *rapid.Generator[any] {
	values := []*rapid.Generator[any]{
		rapid.Just(any(nil)), rapid.Bool().AsAny(), rapid.Int64().AsAny(), rapid.Float64().AsAny(), rapid.String().AsAny(),
		rapid.Map(rapid.String(), func(s string) mapping.Unsupported { return mapping.Unsupported(s) }).AsAny(),
		rapid.Map(rapid.Int64(), func(n int64) time.Time { return time.Unix(n>>20, n&math.MaxInt16).UTC() }).AsAny(),
	}
	if depth > 0 {
		values = append(values,
			rapid.SliceOfN(anyValue(depth-1), 0, 4).AsAny(), rapid.MapOfN(rapid.String(), anyValue(depth-1), 0, 4).AsAny())
	}
	return rapid.OneOf(values...)
}

func TestARowSurvivesThePipe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := mapping.Row{Key: rapid.StringN(0, 200, largestKey).Draw(t, "key"), Values: rapid.MapOfN(rapid.String(), anyValue(3), 0, 6).Draw(t, "values")}
		body, err := encodeRow(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decodeRow(body)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("error %v, -want +got:\n%s", err, diff)
		}
	})
}

// A key of Redis may be any bytes, and no keys are not the whole table.
func TestAQuerySurvivesThePipe(t *testing.T) {
	for name, keys := range map[string][]string{"the whole table": nil, "no rows": {}, "some rows": {"customer:1", "", "\xff\x00zürich"}} {
		t.Run(name, func(t *testing.T) {
			want := mapping.Query{
				Connection: mapping.NewSecret("canary"), Keys: keys, Hosts: []string{"db.example.com"},
				Redis: mapping.RedisQuery{KeyPattern: "customer:*"},
			}
			body, err := encodeRequest(request{Query: want})
			if err != nil {
				t.Fatal(err)
			}
			got, err := decodeRequest(body)
			if diff := cmp.Diff(want, got.Query, cmp.Comparer(func(a, b mapping.Secret) bool { return a == b })); diff != "" || err != nil {
				t.Errorf("error %v, -want +got:\n%s", err, diff)
			}
		})
	}
}

// A child that was taken over may send anything. The decoded message has no more values than bytes.
func FuzzMessages(f *testing.F) {
	body, _ := encodeRow(mapping.Row{Key: "k", Values: map[string]any{"a": []any{int64(1), nil, map[string]any{"b": 0.5}}, "t": time.Unix(0, 0)}})
	f.Add(body)
	// Lists in lists, and a list and a text with far more elements than the message has bytes.
	f.Add(bytes.Repeat([]byte{0x81}, 10_000))
	f.Add([]byte{0x82, 0x61, 'k', 0xa1, 0x61, 'a', 0x9b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Add([]byte{0x82, 0x7b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, message []byte) {
		if row, err := decodeRow(message); err == nil && count(row.Values) > len(message) {
			t.Errorf("%d values of %d bytes", count(row.Values), len(message))
		}
		_, _ = decodeColumns(message)
		if said, err := decodeEnd(message); said && err == nil && !bytes.Contains(message, []byte{0xf5}) {
			t.Errorf("%q is the end of a complete read", message)
		}
	})
}

func count(v any) int {
	n := 1
	switch v := v.(type) {
	case []any:
		for _, element := range v {
			n += count(element)
		}
	case map[string]any:
		for _, element := range v {
			n += count(element)
		}
	}
	return n
}

func TestFrames(t *testing.T) {
	var pipe, buffer bytes.Buffer
	if err := errors.Join(writeFrame(&pipe, frameRow, []byte("one")), writeFrame(&pipe, frameEnd, nil)); err != nil {
		t.Fatal(err)
	}
	pipe.WriteString("r\x00\x10\x00\x01")
	for _, want := range []struct {
		kind byte
		body string
		err  error
	}{{frameRow, "one", nil}, {frameEnd, "", nil}, {0, "", errMalformed}, {0, "", io.EOF}} {
		kind, body, err := readFrame(&pipe, &buffer, largestFrame)
		if kind != want.kind || string(body) != want.body || !errors.Is(err, want.err) {
			t.Errorf("got %q, %q, %v, want %+v", kind, body, err, want)
		}
	}
}
