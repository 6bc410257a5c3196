package dynamodb

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

// row has no key of its own: which of the attributes are the table's key only another call could
// tell, with one more right, and an item names itself by the attribute that is its name.
func row(attributes item) mapping.Row { return mapping.Row{Values: object(attributes)} }

func object(attributes item) map[string]any {
	values := make(map[string]any, len(attributes))
	for name, attribute := range attributes {
		values[name] = value(attribute)
	}
	return values
}

// value is an attribute in the form that rows have.
func value(attribute types.AttributeValue) any {
	switch a := attribute.(type) {
	case *types.AttributeValueMemberNULL:
		return nil
	case *types.AttributeValueMemberBOOL:
		return a.Value
	case *types.AttributeValueMemberS:
		return a.Value
	case *types.AttributeValueMemberN:
		return store.Number(a.Value)
	case *types.AttributeValueMemberSS:
		return list(a.Value, func(s string) any { return s })
	case *types.AttributeValueMemberNS:
		return list(a.Value, store.Number)
	case *types.AttributeValueMemberL:
		return list(a.Value, value)
	case *types.AttributeValueMemberM:
		return object(a.Value)
	case *types.AttributeValueMemberB:
		return mapping.Unsupported("binary (B)")
	case *types.AttributeValueMemberBS:
		return mapping.Unsupported("binary set (BS)")
	}
	return mapping.Unsupported(fmt.Sprintf("%T", attribute))
}

func list[T any](from []T, convert func(T) any) []any {
	values := make([]any, 0, len(from))
	for _, v := range from {
		values = append(values, convert(v))
	}
	return values
}

// attributeOf is a value of the filter expression in DynamoDB's form.
func attributeOf(v any) (types.AttributeValue, bool) {
	switch v := v.(type) {
	case bool:
		return &types.AttributeValueMemberBOOL{Value: v}, true
	case string:
		return &types.AttributeValueMemberS{Value: v}, true
	case mapping.Number:
		return &types.AttributeValueMemberN{Value: string(v)}, true
	}
	return nil, false
}
