package importing

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/config"
)

// schemas judge objects as the API server does: by the CRDs of this version, rules in CEL included.
type schemas struct{ byKind map[string]*schema }

type schema struct {
	structural *structural.Structural
	validator  validation.SchemaValidator
	rules      *cel.Validator
}

// theSchemas are compiled once: it takes about a second.
var theSchemas = sync.OnceValues(newSchemas)

func newSchemas() (*schemas, error) {
	s := &schemas{byKind: map[string]*schema{}}
	for kind, file := range map[string]string{
		kindTenant:       "crd/cloudfront-tenant-operator.io_distributiontenants.yaml",
		kindDistribution: "crd/cloudfront-tenant-operator.io_distributions.yaml",
		kindGroup:        "crd/cloudfront-tenant-operator.io_connectiongroups.yaml",
	} {
		one, err := readSchema(file)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", file, err)
		}
		s.byKind[kind] = one
	}
	return s, nil
}

func readSchema(file string) (*schema, error) {
	text, err := config.CRDs.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(text, &crd); err != nil {
		return nil, err
	}
	var props apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(crd.Spec.Versions[0].Schema.OpenAPIV3Schema, &props, nil); err != nil {
		return nil, err
	}
	out := &schema{}
	if out.structural, err = structural.NewStructural(&props); err != nil {
		return nil, err
	}
	if out.validator, _, err = validation.NewSchemaValidator(&props); err != nil {
		return nil, err
	}
	out.rules = cel.NewValidator(out.structural, true, celconfig.PerCallLimit)
	return out, nil
}

// refusals are the reasons for which the API server would refuse the object, in the order in which it gives them.
func (s *schemas) refusals(ctx context.Context, o client.Object) ([]string, error) {
	sc := s.byKind[o.GetObjectKind().GroupVersionKind().Kind]
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return nil, fmt.Errorf("rendering %s: %w", o.GetName(), err)
	}
	delete(content, "status")
	defaulting.Default(content, sc.structural)
	errs := validation.ValidateCustomResource(nil, content, sc.validator)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, sc.structural, content)...)
	if len(errs) == 0 {
		// The rules are written for what the schema lets through.
		errs, _ = sc.rules.Validate(ctx, nil, sc.structural, content, nil, celconfig.RuntimeCELCostBudget)
	}
	var out []string
	for _, e := range errs {
		if text := refusal(e); !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out, nil
}

// refusal is the field and the reason. The text of a rule names the value already, and says what to do.
func refusal(e *field.Error) string {
	if e.Type == field.ErrorTypeInvalid && !strings.Contains(e.Detail, "in body should") {
		return strings.TrimPrefix(e.Field, ".") + ": " + e.Detail
	}
	return strings.TrimPrefix(e.Field, ".") + ": " + e.ErrorBody()
}
