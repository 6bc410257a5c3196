package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

// The samples, by the names of their objects.
const (
	minimal  = "minimal"
	full     = "full"
	disabled = "disabled"
	managed  = "managed-certificate"
	// fullInAWS is spec.tenantName of full.
	fullInAWS = "full-example"
	// shop is the object that the story gets wrong.
	shop = "shop"

	readyMessage = `jsonpath={.status.conditions[?(@.type=="Ready")].message}{"\n"}`
)

// story is the demo.
type story struct {
	w       *world
	kube    *kube
	console *console
	say     *narrator
}

// runDemo tells the whole story.
func runDemo(ctx context.Context, w *world) error {
	s := &story{w: w, kube: w.kube, console: newConsole(w), say: w.say}
	for i, chapter := range []struct {
		title string
		tell  func(context.Context) error
	}{
		{"Apply the samples", s.create},
		{"Change one", s.change},
		{"Somebody switches one off in the AWS console", s.drift},
		{"Get one wrong", s.mistakes},
		{"Delete one", s.remove},
		{"What it cost", s.cost},
	} {
		s.say.heading(fmt.Sprintf("%d. %s", i+1, chapter.title))
		if err := chapter.tell(ctx); err != nil {
			return err
		}
	}
	s.say.heading("7. Your turn")
	s.say.paragraph("This world ends here, after %s. The same one stays until Ctrl-C with:", s.say.elapsed())
	s.say.paragraph("    make playground")
	s.say.paragraph("It prints the settings that lead kubectl and aws of another terminal into it. There, try:")
	w.printCommands("    ")
	return nil
}

// applySamples applies them and waits until each is where it can get.
func (k *kube) applySamples(ctx context.Context) error {
	if err := k.show(ctx, "apply", "-f", "config/samples"); err != nil {
		return fmt.Errorf("applying the samples: %w", err)
	}
	return k.until(ctx, "the samples are as far as they get", both(settled(minimal, full, disabled),
		with(v1alpha1.ConditionReady, []string{v1alpha1.ReasonPendingValidation}, managed)))
}

func (s *story) create(ctx context.Context) error {
	if err := s.kube.applySamples(ctx); err != nil {
		return err
	}
	s.say.paragraph("%s is as far as it gets: nobody serves the challenge for its domain. Its condition says so:", managed)
	if err := s.kube.show(ctx, "get", "cfdt", managed, "-o", readyMessage); err != nil {
		return fmt.Errorf("reading %s: %w", managed, err)
	}
	return nil
}

func (s *story) change(ctx context.Context) error {
	patch := `{"spec":{"parameters":[{"name":"tier","value":"platinum"},{"name":"origin","value":"full"}]}}`
	if err := s.kube.show(ctx, "patch", "cfdt", full, "--type=merge", "-p", patch); err != nil {
		return fmt.Errorf("changing %s: %w", full, err)
	}
	var o v1alpha1.DistributionTenant
	if err := s.kube.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: full}, &o); err != nil {
		return fmt.Errorf("reading %s: %w", full, err)
	}
	if err := s.kube.until(ctx, "the change is deployed", applied(full, o.Generation)); err != nil {
		return err
	}
	columns := `jsonpath=generation {.metadata.generation}, observed {.status.observedGeneration}{"\n"}`
	if err := s.kube.show(ctx, "get", "cfdt", full, "-o", columns); err != nil {
		return fmt.Errorf("reading %s: %w", full, err)
	}
	return s.console.show(ctx, fullInAWS, "DistributionTenant.Parameters", func(t *types.DistributionTenant) any { return t.Parameters })
}

// applied is the goal that a generation was applied and deployed. Our watch may
// still show the one before it, deployed as well.
func applied(name string, generation int64) goal {
	rest := settled(name)
	return func(tenants fleet) []string {
		if o := tenants[name]; o == nil || o.Status.ObservedGeneration < generation {
			return []string{name}
		}
		return rest(tenants)
	}
}

func (s *story) drift(ctx context.Context) error {
	if err := s.console.disable(ctx, minimal); err != nil {
		return err
	}
	s.say.paragraph("Its customers get an error now. The operator lists all tenants every %s here (5m by default) and compares.", sweepInterval)
	if err := s.awaitEvent(ctx, minimal, "DriftCorrected"); err != nil {
		return err
	}
	err := s.kube.show(ctx, "get", "events", "--field-selector=involvedObject.name="+minimal+",type=Warning",
		"-o=custom-columns=REASON:.reason,MESSAGE:.message")
	if err != nil {
		return fmt.Errorf("reading events: %w", err)
	}
	if err := s.kube.until(ctx, "the correction is deployed", settled(minimal)); err != nil {
		return err
	}
	return s.console.show(ctx, minimal, "DistributionTenant.Enabled", func(t *types.DistributionTenant) any { return t.Enabled })
}

