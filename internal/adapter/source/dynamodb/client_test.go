package dynamodb_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/dynamodb"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/identity"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/canned"
)

// collected keeps rows, and refuses one after some.
type collected struct {
	rows   []mapping.Row
	refuse error
	after  int
}

func (c *collected) Columns([]mapping.Column) error { return errors.New("DynamoDB has no columns") }

func (c *collected) Row(row mapping.Row) error {
	if c.refuse != nil && len(c.rows) == c.after {
		return c.refuse
	}
	c.rows = append(c.rows, row)
	return nil
}

func (c *collected) names() []string {
	names := make([]string, 0, len(c.rows))
	for _, r := range c.rows {
		names = append(names, r.Values["name"].(string))
	}
	slices.Sort(names)
	return names
}

func newTables(t *testing.T, transport http.RoundTripper) *dynamodb.Tables {
	t.Helper()
	return newTablesThat(t, transport, nil)
}

// newTablesThat are tables that may be halted.
func newTablesThat(t *testing.T, transport http.RoundTripper, halted func() *chain.Halt) *dynamodb.Tables {
	t.Helper()
	metrics, err := aws.NewMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	config := awssdk.Config{
		Region: "eu-west-1", HTTPClient: &http.Client{Transport: transport},
		Credentials: credentials.NewStaticCredentialsProvider("AKIATEST", "secret", ""),
	}
	allowed, err := identity.ParseRolePatterns([]string{"arn:aws:iam::111122223333:role/tables-*"})
	if err != nil {
		t.Fatal(err)
	}
	return dynamodb.New(dynamodb.Config{
		SDK: config, Endpoint: "http://dynamodb.invalid", Metrics: metrics, Halted: halted,
		Roles: aws.NewRoles(aws.RolesConfig{
			SDK: config, ClusterID: "test", Allowed: allowed, Metrics: metrics, Clock: clock.RealClock{},
			Limiter: aws.NewLimiter(aws.LimiterConfig{API: "sts", Rate: 10, Burst: 10, Clock: clock.RealClock{}, Metrics: metrics}),
		}),
	})
}

func query() mapping.Query {
	return mapping.Query{Namespace: "shop", DynamoDB: mapping.DynamoDBQuery{TableName: "customers", ConsistentRead: true, Segments: 1}}
}

// wire answers each request by a function of its body.
type wire func(body map[string]any) (status int, answer string, header http.Header)

func (w wire) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	var body map[string]any
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		return nil, err
	}
	status, answer, header := w(body)
	if header == nil {
		header = http.Header{"X-Amz-Crc32": {fmt.Sprint(crc32.ChecksumIEEE([]byte(answer)))}}
	}
	header.Set("Content-Type", "application/x-amz-json-1.0")
	return &http.Response{
		StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: header, Request: r,
		Body: io.NopCloser(strings.NewReader(answer)), ContentLength: int64(len(answer)),
	}, nil
}

func page(names ...string) string {
	items := make([]string, 0, len(names))
	for _, n := range names {
		items = append(items, fmt.Sprintf(`{"name": {"S": %q}}`, n))
	}
	return fmt.Sprintf(`{"Count": %d, "ScannedCount": %d, "Items": [%s]`, len(names), len(names), strings.Join(items, ","))
}

func code(c string) string {
	return fmt.Sprintf(`{"__type": "com.amazonaws.dynamodb.v20120810#%s", "message": "text"}`, c)
}

