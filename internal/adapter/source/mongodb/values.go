package mongodb

import (
	"fmt"
	"math"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

const idField = "_id"

// row is a document, named by its _id.
func row(document bson.Raw) (mapping.Row, error) {
	values, err := object(document)
	if err != nil {
		return mapping.Row{}, err
	}
	return mapping.Row{Key: key(document.Lookup(idField), values[idField]), Values: values}, nil
}

func key(id bson.RawValue, value any) string {
	switch v := value.(type) {
	case string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	}
	// In extended JSON every _id has a text.
	return store.Message(id.String())
}

func object(document bson.Raw) (map[string]any, error) {
	elements, err := document.Elements()
	if err != nil {
		return nil, fmt.Errorf("reading a document: %w", err)
	}
	values := make(map[string]any, len(elements))
	for _, e := range elements {
		if values[e.Key()], err = value(e.Value()); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// names are those of the types that no field takes, as MongoDB calls them.
var names = map[bson.Type]string{
	bson.TypeUndefined: "undefined", bson.TypeRegex: "regex", bson.TypeDBPointer: "dbPointer",
	bson.TypeJavaScript: "javascript", bson.TypeSymbol: "symbol", bson.TypeCodeWithScope: "javascriptWithScope",
	bson.TypeTimestamp: "timestamp", bson.TypeMinKey: "minKey", bson.TypeMaxKey: "maxKey",
}

// value is a value in the form that rows have.
func value(v bson.RawValue) (any, error) {
	switch v.Type {
	case bson.TypeNull:
		return nil, nil
	case bson.TypeBoolean:
		return v.Boolean(), nil
	case bson.TypeString:
		return store.Text(v.StringValue(), "string that is not UTF-8"), nil
	case bson.TypeInt32:
		return int64(v.Int32()), nil
	case bson.TypeInt64:
		return v.Int64(), nil
	case bson.TypeDouble:
		return double(v.Double()), nil
	case bson.TypeDecimal128:
		return store.Number(v.Decimal128().String()), nil
	case bson.TypeDateTime:
		return v.Time().UTC(), nil
	case bson.TypeObjectID:
		return v.ObjectID().Hex(), nil
	case bson.TypeBinary:
		return binary(v.Binary()), nil
	case bson.TypeEmbeddedDocument:
		return object(v.Document())
	case bson.TypeArray:
		return list(v.Array())
	case bson.TypeUndefined, bson.TypeRegex, bson.TypeDBPointer, bson.TypeJavaScript, bson.TypeSymbol,
		bson.TypeCodeWithScope, bson.TypeTimestamp, bson.TypeMinKey, bson.TypeMaxKey:
		return mapping.Unsupported(names[v.Type]), nil
	}
	return mapping.Unsupported(v.Type.String()), nil
}

func list(array bson.RawArray) ([]any, error) {
	elements, err := array.Values()
	if err != nil {
		return nil, fmt.Errorf("reading an array: %w", err)
	}
	values := make([]any, len(elements))
	for i, e := range elements {
		if values[i], err = value(e); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// double is an integer where it is one: the shell of MongoDB writes every number as a double.
func double(f float64) any {
	const limit = 1 << 63
	switch {
	case math.IsNaN(f), math.IsInf(f, 0):
		return mapping.Unsupported("double that is not a number")
	case f == math.Trunc(f) && f >= -limit && f < limit:
		return int64(f)
	}
	return f
}

// binary is a text where it is a UUID, which is what many use for an _id.
func binary(subtype byte, data []byte) any {
	const uuid = 16
	if subtype == bson.TypeBinaryUUID && len(data) == uuid {
		return fmt.Sprintf("%x-%x-%x-%x-%x", data[:4], data[4:6], data[6:8], data[8:10], data[10:])
	}
	return mapping.Unsupported("binData")
}
