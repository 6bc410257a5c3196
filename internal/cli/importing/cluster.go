package importing

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/grant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/grants"
)

// Cluster is what there is in the cluster already.
type Cluster struct {
	// ID is that of the operator's owner tags. Empty: not known, so that everything with owner tags counts as that of
	// another cluster.
	ID string
	// Objects are all of the three kinds.
	Objects []Object
	// Granted is what the namespace may use. Nil: not known.
	Granted *Granted
}

// Object is one that exists.
type Object struct {
	Kind, Namespace, Name, UID string
	// Subject is what it is for in AWS: the name of a tenant or of a connection group, the ID of a distribution.
	Subject string
	// Account is the AWS account in which that is, empty while it is not known.
	Account string
}

// Granted is what the namespace may use, by the EdgeGrants of the cluster.
type Granted struct {
	Standing grant.Standing
	// Enforced means that objects that ask for more are held.
	Enforced bool
}

// page is how many objects are read at once.
const page = 500

// Look reads what there is in the cluster. It does not set Granted.
func Look(ctx context.Context, kube client.Reader, clusterID string) (*Cluster, error) {
	c := &Cluster{ID: clusterID}
	tenants, distributions, groups := &v1alpha1.DistributionTenantList{}, &v1alpha1.DistributionList{}, &v1alpha1.ConnectionGroupList{}
	for _, read := range []struct {
		list client.ObjectList
		take func()
	}{
		{tenants, func() {
			for i := range tenants.Items {
				o := &tenants.Items[i]
				c.add(o, kindTenant, convert.DistributionTenantName(o), o.Status.ARN)
			}
		}},
		{distributions, func() {
			for i := range distributions.Items {
				o := &distributions.Items[i]
				subject := o.Spec.DistributionID
				if subject == "" {
					subject = o.Status.ID
				}
				c.add(o, kindDistribution, subject, o.Status.ARN)
			}
		}},
		{groups, func() {
			for i := range groups.Items {
				o := &groups.Items[i]
				c.add(o, kindGroup, convert.GroupName(o), o.Status.ARN)
			}
		}},
	} {
		for more := true; more; more = read.list.GetContinue() != "" {
			if err := kube.List(ctx, read.list, client.Limit(page), client.Continue(read.list.GetContinue())); err != nil {
				return nil, fmt.Errorf("listing the objects of the cluster: %w", err)
			}
			read.take()
		}
	}
	return c, nil
}

func (c *Cluster) add(o client.Object, kind, subject, arn string) {
	c.Objects = append(c.Objects, Object{
		Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName(), UID: string(o.GetUID()), Subject: subject,
		Account: convert.RecordedAccount(o, arn),
	})
}

// GrantedTo is what the namespace may use, by the EdgeGrants of the cluster.
func GrantedTo(ctx context.Context, registry *grants.Registry, namespace string) (*Granted, error) {
	standing, err := registry.Standing(ctx, namespace)
	if err != nil {
		return nil, err
	}
	return &Granted{Standing: standing, Enforced: registry.Mode() == grants.Enforce}, nil
}

// ClusterID is that of the cluster, empty where it is not known.
func (c *Cluster) ClusterID() string {
	if c == nil {
		return ""
	}
	return c.ID
}

// objects are those of the cluster, none where it was not looked at.
func (c *Cluster) objects() []Object {
	if c == nil {
		return nil
	}
	return c.Objects
}
