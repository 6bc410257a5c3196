package main

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/util/wait"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

const (
	// maxTenants keeps the made-up names and the control plane within bounds.
	maxTenants = 10000
	// writers is how many tenants are applied at the same time.
	writers = 8
	// reportEvery is how often the progress of many tenants is reported.
	reportEvery = 2 * time.Second
)

// runUp applies the samples, and what was asked for in addition, and keeps running.
func runUp(ctx context.Context, w *world) error {
	w.say.heading("Applying the samples")
	if err := w.kube.applySamples(ctx); err != nil {
		return err
	}
	if w.config.tenants > 0 {
		w.say.heading(fmt.Sprintf("Applying %d more tenants", w.config.tenants))
		if err := w.kube.applyMany(ctx, w.config.tenants); err != nil {
			return err
		}
	}
	if w.customers != nil {
		w.say.heading("Creating tenants from a database table")
		if err := w.kube.follow(ctx, upCustomers, w.customers.all); err != nil {
			return err
		}
	}
	if err := w.startPage(ctx); err != nil {
		return err
	}
	w.say.heading("Everything is running until Ctrl-C. In another terminal:")
	w.printSettings()
	w.say.gap()
	w.printCommands("")
	w.say.gap()
	w.say.line("page      %s, where a customer adds a domain, such as shop.%s", w.page, customerZone)
	w.say.line("logs      %s/*.log", w.logs)
	w.say.line("metrics   %s", w.metricsURL())
	<-ctx.Done()
	return context.Cause(ctx)
}

// applyMany makes tenants like the minimal sample and waits until all are Ready.
func (k *kube) applyMany(ctx context.Context, count int) error {
	began := time.Now()
	names := make([]string, count)
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for i := range names {
		names[i] = fmt.Sprintf("tenant-%05d", i+1)
		group.Go(func() error {
			o := byName(names[i])
			o.Spec = v1alpha1.DistributionTenantSpec{
				DistributionRef: &v1alpha1.ObjectReference{Name: platform},
				Domains:         []v1alpha1.TenantDomain{{Domain: names[i] + ".example.com"}},
			}
			if err := k.client.Create(groupCtx, o); err != nil {
				return fmt.Errorf("applying %s: %w", names[i], err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	k.w.say.line("applied after %s", since(began))
	return k.awaitMany(names, began)(ctx)
}

// awaitMany tells how many are Ready, as no table could.
func (k *kube) awaitMany(names []string, began time.Time) step {
	return func(ctx context.Context) error {
		told, all := 0, settled(names...)
		return wait.PollUntilContextCancel(ctx, reportEvery, true, func(ctx context.Context) (bool, error) {
			tenants, err := k.fleet(ctx)
			if err != nil {
				return false, err
			}
			missing := all(tenants)
			if ready := len(names) - len(missing); ready != told {
				told = ready
				k.w.say.line("%d of %d are Ready after %s", ready, len(names), since(began))
			}
			return len(missing) == 0, nil
		})
	}
}
