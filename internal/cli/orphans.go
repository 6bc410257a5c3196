package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	domain "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

func orphansCommand(s *session) *cobra.Command {
	c := &cobra.Command{
		Use: "orphans", GroupID: withAWS, Args: cobra.NoArgs, Short: "List tenants in AWS that have no object in this cluster",
		Long: "List tenants in AWS that have no object in this cluster: orphans, which this cluster created and whose objects no\n" +
			"longer exist, and with --all those of other clusters, and those without owner tags, which `kubectl cfdt import` turns\n" +
			"into manifests. Tags are read one call for each of these tenants.",
		Example: "  kubectl cfdt orphans\n  kubectl cfdt orphans --all -o json",
	}
	all := false
	c.Flags().BoolVar(&all, "all", false, "show tenants of other clusters and without owner tags, too")
	flags, out := awsFlagsOf(c), outputOf(c)
	c.RunE = run(func(ctx context.Context, _ []string) error {
		o, err := s.orphans(ctx, flags, all)
		if err != nil {
			return err
		}
		return s.print(out, "Orphans", o)
	})
	return c
}

// orphans is the answer of orphans.
type orphans struct {
	Read    int      `json:"read"`
	Tenants []orphan `json:"tenants"`
}

type orphan struct {
	Name    string   `json:"name"`
	ID      string   `json:"id"`
	Domains []string `json:"domains"`
	Owner   string   `json:"owner,omitempty"`
	What    string   `json:"what"`
}

func (s *session) orphans(ctx context.Context, flags *awsFlags, all bool) (orphans, error) {
	// A user who may not see the operator's Deployment gives the name of the cluster.
	run, _ := s.settings(ctx)
	id, err := s.clusterID(ctx, flags, run)
	if err != nil {
		return orphans{}, err
	}
	cloud, err := s.cloud(ctx, flags, id)
	if err != nil {
		return orphans{}, err
	}
	claimed, err := s.claimed(ctx)
	if err != nil {
		return orphans{}, err
	}
	front := cloud.Accounts.Own().CloudFront
	out := orphans{Tenants: []orphan{}}
	found, read, err := s.unclaimed(ctx, front, claimed)
	if err != nil {
		return out, err
	}
	out.Read = read
	for _, t := range found {
		var tags map[string]string
		err := s.patiently(ctx, "ListTagsForResource", t.ARN, func(ctx context.Context) (err error) { tags, err = front.ListTags(ctx, t.ARN); return err })
		if err != nil {
			return out, err
		}
		o, orphaned, err := s.judgeOrphan(ctx, t, tags, id)
		if err != nil {
			return out, err
		}
		if all || orphaned {
			out.Tenants = append(out.Tenants, o)
		}
	}
	slices.SortFunc(out.Tenants, func(a, b orphan) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// unclaimed are the tenants in AWS that no object stands for, and how many there are in all.
func (s *session) unclaimed(ctx context.Context, front port.TenantReader, claimed map[string]bool) (found []domain.Observed, read int, err error) {
	for marker := ""; ; {
		var page []domain.Observed
		var next string
		err := s.patiently(ctx, "ListDistributionTenants", marker, func(ctx context.Context) (err error) { page, next, err = front.ListTenants(ctx, marker); return err })
		if err != nil {
			return nil, read, err
		}
		for _, t := range page {
			read++
			if !claimed[t.Name] {
				found = append(found, t)
			}
		}
		if marker = next; marker == "" {
			return found, read, nil
		}
	}
}

// claimed are the names in AWS of the tenants that objects stand for.
func (s *session) claimed(ctx context.Context) (map[string]bool, error) {
	c, err := s.client()
	if err != nil {
		return nil, err
	}
	var list v1alpha1.DistributionTenantList
	if err := c.List(ctx, &list); err != nil {
		return nil, fmt.Errorf("listing the objects of all namespaces: %w", err)
	}
	out := map[string]bool{}
	for i := range list.Items {
		out[convert.DistributionTenantName(&list.Items[i])] = true
	}
	return out, nil
}

func (s *session) judgeOrphan(ctx context.Context, t domain.Observed, tags map[string]string, cluster string) (o orphan, orphaned bool, err error) {
	o = orphan{Name: t.Name, ID: t.ID, Domains: t.Domains, What: "no owner tags"}
	owner, owned := ownership.FromTags(tags)
	if !owned {
		return o, false, nil
	}
	o.Owner = owner.Namespace + "/" + owner.Name
	if owner.Cluster != cluster {
		o.What = "of cluster " + owner.Cluster
		return o, false, nil
	}
	c, err := s.client()
	if err != nil {
		return o, false, err
	}
	live := &metav1.PartialObjectMetadata{}
	live.SetGroupVersionKind(v1alpha1.SchemeGroupVersion.WithKind(kindTenant))
	switch err := c.Get(ctx, client.ObjectKey{Namespace: owner.Namespace, Name: owner.Name}, live); {
	case apierrors.IsNotFound(err):
		o.What = "orphaned: its object no longer exists"
		return o, true, nil
	case err != nil:
		return o, false, err
	}
	o.What = "its object has another tenant by now"
	return o, true, nil
}

func (o orphans) text(p *page) {
	if len(o.Tenants) == 0 {
		p.line("none of the %s in AWS is orphaned", count(o.Read, "tenant", "tenants"))
		return
	}
	t := table{head: []string{"TENANT", "ID", "OBJECT", "WHAT", "DOMAINS"}}
	for _, one := range o.Tenants {
		t.add(one.Name, one.ID, one.Owner, one.What, strings.Join(one.Domains, ","))
	}
	p.table(t)
	p.line("\nTo take an orphan over, create its object again with adoptionPolicy: IfUnowned; `kubectl cfdt import` writes the manifest.")
}
