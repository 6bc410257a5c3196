// Command constraintcrd reads a ConstraintTemplate of Gatekeeper, and prints the CustomResourceDefinition of its
// constraints as Gatekeeper makes it: tests need the kind where no Gatekeeper runs.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	templatesv1 "github.com/open-policy-agent/frameworks/constraint/pkg/apis/templates/v1"
	"github.com/open-policy-agent/frameworks/constraint/pkg/client/crds"
	"github.com/open-policy-agent/gatekeeper/v3/pkg/target"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

func main() {
	if err := convert(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "constraintcrd:", err)
		os.Exit(1)
	}
}

func convert(in io.Reader, out io.Writer) error {
	text, err := io.ReadAll(in)
	if err != nil {
		return fmt.Errorf("reading the template: %w", err)
	}
	var versioned templatesv1.ConstraintTemplate
	if err := yaml.UnmarshalStrict(text, &versioned); err != nil {
		return fmt.Errorf("decoding the template: %w", err)
	}
	template, err := versioned.ToVersionless()
	if err != nil {
		return fmt.Errorf("converting the template: %w", err)
	}
	crd, err := crds.CreateCRD(template, crds.CreateSchema(template, &target.K8sValidationTarget{}))
	if err != nil {
		return fmt.Errorf("creating the CRD: %w", err)
	}
	if err := crds.ValidateCRD(context.Background(), crd); err != nil {
		return fmt.Errorf("validating the CRD: %w", err)
	}
	served := apiextensionsv1.CustomResourceDefinition{}
	if err := apiextensionsv1.Convert_apiextensions_CustomResourceDefinition_To_v1_CustomResourceDefinition(crd, &served, nil); err != nil {
		return fmt.Errorf("converting the CRD: %w", err)
	}
	served.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	if text, err = yaml.Marshal(served); err != nil {
		return fmt.Errorf("encoding the CRD: %w", err)
	}
	_, err = out.Write(text)
	return err
}
