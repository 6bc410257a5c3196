package cloudfront

import (
	"reflect"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
)

// sameMembers copies what two types of the SDK have under the same names. A default cache
// behavior is a cache behavior in everything but its type and a path pattern, also in members
// that an SDK of the future adds to both.
func sameMembers[To, From any](from From) To {
	var to To
	source, target := reflect.ValueOf(from), reflect.ValueOf(&to).Elem()
	for i := range target.NumField() {
		field := target.Type().Field(i)
		if member := source.FieldByName(field.Name); field.IsExported() && member.IsValid() {
			target.Field(i).Set(member)
		}
	}
	return to
}

// valueOf returns what a pointer points at, and something empty for nil.
func valueOf[T any](p *T) T {
	if p == nil {
		return *new(T)
	}
	return *p
}

func copied[T any](p *T) *T {
	if p == nil {
		return nil
	}
	return new(*p)
}

// positive returns nil for a number that was not set.
func positive(n int32) *int32 {
	if n == 0 {
		return nil
	}
	return &n
}

func quantity[T any](items []T) *int32 { return awssdk.Int32(int32(len(items))) }

func each[From, To any](list []From, read func(From) To) []To {
	var out []To
	for _, item := range list {
		out = append(out, read(item))
	}
	return out
}

// converted returns nil for an empty list: CloudFront wants no Items with a Quantity of 0.
func converted[To, From ~string](list []From) []To {
	if len(list) == 0 {
		return nil
	}
	out := make([]To, 0, len(list))
	for _, item := range list {
		out = append(out, To(item))
	}
	return out
}

func numbers[To, From ~int32](list []From) []To {
	var out []To
	for _, n := range list {
		out = append(out, To(n))
	}
	return out
}
