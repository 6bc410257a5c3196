package redis

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	sdk "github.com/redis/go-redis/v9"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

// reader takes the answer for a key, once it has come: its values, and whether the key is there.
type reader func() (values map[string]any, there bool)

// fields are those that are wanted, nil for all. None is there twice.
type fields []string

func fieldsOf(columns []string) fields {
	return fields(slices.Compact(slices.Sorted(slices.Values(columns))))
}

// ask sends the command that reads a key of that type.
func (f fields) ask(ctx context.Context, p sdk.Pipeliner, kind, key string) reader {
	switch kind {
	case "none":
		return func() (map[string]any, bool) { return nil, false }
	case "hash":
		return f.hash(ctx, p, key)
	case "string":
		answer := p.Get(ctx, key)
		return func() (map[string]any, bool) { return f.document(answer.Val()), answer.Err() == nil }
	case "ReJSON-RL":
		answer := p.Do(ctx, "JSON.GET", key)
		return func() (map[string]any, bool) {
			text, err := answer.Text()
			return f.document(text), err == nil
		}
	}
	// The key matches the pattern, so it is a row. If it had none, a customer whose hash was replaced by
	// something else would look like one that is gone.
	return func() (map[string]any, bool) { return f.unsupported(mapping.Unsupported(kind)), true }
}

// unsupported says of every wanted field what is there instead.
func (f fields) unsupported(kind mapping.Unsupported) map[string]any {
	values := make(map[string]any, len(f))
	for _, field := range f {
		values[field] = kind
	}
	return values
}

// hash asks only for the fields that are needed: the others may be large.
func (f fields) hash(ctx context.Context, p sdk.Pipeliner, key string) reader {
	if len(f) == 0 {
		answer := p.HGetAll(ctx, key)
		return func() (map[string]any, bool) {
			values := make(map[string]any, len(answer.Val()))
			for field, v := range answer.Val() {
				values[field] = text(v)
			}
			return values, len(values) > 0
		}
	}
	answer := p.HMGet(ctx, key, f...)
	// HMGET answers the same for a hash without the fields as for a key that has gone.
	after := p.Type(ctx, key)
	return func() (map[string]any, bool) {
		values := make(map[string]any, len(f))
		for i, v := range answer.Val() {
			if s, ok := v.(string); ok {
				values[f[i]] = text(s)
			}
		}
		return values, len(values) > 0 || after.Val() != "none"
	}
}

func text(s string) any { return store.Text(s, "bytes that are not UTF-8") }

// document is a JSON object.
func (f fields) document(from string) map[string]any {
	object, ok := store.JSON(from).(map[string]any)
	if !ok || !utf8.ValidString(from) {
		return f.unsupported("string that is not a JSON object")
	}
	if f == nil {
		return object
	}
	// A map of its own does not keep what a large document needed.
	wanted := make(map[string]any, len(f))
	for _, field := range f {
		if v, there := object[field]; there {
			wanted[field] = v
		}
	}
	return wanted
}

// parseInfo reads the answer of INFO: lines of name:value.
func parseInfo(text string) map[string]string {
	info := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, found := strings.Cut(strings.TrimSpace(line), ":"); found {
			info[name] = value
		}
	}
	return info
}

func isReplica(role string) bool { return role == "slave" || role == "replica" }

// commandName is how failures name a command.
func commandName(command sdk.Cmder, otherwise string) string {
	if name, ok := command.Args()[0].(string); ok && name != "" {
		return strings.ToUpper(name)
	}
	return otherwise
}
