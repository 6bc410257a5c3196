package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli/fleet"
)

func invalidateCommand(s *session) *cobra.Command {
	var selector string
	var tags []string
	var wait bool
	var timeout time.Duration
	c := &cobra.Command{
		Use: "invalidate [NAME] [PATH...]", GroupID: act, Short: "Remove paths of a tenant from the caches",
		Long: "Remove paths of a tenant, or of the tenants that --selector selects, from the caches of CloudFront. This creates an\n" +
			"Invalidation, which the operator carries out. It is deleted automatically a day after it has finished. --wait also\n" +
			"tells when the last of several tenants is expected to be completed.",
		Example: "  kubectl cfdt invalidate acme '/img/*' /index.html -n shop --wait\n  kubectl cfdt invalidate acme --tag product:7 -n shop\n  kubectl cfdt invalidate --selector tier=gold '/*' -n shop",
	}
	c.Flags().StringVarP(&selector, "selector", "l", "", "labels of the tenants, instead of a NAME")
	c.Flags().StringSliceVar(&tags, "tag", nil, "remove what the origin has tagged so, can be used several times")
	c.Flags().BoolVar(&wait, "wait", false, "wait until AWS has completed it")
	c.Flags().DurationVar(&timeout, "timeout", 15*time.Minute, "how long to wait with --wait")
	c.RunE = run(func(ctx context.Context, args []string) error {
		o, err := s.invalidation(args, selector, tags)
		if err != nil {
			return err
		}
		k, err := s.client()
		if err != nil {
			return err
		}
		switch err := k.Create(ctx, o, strictly); {
		case meta.IsNoMatchError(err), apierrors.IsNotFound(err):
			return s.missing(ctx, o.Kind)
		case err != nil:
			return fmt.Errorf("creating the Invalidation: %w", s.unserved(ctx, err))
		}
		s.page().line("Invalidation %s/%s created", o.Namespace, o.Name)
		if !wait {
			return nil
		}
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		return s.await(ctx, k, o)
	})
	return c
}

// invalidation is the object that the arguments ask for.
func (s *session) invalidation(args []string, selector string, tags []string) (*v1alpha1.Invalidation, error) {
	namespace, err := s.cluster.namespace()
	if err != nil {
		return nil, err
	}
	o := &v1alpha1.Invalidation{ObjectMeta: metav1.ObjectMeta{Namespace: namespace}}
	o.Spec.Tags = tags
	o.SetGroupVersionKind(v1alpha1.SchemeGroupVersion.WithKind("Invalidation"))
	if selector == "" && len(args) == 0 {
		return nil, errors.New("say which tenant to invalidate, by its NAME or with --selector")
	}
	if selector != "" {
		parsed, err := metav1.ParseToLabelSelector(selector)
		if err != nil {
			return nil, fmt.Errorf("--selector: %w", err)
		}
		o.GenerateName, o.Spec.Selector, o.Spec.Paths = "invalidation-", parsed, args
		if len(args)+len(tags) == 0 {
			return nil, errors.New("say which paths to invalidate, such as '/*', or which --tag")
		}
		return o, nil
	}
	if len(args) < 2 && len(tags) == 0 {
		return nil, fmt.Errorf("say which paths of %s to invalidate, such as '/*'", args[0])
	}
	o.GenerateName, o.Spec.TenantRef, o.Spec.Paths = args[0]+"-", &v1alpha1.InvalidationTenantReference{Name: args[0]}, args[1:]
	return o, nil
}

// await waits until the invalidation has finished, and says what it is waiting for.
func (s *session) await(ctx context.Context, k client.WithWatch, o *v1alpha1.Invalidation) error {
	for last := ""; ; {
		w, err := k.Watch(ctx, &v1alpha1.InvalidationList{}, client.InNamespace(o.Namespace), client.MatchingFields{"metadata.name": o.Name})
		if err != nil {
			return s.unfinished(o, err)
		}
		finished, err := s.follow(w, o, &last)
		w.Stop()
		switch {
		case finished:
			return err
		case ctx.Err() != nil:
			return s.unfinished(o, ctx.Err())
		}
	}
}

func (s *session) unfinished(o *v1alpha1.Invalidation, err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("timed out waiting; the invalidation continues. See kubectl cfdt explain invalidation/%s -n %s", o.Name, o.Namespace)
	}
	return fmt.Errorf("waiting for the Invalidation, which continues: %w", err)
}

// follow prints each step until the invalidation has finished, or the watch has ended.
func (s *session) follow(w watch.Interface, o *v1alpha1.Invalidation, last *string) (finished bool, err error) {
	for e := range w.ResultChan() {
		now, ok := e.Object.(*v1alpha1.Invalidation)
		if !ok || now.UID != o.UID {
			continue
		}
		if e.Type == watch.Deleted {
			return true, fmt.Errorf("the Invalidation was deleted before it had finished")
		}
		why := fleet.Of(now).Why()
		if line := why.Reason + ": " + why.Message; line != *last && why.Reason != fleet.Unprocessed {
			*last = line
			s.page().line("%s", line)
		}
		if now.Status.CompletionTime != nil && why.Status == metav1.ConditionTrue && why.Type == v1alpha1.ConditionReady {
			return true, nil
		}
		if now.Status.CompletionTime != nil {
			return true, fmt.Errorf("%s: %s", why.Reason, why.Message)
		}
	}
	return false, nil
}
