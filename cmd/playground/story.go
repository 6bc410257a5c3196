package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
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
	withDNS  = "with-dns"
	managed  = "managed-certificate"
	apex     = "apex"
	crossing = "cross-account"
	hosted   = "self-hosted"
	// fullInAWS is spec.tenantName of full.
	fullInAWS = "full-example"
	// shop is the object that the story gets wrong.
	shop = "shop"

	managedDomain = "managed.example.net"
	// taken is a name whose record in the seed belongs to someone else, and endpoint is where records of ours lead.
	taken    = "taken.example.com"
	endpoint = "d111111abcdef8.cloudfront.net"

	readyMessage = `jsonpath={.status.conditions[?(@.type=="Ready")].message}{"\n"}`
	ledger       = `jsonpath={range .status.dns.records[*]}{.type} {.name} -> {.value} ({.state}){"\n"}{end}`
)

// questions are what public DNS is asked about names that lead to CloudFront.
var questions = [][]string{{"with-dns.example.com"}, {managedDomain}, {"example.net"}, {"_cf-challenge.example.net", "TXT"}}

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
		{"Look at certificates and DNS", s.look},
		{"Change a tenant", s.change},
		{"Disable a tenant in AWS, outside of Kubernetes", s.drift},
		{"Make a mistake", s.mistakes},
		{"Delete a tenant", s.remove},
		{"Count the AWS calls", s.cost},
		{"Create tenants from a database table", s.fleetOfTable},
		{"Give each customer a namespace", s.namespaces},
		{"Change a record at Cloudflare, outside of Kubernetes", s.atAnotherProvider},
		{"Delete everything, in any order", s.clear},
	} {
		s.say.heading(fmt.Sprintf("%d. %s", i+1, chapter.title))
		if err := chapter.tell(ctx); err != nil {
			return err
		}
	}
	s.say.heading("12. Your turn")
	s.say.paragraph("The demo ends here, after %s. To start the same environment and keep it until Ctrl-C, run:", s.say.elapsed())
	s.say.paragraph("    make playground")
	s.say.paragraph("It prints the settings for kubectl and aws in another terminal. There, try:")
	w.printCommands("    ")
	return nil
}

// applySamples applies them and waits until each is where it can get.
func (k *kube) applySamples(ctx context.Context) error {
	if err := k.show(ctx, "apply", "-f", "config/samples", "-f", "config/samples/dns"); err != nil {
		return fmt.Errorf("applying the samples: %w", err)
	}
	if err := k.applyPlatform(ctx); err != nil {
		return err
	}
	if err := k.applyCustomers(ctx); err != nil {
		return err
	}
	err := k.until(ctx, "the samples have reached their final state", both(settled(minimal, full, disabled, withDNS, managed, apex, crossing, atCloudflare),
		with(v1alpha1.ConditionReady, []string{v1alpha1.ReasonPendingValidation}, hosted)))
	k.samplesReady = time.Now()
	return err
}

func (s *story) create(ctx context.Context) error {
	if err := s.kube.applySamples(ctx); err != nil {
		return err
	}
	s.say.paragraph("%s is not Ready on purpose: its domain still points to a web server elsewhere, which must validate it. The condition says how:", hosted)
	if err := s.kube.show(ctx, "get", "cfdt", hosted, "-o", readyMessage); err != nil {
		return fmt.Errorf("reading %s: %w", hosted, err)
	}
	return nil
}

func (s *story) look(ctx context.Context) error {
	s.say.paragraph("The operator created the DNS records and requested the certificates. It lists its records in status, and never changes any other record:")
	if err := s.kube.show(ctx, "get", "cfdt", apex, "-o", ledger); err != nil {
		return fmt.Errorf("reading %s: %w", apex, err)
	}
	columns := `jsonpath={range .status.conditions[*]}{.type}: {.message}{"\n"}{end}`
	if err := s.kube.show(ctx, "get", "cfdt", apex, "-o", columns); err != nil {
		return fmt.Errorf("reading %s: %w", apex, err)
	}
	s.say.paragraph("Public DNS returns the records. The first domain uses the wildcard certificate of the distribution, the others a managed certificate each:")
	for _, question := range questions {
		if err := s.lookup(ctx, question...); err != nil {
			return err
		}
	}
	return s.routed(ctx, map[string]bool{"with-dns.example.com": true, managedDomain: true, "example.net": true, "www.example.net": true})
}

// routed wants that these names lead to CloudFront, or do not.
func (s *story) routed(ctx context.Context, wanted map[string]bool) error {
	var routing map[string]string
	if err := s.w.sim(ctx, "routing", &routing); err != nil {
		return fmt.Errorf("checking which names point to CloudFront: %w", err)
	}
	for name, leads := range wanted {
		if (routing[name] == endpoint) != leads {
			return fmt.Errorf("public DNS returns %[2]q for %[1]s; pointing to %[3]s should be %[4]t", name, routing[name], endpoint, leads)
		}
	}
	return nil
}

