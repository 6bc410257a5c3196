package cli

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// strictly has the API server refuse a field that its CRDs lack. By default it would drop the field and warn.
const strictly = client.FieldValidation(metav1.FieldValidationStrict)

// sides names the versions of both sides.
func (s *session) sides(ctx context.Context) string {
	operators, err := s.operators(ctx)
	if err != nil || len(operators) == 0 {
		return fmt.Sprintf("the version of the operator is not known and this plugin is version %s", s.Version)
	}
	return fmt.Sprintf("the operator is version %s and this plugin is version %s", operators[0].Version, s.Version)
}

// missing says that the cluster does not have a kind: either it has no operator, or one that is older than this plugin.
func (s *session) missing(ctx context.Context, kind string) error {
	operators, err := s.operators(ctx)
	if err != nil || len(operators) == 0 {
		return fmt.Errorf("this cluster has no %ss: the operator is not installed, is older than this plugin (%s), or was installed without them", kind, s.Version)
	}
	return fmt.Errorf("this cluster has no %ss: %s. Upgrade the operator and its CRDs, or switch the kind on in its chart", kind, s.sides(ctx))
}

// unserved explains an error of the API server about a field that its CRDs lack. Other errors stay as
// they are.
func (s *session) unserved(ctx context.Context, err error) error {
	if !apierrors.IsBadRequest(err) {
		return err
	}
	return fmt.Errorf("%w. The CRDs of this cluster do not have what the API server does not know: %s. Check the name of the field, or upgrade the operator and its CRDs", err, s.sides(ctx))
}

// unknown explains an error about a field that this plugin does not know: it would compare the manifest as if the field
// were not there.
func (s *session) unknown(ctx context.Context, err error) error {
	return fmt.Errorf("%w. The plugin would ignore it: %s. Check the name of the field, or use a plugin that is not older than the operator", err, s.sides(ctx))
}
