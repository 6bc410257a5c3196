package mapping

import (
	"strings"

	"github.com/google/cel-go/common/functions"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

// The cost limit of CEL counts a call after it was made, and counts a value once that is in a list a
// thousand times. So one call of replace, or a few loops, could take all memory first. These bounds hold for
// every value that an expression sees or makes, and with them everything that one call can do.
const (
	// largestValue is the size of the largest value: a text of that many bytes, or a list of a
	// thousand numbers.
	largestValue = 64 << 10
	// nodeSize is what a value counts for in addition to its text.
	nodeSize = 64
)

const tooLarge = "a value is too large: in an expression, strings may have 65,536 bytes and lists 1,000 elements"

// rowAdapter brings the values of rows to CEL.
type rowAdapter struct{ types.Adapter }

// NativeToValue implements types.Adapter.
func (a rowAdapter) NativeToValue(v any) ref.Val {
	switch v := v.(type) {
	case Unsupported:
		return types.NewErr("a value of type %s can't be used, convert it in the query or in the store", prose.Quote(string(v)))
	case string:
		if len(v) > largestValue {
			return types.NewErr(tooLarge)
		}
	case []any:
		if weighNative(v, largestValue) < 0 {
			return types.NewErr(tooLarge)
		}
		return types.NewDynamicList(a, v)
	case map[string]any:
		if weighNative(v, largestValue) < 0 {
			return types.NewErr(tooLarge)
		}
		return types.NewStringInterfaceMap(a, v)
	}
	return a.Adapter.NativeToValue(v)
}

// weighNative subtracts the size of a value of a row, and stops below zero.
func weighNative(v any, left int) int {
	left -= nodeSize
	switch v := v.(type) {
	case string:
		return left - len(v)
	case []any:
		for i := 0; i < len(v) && left >= 0; i++ {
			left = weighNative(v[i], left)
		}
	case map[string]any:
		for k, e := range v {
			if left = weighNative(e, left-len(k)-nodeSize); left < 0 {
				break
			}
		}
	}
	return left
}

// weigh does so with a value of CEL.
func weigh(v ref.Val, left int) int {
	left -= nodeSize
	switch v := v.(type) {
	case types.String:
		return left - len(v)
	case types.Bytes:
		return left - len(v)
	case *types.Optional:
		if v.HasValue() {
			return weigh(v.GetValue(), left)
		}
	case traits.Mapper:
		for it := v.Iterator(); left >= 0 && it.HasNext() == types.True; {
			key := it.Next()
			left = weigh(v.Get(key), weigh(key, left))
		}
	case traits.Lister:
		// A list that was added to itself often has a size that would take forever to count.
		if n, ok := v.Size().(types.Int); !ok || n > largestValue/nodeSize {
			return -1
		}
		for it := v.Iterator(); left >= 0 && it.HasNext() == types.True; {
			left = weigh(it.Next(), left)
		}
	}
	return left
}

// checkSize lets a value pass that is not too large.
func checkSize(v ref.Val) ref.Val {
	switch v := v.(type) {
	case types.Bool, types.Int, types.Double, *types.Err:
		return v
	}
	if weigh(v, largestValue+nodeSize) < 0 {
		return types.NewErr(tooLarge)
	}
	return v
}

// bound is a decorator that holds all calls and literals to the bounds.
func bound(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
	switch i := i.(type) {
	case interpreter.InterpretableCall:
		if f := careful[i.Function()]; f != nil {
			return interpreter.NewCall(i.ID(), i.Function(), i.OverloadID(), i.Args(), f), nil
		}
		return boundCall{i}, nil
	case interpreter.InterpretableConstructor:
		return boundConstructor{i}, nil
	default:
		return i, nil
	}
}

type boundCall struct{ interpreter.InterpretableCall }

// Eval implements interpreter.Interpretable.
func (b boundCall) Eval(a interpreter.Activation) ref.Val {
	return checkSize(b.InterpretableCall.Eval(a))
}

// Exec implements interpreter.InterpretableV2.
func (b boundCall) Exec(f *interpreter.ExecutionFrame) ref.Val {
	return checkSize(b.InterpretableCall.Exec(f))
}

type boundConstructor struct {
	interpreter.InterpretableConstructor
}

// Eval implements interpreter.Interpretable.
func (b boundConstructor) Eval(a interpreter.Activation) ref.Val {
	return checkSize(b.InterpretableConstructor.Eval(a))
}

// Exec implements interpreter.InterpretableV2.
func (b boundConstructor) Exec(f *interpreter.ExecutionFrame) ref.Val {
	return checkSize(b.InterpretableConstructor.Exec(f))
}

// careful are functions whose result may be far larger than what they are given. They do what those
// of the extensions do, and measure first.
var careful = map[string]functions.FunctionOp{
	"replace":     replace,
	"join":        joinTexts,
	"lists.range": listRange,
}

func replace(args ...ref.Val) ref.Val {
	texts, ok := textsOf(args[:min(len(args), 3)])
	if !ok || len(texts) < 3 {
		return types.MaybeNoSuchOverloadErr(args[0])
	}
	most := -1
	if len(args) > 3 {
		n, ok := args[3].(types.Int)
		if !ok {
			return types.MaybeNoSuchOverloadErr(args[3])
		}
		most = int(n)
	}
	s, from, to := texts[0], texts[1], texts[2]
	n := strings.Count(s, from)
	if most >= 0 {
		n = min(n, most)
	}
	if len(s)+n*(len(to)-len(from)) > largestValue {
		return types.NewErr(tooLarge)
	}
	return types.String(strings.Replace(s, from, to, most))
}

func joinTexts(args ...ref.Val) ref.Val {
	list, ok := args[0].(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(args[0])
	}
	separator, ok := textsOf(args[1:])
	if !ok {
		return types.MaybeNoSuchOverloadErr(args[1])
	}
	var parts []string
	size := 0
	for it := list.Iterator(); it.HasNext() == types.True; {
		part, ok := textsOf([]ref.Val{it.Next()})
		if !ok {
			return types.NewErr("join takes a list of strings")
		}
		if size += len(part[0]) + len(strings.Join(separator, "")); size > largestValue {
			return types.NewErr(tooLarge)
		}
		parts = append(parts, part[0])
	}
	return types.String(strings.Join(parts, strings.Join(separator, "")))
}

func listRange(args ...ref.Val) ref.Val {
	n, ok := args[0].(types.Int)
	if !ok {
		return types.MaybeNoSuchOverloadErr(args[0])
	}
	if n > largestValue/nodeSize {
		return types.NewErr(tooLarge)
	}
	list := make([]int64, max(0, n))
	for i := range list {
		list[i] = int64(i)
	}
	return types.NewDynamicList(types.DefaultTypeAdapter, list)
}

// textsOf returns values that have to be texts.
func textsOf(args []ref.Val) ([]string, bool) {
	out := make([]string, len(args))
	for i := range args {
		s, ok := args[i].(types.String)
		if !ok {
			return nil, false
		}
		out[i] = string(s)
	}
	return out, true
}
