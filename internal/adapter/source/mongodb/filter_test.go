package mongodb

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

func TestFilter(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		want bson.D
	}{
		"nothing finds everything": {"", bson.D{}},
		"an empty one too":         {"{}", bson.D{}},
		"operators keep their order": {
			`{"plan": {"$in": ["pro", "free"]}, "n": {"$numberLong": "5"}}`,
			bson.D{{Key: "plan", Value: bson.D{{Key: "$in", Value: bson.A{"pro", "free"}}}}, {Key: "n", Value: int64(5)}},
		},
		"a text that names an operator": {`{"plan": "$where"}`, bson.D{{Key: "plan", Value: "$where"}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parseFilter(tt.text)
			if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
				t.Errorf("error %v, filter (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestFiltersThatAreRefused(t *testing.T) {
	for name, tt := range map[string]struct{ text, says string }{
		"no JSON":                    {`{"plan": pro}`, "not valid JSON at character 10"},
		"half an object":             {`{"plan": `, "not valid JSON at character 9"},
		"two of them":                {`{} {}`, "not valid JSON at character 4"},
		"a list":                     {`[]`, "not a JSON object"},
		"null":                       {`null`, "is null"},
		"not valid extended JSON":    {`{"_id": {"$oid": "x"}}`, "not valid extended JSON"},
		"code":                       {`{"$where": "sleep(1000)"}`, "$where"},
		"code deep inside":           {`{"$or": [{"$expr": {"$function": {"body": "f", "args": [], "lang": "js"}}}]}`, "$function"},
		"code as a value":            {`{"a": {"$code": "f()"}}`, "$code"},
		"code as a value with scope": {`{"a": [{"$code": "f()", "$scope": {}}]}`, "$code"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parseFilter(tt.text)
			if !fault.Is(err, fault.Invalid) || fault.CodeOf(err) != mapping.CodeQuery || !strings.Contains(err.Error(), "spec.mongodb.filter") || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v, want %q in it", err, tt.says)
			}
		})
	}
}

func FuzzFilter(f *testing.F) {
	for _, seed := range []string{`{"a": 1}`, `{"$where": ""}`, `{"a": {"$date": "2020-01-01T00:00:00Z"}}`, `{"a": {"$code": "x", "$scope": {"$where": 1}}}`, `{"a": {"$uuid": "x"}}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		filter, err := parseFilter(text)
		if err != nil {
			if !fault.Is(err, fault.Invalid) {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		raw, err := bson.Marshal(filter)
		if err != nil {
			return // the driver says so when it sends it
		}
		var again bson.D
		if err := bson.Unmarshal(raw, &again); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if operator := findCode(again); operator != "" {
			t.Errorf("%q runs code: %s", text, operator)
		}
	})
}
