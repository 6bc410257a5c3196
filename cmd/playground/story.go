package main

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	corev1 "k8s.io/api/core/v1"
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

// story is the demo.
type story struct {
	*kube

	console *console
	say     *narrator
}

// runDemo tells the whole story.
func runDemo(ctx context.Context, w *world) error {
	s := &story{kube: w.kube, console: &console{w: w, sdk: w.aws.CloudFront()}, say: w.say}
	for i, chapter := range []struct {
		title string
		tell  step
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
	err := do(ctx,
		k.kubectl("apply", "-f", "config/samples", "-f", "config/samples/dns"),
		k.applyPlatform,
		k.applyCustomers,
		k.until("the samples have reached their final state", both(settled(minimal, full, disabled, withDNS, managed, apex, crossing, atCloudflare),
			with(v1alpha1.ConditionReady, []string{v1alpha1.ReasonPendingValidation}, hosted))),
	)
	k.samplesReady = time.Now()
	return err
}

func (s *story) create(ctx context.Context) error {
	return do(ctx,
		s.applySamples,
		s.tell("%s is not Ready on purpose: its domain still points to a web server elsewhere, which must validate it. The condition says how:", hosted),
		s.kubectl("get", "cfdt", hosted, "-o", readyMessage),
	)
}

func (s *story) look(ctx context.Context) error {
	return do(ctx,
		s.tell("The operator created the DNS records and requested the certificates. It lists its records in status, and never changes any other record:"),
		s.kubectl("get", "cfdt", apex, "-o", ledger),
		s.kubectl("get", "cfdt", apex, "-o", `jsonpath={range .status.conditions[*]}{.type}: {.message}{"\n"}{end}`),
		s.tell("Public DNS returns the records. The first domain uses the wildcard certificate of the distribution, the others a managed certificate each:"),
		s.lookup("with-dns.example.com"),
		s.lookup(managedDomain),
		s.lookup("example.net"),
		s.lookup("_cf-challenge.example.net", "TXT"),
		s.routed(true, "with-dns.example.com", managedDomain, "example.net", "www.example.net"),
	)
}

// routed wants that these names point to CloudFront, or do not.
func (s *story) routed(wanted bool, names ...string) step {
	return func(ctx context.Context) error {
		var routing map[string]string
		if err := s.w.aws.Control(ctx, http.MethodGet, "routing", nil, &routing); err != nil {
			return fmt.Errorf("checking which names point to CloudFront: %w", err)
		}
		for _, name := range names {
			if (routing[name] == endpoint) != wanted {
				return fmt.Errorf("public DNS returns %[2]q for %[1]s; pointing to %[3]s should be %[4]t", name, routing[name], endpoint, wanted)
			}
		}
		return nil
	}
}

func (s *story) change(ctx context.Context) error {
	return do(ctx,
		s.patch(full, `{"spec":{"parameters":[{"name":"tier","value":"platinum"},{"name":"origin","value":"full"}]}}`),
		func(ctx context.Context) error {
			var o v1alpha1.DistributionTenant
			if err := s.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: full}, &o); err != nil {
				return fmt.Errorf("reading %s: %w", full, err)
			}
			return s.until("the change is deployed", applied(full, o.Generation), full)(ctx)
		},
		s.kubectl("get", "cfdt", full, "-o", `jsonpath=generation {.metadata.generation}, applied {.status.appliedGeneration}{"\n"}`),
		s.console.show(fullInAWS, "DistributionTenant.Parameters", func(t *types.DistributionTenant) any { return t.Parameters }),
	)
}

