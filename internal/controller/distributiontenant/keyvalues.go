package distributiontenant

import (
	"context"
	"strconv"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/keyvalue"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// ready learns what all objects have before the first of them is judged.
func (c *Controller) ready(ctx context.Context) error {
	var list v1alpha1.DistributionTenantList
	if err := c.Client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return err
	}
	for n := range list.Items {
		c.LearnKeys(&list.Items[n])
	}
	return c.DomainClaims.Learn(ctx)
}

// LearnKeys takes over the keys that the status of an object has, before the object has a pass.
func (c *Controller) LearnKeys(o *v1alpha1.DistributionTenant) {
	if !o.DeletionTimestamp.IsZero() && !controllerutil.ContainsFinalizer(o, v1alpha1.Finalizer) {
		return // others keep it, and it never has a pass
	}
	c.KeyValues.Learn(keyvalue.Owner{Namespace: o.Namespace, Name: o.Name}, convert.Memory(&o.Status).Keys)
}

// tellStores tells the key value stores what the object wants, and takes over how that stands.
func (p *pass) tellStores() {
	if p.in.Nudged {
		p.KeyValues.Refresh(p.keyOwner())
	}
	p.declareKeys(p.in.Memory.Keys)
}

// declareKeys tells the stores what the object wants and what its stored ledger holds.
func (p *pass) declareKeys(stored []keyvalue.Entry) {
	wants := p.in.KeyWants()
	if len(wants)+len(stored) == 0 {
		p.KeyValues.Forget(p.keyOwner())
		return
	}
	rests := p.in.Rests()
	// The API server promises that versions are numbers.
	version, _ := strconv.ParseUint(p.object.ResourceVersion, 10, 64)
	p.in.World.Keys = p.KeyValues.Declare(keyvalue.Claim{
		Owner: p.keyOwner(), Account: p.account.ID, Version: version, Born: p.object.CreationTimestamp.Unix(),
		Wants: wants, Ledger: stored, Still: rests, Policy: p.in.KeyPolicy(),
		// A changed spec is written in any case: the keys come before the rest of it.
		Correct: (p.in.Policy.Drift == resource.DriftEnforce || p.in.Pending()) && !rests && !p.in.Unresolved(),
	})
}

func (p *pass) keyOwner() keyvalue.Owner {
	return keyvalue.Owner{Namespace: p.object.Namespace, Name: p.object.Name, UID: string(p.object.UID)}
}
