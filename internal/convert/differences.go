package convert

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// listKeys names the field by which the elements of a list are distinguished. The elements of
// any other list of structs are distinguished by their place.
var listKeys = map[reflect.Type]string{
	reflect.TypeFor[v1alpha1.Origin]():                    "ID",
	reflect.TypeFor[v1alpha1.CustomHeader]():              "Name",
	reflect.TypeFor[v1alpha1.OriginGroup]():               "ID",
	reflect.TypeFor[v1alpha1.FunctionAssociation]():       "EventType",
	reflect.TypeFor[v1alpha1.LambdaFunctionAssociation](): "EventType",
	reflect.TypeFor[v1alpha1.CustomErrorResponse]():       "ErrorCode",
	reflect.TypeFor[v1alpha1.ParameterDefinition]():       "Name",
}

// differences compares two normalised values of one type of the API, field by field. A part that only one side has is
// one difference as a whole.
func differences[T any](desired, observed T) []resource.Difference {
	var c comparison
	c.fields("", reflect.ValueOf(desired), reflect.ValueOf(observed))
	return c.found
}

type comparison struct{ found []resource.Difference }

func (c *comparison) fields(path string, desired, observed reflect.Value) {
	for i := range desired.NumField() {
		field := desired.Type().Field(i)
		if field.Anonymous {
			c.fields(path, desired.Field(i), observed.Field(i))
			continue
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if path != "" {
			name = path + "." + name
		}
		c.values(name, present(desired.Field(i)), present(observed.Field(i)))
	}
}

// values compares two values, of which one that is absent is the zero reflect.Value.
func (c *comparison) values(path string, desired, observed reflect.Value) {
	switch {
	case isList(desired) || isList(observed):
		c.elements(path, listOf(desired), listOf(observed))
	case desired.IsValid() && observed.IsValid() && desired.Kind() == reflect.Struct:
		c.fields(path, desired, observed)
	default:
		if want, have := text(desired), text(observed); want != have {
			c.found = append(c.found, resource.Difference{Field: path, Desired: prose.Fit(want, maxValue), Observed: prose.Fit(have, maxValue)})
		}
	}
}

// elements compares first what is desired and then what only AWS has.
func (c *comparison) elements(path string, desired, observed list) {
	for _, key := range desired.keys {
		c.values(path+"["+key+"]", desired.at[key], observed.at[key])
	}
	for _, key := range observed.keys {
		if _, compared := desired.at[key]; !compared {
			c.values(path+"["+key+"]", reflect.Value{}, observed.at[key])
		}
	}
}

// list is a list of structs by key.
type list struct {
	keys []string
	at   map[string]reflect.Value
}

func listOf(v reflect.Value) list {
	out := list{at: map[string]reflect.Value{}}
	if !v.IsValid() {
		return out
	}
	field, keyed := listKeys[v.Type().Elem()]
	for i := range v.Len() {
		key := strconv.Itoa(i)
		if keyed {
			key = fmt.Sprint(v.Index(i).FieldByName(field))
		}
		out.keys, out.at[key] = append(out.keys, key), v.Index(i)
	}
	return out
}

func isList(v reflect.Value) bool {
	return v.IsValid() && v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct
}

// present follows a pointer. A value that JSON would leave out is absent.
func present(v reflect.Value) reflect.Value {
	switch {
	case v.IsZero():
		return reflect.Value{}
	case v.Kind() == reflect.Pointer:
		return v.Elem()
	}
	return v
}

// text renders a value for users, the absent one as nothing.
func text(v reflect.Value) string {
	if !v.IsValid() {
		return ""
	}
	switch v.Kind() {
	case reflect.Struct:
		var out bytes.Buffer
		encoder := json.NewEncoder(&out)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(v.Interface()); err != nil {
			return err.Error()
		}
		return strings.TrimSpace(out.String())
	case reflect.Slice:
		items := make([]string, v.Len())
		for i := range items {
			items[i] = fmt.Sprint(v.Index(i))
		}
		return strings.Join(items, ",")
	default:
		return fmt.Sprint(v)
	}
}