func (s *story) patch(name, patch string) step {
	return s.kubectl("patch", "cfdt", name, "--type=merge", "-p", patch)
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
	return do(ctx,
		s.console.disable(minimal),
		s.tell("Its customers now get an error. The operator lists all tenants every %s here (5m by default) and compares them with the specs.", sweepInterval),
		s.await("an event DriftCorrected, for "+minimal, func(ctx context.Context) (bool, error) {
			var events corev1.EventList
			err := s.client.List(ctx, &events, client.InNamespace(namespace), client.MatchingFields{"involvedObject.name": minimal, "reason": "DriftCorrected"})
			return len(events.Items) > 0, err
		}, s.sayTenants(minimal)),
		s.kubectl("get", "events", "--field-selector=involvedObject.name="+minimal+",type=Warning", eventColumns),
		s.until("the correction is deployed", settled(minimal), minimal),
		s.console.show(minimal, "DistributionTenant.Enabled", func(t *types.DistributionTenant) any { return t.Enabled }),
	)
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
	ready := s.kubectl("get", "cfdt", shop, "-o", readyMessage)
	return do(ctx,
		s.tell("The API server rejects mistakes that are visible in the object itself:"),
		refused(s.apply(shopWith("Shop.example.com")), "the API server accepted a domain with capital letters"),
		s.tell("Other mistakes are reported in a condition. No certificate covers this domain:"),
		s.apply(shopWith("shop.example.org")),
		s.until("a condition names the domain",
			with(v1alpha1.ConditionReady, []string{v1alpha1.ReasonCertificateSANMismatch, v1alpha1.ReasonMissingCertificate}, shop), shop),
		ready,
		s.tell("Fix the spec. No restart is needed:"),
		s.patch(shop, `{"spec":{"domains":[{"domain":"shop.example.com"}]}}`),
		s.until("the corrected tenant is created", with(v1alpha1.ConditionSynced, []string{v1alpha1.ReasonInSync}, shop), shop),

		s.tell("The operator never overwrites records that it does not own. This name already has a record:"),
		s.patch(shop, fmt.Sprintf(`{"spec":{"domains":[{"domain":%q}],"dns":{"provider":"route53"}}}`, taken)),
		s.until("a condition names the record", with(v1alpha1.ConditionReady, []string{v1alpha1.ReasonDNSConflict}, shop), shop),
		ready,
		s.lookup(taken, "CNAME"),
		s.routed(false, taken),
	)
}

func (s *story) remove(ctx context.Context) error {
	tenants, err := s.fleet(ctx)
	if err != nil {
		return err
	}
	traces := []string{tenants[managed].Status.ID, tenants[managed].Status.CertificateARN, managedDomain}
	return do(ctx,
		s.tell("%s has a tenant, a DNS record and a certificate. This is the number of lines about it in the state of AWS:", managed),
		s.traces(traces, true),
		s.kubectl("delete", "cfdt", managed, "--wait=false"),
		s.tell("The DNS record is deleted first: if a name points to CloudFront without a tenant, someone else could claim it.\n"+
			"Then the tenant is disabled and deleted, and finally its certificate."),
		s.until("the tenant is deleted", deleted(managed), managed),
		s.await("AWS has nothing left of "+strings.Join(traces, ", "), func(ctx context.Context) (bool, error) {
			count, err := s.w.countInAWS(ctx, traces)
			return count == 0, err
		}, s.sayTenants(managed)),
		s.console.showGone(managed),
		s.lookup(managedDomain),
		s.traces(traces, false),
	)
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
func (s *story) traces(texts []string, wanted bool) step {
	return s.show("curl -s $AWS_ENDPOINT_URL/_sim/state | grep -c -e "+strings.Join(texts, " -e "), func(ctx context.Context) (string, error) {
		count, err := s.w.countInAWS(ctx, texts)
		if err == nil && count > 0 != wanted {
			err = fmt.Errorf("AWS has %d lines with %s", count, strings.Join(texts, ", "))
		}
		return strconv.Itoa(count), err
	})
}

// printSettings says how to get into this world.
func (w *world) printSettings() {
	w.say.line("export KUBECONFIG=%s", w.kubeconfig())
	w.say.line("export PATH=%s:%s:$PATH", w.binaries, filepath.Join(w.root, "bin"))
	w.say.line("export %s", strings.Join(w.awsEnv(), " "))
	w.say.line("export %s", strings.Join(w.providersEnv(), " "))
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
		"go run ./cmd/playground " + setCommand + " shop." + customerZone + " CNAME d111111abcdef8.cloudfront.net    # as the customer",
		"kubectl cfdt domain shop." + customerZone + " --dns-resolvers $" + resolverVariable + "    # after make plugin, once the domain was added on the page below",
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
		lines = append(lines, "kubectl get cfts "+sourceName+" -o wide --watch", db+quote(w.customers.all), db+quote(w.customers.insert), db+quote(w.customers.states),
			db+quote(w.customers.empty)+"    # nothing is deleted; see: kubectl describe cfts "+sourceName)
	}
	for _, line := range lines {
		w.say.line("%s", strings.TrimRight(indent+line, " "))
	}
}