func TestWhatIsAsked(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*mapping.Query)
		want   map[string]any
	}{
		"everything": {func(*mapping.Query) {}, map[string]any{"TableName": "customers", "ConsistentRead": true}},
		"a table that may lag behind, in a filter, some columns of it": {
			func(q *mapping.Query) {
				q.DynamoDB.ConsistentRead = false
				q.DynamoDB.Filter = "#column0 = :on AND #n < :n AND #s = :s"
				q.DynamoDB.Names = map[string]string{"#column0": "enabled", "#n": "age", "#s": "state"}
				q.DynamoDB.Values = map[string]any{":on": true, ":n": mapping.Number("1.50"), ":s": "live"}
				q.Columns = []string{"name", "a.b"}
			}, map[string]any{
				"TableName": "customers", "ConsistentRead": false, "ProjectionExpression": "#column1,#column2",
				"FilterExpression":          "#column0 = :on AND #n < :n AND #s = :s",
				"ExpressionAttributeNames":  map[string]any{"#column0": "enabled", "#n": "age", "#s": "state", "#column1": "name", "#column2": "a.b"},
				"ExpressionAttributeValues": map[string]any{":on": map[string]any{"BOOL": true}, ":n": map[string]any{"N": "1.50"}, ":s": map[string]any{"S": "live"}},
			},
		},
		"more columns than an expression can name are all columns": {
			func(q *mapping.Query) {
				for i := range 1000 {
					q.Columns = append(q.Columns, fmt.Sprint("c", i))
				}
			}, map[string]any{"TableName": "customers", "ConsistentRead": true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got map[string]any
			q := query()
			tt.change(&q)
			err := newTables(t, wire(func(body map[string]any) (int, string, http.Header) {
				got = body
				return 200, page() + "}", nil
			})).Read(t.Context(), q, &collected{})
			if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
				t.Errorf("error %v, request (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestAValueThatNoFilterTakes(t *testing.T) {
	q := query()
	q.DynamoDB.Values = map[string]any{":x": 1.5}
	answer := &canned.Transport{Status: 200}
	err := newTables(t, answer).Read(t.Context(), q, &collected{})
	if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), ":x") || answer.Requests() != 0 {
		t.Errorf("got %v after %d requests", err, answer.Requests())
	}
}

func TestValues(t *testing.T) {
	answer := `{"Count": 1, "ScannedCount": 1, "Items": [{
		"s": {"S": "é"}, "n": {"N": "42"}, "f": {"N": "0.5"}, "long": {"N": "12345678901234567890123456789012345678"},
		"yes": {"BOOL": true}, "null": {"NULL": true}, "ss": {"SS": ["a", "b"]}, "ns": {"NS": ["1", "2.5"]},
		"l": {"L": [{"S": "x"}, {"N": "1"}, {"L": []}]}, "m": {"M": {"in.side": {"BOOL": false}}},
		"b": {"B": "AAE="}, "bs": {"BS": ["AAE="]}}]}`
	want := []mapping.Row{{Values: map[string]any{
		"s": "é", "n": int64(42), "f": 0.5, "long": "12345678901234567890123456789012345678",
		"yes": true, "null": nil, "ss": []any{"a", "b"}, "ns": []any{int64(1), 2.5},
		"l": []any{"x", int64(1), []any{}}, "m": map[string]any{"in.side": false},
		"b": mapping.Unsupported("binary (B)"), "bs": mapping.Unsupported("binary set (BS)"),
	}}}
	var got collected
	err := newTables(t, &canned.Transport{Status: 200, Body: answer}).Read(t.Context(), query(), &got)
	if diff := cmp.Diff(want, got.rows); diff != "" || err != nil {
		t.Errorf("error %v, rows (-want +got):\n%s", err, diff)
	}
}

// segmented is a table of three segments with two pages each, the second of which is told by the
// answer to the first.
func segmented(body map[string]any) (int, string, http.Header) {
	number := fmt.Sprint(body["Segment"])
	if key, ok := body["ExclusiveStartKey"]; ok {
		want := map[string]any{"name": map[string]any{"S": "first" + number}}
		if !cmp.Equal(want, key) {
			return 400, code("ValidationException"), nil
		}
		return 200, page("second"+number) + "}", nil
	}
	return 200, page("first"+number) + `, "LastEvaluatedKey": {"name": {"S": "first` + number + `"}}}`, nil
}

func TestEverySegmentIsReadToItsEnd(t *testing.T) {
	q := query()
	q.DynamoDB.Segments = 3
	var got collected
	if err := newTables(t, wire(segmented)).Read(t.Context(), q, &got); err != nil {
		t.Fatal(err)
	}
	want := []string{"first0", "first1", "first2", "second0", "second1", "second2"}
	if diff := cmp.Diff(want, got.names()); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

// One segment that fails makes the whole read worth nothing.
func TestASegmentThatFails(t *testing.T) {
	q := query()
	q.DynamoDB.Segments = 3
	err := newTables(t, wire(func(body map[string]any) (int, string, http.Header) {
		if fmt.Sprint(body["Segment"]) == "2" && body["ExclusiveStartKey"] != nil {
			return 400, code("ResourceNotFoundException"), nil
		}
		return segmented(body)
	})).Read(t.Context(), q, &collected{})
	if !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v, want NotFound: the table was deleted during the read", err)
	}
}

func TestTheSinkEndsTheRead(t *testing.T) {
	q := query()
	q.DynamoDB.Segments = 3
	refusal := errors.New("enough")
	sink := &collected{refuse: refusal, after: 2}
	err := newTables(t, wire(segmented)).Read(t.Context(), q, sink)
	if !errors.Is(err, refusal) || len(sink.rows) != 2 {
		t.Errorf("error %v after %d rows", err, len(sink.rows))
	}
}

func TestACancelledReadEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	// A table without end.
	var pages atomic.Int64
	err := newTables(t, wire(func(map[string]any) (int, string, http.Header) {
		n := pages.Add(1)
		if n == 10 {
			cancel()
		}
		return 200, page("a") + fmt.Sprintf(`, "LastEvaluatedKey": {"name": {"S": "%d"}}}`, n), nil
	})).Read(ctx, query(), &collected{})
	if !fault.Is(err, fault.Transient) || !errors.Is(err, context.Canceled) || pages.Load() > 11 {
		t.Errorf("error %v after %d pages", err, pages.Load())
	}
}

