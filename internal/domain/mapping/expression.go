package mapping

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/ext"
	"github.com/google/cel-go/interpreter"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

// rowVariable is the row in an expression.
const rowVariable = "row"

// Expressions come from people who may write a TenantSource, and run in a process that serves all of
// them. The cost of one is bounded before it is parsed, once it is parsed, and for every row.
const (
	// longestExpression is enough for a page of text, and keeps the parser quick.
	longestExpression = 4096
	// mostCopies bounds the macros whose expansion has their target twice: each one may double the
	// size of the tree.
	mostCopies = 4
	// mostNodes bounds the tree after macros.
	mostNodes = 1000
	// deepest bounds how deep brackets and chains of calls may be, and with it the stack of the parser.
	deepest = 120
	// costLimit is what evaluating an expression for one row may cost, about a millisecond: reading
	// 100,000 rows takes two minutes at worst then. Joining a few columns costs about 10, a loop
	// over 100 domains about 2,000.
	costLimit = 10_000
	// largestRegex bounds the compiled form of a regular expression, which is what matching one
	// character can cost.
	largestRegex = 1000
	// longestMessage bounds what is quoted of CEL's own words.
	longestMessage = 200
	mostIssues     = 3
)

// expression is one that is checked and planned.
type expression struct {
	program cel.Program
	info    *ast.SourceInfo
}

// environment is that of all expressions: the part of CEL that Kubernetes users know, and the row.
func environment() (*cel.Env, error) {
	registry, err := types.NewRegistry()
	if err != nil {
		return nil, err
	}
	return cel.NewEnv(
		cel.CustomTypeAdapter(rowAdapter{registry}),
		cel.Variable(rowVariable, cel.MapType(cel.StringType, cel.DynType)),
		cel.OptionalTypes(),
		cel.DefaultUTCTimeZone(true),
		cel.CrossTypeNumericComparisons(true),
		cel.ParserExpressionSizeLimit(longestExpression),
		cel.ParserRecursionLimit(deepest),
		cel.ASTValidators(cel.ValidateDurationLiterals(), cel.ValidateTimestampLiterals(), cel.ValidateRegexLiterals()),
		ext.Strings(), ext.Math(), ext.Lists(), ext.Sets(), ext.Encoders(),
	)
}

// compileExpression checks an expression for a field, and tells which columns it uses.
func compileExpression(env *cel.Env, source string, f *field, w Words) (*expression, columnUse, error) {
	fail := func(format string, args ...any) (*expression, columnUse, error) {
		return nil, columnUse{}, fmt.Errorf("%s: "+format, append([]any{prose.Quote(source)}, args...)...)
	}
	if n := utf8.RuneCountInString(source); n > longestExpression {
		return fail("it has %d characters, but at most %d are allowed: compute the value %s", n, longestExpression, w.Elsewhere)
	}
	if n := strings.Count(source, "optMap") + strings.Count(source, "optFlatMap"); n > mostCopies {
		return fail("it uses optMap and optFlatMap %d times, but at most %d are allowed: use orValue or has() instead", n, mostCopies)
	}
	parsed, issues := env.Parse(source)
	if issues.Err() != nil {
		return fail("%s: correct the expression", issueText(issues))
	}
	if n := countNodes(parsed.NativeRep()); n > mostNodes {
		return fail("it has %d parts after macro expansion, but at most %d are allowed: compute the value %s", n, mostNodes, w.Elsewhere)
	}
	checked, issues := env.Check(parsed)
	if issues.Err() != nil {
		return fail("%s: correct the expression", issueText(issues))
	}
	if !f.accepts(checked.OutputType()) {
		return fail("it returns %s, but the field takes %s: convert the value, as in string(row.id)", checked.OutputType(), f.takes())
	}
	if problem := literalProblem(checked.NativeRep()); problem != "" {
		return fail("%s", problem)
	}
	program, err := env.Program(checked, cel.EvalOptions(cel.OptOptimize), cel.CostLimit(costLimit), cel.CustomDecoratorV2(bound))
	if err != nil {
		return fail("%s: change the expression", prose.Shorten(err.Error(), longestMessage))
	}
	use := columnUse{}
	walk(checked.NativeRep().Expr(), false, &use)
	use.relax(checked.NativeRep().Expr())
	return &expression{program: program, info: checked.NativeRep().SourceInfo()}, use, nil
}