// lookup shows what public DNS answers.
func (s *story) lookup(ctx context.Context, question ...string) error {
	s.say.command("go run ./cmd/playground lookup " + strings.Join(question, " "))
	answer, err := lookup(ctx, s.w.nameServers(), question...)
	if err != nil {
		return err
	}
	s.say.output(answer)
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
	if err := s.kube.until(ctx, "the change is deployed", applied(full, o.Generation), full); err != nil {
		return err
	}
	columns := `jsonpath=generation {.metadata.generation}, applied {.status.appliedGeneration}{"\n"}`
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
		if o := tenants[name]; o == nil || o.Status.AppliedGeneration == nil || *o.Status.AppliedGeneration < generation {
			return []string{name}
		}
		return rest(tenants)
	}
}

func (s *story) drift(ctx context.Context) error {
	if err := s.console.disable(ctx, minimal); err != nil {
		return err
	}
	s.say.paragraph("Its customers now get an error. The operator lists all tenants every %s here (5m by default) and compares them with the specs.", sweepInterval)
	if err := s.awaitEvent(ctx, minimal, "DriftCorrected"); err != nil {
		return err
	}
	err := s.kube.show(ctx, "get", "events", "--field-selector=involvedObject.name="+minimal+",type=Warning",
		"-o=custom-columns=REASON:.reason,MESSAGE:.message")
	if err != nil {
		return fmt.Errorf("reading events: %w", err)
	}
	if err := s.kube.until(ctx, "the correction is deployed", settled(minimal), minimal); err != nil {
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
  distributionRef:
    name: %s
  domains:
    - domain: %s
`, shop, platform, domain)
}

func (s *story) mistakes(ctx context.Context) error {
	s.say.paragraph("The API server rejects mistakes that are visible in the object itself:")
	if err := s.kube.apply(ctx, shopWith("Shop.example.com")); err == nil {
		return errors.New("the API server accepted a domain with capital letters")
	}
	s.say.paragraph("Other mistakes are reported in a condition. No certificate covers this domain:")
	if err := s.kube.apply(ctx, shopWith("shop.example.org")); err != nil {
		return fmt.Errorf("applying a tenant without a certificate: %w", err)
	}
	refused := []string{v1alpha1.ReasonCertificateSANMismatch, v1alpha1.ReasonMissingCertificate}
	if err := s.kube.until(ctx, "a condition names the domain", with(v1alpha1.ConditionReady, refused, shop), shop); err != nil {
		return err
	}
	if err := s.kube.show(ctx, "get", "cfdt", shop, "-o", readyMessage); err != nil {
		return fmt.Errorf("reading %s: %w", shop, err)
	}
	s.say.paragraph("Fix the spec. No restart is needed:")
	patch := `{"spec":{"domains":[{"domain":"shop.example.com"}]}}`
	if err := s.kube.show(ctx, "patch", "cfdt", shop, "--type=merge", "-p", patch); err != nil {
		return fmt.Errorf("correcting %s: %w", shop, err)
	}
	if err := s.kube.until(ctx, "the corrected tenant is created", with(v1alpha1.ConditionSynced, []string{v1alpha1.ReasonInSync}, shop), shop); err != nil {
		return err
	}
	return s.conflict(ctx)
}

// conflict asks for a name whose record someone else created.
func (s *story) conflict(ctx context.Context) error {
	s.say.paragraph("The operator never overwrites records that it does not own. This name already has a record:")
	patch := fmt.Sprintf(`{"spec":{"domains":[{"domain":%q}],"dns":{"provider":"route53"}}}`, taken)
	if err := s.kube.show(ctx, "patch", "cfdt", shop, "--type=merge", "-p", patch); err != nil {
		return fmt.Errorf("applying a tenant with a name that has a record: %w", err)
	}
	if err := s.kube.until(ctx, "a condition names the record", with(v1alpha1.ConditionReady, []string{v1alpha1.ReasonDNSConflict}, shop), shop); err != nil {
		return err
	}
	if err := s.kube.show(ctx, "get", "cfdt", shop, "-o", readyMessage); err != nil {
		return fmt.Errorf("reading %s: %w", shop, err)
	}
	if err := s.lookup(ctx, taken, "CNAME"); err != nil {
		return err
	}
	return s.routed(ctx, map[string]bool{taken: false})
}

func (s *story) remove(ctx context.Context) error {
	tenants, err := s.kube.fleet(ctx)
	if err != nil {
		return err
	}
	traces := []string{tenants[managed].Status.ID, tenants[managed].Status.CertificateARN, managedDomain}
	s.say.paragraph("%s has a tenant, a DNS record and a certificate. This is the number of lines about it in the state of AWS:", managed)
	if err := s.traces(ctx, traces, true); err != nil {
		return err
	}
	if err := s.kube.show(ctx, "delete", "cfdt", managed, "--wait=false"); err != nil {
		return fmt.Errorf("deleting %s: %w", managed, err)
	}
	s.say.paragraph("The DNS record is deleted first: if a name points to CloudFront without a tenant, someone else could claim it.\n" +
		"Then the tenant is disabled and deleted, and finally its certificate.")
	if err := s.kube.until(ctx, "the tenant is deleted", deleted(managed), managed); err != nil {
		return err
	}
	if err := s.awaitNothingOf(ctx, traces); err != nil {
		return err
	}
	if err := s.console.showGone(ctx, managed); err != nil {
		return err
	}
	if err := s.lookup(ctx, managedDomain); err != nil {
		return err
	}
	return s.traces(ctx, traces, false)
}

// deleted is the goal that AWS has accepted the deletion.
func deleted(name string) goal {
	return func(tenants fleet) []string {
		if o := tenants[name]; o != nil && (o.Status.DistributionTenantStatus != "" || !has(o, v1alpha1.ConditionReady, v1alpha1.ReasonDeleting)) {
			return []string{name}
		}
		return nil
	}
}

// traces shows how many lines of all that AWS holds have one of the texts, and wants that
// there are some, or none.
func (s *story) traces(ctx context.Context, texts []string, wanted bool) error {
	s.say.command("curl -s $AWS_ENDPOINT_URL/_sim/state | grep -c -e " + strings.Join(texts, " -e "))
	count, err := s.w.countInAWS(ctx, texts)
	if err != nil {
		return err
	}
	s.say.output(strconv.Itoa(count))
	if count > 0 != wanted {
		return fmt.Errorf("AWS has %d lines with %s", count, strings.Join(texts, ", "))
	}
	return nil
}

// awaitNothingOf waits until nothing that AWS holds has one of the texts.
func (s *story) awaitNothingOf(ctx context.Context, texts []string) error {
	err := wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		count, err := s.w.countInAWS(ctx, texts)
		return count == 0, err
	})
	if err != nil {
		return fmt.Errorf("waiting until AWS has nothing left of %s: %w", strings.Join(texts, ", "), err)
	}
	return nil
}

// printSettings says how to get into this world.
func (w *world) printSettings() {
	w.say.line("export KUBECONFIG=%s", w.kubeconfig())
	w.say.line("export PATH=%s:$PATH", w.binaries)
	w.say.line("export %s", strings.Join(w.awsEnv(), " "))
	w.say.line("export %s", strings.Join(w.cloudflareEnv(), " "))
	if w.customers != nil {
		w.say.line("export %s='%s'", dbVariable, w.customers.owner)
	}
	w.say.line("unset AWS_PROFILE")
}

// printCommands says what one can do in this world.
func (w *world) printCommands(indent string) {
	lines := []string{
		"kubectl get cfdt -o wide --watch",
		"kubectl describe cfdt " + full,
		"kubectl describe cfd " + platform,
		"kubectl delete cfd,cfcg --all --wait=false    # nothing is deleted while there are tenants; see: kubectl get cfd,cfcg -o wide",
		"kubectl edit cfdt " + full,
		"kubectl explain cfdt.spec",
		"kubectl get cfdt " + apex + " -o yaml",
		"kubectl get tenantplans,tenants -o wide",
		"kubectl get quota,limits,netpol,rolebindings,cfdt -n " + proTenant,
		"kubectl patch tenant " + proTenant + " --type=merge -p '{\"spec\":{\"plan\":\"basic\"}}'    # then list its namespace again",
		"go run ./cmd/playground lookup example.net    # or: dig @${PLAYGROUND_DNS%:*} -p ${PLAYGROUND_DNS#*:} example.net",
		"aws cloudfront list-distribution-tenants      # if you have the aws command",
		"aws route53 list-resource-record-sets --hosted-zone-id Z0EXAMPLENET",
		"curl -s $AWS_ENDPOINT_URL/_sim/calls",
		"go run ./cmd/playground lookup " + shopDomain + " CNAME    # or: dig @${" + cloudflareDNSVariable + "%:*} -p ${" + cloudflareDNSVariable + "#*:} " + shopDomain,
		w.cloudflare.curl("", "?type=CNAME"),
	}
	if _, id := w.cloudflare.record(); id != "" {
		lines = append(lines, w.cloudflare.curl(" -X PATCH", "/"+id)+` -d '{"content": "`+elsewhere+`"}'`,
			"kubectl annotate cfdt "+atCloudflare+" --overwrite "+v1alpha1.AnnotationReconcileNow+`="$(date +%s)"    # corrects it, if the zone was not listed in the last minute`)
	}
	if w.customers != nil {
		db := "go run ./cmd/playground " + dbCommand + " "
		lines = append(lines, "kubectl get cfts "+sourceName+" -o wide --watch", db+quote(w.customers.all), db+quote(w.customers.insert),
			db+quote(w.customers.empty)+"    # nothing is deleted; see: kubectl describe cfts "+sourceName)
	}
	for _, line := range lines {
		w.say.line("%s", strings.TrimRight(indent+line, " "))
	}
}
