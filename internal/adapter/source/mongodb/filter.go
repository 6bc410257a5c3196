package mongodb

import (
	"encoding/json"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

const opFind = "find"

// code are the operators that run JavaScript in the server.
var code = map[string]bool{"$where": true, "$function": true, "$accumulator": true}

func badFilter(format string, arguments ...any) error {
	return &fault.Error{
		Kind: fault.Invalid, Operation: opFind, Code: mapping.CodeQuery,
		Message: store.Message("spec.mongodb.filter " + fmt.Sprintf(format, arguments...)),
	}
}

// parseFilter reads a filter in extended JSON. An empty one finds everything.
func parseFilter(text string) (bson.D, error) {
	filter := bson.D{}
	if text == "" {
		return filter, nil
	}
	// The standard library tells the position of what is wrong; the driver does not always.
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &object); err != nil {
		syntax, ok := errors.AsType[*json.SyntaxError](err)
		if !ok {
			return nil, badFilter(`is not a JSON object: use a filter such as {"plan": "pro"}`)
		}
		return nil, badFilter("is not valid JSON at character %d: %v", syntax.Offset, syntax)
	}
	if object == nil {
		return nil, badFilter(`is null: use a filter such as {"plan": "pro"}, or remove it`)
	}
	if err := bson.UnmarshalExtJSON([]byte(text), false, &filter); err != nil {
		return nil, badFilter("is not valid extended JSON: %v", err)
	}
	if operator := findCode(filter); operator != "" {
		return nil, badFilter("contains %s, which runs code in the server: use query operators only", operator)
	}
	return filter, nil
}

// findCode returns what would run code in the server, wherever it is in the filter.
func findCode(value any) string {
	switch v := value.(type) {
	case bson.D:
		for _, e := range v {
			if code[e.Key] {
				return e.Key
			}
			if found := findCode(e.Value); found != "" {
				return found
			}
		}
	case bson.A:
		for _, e := range v {
			if found := findCode(e); found != "" {
				return found
			}
		}
	case bson.JavaScript, bson.CodeWithScope:
		return "$code"
	}
	return ""
}