func TestAnAnswerThatIsNoPageIsNotTheEnd(t *testing.T) {
	whole := page("a") + "}"
	for name, answer := range map[string]string{
		"nothing":                  "",
		"an empty object":          "{}",
		"a page of a proxy":        "<html>login</html>",
		"fewer items than counted": strings.Replace(whole, `"Count": 1`, `"Count": 2`, 1),
		"a page that breaks off":   whole[:len(whole)-5],
		"the key that was asked of": page("a") +
			`, "LastEvaluatedKey": {"name": {"S": "a"}}}`,
		"an empty key to go on from": page("a") + `, "LastEvaluatedKey": {}}`,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				err := newTables(t, wire(func(map[string]any) (int, string, http.Header) { return 200, answer, nil })).
					Read(t.Context(), query(), &collected{})
				if !fault.Is(err, fault.Transient) {
					t.Errorf("got %v, want Transient", err)
				}
			})
		})
	}
}

// By default the SDK would only log that the checksum differs, and a lost key would look like the end.
func TestADamagedAnswerIsAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		whole := page("a") + `, "LastEvaluatedKey": {"name": {"S": "a"}}}`
		checksum := http.Header{"X-Amz-Crc32": {fmt.Sprint(crc32.ChecksumIEEE([]byte(whole)))}}
		var asked int
		var got collected
		err := newTables(t, wire(func(body map[string]any) (int, string, http.Header) {
			asked++
			switch {
			case body["ExclusiveStartKey"] != nil:
				return 200, page("b") + "}", nil
			case asked == 1:
				return 200, page("a") + "}", checksum
			}
			return 200, whole, checksum
		})).Read(t.Context(), query(), &got)
		if diff := cmp.Diff([]string{"a", "b"}, got.names()); diff != "" || err != nil || asked != 3 {
			t.Errorf("asked %d times, error %v, rows (-want +got):\n%s", asked, err, diff)
		}
	})
}

func TestAThrottledPageIsAskedForAgain(t *testing.T) {
	for _, c := range []string{"ProvisionedThroughputExceededException", "RequestLimitExceeded", "ThrottlingException"} {
		for name, tt := range map[string]struct {
			times int
			want  fault.Kind
			sends int
		}{
			"for a while": {5, fault.None, 6},
			"for ever":    {1 << 30, fault.Throttled, 8},
		} {
			t.Run(c+" "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var sends int
					begin := time.Now()
					err := newTables(t, wire(func(map[string]any) (int, string, http.Header) {
						if sends++; sends <= tt.times {
							return 400, code(c), nil
						}
						return 200, page("a") + "}", nil
					})).Read(t.Context(), query(), &collected{})
					if fault.KindOf(err) != tt.want || sends != tt.sends {
						t.Errorf("sent %d times, error %v", sends, err)
					}
					if took := time.Since(begin); took > 2*time.Minute {
						t.Errorf("took %v", took)
					}
				})
			})
		}
	}
}