// issueText says what CEL finds wrong, as line:column and its message.
func issueText(issues *cel.Issues) string {
	var out []string
	for i, issue := range issues.Errors() {
		if i == mostIssues {
			out = append(out, "and more")
			break
		}
		out = append(out, position(issue.Location)+prose.Shorten(issue.Message, longestMessage))
	}
	return strings.Join(out, "; ")
}

// position is line:column, if the place is known. CEL counts columns from 0.
func position(l common.Location) string {
	if l.Line() < 1 {
		return ""
	}
	return fmt.Sprintf("%d:%d: ", l.Line(), l.Column()+1)
}

// accepts reports whether a field can take what an expression gives. Types that are not known before there is a row are
// checked with every row.
func (f *field) accepts(t *cel.Type) bool {
	if t.TypeName() == types.OptionalType.TypeName() && len(t.Parameters()) == 1 {
		t = t.Parameters()[0]
	}
	// A wrapper type or dyn may be null.
	if t.IsAssignableType(cel.NullType) {
		return true
	}
	is := func(types ...*cel.Type) bool { return slices.ContainsFunc(types, t.IsExactType) }
	switch f.kind {
	case kindBoolean:
		return is(cel.BoolType)
	case kindNumber:
		return is(cel.IntType, cel.UintType)
	case kindDomains, kindCountries:
		return is(cel.StringType, cel.ListType(cel.StringType), cel.ListType(cel.DynType))
	case kindText:
		return is(cel.StringType, cel.IntType, cel.UintType, cel.DoubleType)
	case kindDomain:
	}
	return is(cel.StringType)
}

// countNodes counts the parts of a tree.
func countNodes(tree *ast.AST) int {
	n := 0
	ast.PreOrderVisit(tree.Expr(), ast.NewExprVisitor(func(ast.Expr) { n++ }))
	return n
}

// widePrecision is what makes one number very long.
var widePrecision = regexp.MustCompile(`%\.[0-9]{3}`)

// literalProblem looks at calls that are harmless only with a literal that is: one can't tell from a
// row's own text how much it costs to match with it or to format by it.
func literalProblem(tree *ast.AST) string {
	problem := ""
	ast.PreOrderVisit(tree.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind {
			return
		}
		call := e.AsCall()
		args := call.Args()
		if call.IsMemberFunction() {
			args = append([]ast.Expr{call.Target()}, args...)
		}
		switch call.FunctionName() {
		case "matches":
			pattern, ok := literal(args[1])
			if !ok || regexSize(pattern) > largestRegex {
				problem = "the regular expression of matches must be a short literal: write it into the expression"
			}
		case "format":
			if pattern, ok := literal(args[0]); !ok || widePrecision.MatchString(pattern) {
				problem = "the string that format is called on must be a literal, with a precision below 100: write it into the expression"
			}
		}
	}))
	return problem
}

func literal(e ast.Expr) (string, bool) {
	if e.Kind() != ast.LiteralKind {
		return "", false
	}
	s, ok := e.AsLiteral().Value().(string)
	return s, ok
}

// regexSize is the number of instructions of a regular expression.
func regexSize(pattern string) int {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0 // CEL has refused it before.
	}
	compiled, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return 0
	}
	return len(compiled.Inst)
}

// evaluate returns what an expression gives for a row, in the types that rows have.
func (e *expression) evaluate(r *reader) (value any, reason string) {
	if r.variables == nil {
		r.variables = map[string]any{rowVariable: types.NewStringInterfaceMap(rowAdapter{types.DefaultTypeAdapter}, r.row.Values)}
	}
	result, _, err := e.program.Eval(r.variables)
	if canceled := (interpreter.EvalCancelledError{}); errors.As(err, &canceled) {
		return nil, fmt.Sprintf("it takes too long for this %s: make the expression simpler, or compute the value %s", r.words.Row, r.words.Elsewhere)
	}
	if err != nil {
		return nil, e.place(err) + prose.Shorten(err.Error(), longestMessage) + fmt.Sprintf(": change the %s, or handle this in the expression, as in has(row.plan) or row.?plan.orValue(\"\")", r.words.Row)
	}
	return fromCEL(result), ""
}