func (s *story) awaitEvent(ctx context.Context, name, reason string) error {
	err := wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		var events corev1.EventList
		fields := client.MatchingFields{"involvedObject.name": name, "reason": reason}
		if err := s.kube.client.List(ctx, &events, client.InNamespace(namespace), fields); err != nil {
			return false, fmt.Errorf("listing events: %w", err)
		}
		return len(events.Items) > 0, nil
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		tenants, listErr := s.kube.fleet(ctx)
		return errors.Join(s.kube.diagnose("an event "+reason, tenants, []string{name}), listErr)
	}
	return err
}

// shopWith is a tenant with one domain, as one writes it.
func shopWith(domain string) string {
	return fmt.Sprintf(`apiVersion: cloudfront-tenant-operator.io/v1alpha1
kind: DistributionTenant
metadata:
  name: %s
spec:
  distributionId: E2EXAMPLE1
  domains:
    - domain: %s
`, shop, domain)
}

// apply shows a manifest and what the API server says to it.
func (s *story) apply(ctx context.Context, manifest string) error {
	s.say.command("kubectl apply -f - <<EOF")
	s.say.line("%sEOF", manifest)
	out, err := s.kube.ctl(ctx, manifest, "apply", "-f", "-")
	s.say.output(out)
	return err
}

func (s *story) mistakes(ctx context.Context) error {
	s.say.paragraph("What one object can tell, the API server refuses:")
	if err := s.apply(ctx, shopWith("Shop.example.com")); err == nil {
		return errors.New("the API server took a domain with capital letters")
	}
	s.say.paragraph("What only AWS can tell, the condition says. No certificate covers this domain:")
	if err := s.apply(ctx, shopWith("shop.example.org")); err != nil {
		return fmt.Errorf("applying a tenant without a certificate: %w", err)
	}
	refused := []string{v1alpha1.ReasonCertificateSANMismatch, v1alpha1.ReasonMissingCertificate}
	if err := s.kube.until(ctx, "a condition names the domain", with(v1alpha1.ConditionReady, refused, shop)); err != nil {
		return err
	}
	if err := s.kube.show(ctx, "get", "cfdt", shop, "-o", readyMessage); err != nil {
		return fmt.Errorf("reading %s: %w", shop, err)
	}
	s.say.paragraph("The cure needs no restart and no patience:")
	patch := `{"spec":{"domains":[{"domain":"shop.example.com"}]}}`
	if err := s.kube.show(ctx, "patch", "cfdt", shop, "--type=merge", "-p", patch); err != nil {
		return fmt.Errorf("correcting %s: %w", shop, err)
	}
	// That it is deployed is seen beside the next chapter.
	return s.kube.until(ctx, "the corrected tenant is created", with(v1alpha1.ConditionSynced, []string{v1alpha1.ReasonInSync}, shop))
}

func (s *story) remove(ctx context.Context) error {
	if err := s.kube.show(ctx, "delete", "cfdt", minimal, "--wait=false"); err != nil {
		return fmt.Errorf("deleting %s: %w", minimal, err)
	}
	s.say.paragraph("AWS deletes only what is disabled, so it is disabled first.")
	deleted := func(tenants fleet) []string {
		if o := tenants[minimal]; o != nil && !has(o, v1alpha1.ConditionReady, v1alpha1.ReasonDeleting) {
			return []string{minimal}
		}
		return nil
	}
	if err := s.kube.until(ctx, "the tenant is disabled and deleted", both(deleted, settled(shop))); err != nil {
		return err
	}
	if err := s.awaitAbsence(ctx, minimal); err != nil {
		return err
	}
	if err := s.console.showGone(ctx, minimal); err != nil {
		return err
	}
	tenants, err := s.kube.fleet(ctx)
	if err != nil || tenants[minimal] == nil {
		return err
	}
	s.say.paragraph("The object itself goes two minutes after its tenant was created, when no late answer can surprise the operator:")
	if err := s.kube.show(ctx, "get", "cfdt", minimal, "-o", readyMessage); err != nil {
		return fmt.Errorf("reading %s: %w", minimal, err)
	}
	return nil
}

// awaitAbsence waits until AWS has no tenant of this name.
func (s *story) awaitAbsence(ctx context.Context, name string) error {
	err := wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		names, err := s.w.tenantNames(ctx)
		return !slices.Contains(names, name), err
	})
	if err != nil {
		return fmt.Errorf("waiting until AWS has no tenant %s: %w", name, err)
	}
	return nil
}

// printSettings says how to get into this world.
func (w *world) printSettings() {
	w.say.line("export KUBECONFIG=%s", w.kubeconfig())
	w.say.line("export PATH=%s:$PATH", w.binaries)
	w.say.line("export %s", strings.Join(w.awsEnv(), " "))
	w.say.line("unset AWS_PROFILE")
}

// printCommands says what one can do in this world.
func (w *world) printCommands(indent string) {
	for _, line := range []string{
		"kubectl get cfdt -o wide --watch",
		"kubectl describe cfdt " + full,
		"kubectl edit cfdt " + full,
		"kubectl explain cfdt.spec",
		"aws cloudfront list-distribution-tenants     # if you have the aws command",
		"curl $AWS_ENDPOINT_URL/_sim/calls",
	} {
		w.say.line("%s", strings.TrimRight(indent+line, " "))
	}
}