func TestFailures(t *testing.T) {
	for name, tt := range map[string]struct {
		status int
		body   string
		want   fault.Kind
	}{
		"an absent table":          {400, code("ResourceNotFoundException"), fault.NotFound},
		"a filter that is none":    {400, code("ValidationException"), fault.Invalid},
		"a missing permission":     {400, code("AccessDeniedException"), fault.Denied},
		"an unknown key":           {400, code("UnrecognizedClientException"), fault.Denied},
		"a wrong secret":           {400, code("InvalidSignatureException"), fault.Denied},
		"a session that has ended": {400, code("ExpiredTokenException"), fault.Denied},
		"a server that breaks":     {500, code("InternalServerError"), fault.Transient},
		"an unknown code":          {400, code("BrandNewException"), fault.Transient},
		"a page that says no":      {404, "<html>", fault.Transient},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				err := newTables(t, &canned.Transport{Status: tt.status, Body: tt.body}).Read(t.Context(), query(), &collected{})
				if !fault.Is(err, tt.want) {
					t.Errorf("got %v (%v), want %v", fault.KindOf(err), err, tt.want)
				}
			})
		})
	}
}

func TestRegion(t *testing.T) {
	for region, want := range map[string]string{"": "/eu-west-1/dynamodb/", "ap-south-1": "/ap-south-1/dynamodb/"} {
		answer := &canned.Transport{Status: 200, Body: page() + "}"}
		q := query()
		q.DynamoDB.Region = region
		if err := newTables(t, answer).Read(t.Context(), q, &collected{}); err != nil {
			t.Fatal(err)
		}
		if last, _ := answer.Last(); !strings.Contains(last.Header.Get("Authorization"), want) {
			t.Errorf("region %q is signed as %s", region, last.Header.Get("Authorization"))
		}
	}
}

func TestRoles(t *testing.T) {
	sts := `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials>
		<AccessKeyId>ASIAROLE</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken>
		<Expiration>2100-01-01T00:00:00Z</Expiration></Credentials><AssumedRoleUser><Arn>arn:aws:sts::111122223333:assumed-role/tables-shop/x</Arn>
		<AssumedRoleId>AROA:x</AssumedRoleId></AssumedRoleUser></AssumeRoleResult></AssumeRoleResponse>`
	for name, tt := range map[string]struct {
		role string
		want fault.Kind
		code string
	}{
		"a role that the administrator allows":      {"arn:aws:iam::111122223333:role/tables-shop", fault.None, ""},
		"a role that the administrator has not":     {"arn:aws:iam::111122223333:role/admin", fault.Denied, mapping.CodeRoleNotAllowed},
		"the operator's own identity needs no role": {"", fault.None, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var scanned string
			transport := roundTripper(func(r *http.Request) (*http.Response, error) {
				answer := &canned.Transport{Status: 200, Body: page() + "}"}
				if strings.HasPrefix(r.URL.Host, "sts.") {
					answer = &canned.Transport{Status: 200, Body: sts, ContentType: "text/xml"}
				} else {
					scanned = r.Header.Get("Authorization")
				}
				return answer.RoundTrip(r)
			})
			q := query()
			q.DynamoDB.AssumeRoleARN = tt.role
			err := newTables(t, transport).Read(t.Context(), q, &collected{})
			if fault.KindOf(err) != tt.want {
				t.Fatalf("got %v, want %v", err, tt.want)
			}
			if failure, ok := errors.AsType[*fault.Error](err); ok && failure.Code != tt.code {
				t.Errorf("code %s, want %s", failure.Code, tt.code)
			}
			if assumed := strings.Contains(scanned, "ASIAROLE"); err == nil && assumed != (tt.role != "") {
				t.Errorf("signed as %s", scanned)
			}
		})
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
