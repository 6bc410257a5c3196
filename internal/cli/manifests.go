package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubeyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

// manifests reads the tenants of a file. Other kinds are skipped: kubectl diff compares them.
func (s *session) manifests(ctx context.Context, file string) ([]*v1alpha1.DistributionTenant, error) {
	in := s.Streams.In
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	namespace, err := s.cluster.namespace()
	if err != nil {
		return nil, err
	}
	var out []*v1alpha1.DistributionTenant
	decoder := kubeyaml.NewYAMLOrJSONDecoder(in, 4096)
	for n := 1; ; n++ {
		var raw json.RawMessage
		err := decoder.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s, document %d: %w", file, n, err)
		}
		o, err := s.manifest(ctx, raw, namespace)
		if err != nil {
			return nil, fmt.Errorf("%s, document %d: %w", file, n, err)
		}
		if o != nil {
			out = append(out, o)
		}
	}
}

// manifest is the tenant of a document as the API server would store it, nil for another kind.
func (s *session) manifest(ctx context.Context, raw []byte, namespace string) (*v1alpha1.DistributionTenant, error) {
	var kind metav1.TypeMeta
	if err := yaml.Unmarshal(raw, &kind); err != nil {
		return nil, err
	}
	if kind.Kind != kindTenant {
		return nil, nil
	}
	o := &v1alpha1.DistributionTenant{}
	if err := yaml.UnmarshalStrict(raw, o); err != nil {
		return nil, s.unknown(ctx, err)
	}
	if o.Namespace == "" {
		o.Namespace = namespace
	}
	o, err := s.try(ctx, o)
	return o, s.unserved(ctx, err)
}

// try is the object as the API server would store it.
func (s *session) try(ctx context.Context, o *v1alpha1.DistributionTenant) (*v1alpha1.DistributionTenant, error) {
	c, err := s.client()
	if err != nil {
		return nil, err
	}
	var now v1alpha1.DistributionTenant
	err = c.Get(ctx, client.ObjectKeyFromObject(o), &now)
	switch {
	case apierrors.IsNotFound(err):
		o.ResourceVersion = ""
		return o, c.Create(ctx, o, client.DryRunAll, strictly)
	case err != nil:
		return nil, err
	}
	o.ResourceVersion, o.UID, o.Finalizers = now.ResourceVersion, now.UID, now.Finalizers
	annotations := map[string]string{}
	maps.Copy(annotations, now.Annotations)
	maps.Copy(annotations, o.Annotations)
	o.Annotations = annotations
	if err := c.Update(ctx, o, client.DryRunAll, strictly); err != nil {
		return nil, err
	}
	o.Status = now.Status
	return o, nil
}
