package inventory

import (
	"context"
	"maps"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/instant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/verdict"
)

// Read reads the tenant of that name from AWS. A tenant that is not found is forgotten, and the error is of kind
// fault.NotFound.
func (i *Inventory) Read(ctx context.Context, name string) (distributiontenant.Observed, error) {
	i.mu.Lock()
	started := i.tick()
	i.mu.Unlock()
	t, err := i.opts.Tenants.GetTenant(ctx, name)
	i.mu.Lock()
	defer i.mu.Unlock()
	e := i.byName[name]
	overtaken := e != nil && e.touched > started
	if err != nil {
		if fault.Is(err, fault.NotFound) && e != nil && !overtaken {
			i.drop(e)
		}
		return distributiontenant.Observed{}, err
	}
	if _, dead := i.buried[t.ID]; dead || overtaken {
		return t, nil
	}
	paired := ""
	if e != nil && e.tenant.id == t.ID && e.confirms(t) {
		paired = e.shownETag
	}
	e = i.store(t)
	e.listETag = paired
	i.watch.land(e)
	return t, nil
}

// ReadTags reads the tags of a known tenant.
func (i *Inventory) ReadTags(ctx context.Context, t distributiontenant.Observed) (map[string]string, error) {
	tags, err := i.opts.Tenants.ListTags(ctx, t.ARN)
	if err != nil {
		if fault.Is(err, fault.NotFound) {
			i.forget(t.Name)
		}
		return nil, err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if e := i.byName[t.Name]; e != nil && e.tenant.id == t.ID {
		i.rememberTags(e, tags)
	}
	return tags, nil
}

// ReadByDomain reads the tenant that holds the domain.
func (i *Inventory) ReadByDomain(ctx context.Context, domain string) (distributiontenant.Observed, error) {
	return i.opts.Tenants.GetTenantByDomain(ctx, domain)
}

// ReadManagedCertificate reads the managed certificate of a tenant.
func (i *Inventory) ReadManagedCertificate(ctx context.Context, id string) (certificate.Managed, error) {
	return i.opts.Tenants.GetManagedCertificate(ctx, id)
}

// VerifyDNS asks AWS where the DNS of a domain of a tenant leads.
func (i *Inventory) VerifyDNS(ctx context.Context, id, domain string) ([]verdict.DNS, error) {
	return i.opts.Tenants.VerifyDNS(ctx, id, domain)
}

// DomainConflicts reads what else has the domain. provenBy is the ID of a tenant or distribution whose certificate
// covers it.
func (i *Inventory) DomainConflicts(ctx context.Context, domain, provenBy string) ([]verdict.Conflict, error) {
	return i.opts.Tenants.DomainConflicts(ctx, domain, provenBy)
}

// Create creates a tenant.
func (i *Inventory) Create(ctx context.Context, s distributiontenant.Create) (distributiontenant.Observed, error) {
	t, err := i.opts.Tenants.CreateTenant(ctx, s.Tenant, s.Tags, s.Request)
	if err == nil && (t.Tags == nil || maps.Equal(t.Tags, s.Tags)) {
		t.Tags = s.Tags // whose text the object has too
	}
	return i.wrote(s.Tenant.Name, t, err)
}

// Update changes a tenant.
func (i *Inventory) Update(ctx context.Context, s distributiontenant.Update) (distributiontenant.Observed, error) {
	t, err := i.opts.Tenants.UpdateTenant(ctx, distributiontenant.Observed{ID: s.ID, ETag: s.ETag, Tenant: s.Seen}, s.Tenant, s.Request)
	return i.wrote(s.Tenant.Name, t, err)
}

// Move gives a domain to the tenant of that name. The answer does not show the tenant, which has to be read again.
func (i *Inventory) Move(ctx context.Context, name string, s distributiontenant.Move) error {
	err := i.opts.Tenants.MoveDomain(ctx, s.Domain, s.ID, s.ETag)
	i.mu.Lock()
	former := i.byDomain[s.Domain]
	i.mu.Unlock()
	if err != nil {
		i.failed(name, err)
		return err
	}
	i.forget(name)
	if former != "" && former != name {
		i.forget(former)
		i.opts.OnChange([]string{former})
	}
	return nil
}

// Disable turns the tenant of that name off.
func (i *Inventory) Disable(ctx context.Context, name string, s distributiontenant.Disable) (t distributiontenant.Observed, err error) {
	if s.Whole != nil {
		// Nothing counts as seen, so that all of it is sent.
		unseen := distributiontenant.Observed{ID: s.ID, ETag: s.ETag, Tenant: distributiontenant.Tenant{Enabled: !s.Whole.Enabled}}
		t, err = i.opts.Tenants.UpdateTenant(ctx, unseen, *s.Whole, nil)
	} else {
		t, err = i.opts.Tenants.DisableTenant(ctx, s.ID, s.ETag)
	}
	return i.wrote(name, t, err)
}

// Delete deletes the tenant of that name. Another object may be waiting for the name.
func (i *Inventory) Delete(ctx context.Context, name string, s distributiontenant.Delete) error {
	if err := i.opts.Tenants.DeleteTenant(ctx, s.ID, s.ETag); err != nil {
		i.failed(name, err)
		return err
	}
	i.bury(name, s.ID)
	i.opts.OnChange([]string{name})
	return nil
}

func (i *Inventory) bury(name, id string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.buried[id] = i.tick()
	delete(i.watch.flights, name)
	if e := i.byName[name]; e != nil && e.tenant.id == id {
		i.drop(e)
	}
}

// Tag sets tags. They are read again before anything is concluded from them.
func (i *Inventory) Tag(ctx context.Context, name, arn string, tags map[string]string) error {
	return i.retag(ctx, name, func() error { return i.opts.Tenants.Tag(ctx, arn, tags) }, func(have map[string]string) {
		maps.Copy(have, tags)
	})
}

// Untag removes tags.
func (i *Inventory) Untag(ctx context.Context, name, arn string, keys []string) error {
	return i.retag(ctx, name, func() error { return i.opts.Tenants.Untag(ctx, arn, keys) }, func(have map[string]string) {
		for _, k := range keys {
			delete(have, k)
		}
	})
}

func (i *Inventory) retag(_ context.Context, name string, call func() error, change func(map[string]string)) error {
	err := call()
	i.mu.Lock()
	defer i.mu.Unlock()
	e := i.byName[name]
	if e == nil {
		return err
	}
	if err != nil {
		// The answer may have been lost, so that the tags are unknown.
		e.tagsKnown = e.tagsKnown && !fault.Ambiguous(err)
		return err
	}
	changed := e.tags.all()
	change(changed)
	e.tags, e.tagsDue = textsOf(changed), instant.Of(i.opts.Clock.Now())
	return nil
}

// wrote remembers the answer to an own write.
func (i *Inventory) wrote(name string, t distributiontenant.Observed, err error) (distributiontenant.Observed, error) {
	if err != nil {
		i.failed(name, err)
		return t, err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.store(t).listETag = ""
	return t, nil
}

// failed forgets the tenant when the failure of an own write says that what is known of it is out of date.
func (i *Inventory) failed(name string, err error) {
	if fault.Is(err, fault.Exists, fault.Conflict, fault.NotFound, fault.Transient) {
		i.forget(name)
	}
}

// forget drops what is known of the tenant of that name.
func (i *Inventory) forget(name string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if e := i.byName[name]; e != nil {
		e.whole, e.listETag, e.touched = false, "", i.tick()
		// What the list shows next counts as a change, whatever its ETag.
		e.shownETag = ""
		i.drop(e)
	}
}
