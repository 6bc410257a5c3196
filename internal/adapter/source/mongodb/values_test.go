package mongodb

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

func decimal(t *testing.T, text string) bson.Decimal128 {
	t.Helper()
	d, err := bson.ParseDecimal128(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestValues(t *testing.T) {
	id := bson.NewObjectID()
	at := time.Date(2026, time.March, 1, 12, 0, 0, 5e6, time.FixedZone("", 3600))
	uuid := bson.Binary{Subtype: bson.TypeBinaryUUID, Data: []byte("0123456789abcdef")}
	document := bson.D{
		{Key: "_id", Value: id},
		{Key: "text", Value: "é"},
		{Key: "yes", Value: true},
		{Key: "null", Value: nil},
		{Key: "i32", Value: int32(7)},
		{Key: "i64", Value: int64(math.MaxInt64)},
		{Key: "whole", Value: 3.0},
		{Key: "half", Value: 0.5},
		{Key: "huge", Value: 1e300},
		{Key: "nan", Value: math.NaN()},
		{Key: "cents", Value: decimal(t, "12.50")},
		{Key: "long", Value: decimal(t, "1.234567890123456789012345678901234")},
		{Key: "inf", Value: decimal(t, "Infinity")},
		{Key: "at", Value: at},
		{Key: "list", Value: bson.A{"x", int32(1), bson.A{}}},
		{Key: "object", Value: bson.D{{Key: "a", Value: bson.D{{Key: "b", Value: 1.0}}}}},
		{Key: "uuid", Value: uuid},
		{Key: "bytes", Value: []byte{1}},
		{Key: "regex", Value: bson.Regex{Pattern: "x"}},
		{Key: "code", Value: bson.JavaScript("x")},
		{Key: "stamp", Value: bson.Timestamp{T: 1}},
		{Key: "min", Value: bson.MinKey{}},
		{Key: "latin1", Value: "\xe9"},
	}
	raw, err := bson.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	got, err := row(raw)
	want := mapping.Row{Key: id.Hex(), Values: map[string]any{
		"_id": id.Hex(), "text": "é", "yes": true, "null": nil, "i32": int64(7), "i64": int64(math.MaxInt64), "whole": int64(3), "half": 0.5,
		"huge": 1e300, "nan": mapping.Unsupported("double that is not a number"), "cents": 12.5,
		"long": "1.234567890123456789012345678901234", "inf": "Infinity", "at": time.Date(2026, time.March, 1, 11, 0, 0, 5e6, time.UTC),
		"list": []any{"x", int64(1), []any{}}, "object": map[string]any{"a": map[string]any{"b": int64(1)}},
		"uuid": "30313233-3435-3637-3839-616263646566", "bytes": mapping.Unsupported("binData"), "regex": mapping.Unsupported("regex"),
		"code": mapping.Unsupported("javascript"), "stamp": mapping.Unsupported("timestamp"), "min": mapping.Unsupported("minKey"),
		"latin1": mapping.Unsupported("string that is not UTF-8"),
	}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("error %v, row (-want +got):\n%s", err, diff)
	}
}

func TestKeys(t *testing.T) {
	for want, id := range map[string]any{
		"acme": "acme", "42": int32(42), `{"a": {"$numberInt":"1"}}`: bson.D{{Key: "a", Value: int32(1)}},
		"30313233-3435-3637-3839-616263646566": bson.Binary{Subtype: bson.TypeBinaryUUID, Data: []byte("0123456789abcdef")},
	} {
		raw, err := bson.Marshal(bson.D{{Key: "_id", Value: id}})
		if err != nil {
			t.Fatal(err)
		}
		got, err := row(raw)
		if got.Key != want || err != nil {
			t.Errorf("%v: key %q, want %q, error %v", id, got.Key, want, err)
		}
	}
}

func TestADocumentThatIsCutShort(t *testing.T) {
	raw, err := bson.Marshal(bson.D{{Key: "name", Value: "acme"}})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := row(raw[:len(raw)-3]); err == nil {
		t.Errorf("got %v", got)
	}
}

func FuzzDocument(f *testing.F) {
	raw, err := bson.Marshal(bson.D{{Key: "a", Value: bson.A{1, "x", bson.D{}}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Fuzz(func(_ *testing.T, data []byte) {
		// The server validates nothing for us: whatever comes must not panic.
		_, _ = row(data)
	})
}
