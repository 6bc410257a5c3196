package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli/fleet"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli/moving"
)

// move makes the steps that are left, one after the other.
func (m mover) move(ctx context.Context, f moving.Facts) error {
	var err error
	for n, step := range moving.Make(f).Steps {
		if step.Done {
			continue
		}
		m.page().line("%d/%d %s", n+1, len(moving.Steps), step.What)
		switch step.Step {
		case moving.CreateClaim:
			err = m.createClaim(ctx, &f)
		case moving.AddDomain:
			err = m.patchDomains(ctx, f.To, moving.Adding(f.To, f.Domain))
		case moving.RemoveDomain:
			if moving.Wants(f.From, f.Domain) {
				err = m.patchDomains(ctx, f.From, moving.Removing(f.From, f.Domain))
			}
		case moving.WaitForMove, moving.WaitForRelease:
			err = m.await(ctx, &f, step.Step)
		case moving.DeleteClaim:
			if f.Claim != nil && moving.Made(f.Claim) {
				err = m.deleteClaim(ctx, f.Claim)
			}
		}
		if err != nil {
			return fmt.Errorf("%w. Run the command again to continue", err)
		}
	}
	m.page().line("%s is moved to %s", f.Domain, moving.Name(f.To))
	return nil
}

// createClaim creates the claim. An operator that is older than the plugin does not know its receiver, and would let every
// object of the namespace have the domain.
func (m mover) createClaim(ctx context.Context, f *moving.Facts) error {
	o := f.NewClaim()
	if err := m.k.Create(ctx, o, strictly); err != nil {
		return fmt.Errorf("creating the DomainClaim %s: %w", o.Name, m.unserved(ctx, err))
	}
	f.Claim = o
	return nil
}

// deleteClaim deletes a claim, and not another one that has taken its place.
func (m mover) deleteClaim(ctx context.Context, o *v1alpha1.DomainClaim) error {
	uid := o.UID
	if err := m.k.Delete(ctx, o, client.Preconditions{UID: &uid}); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("deleting the DomainClaim %s: %w", o.Name, err)
	}
	return nil
}

// patchDomains changes the domains of an object, if they are still as they were read.
func (m mover) patchDomains(ctx context.Context, o *v1alpha1.DistributionTenant, ops []moving.Op) error {
	raw, err := moving.JSON(ops)
	if err != nil {
		return err
	}
	// A failed test of the patch, and a spec that is not valid, are told by the API server in its own words.
	if err := m.k.Patch(ctx, o, client.RawPatch(types.JSONPatchType, raw)); err != nil {
		return fmt.Errorf("changing the domains of %s: %w", moving.Name(o), err)
	}
	return nil
}

// await waits until the objects show that a step is done, and says what they wait for.
func (m mover) await(ctx context.Context, f *moving.Facts, step moving.Step) error {
	last := map[types.UID]string{}
	for !f.Done(step) {
		from, err := m.watched(ctx, f.From)
		if err != nil {
			return m.unmoved(ctx, f, step, err)
		}
		to, err := m.watched(ctx, f.To)
		if err != nil {
			from.Stop()
			return m.unmoved(ctx, f, step, err)
		}
		err = m.follow(ctx, f, step, from, to, last)
		from.Stop()
		to.Stop()
		if err != nil {
			return m.unmoved(ctx, f, step, err)
		}
	}
	return nil
}

func (m mover) watched(ctx context.Context, o *v1alpha1.DistributionTenant) (watch.Interface, error) {
	return m.k.Watch(ctx, &v1alpha1.DistributionTenantList{}, client.InNamespace(o.Namespace), client.MatchingFields{"metadata.name": o.Name})
}

// follow takes over the objects until the step is done, or a watch has ended.
func (m mover) follow(ctx context.Context, f *moving.Facts, step moving.Step, from, to watch.Interface, last map[types.UID]string) error {
	for !f.Done(step) {
		var e watch.Event
		var open bool
		select {
		case <-ctx.Done():
			return ctx.Err()
		case e, open = <-from.ResultChan():
		case e, open = <-to.ResultChan():
		}
		if !open {
			return nil
		}
		now, ok := e.Object.(*v1alpha1.DistributionTenant)
		switch {
		case !ok:
			continue
		case e.Type == watch.Deleted && now.UID == f.From.UID:
			f.FormerDeleted()
			continue
		case e.Type == watch.Deleted:
			return fmt.Errorf("DistributionTenant %s was deleted", moving.Name(now))
		case now.UID == f.To.UID:
			f.To = now
		case now.UID == f.From.UID:
			f.From = now
		}
		m.say(step, f, now, last)
	}
	return nil
}

// say prints why the object that a step waits for is not ready, once.
func (m mover) say(step moving.Step, f *moving.Facts, now *v1alpha1.DistributionTenant, last map[types.UID]string) {
	if now.UID != awaited(step, f).UID {
		return
	}
	why := fleet.Of(now).Why()
	if line := why.Reason + ": " + why.Message; line != last[now.UID] && why.ObservedGeneration == now.Generation {
		last[now.UID] = line
		m.page().line("    %s", line)
	}
}

// awaited is the object that a step waits for.
func awaited(step moving.Step, f *moving.Facts) *v1alpha1.DistributionTenant {
	if step == moving.WaitForRelease {
		return f.From
	}
	return f.To
}

func (m mover) unmoved(ctx context.Context, f *moving.Facts, step moving.Step, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		o := awaited(step, f)
		return fmt.Errorf("the operator has not finished in time: see `kubectl cfdt explain %s -n %s`", o.Name, o.Namespace)
	}
	return fmt.Errorf("waiting for the operator: %w", err)
}

// write writes the changes for Git, and says when to merge which.
func (m mover) write(dir string, f moving.Facts) error {
	files, err := f.Changes()
	if err != nil {
		return err
	}
	if len(files) == 0 {
		fmt.Fprintf(m.Streams.Out, "no file is needed: %s\n", moving.Guide(f))
		return nil
	}
	for _, file := range files {
		if err := writeNew(filepath.Join(dir, file.Path), file.Text); err != nil {
			return err
		}
		fmt.Fprintln(m.Streams.Out, filepath.Join(dir, file.Path))
	}
	fmt.Fprintf(m.Streams.Out, "\n%s", moving.Guide(f))
	return nil
}

// writeNew writes a file that does not exist.
func writeNew(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s exists: choose another folder with --patches, or remove it", path)
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
