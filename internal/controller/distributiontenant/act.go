package distributiontenant

import (
	"cmp"
	"context"
	"errors"
	"time"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/awsresource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

// Perform implements reconcile.Pass.
func (p *pass) Perform(ctx context.Context, k reconcile.Keeper) error {
	err := p.perform(ctx, k)
	// The step may have changed the records that are wanted, and with that the answers of the zones.
	p.in.Now = p.Clock.Now()
	p.declare(p.in.Memory.Ledger)
	p.observeDomains()
	return err
}

func (p *pass) perform(ctx context.Context, k reconcile.Keeper) error {
	ctx = port.WithCall(ctx, port.Call{Key: string(p.object.UID), Namespace: p.object.Namespace, Grant: p.account.Grant, Class: p.class(), Pass: &p.calls})
	step := p.out.Decision.Step
	if s, reads := step.(distributiontenant.Look); reads {
		return awsresource.Kept(look{p}.at(ctx, s), &p.in.World.Unreadable)
	}
	err := act{p, k}.step(ctx, step)
	if err == nil {
		p.out.Done = append(p.out.Done, step)
	}
	return awsresource.Kept(err, &p.in.World.Refused)
}

// step carries a step out that is no look. Create and Adopt store a mark with the finalizer.
func (p act) step(ctx context.Context, s distributiontenant.Step) error {
	switch s := s.(type) {
	case distributiontenant.Look, distributiontenant.LetGo, distributiontenant.Rest:
		return nil
	case distributiontenant.Claim:
		p.claim(ctx, s)
		return nil
	case distributiontenant.Create:
		return p.create(ctx, s)
	case distributiontenant.Adopt:
		return p.adopt(ctx, s)
	case distributiontenant.Update, distributiontenant.Move:
		if err := p.confirmReferences(ctx); err != nil {
			return err
		}
	case distributiontenant.EnsureFinalizer, distributiontenant.Tag, distributiontenant.Untag, distributiontenant.Disable, distributiontenant.Delete,
		distributiontenant.DeleteCertificate:
	}
	if err := p.ensureFinalizer(ctx, nil); err != nil {
		return err
	}
	switch s := s.(type) {
	case distributiontenant.Update:
		return p.update(ctx, s)
	case distributiontenant.Move:
		return p.move(ctx, s)
	case distributiontenant.Tag:
		return p.tag(ctx, s)
	case distributiontenant.Untag:
		return p.untag(ctx, s)
	case distributiontenant.Disable:
		return p.disable(ctx, s)
	case distributiontenant.Delete:
		return p.delete(ctx, s)
	case distributiontenant.DeleteCertificate:
		return p.deleteCertificate(ctx, s)
	case distributiontenant.EnsureFinalizer, distributiontenant.Look, distributiontenant.Claim, distributiontenant.Create, distributiontenant.Adopt,
		distributiontenant.LetGo, distributiontenant.Rest:
	}
	return nil
}

// ensureFinalizer comes before every write to AWS: the finalizer is stored, and what the pass knows of
// the object is not out of date.
func (p act) ensureFinalizer(ctx context.Context, annotations map[string]string) error {
	if err := p.keeper.EnsureFinalizer(ctx, annotations); err != nil {
		return err
	}
	p.in.HasFinalizer = true
	return nil
}

// create asks for permission first: a mark without a call would only cost writes.
func (p act) create(ctx context.Context, s distributiontenant.Create) error {
	ctx, delay := p.account.Rate.Admit(ctx)
	if delay > 0 {
		return &fault.Error{Kind: fault.Throttled, Operation: "CreateDistributionTenant", RetryAfter: delay}
	}
	now := p.Clock.Now()
	if err := p.confirmReferences(ctx); err != nil {
		return err
	}
	before := p.in.MarkCreate(now)
	mark := p.in.CreateMark.UTC().Format(time.RFC3339)
	if err := p.ensureFinalizer(ctx, convert.Recording(p.object, p.account.ID, v1alpha1.AnnotationCreatePending, mark)); err != nil {
		return err
	}
	p.in.Attempts.Announce(before, p.in.CreateMark)
	p.asking(s.Request, now)
	t, err := p.account.Inventory.Create(ctx, s)
	p.in.Attempts.CreateEnded(err, now, resource.UserKeys(s.Tags))
	if err != nil {
		return err
	}
	p.wrote(t)
	p.in.World.Tags, p.in.World.TagsKnown, p.in.World.TagsRead = s.Tags, true, now
	wrote := resource.WroteConfig | resource.WroteTags
	if s.Partial {
		wrote = resource.WroteTags
	}
	p.in.Attempts.Sent(p.in.Generation, wrote, now)
	p.requested(s.Request)
	return nil
}

// adopt remembers the generation before the tags say that the tenant is ours: from then on, blocks that the spec does
// not have would otherwise count as drift.
func (p act) adopt(ctx context.Context, s distributiontenant.Adopt) error {
	mark := convert.AdoptedMark(p.object)
	if err := p.ensureFinalizer(ctx, convert.Recording(p.object, p.account.ID, v1alpha1.AnnotationAdoptedGeneration, mark)); err != nil {
		return err
	}
	p.in.AdoptedGeneration = p.in.Generation
	if err := p.account.Inventory.Tag(ctx, p.in.Desired.Name, s.ARN, s.Tags); err != nil {
		return err
	}
	p.in.Attempts.CreatedWith = nil
	p.in.World.Tags = ownership.Merge(p.in.World.Tags, p.in.Me)
	return nil
}

// asking notes that AWS is asked to validate domains.
func (p act) asking(r *certificate.Request, now time.Time) {
	if r != nil && p.in.World.Watched {
		p.in.Attempts.Asking(p.in.Generation, now)
	}
}

func (p act) update(ctx context.Context, s distributiontenant.Update) error {
	p.asking(s.Request, p.Clock.Now())
	t, err := p.account.Inventory.Update(ctx, s)
	if err != nil {
		if fault.Ambiguous(err) {
			p.in.Attempts.Doubted = p.Clock.Now()
		}
		return p.missingReference(err)
	}
	p.wrote(t)
	kind := resource.WroteConfig
	if s.Partial {
		kind = 0
	}
	p.in.Attempts.Sent(p.in.Generation, kind, p.Clock.Now())
	p.requested(s.Request)
	return nil
}

// move makes a domain this tenant's. The tenant is read again after it.
func (p act) move(ctx context.Context, s distributiontenant.Move) error {
	if s.From == "" {
		if err := p.proveGiver(ctx, s); err != nil {
			return err
		}
	}
	if err := p.account.Inventory.Move(ctx, p.in.Desired.Name, s); err != nil {
		return err
	}
	p.in.World.Knowledge, p.in.World.Tenant = resource.Nothing, nil
	return nil
}

// proveGiver makes sure that the tenant which has the domain belongs to another object of this cluster. The memory of
// that object may be old, and CloudFront takes the domain from any tenant.
func (p act) proveGiver(ctx context.Context, s distributiontenant.Move) error {
	taken := &fault.Error{
		Kind: fault.DomainTaken, Operation: "UpdateDomainAssociation",
		Message: s.Domain + " is handed over, but what has it in AWS is no tenant of another object of this cluster",
	}
	t, err := p.account.Inventory.ReadByDomain(ctx, s.Domain)
	switch {
	case fault.Is(err, fault.NotFound):
		return taken
	case err != nil || t.ID == s.ID:
		return err
	}
	tags, err := p.account.Inventory.ReadTags(ctx, t)
	if err != nil {
		return err
	}
	if owner, owned := ownership.FromTags(tags); !owned || owner.Cluster != p.ClusterID {
		return taken
	}
	return nil
}

// requested notes that AWS has accepted a request for a managed certificate. Its progress is not read before there can
// be any, unless there is a challenge to show.
func (p act) requested(r *certificate.Request) {
	if r == nil {
		return
	}
	now, a := p.Clock.Now(), &p.in.Attempts
	a.CertificateBefore = p.certificateBefore()
	p.in.Memory.Requested = &certificate.Sent{Request: *r, At: now}
	p.in.World.ManagedKnown, p.in.World.Managed = false, nil
	a.Last, a.CertificateETag = now, p.in.World.Tenant.ETag
	a.CertificateSeen, a.Certificate = now, &certificate.Managed{State: certificate.Pending, Host: r.ValidationTokenHost}
	if r.ValidationTokenHost == certificate.SelfHosted {
		a.CertificateSeen, a.Certificate = time.Time{}, nil
		p.in.Memory.Certificate = nil
	}
}

// certificateBefore is the ARN of the managed certificate as it was last seen.
func (p act) certificateBefore() string {
	seen := p.in.Memory.Certificates
	switch last := p.in.Attempts.Certificate; {
	case last != nil:
		return last.ARN
	case len(seen) > 0:
		return seen[len(seen)-1]
	}
	return ""
}

// missingReference tells the two meanings of "not found" in the answer to an update apart:
// a tenant that was read a moment ago is there, so that it refers to something that is not.
func (p act) missingReference(err error) error {
	missing, ok := errors.AsType[*fault.Error](err)
	if !ok || missing.Kind != fault.NotFound || !p.in.World.TenantFresh {
		return err
	}
	invalid := *missing
	invalid.Kind = fault.Invalid
	return &invalid
}

func (p act) tag(ctx context.Context, s distributiontenant.Tag) error {
	if err := p.account.Inventory.Tag(ctx, p.in.Desired.Name, s.ARN, s.Tags); err != nil {
		return err
	}
	p.in.Attempts.Sent(p.in.Generation, resource.WroteTags, p.Clock.Now())
	p.recallTags()
	return nil
}

func (p act) untag(ctx context.Context, s distributiontenant.Untag) error {
	if err := p.account.Inventory.Untag(ctx, p.in.Desired.Name, s.ARN, s.Keys); err != nil {
		return err
	}
	p.in.Attempts.Sent(p.in.Generation, resource.RemovedTags, p.Clock.Now())
	p.recallTags()
	return nil
}

// recallTags takes over what the inventory knows after a change of tags.
func (p *pass) recallTags() {
	known, w := p.account.Inventory.Known(p.in.Desired.Name), &p.in.World
	w.Tags, w.TagsKnown, w.TagsRead, w.TagsDue = known.Tags, known.TagsKnown, known.TagsRead, known.TagsDue
}

func (p act) disable(ctx context.Context, s distributiontenant.Disable) error {
	t, err := p.account.Inventory.Disable(ctx, p.in.Desired.Name, s)
	if err != nil {
		if fault.Is(err, fault.Invalid) && s.Whole == nil {
			p.in.Attempts.DisableRefused = true
			return nil
		}
		return err
	}
	p.wrote(t)
	return nil
}

func (p act) delete(ctx context.Context, s distributiontenant.Delete) error {
	err := p.account.Inventory.Delete(ctx, p.in.Desired.Name, s)
	switch {
	case fault.Is(err, fault.NotDisabled):
		p.in.Attempts.DeleteRefused = s.ETag
		if p.in.World.Tenant.Status != distributiontenant.Deployed {
			p.settlesFirst.Store(true)
		}
		return err
	case err != nil && !fault.Is(err, fault.NotFound):
		return err
	}
	// A tenant that is not found may be hidden by a read that lags. That AWS has deleted it is a proof.
	p.in.Attempts.DeletedAt, p.in.Attempts.Confirmed, p.in.World.Deleted = p.Clock.Now(), err == nil, true
	p.in.World.Knowledge, p.in.World.Tenant = resource.Nothing, nil
	if err == nil {
		p.in.World.Knowledge = resource.Absent
	}
	p.in.World.TagsKnown, p.in.World.TagsFresh, p.in.World.Tags = false, false, nil
	return nil
}

func (p act) deleteCertificate(ctx context.Context, s distributiontenant.DeleteCertificate) error {
	err := p.account.References.DeleteCertificate(ctx, s.ARN)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	p.in.World.Certificates[s.ARN] = distributiontenant.Certificate{ARN: s.ARN, Missing: true, Deleted: true}
	return nil
}

// wrote takes over the answer to an own write. An ETag that we moved ourselves says nothing about the certificate. It is
// not kept for tenants without a managed one, which most are.
func (p act) wrote(t distributiontenant.Observed) {
	a := &p.in.Attempts
	before := p.in.World.Tenant
	if p.in.ManagesCertificate() && (before == nil || cmp.Or(a.CertificateETag, p.in.Memory.ETag) == before.ETag) {
		a.CertificateETag = t.ETag
	}
	if p.in.World.Tenant == nil || p.in.World.Tenant.ConnectionGroupID != t.ConnectionGroupID {
		p.in.World.RoutingEndpoint, p.in.World.RoutingKnown = p.account.References.KnownEndpoint(t.ConnectionGroupID), false
		p.in.World.IPv6Known = false
	}
	p.in.World.Knowledge, p.in.World.Tenant = resource.Whole, &t
	a.Wrote, a.Doubted = t.Modified, time.Time{}
}
