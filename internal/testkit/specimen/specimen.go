// Package specimen makes configurations for tests: one that has every field, all that differ
// from it in a single field, and any number that are valid. The first two are made by
// reflection, so that a field which is new in the API is in them from the start.
package specimen

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

// Distribution returns a distribution with every field set to a value that is not its default. It makes no sense
// otherwise.
func Distribution(mode v1alpha1.ConnectionMode) v1alpha1.DistributionConfig {
	c := filled[v1alpha1.DistributionConfig]()
	c.ConnectionMode = mode
	return c
}

// Group returns a connection group of which every field is set.
func Group() v1alpha1.ConnectionGroupConfig { return filled[v1alpha1.ConnectionGroupConfig]() }

// Change is a configuration with one field changed.
type Change[T any] struct {
	// Field is its path, as a user would write it.
	Field string
	// Key reports whether the field tells the elements of a list apart: the change looks as if
	// one of them had been removed and another one added.
	Key bool
	// Block reports whether all below the field is gone.
	Block bool
	Value T
}

// Changes returns every change of one field of what is there: each scalar with another value,
// and each list and block taken away.
func Changes[T any](build func() T) []Change[T] {
	var out []Change[T]
	for i := 0; ; i++ {
		value := build()
		sites := sitesOf(reflect.ValueOf(&value).Elem(), "", false)
		if i == len(sites) {
			return out
		}
		sites[i].change()
		out = append(out, Change[T]{Field: sites[i].field, Key: sites[i].key, Block: sites[i].block, Value: value})
	}
}

// site is a place at which something can be changed.
type site struct {
	field      string
	key, block bool
	change     func()
}

// ordered are the lists whose elements are distinguished by their place. All others are told
// apart by the first field of their elements.
var ordered = map[reflect.Type]bool{
	reflect.TypeFor[v1alpha1.CacheBehavior]():     true,
	reflect.TypeFor[v1alpha1.OriginGroupMember](): true,
}

func sitesOf(v reflect.Value, path string, key bool) []site {
	if (v.Kind() == reflect.Pointer || v.Kind() == reflect.Slice) && v.IsNil() {
		return nil
	}
	switch v.Kind() {
	case reflect.Pointer:
		below := sitesOf(v.Elem(), path, key)
		if v.Elem().Kind() == reflect.Struct {
			below = append(below, site{field: path, block: true, change: v.SetZero})
		}
		return below
	case reflect.Struct:
		return sitesOfFields(v, path, key)
	case reflect.Slice:
		out := []site{{field: path, block: true, change: v.SetZero}}
		if v.Type().Elem().Kind() != reflect.Struct {
			out[0].block = false
			return append(out, site{field: path, change: func() { other(v.Index(0)) }})
		}
		for i := range v.Len() {
			element, index := v.Index(i), fmt.Sprint(i)
			if !ordered[element.Type()] {
				index = fmt.Sprint(element.Field(0))
			}
			out = append(out, sitesOf(element, path+"["+index+"]", !ordered[element.Type()])...)
		}
		return out
	default:
		return []site{{field: path, key: key, change: func() { other(v) }}}
	}
}

// sitesOfFields takes the first field for the key if there is one.
func sitesOfFields(v reflect.Value, path string, keyed bool) []site {
	var out []site
	for i := range v.NumField() {
		out = append(out, sitesOf(v.Field(i), join(path, v.Type().Field(i)), keyed && i == 0)...)
	}
	return out
}

func join(path string, field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	switch {
	case field.Anonymous:
		return path
	case path == "":
		return name
	}
	return path + "." + name
}

func other(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("other")
	case reflect.Bool:
		v.SetBool(!v.Bool())
	default:
		v.SetInt(999)
	}
}

// filled gives every field a value of its own, and every list two elements.
func filled[T any]() T {
	var value T
	next := 100
	fill(reflect.ValueOf(&value).Elem(), &next)
	return value
}

func fill(v reflect.Value, next *int) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), next)
	case reflect.Struct:
		for _, field := range v.Fields() {
			fill(field, next)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), next)
		}
	case reflect.String:
		*next++
		v.SetString(fmt.Sprintf("value-%d", *next))
	case reflect.Bool:
		v.SetBool(true)
	default:
		*next++
		v.SetInt(int64(*next))
	}
}

// Fields returns the paths of all fields that are set, without the keys and places of lists.
func Fields(v any) map[string]bool {
	out := map[string]bool{}
	fieldsOf(reflect.ValueOf(v), "", out)
	return out
}

func fieldsOf(v reflect.Value, path string, out map[string]bool) {
	switch {
	case v.IsZero():
	case v.Kind() == reflect.Pointer:
		out[path] = true
		fieldsOf(v.Elem(), path, out)
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			fieldsOf(v.Field(i), join(path, v.Type().Field(i)), out)
		}
	case v.Kind() == reflect.Slice:
		out[path] = true
		for i := range v.Len() {
			if v.Index(i).Kind() == reflect.Struct {
				fieldsOf(v.Index(i), path, out)
			}
		}
	default:
		out[path] = true
	}
}
