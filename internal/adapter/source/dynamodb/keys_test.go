package dynamodb

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

// A key from a stream is the key of an item.
func TestKeys(t *testing.T) {
	for name, tt := range map[string]struct {
		told map[string]streams.AttributeValue
		text string
		want item
	}{
		"a text": {
			map[string]streams.AttributeValue{"name": &streams.AttributeValueMemberS{Value: `a"b`}}, `{"name":{"S":"a\"b"}}`,
			item{"name": &types.AttributeValueMemberS{Value: `a"b`}},
		},
		"the empty text": {
			map[string]streams.AttributeValue{"name": &streams.AttributeValueMemberS{}}, `{"name":{"S":""}}`, item{"name": &types.AttributeValueMemberS{}},
		},
		"a number and bytes, in order": {
			map[string]streams.AttributeValue{"z": &streams.AttributeValueMemberN{Value: "1.50"}, "a": &streams.AttributeValueMemberB{Value: []byte{0, 255}}},
			`{"a":{"B":"AP8="},"z":{"N":"1.50"}}`,
			item{"z": &types.AttributeValueMemberN{Value: "1.50"}, "a": &types.AttributeValueMemberB{Value: []byte{0, 255}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			text, ok := keyText(tt.told)
			if !ok || text != tt.text {
				t.Errorf("the key is %s, want %s", text, tt.text)
			}
			got, err := parseKey(text)
			if err != nil {
				t.Fatal(err)
			}
			ignore := cmpopts.IgnoreUnexported(types.AttributeValueMemberS{}, types.AttributeValueMemberN{}, types.AttributeValueMemberB{})
			if diff := cmp.Diff(tt.want, got, ignore); diff != "" {
				t.Errorf("attributes (-want +got):\n%s", diff)
			}
		})
	}
	if text, ok := keyText(map[string]streams.AttributeValue{"name": &streams.AttributeValueMemberBOOL{}}); ok {
		t.Errorf("a boolean is the key %s", text)
	}
	for _, text := range []string{"", "{}", "[]", `{"name":{}}`, `{"name":{"BOOL":true}}`, "acme"} {
		if _, err := parseKey(text); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q is a key: %v", text, err)
		}
	}
}

func TestFiltersKeys(t *testing.T) {
	for name, tt := range map[string]struct {
		query mapping.DynamoDBQuery
		want  bool
	}{
		"no filter":                        {mapping.DynamoDBQuery{}, false},
		"another attribute":                {mapping.DynamoDBQuery{Filter: "plan = :name", Values: map[string]any{":name": "x"}}, false},
		"the key":                          {mapping.DynamoDBQuery{Filter: "plan = :p AND begins_with(name, :x)"}, true},
		"the key by a placeholder":         {mapping.DynamoDBQuery{Filter: "#k <> :x", Names: map[string]string{"#k": "name"}}, true},
		"another attribute by one":         {mapping.DynamoDBQuery{Filter: "#name <> :x", Names: map[string]string{"#name": "plan"}}, false},
		"a part of the name of another":    {mapping.DynamoDBQuery{Filter: "surname = :x"}, false},
		"an attribute inside another":      {mapping.DynamoDBQuery{Filter: "info.name = :x"}, true}, // more careful than need be
		"the range key, at the very start": {mapping.DynamoDBQuery{Filter: "at > :x"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := filtersKeys(tt.query, []string{"name", "at"}); got != tt.want {
				t.Errorf("got %t, want %t", got, tt.want)
			}
		})
	}
}

func TestFreePlaceholders(t *testing.T) {
	if got := free(map[string]string{"#key0": "a", "#key1": "b"}, "#key", 0); got != "#key2" {
		t.Errorf("got %s, want the first that is not taken", got)
	}
}
