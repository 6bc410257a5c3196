package cli

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli/fleet"
)

func pauseCommand(s *session) *cobra.Command {
	return s.annotating("pause [KIND/]NAME...", "Stop all writes to AWS for an object",
		"Stop all writes to AWS for an object, its deletion included, until kubectl cfdt resume. It keeps serving, drift is still\n"+
			"shown, and its Synced condition says that it is paused. This sets the annotation cloudfront-tenant-operator.io/paused.\n"+
			"Without KIND, it is a DistributionTenant.",
		"  kubectl cfdt pause acme globex -n shop\n  kubectl cfdt pause distribution/platform -n edge",
		func(_ fleet.Item, value *string) (map[string]*string, string) {
			return map[string]*string{v1alpha1.AnnotationPaused: value}, "paused. It keeps serving. Resume with: kubectl cfdt resume"
		}, func() *string { return new(v1alpha1.PausedTrue) })
}

func resumeCommand(s *session) *cobra.Command {
	return s.annotating("resume [KIND/]NAME...", "Resume reconciliation of a paused object",
		"Resume reconciliation of a paused object. What has changed in the meantime is carried out at once.\n"+
			"Without KIND, it is a DistributionTenant.",
		"  kubectl cfdt resume acme -n shop\n  kubectl cfdt resume distribution/platform -n edge",
		func(fleet.Item, *string) (map[string]*string, string) {
			return map[string]*string{v1alpha1.AnnotationPaused: nil}, "resumed"
		}, func() *string { return nil })
}

func reconcileCommand(s *session) *cobra.Command {
	return s.annotating("reconcile [KIND/]NAME...", "Reconcile an object now",
		"Reconcile an object now, even if its next retry is later. A TenantSource polls its table.\n"+
			"Without KIND, it is a DistributionTenant.",
		"  kubectl cfdt reconcile acme -n shop\n  kubectl cfdt reconcile tenantsource/customers -n shop",
		func(i fleet.Item, value *string) (map[string]*string, string) {
			if i.Kind == "TenantSource" {
				return map[string]*string{v1alpha1.AnnotationSyncNow: value}, "asked to poll now"
			}
			return map[string]*string{v1alpha1.AnnotationReconcileNow: value}, "asked to reconcile now"
		}, func() *string { return new(s.Clock.Now().UTC().Format(time.RFC3339Nano)) })
}

// annotating makes a verb that sets annotations; one that is nil is removed.
func (s *session) annotating(use, shortText, long, example string, annotations func(i fleet.Item, value *string) (set map[string]*string, done string), value func() *string) *cobra.Command {
	return &cobra.Command{
		Use: use, GroupID: act, Short: shortText, Long: long, Example: example, Args: cobra.MinimumNArgs(1),
		RunE: run(func(ctx context.Context, args []string) error {
			for _, arg := range args {
				item, err := s.get(ctx, arg)
				if err != nil {
					return err
				}
				set, done := annotations(item, value())
				if err := s.annotate(ctx, item.Object, set); err != nil {
					return err
				}
				s.page().line("%s %s: %s", item.Kind, item.Name(), done)
			}
			return nil
		}),
	}
}

// annotate sets annotations of an object; one that is nil is removed.
func (s *session) annotate(ctx context.Context, o client.Object, set map[string]*string) error {
	c, err := s.client()
	if err != nil {
		return err
	}
	base, ok := o.DeepCopyObject().(client.Object)
	if !ok {
		return fmt.Errorf("%s can't be changed", o.GetName())
	}
	all := map[string]string{}
	maps.Copy(all, o.GetAnnotations())
	for key, value := range set {
		if value == nil {
			delete(all, key)
			continue
		}
		all[key] = *value
	}
	o.SetAnnotations(all)
	if err := c.Patch(ctx, o, client.MergeFrom(base)); err != nil {
		return fmt.Errorf("annotating %s: %w", o.GetName(), err)
	}
	return nil
}
