package cli

import (
	"cmp"
	"context"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The labels that the chart gives what it installs.
const (
	labelName    = "app.kubernetes.io/name"
	labelVersion = "app.kubernetes.io/version"
	operatorName = "cloudfront-tenant-operator"
)

// installation is an operator in the cluster.
type installation struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Version   string `json:"version"`
	Replicas  int32  `json:"replicas"`
	Available int32  `json:"available"`
	settings  settings
}

// operators are those of the cluster, as far as the user may see them.
func (s *session) operators(ctx context.Context) ([]installation, error) {
	c, err := s.client()
	if err != nil {
		return nil, err
	}
	var list appsv1.DeploymentList
	if err := c.List(ctx, &list, client.MatchingLabels{labelName: operatorName}); err != nil {
		return nil, err
	}
	var out []installation
	for _, d := range list.Items {
		i := installation{Namespace: d.Namespace, Name: d.Name, Version: cmp.Or(d.Labels[labelVersion], "unknown"), Available: d.Status.AvailableReplicas, settings: settingsOf(&d)}
		if d.Spec.Replicas != nil {
			i.Replicas = *d.Spec.Replicas
		}
		out = append(out, i)
	}
	slices.SortFunc(out, func(a, b installation) int { return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name) })
	return out, nil
}