// place says where in an expression it failed, if that is known.
func (e *expression) place(err error) string {
	var failure *types.Err
	if !errors.As(err, &failure) {
		return ""
	}
	return position(e.info.GetStartLocation(failure.NodeID()))
}

// fromCEL brings a result to the types that rows have.
func fromCEL(v ref.Val) any {
	switch v := v.(type) {
	case types.Null:
		return nil
	case types.Bool:
		return bool(v)
	case types.Int:
		return int64(v)
	case types.Double:
		return float64(v)
	case types.String:
		return string(v)
	case types.Timestamp:
		return v.Time
	case *types.Optional:
		if !v.HasValue() {
			return nil
		}
		return fromCEL(v.GetValue())
	case traits.Mapper:
		return map[string]any{}
	case traits.Lister:
		var out []any
		for it := v.Iterator(); it.HasNext() == types.True; {
			out = append(out, fromCEL(it.Next()))
		}
		return out
	case types.Uint:
		return fmt.Sprint(uint64(v))
	default:
		return Unsupported(v.Type().TypeName())
	}
}

// walk notes which columns an expression uses. A variable of a macro may be called row as well, and
// hides the row where it holds.
func walk(e ast.Expr, hidden bool, use *columnUse) {
	if column, optional, ok := columnOf(e); ok && !hidden {
		use.add(column, optional)
		return
	}
	switch e.Kind() {
	case ast.IdentKind:
		use.whole = use.whole || isRow(e) && !hidden
	case ast.SelectKind:
		walk(e.AsSelect().Operand(), hidden, use)
	case ast.CallKind:
		call := e.AsCall()
		if call.IsMemberFunction() {
			walk(call.Target(), hidden, use)
		}
		walkAll(call.Args(), hidden, use)
	case ast.ListKind:
		walkAll(e.AsList().Elements(), hidden, use)
	case ast.MapKind:
		for _, entry := range e.AsMap().Entries() {
			walkAll([]ast.Expr{entry.AsMapEntry().Key(), entry.AsMapEntry().Value()}, hidden, use)
		}
	case ast.StructKind:
		for _, entry := range e.AsStruct().Fields() {
			walk(entry.AsStructField().Value(), hidden, use)
		}
	case ast.ComprehensionKind:
		loop := e.AsComprehension()
		walkAll([]ast.Expr{loop.IterRange(), loop.AccuInit()}, hidden, use)
		result := hidden || loop.AccuVar() == rowVariable
		walk(loop.Result(), result, use)
		walkAll([]ast.Expr{loop.LoopCondition(), loop.LoopStep()}, result || loop.IterVar() == rowVariable || loop.IterVar2() == rowVariable, use)
	case ast.LiteralKind, ast.UnspecifiedExprKind:
	}
}

func walkAll(list []ast.Expr, hidden bool, use *columnUse) {
	for _, e := range list {
		walk(e, hidden, use)
	}
}

func isRow(e ast.Expr) bool {
	return e.Kind() == ast.IdentKind && strings.TrimPrefix(e.AsIdent(), ".") == rowVariable
}

// columnOf recognizes the ways to name a column: row.x and row["x"], and those in which the row may leave it out:
// has(row.x), row.?x, row[?"x"] and "x" in row.
func columnOf(e ast.Expr) (column string, optional, ok bool) {
	switch e.Kind() {
	case ast.SelectKind:
		s := e.AsSelect()
		return s.FieldName(), s.IsTestOnly(), isRow(s.Operand())
	case ast.CallKind:
		call := e.AsCall()
		if len(call.Args()) != 2 || call.IsMemberFunction() {
			return "", false, false
		}
		row, key := call.Args()[0], call.Args()[1]
		if call.FunctionName() == operators.In {
			row, key = key, row
		}
		column, ok = literal(key)
		ok = ok && isRow(row)
		switch call.FunctionName() {
		case operators.Index:
			return column, false, ok
		case operators.OptIndex, operators.OptSelect, operators.In:
			return column, true, ok
		}
	default:
	}
	return "", false, false
}

// relax makes the columns optional whose presence the expression asks for.
func (u *columnUse) relax(e ast.Expr) {
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		if column, optional, ok := columnOf(e); ok && optional && u.needed[column] {
			u.needed[column] = false
		}
	}))
}
