package chart_test

import (
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/yaml"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/config"
)

// Each flag is reached by a value, or there is a reason why not.
func TestEveryFlagIsReached(t *testing.T) {
	r := render(t, `
replicas: 1
watchNamespaces: [team-a, team-b]
aws:
  region: eu-west-1
  rate: 2.5
  burst: 21
  defaultTags: {a: b, c: d e}
  route53: {rate: 3, burst: 22}
  acm: {rate: 1.5, burst: 23}
  invalidations: {rate: 0.25, burst: 24}
  allowedRoles: ["arn:aws:iam::111122223333:role/dns-*", "arn:aws:iam::*:role/tenant-dns"]
  dnsResolvers: ["1.1.1.1:53", "[2606:4700:4700::1111]:53"]
  watchDomains: false
  dynamoDBEndpoint: http://dynamodb.example.com:8000
dns: {accounts: [{name: main, provider: cloudflare, secretName: cloudflare-main}]}
controller:
  domainClaims: {hold: 24h, holdCustomer: 480h}
  invalidation: {pathsPerDay: 25}
  tenantSource: {targetNamespaces: [team-a, team-a/team-b], readTimeout: 90s, firstRowTimeout: 20s, maxRows: 1000000, maxWatches: 0, readMemory: 1Gi, allowDial: [10.43.0.1, "fe80::/10"]}
  clusterID: prod
  driftPolicy: suspend
  sweepInterval: 7m
  maxConcurrentReconciles: 3
  leaderElect: false
  leaderElectionNamespace: team-a
  pprofAddress: localhost:6060
  log: {level: debug, encoder: console, stacktraceLevel: error, timeEncoding: millis}
metrics: {port: 9443, secure: false, http2: true, cert: {secretName: cert, certName: a.crt, keyName: a.key}}
probes: {port: 9000}
clusterCheck: {copyNamespace: kube-public}
grants: {mode: Audit, default: {kinds: [DistributionTenant], distributions: null, connectionGroups: null, domains: null, wildcards: null, dns: null, certificates: null, webAcls: null, sources: null, keyValueStores: null, geoRestrictions: null, origins: null, functions: null, keyGroups: null, fieldLevelEncryptions: null, logBuckets: null}}
deletionBudget: {settle: 20s, settleMax: 2m, window: 3h, max: 4, maxPercent: 6, ceilingPercent: 30, namespace: {max: 7, maxPercent: 40}, tenants: {max: 2, maxPercent: 1}}
rollout: {canaries: 3, pause: 2m, maxFailedPercent: 20}
webhook: {enabled: true, port: 9445, deny: [dns, parameters], dnsResolvers: ["9.9.9.9:53"]}
extraArgs: [--zap-devel=true]
`)
	want := map[string]string{
		"aws-burst": "21", "aws-rate": "2.5", "aws-region": "eu-west-1", "cluster-id": "prod", "controllers": "distributiontenant,tenantsource,distribution,connectiongroup,invalidation",
		"tenantsource-target-namespaces": "team-a,team-a/team-b", "tenantsource-read-timeout": "90s", "tenantsource-first-row-timeout": "20s", "tenantsource-max-rows": "1000000", "tenantsource-max-watches": "0", "tenantsource-read-memory": "1Gi", "tenantsource-allow-dial": "10.43.0.1,fe80::/10",
		"dynamodb-endpoint": "http://dynamodb.example.com:8000",
		"acm-rate":          "1.5", "acm-burst": "23", "route53-rate": "3", "route53-burst": "22",
		"invalidation-rate": "0.25", "invalidation-burst": "24", "invalidation-paths-per-day": "25",
		"allowed-roles": "arn:aws:iam::111122223333:role/dns-*,arn:aws:iam::*:role/tenant-dns", "dns-resolvers": "1.1.1.1:53,[2606:4700:4700::1111]:53", "watch-domains": "false", "dns-accounts": "/etc/dns-accounts/accounts.yaml",
		"default-tags": "a=b,c=d e", "drift-policy": "suspend", "enable-http2": "true", "health-probe-bind-address": ":9000",
		"leader-elect": "false", "leader-election-namespace": "team-a", "max-concurrent-reconciles": "3", "metrics-bind-address": ":9443",
		"metrics-cert-key": "a.key", "metrics-cert-name": "a.crt", "metrics-cert-path": "/etc/metrics-cert", "metrics-secure": "false",
		"pprof-bind-address": "localhost:6060", "sweep-interval": "7m", "watch-namespaces": "team-a,team-b",
		"zap-encoder": "console", "zap-log-level": "debug", "zap-stacktrace-level": "error", "zap-time-encoding": "millis",
		"reserved-namespaces": "kube-*,mesh", "tenant-namespaces": "user-*,shop", "min-pod-security": "restricted",
		"cluster-check": "true", "cluster-check-copy-namespace": "kube-public",
		"grants": "Audit", "default-grant": `{"kinds":["DistributionTenant"]}`,
		"domain-claims": "true", "domain-hold": "24h", "domain-hold-customer": "480h",
		"deletion-budget": "true", "deletion-budget-settle": "20s", "deletion-budget-settle-max": "2m", "deletion-budget-window": "3h",
		"deletion-budget-max": "4", "deletion-budget-max-percent": "6", "deletion-budget-ceiling-percent": "30",
		"deletion-budget-namespace-max": "7", "deletion-budget-namespace-max-percent": "40",
		"deletion-budget-tenants-max": "2", "deletion-budget-tenants-max-percent": "1",
		"rollout": "true", "rollout-canaries": "3", "rollout-pause": "2m", "rollout-max-failed-percent": "20",
		"webhook-bind-address": ":9445", "webhook-name": release, "webhook-deny": "dns,parameters", "webhook-dns": "9.9.9.9:53",
		"check":     "true", // by helm test
		"zap-devel": "true", // for developers only: by extraArgs, as any flag can be
	}
	got := map[string]string{}
	// Tenants' namespaces can't be among those that are watched.
	for _, arg := range append(render(t, "tenancy: {enabled: true, namespaces: [user-*, shop], reservedNamespaces: [kube-*, mesh], minPodSecurity: restricted}").container(t).Args, slices.Concat(r.container(t).Args, r.testPod(t).Spec.Containers[0].Args)...) {
		name, value, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		got[name] = value
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the flags (-want +got):\n%s", diff)
	}
	known := map[string]bool{}
	for _, f := range config.Flags() {
		known[f.Name] = true
	}
	logs := flag.NewFlagSet("logs", flag.ContinueOnError)
	(&zap.Options{}).BindFlags(logs)
	logs.VisitAll(func(f *flag.Flag) { known[f.Name] = true })
	if diff := cmp.Diff(slices.Sorted(maps.Keys(known)), slices.Sorted(maps.Keys(want))); diff != "" {
		t.Errorf("give each of the operator's flags a value in the chart, and a line here (-operator +chart):\n%s", diff)
	}
}

// A wrong value is refused before anything is sent, and the message names it.
func TestWrongValuesAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ values, message string }{
		"a value that doesn't exist":          {"controler: {}", "additional properties 'controler' not allowed"},
		"one that doesn't exist further down": {"aws: {regoin: x}", "at '/aws': additional properties 'regoin' not allowed"},
		"no member of an enumeration":         {"controller: {driftPolicy: repair}", "at '/controller/driftPolicy': value must be one of 'enforce', 'report', 'suspend'"},
		"a controller that doesn't exist":     {"controller: {controllers: [tenants]}", "at '/controller/controllers/0': value must be one of 'distributiontenant', 'tenantsource', 'distribution', 'connectiongroup', 'invalidation'"},
		"no controller":                       {"controller: {controllers: []}", "controller.controllers is empty: nothing would run"},
		"the controller of customers":         {"controller: {controllers: [tenant]}", "controller.controllers: tenant is turned on by tenancy.enabled"},
		"customers in some namespaces":        {"watchNamespaces: [a, b]\ntenancy: {enabled: true}", "tenancy.enabled is true, but watchNamespaces is a,b: tenants create namespaces"},
		"policies that are not used":          {"tenancy: {constraintTemplates: {enabled: true}}", "tenancy.constraintTemplates.enabled is true, but tenancy.enabled is false"},
		"no reserved names":                   {"tenancy: {reservedNamespaces: []}", "at '/tenancy/reservedNamespaces': minItems: got 0, want 1"},
		"a star inside a reserved name":       {"tenancy: {reservedNamespaces: ['kube-*-x']}", "at '/tenancy/reservedNamespaces/0': 'kube-*-x' does not match pattern"},
		"every name for customers":            {"tenancy: {namespaces: ['*']}", "at '/tenancy/namespaces/0': '*' does not match pattern"},
		"every role for customers":            {"tenancy: {ownerClusterRoles: ['*']}", "at '/tenancy/ownerClusterRoles/0': '*' does not match pattern"},
		"a kind of constraints in capitals":   {"tenancy: {gatekeeper: {constraints: [KleffPodSecurity]}}", "at '/tenancy/gatekeeper/constraints/0': 'KleffPodSecurity' does not match pattern"},
		"a number that is too small":          {"controller: {maxConcurrentReconciles: 0}", "at '/controller/maxConcurrentReconciles': minimum: got 0, want 1"},
		"a burst that lets no call through":   {"aws: {burst: 1}", "at '/aws/burst': minimum: got 1, want 2"},
		"a rate of nothing":                   {"aws: {rate: 0}", "at '/aws/rate': minimum: got 0, want 0.1"},
		"a rate of nothing, below":            {"aws: {route53: {rate: 0}}", "at '/aws/route53/rate': minimum: got 0, want 0.1"},
		"a role that is none":                 {"aws: {allowedRoles: [admin]}", "at '/aws/allowedRoles/0': 'admin' does not match pattern"},
		"a resolver without a port":           {"aws: {dnsResolvers: [1.1.1.1]}", "at '/aws/dnsResolvers/0': '1.1.1.1' does not match pattern"},
		"a check that doesn't exist":          {"webhook: {deny: [tls]}", "at '/webhook/deny/0': value must be one of 'not-granted', 'domain-taken', 'unknown-distribution', 'parameters', 'dns'"},
		"a webhook that knows no tenants":     {"webhook: {enabled: true}\ncontroller: {controllers: [distribution]}", "webhook.enabled is true, but controller.controllers does not include distributiontenant"},
		"a port that is none":                 {"metrics: {port: 70000}", "at '/metrics/port': maximum: got 70,000, want 65,535"},
		"a number instead of a duration":      {"controller: {sweepInterval: 300}", "at '/controller/sweepInterval': got number, want string"},
		"no duration":                         {"controller: {sweepInterval: 5 minutes}", "at '/controller/sweepInterval': '5 minutes' does not match pattern"},
		"a duration that is too short":        {"controller: {sweepInterval: 9s}", "controller.sweepInterval: 9s is too short; use at least 10s"},
		"a target that is no namespace":       {"controller: {tenantSource: {targetNamespaces: [a/b/c]}}", "at '/controller/tenantSource/targetNamespaces/0': 'a/b/c' does not match pattern"},
		"a target that is not watched":        {"watchNamespaces: [a]\ncontroller: {tenantSource: {targetNamespaces: [a/b]}}", "controller.tenantSource.targetNamespaces: a/b names the namespace b, which the operator does not watch"},
		"no time for reading":                 {"controller: {tenantSource: {readTimeout: 0s}}", "controller.tenantSource.readTimeout: 0s is too short; use at least 1s"},
		"memory without a unit":               {"controller: {tenantSource: {readMemory: '64'}}", "at '/controller/tenantSource/readMemory': '64' does not match pattern"},
		"a name to dial":                      {"controller: {tenantSource: {allowDial: [localhost]}}", "at '/controller/tenantSource/allowDial/0': 'localhost' does not match pattern"},
		"no rows":                             {"controller: {tenantSource: {maxRows: 0}}", "at '/controller/tenantSource/maxRows': minimum: got 0, want 1"},
		"fewer than no watches":               {"controller: {tenantSource: {maxWatches: -1}}", "at '/controller/tenantSource/maxWatches': minimum: got -1, want 0"},
		"an endpoint that is no URL":          {"aws: {dynamoDBEndpoint: 'localhost:8000'}", "at '/aws/dynamoDBEndpoint': 'localhost:8000' does not match pattern"},
		"a database's port that is none":      {"networkPolicy: {databasePorts: [postgres]}", "at '/networkPolicy/databasePorts/0': got string, want integer"},
		"no digest":                           {"image: {digest: latest}", "at '/image/digest': 'latest' does not match pattern"},
		"no namespace":                        {"watchNamespaces: [Team]", "at '/watchNamespaces/0': 'Team' does not match pattern"},
		"one namespace for a list":            {"watchNamespaces: team-a", "at '/watchNamespaces': got string, want array"},
		"a namespace twice":                   {"watchNamespaces: [a, a]", "at '/watchNamespaces': items at 0 and 1 are equal"},
		"every namespace's secrets":           {"rbac: {secretNamespaces: ['*']}", "at '/rbac/secretNamespaces/0': '*' does not match pattern"},
		"an account without a name":           {"serviceAccount: {create: false}", "at '/serviceAccount/name': minLength: got 0, want 1"},
		"rights for everyone, as before":      {"rbac: {aggregate: true}", "at '/rbac/aggregate': got boolean, want object"},
		"no memory":                           {"resources: {limits: {memory: 1GB}}", "at '/resources/limits/memory': '1GB' does not match pattern"},
		"an alert that doesn't exist":         {"metrics: {prometheusRule: {disabled: [Down]}}", "at '/metrics/prometheusRule/disabled/0': value must be one of"},
		"no flag":                             {"extraArgs: [aws-rate=3]", "at '/extraArgs/0': 'aws-rate=3' does not match pattern"},
		"a budget that blocks every drain":    {"podDisruptionBudget: {maxUnavailable: 0}", "at '/podDisruptionBudget/maxUnavailable': minimum: got 0, want 1"},
		"less time than stopping takes":       {"terminationGracePeriodSeconds: 5", "at '/terminationGracePeriodSeconds': minimum: got 5, want 30"},
		"too many tags":                       {"aws: {defaultTags: {" + manyTags(47) + "}}", "at '/aws/defaultTags': maxProperties: got 47, want 46"},
		"a tag of AWS":                        {"aws: {defaultTags: {'AWS:x': y}}", "aws.defaultTags: the key AWS:x is reserved"},
		"an owner tag":                        {"aws: {defaultTags: {cloudfront-tenant-operator.io/uid: y}}", "aws.defaultTags: the key cloudfront-tenant-operator.io/uid is reserved"},
		"grants of another kind":              {"grants: {mode: 'true'}", "at '/grants/mode': value must be one of 'Off', 'Audit', 'Enforce'"},
		"a default grant in words":            {"grants: {defaultEnabled: 'no'}", "at '/grants/defaultEnabled': got string, want boolean"},
		"a default grant of no namespace":     {"grants: {default: {namespaces: {names: []}}}", "at '/grants/default/namespaces/names': minItems"},
		"a replica count, as before":          {"replicaCount: 1", "replicaCount is now replicas"},
		"an election, as before":              {"leaderElection: {enabled: true}", "leaderElection.enabled is now controller.leaderElect"},
		"an address of metrics, as before":    {"metrics: {bindAddress: ':8443'}", "metrics.bindAddress is now metrics.port, a number, or metrics.enabled=false"},
		"an address of probes, as before":     {"probes: {bindAddress: ':8081'}", "probes.bindAddress is now probes.port, a number"},
		"a label of the chart":                {"podLabels: {app.kubernetes.io/name: x}", "podLabels: the label app.kubernetes.io/name is the chart's own"},
		"two that are active at once":         {"controller: {leaderElect: false}", "controller.leaderElect is false and replicas is 2"},
		"a registry in capitals":              {"global: {imageRegistry: Mirror}", "at '/global/imageRegistry': 'Mirror' does not match pattern"},
		"a DNS policy that doesn't exist":     {"dnsPolicy: Cluster", "at '/dnsPolicy': value must be one of"},
		"a container without an image":        {"extraContainers: [{name: proxy}]", "at '/extraContainers/0': missing property 'image'"},
		"an init container without a name":    {"initContainers: [{image: a}]", "at '/initContainers/0': missing property 'name'"},
		"an object without a kind":            {"extraObjects: [{apiVersion: v1, metadata: {name: a}}]", "at '/extraObjects/0': missing property 'kind'"},
		"rules instead of destinations":       {"networkPolicy: {egress: []}", "at '/networkPolicy/egress': got array, want object"},
		"an issuer without a name":            {"metrics: {cert: {certManager: {issuerRef: {kind: Issuer}}}}", "at '/metrics/cert/certManager/issuerRef': missing property 'name'"},
		"a certificate that nothing serves":   {"metrics: {secure: false, cert: {certManager: {enabled: true}}}", "metrics.cert.certManager.enabled is true, but metrics are not served over HTTPS"},
		"scraping what isn't served":          {"metrics: {enabled: false, serviceMonitor: {enabled: true}}", "metrics.serviceMonitor.enabled is true, but metrics.enabled is false"},
		"a PodMonitor without a token":        {"metrics: {podMonitor: {enabled: true}}", "metrics.podMonitor.authorization is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if out, err := helm(t, c.values, "template", release, chartDir); err == nil || !strings.Contains(out, c.message) {
				t.Errorf("helm says (%v):\n%s\nwant %q", err, out, c.message)
			}
		})
	}
}

// The values.yaml of the previous operator is refused with all new names at once, and accepted with them.
func TestValuesOfThePredecessor(t *testing.T) {
	const same = `
image: {pullPolicy: IfNotPresent}
imagePullSecrets: []
nameOverride: ""
fullnameOverride: ""
aws: {region: us-east-1}
serviceAccount: {create: true, annotations: {}, name: ""}
resources: {limits: {cpu: 500m, memory: 128Mi}, requests: {cpu: 10m, memory: 64Mi}}
nodeSelector: {}
tolerations: []
affinity: {}
extraEnv: []
`
	out, err := helm(t, same+`
replicaCount: 1
controller: {driftPolicy: enforce, maxConcurrentReconciles: 1}
leaderElection: {enabled: true}
metrics: {bindAddress: ":8443", secure: true}
probes: {bindAddress: ":8081"}
image: {repository: ghcr.io/dsp0x4/cloudfront-tenant-operator, tag: v0.1.1}
`, "template", release, chartDir)
	for _, renamed := range []string{"replicas", "controller.leaderElect", "metrics.port", "probes.port"} {
		if err == nil || !strings.Contains(out, " is now "+renamed) {
			t.Errorf("helm does not name %s (%v):\n%s", renamed, err, out)
		}
	}
	if !strings.Contains(out, "image.repository is that of the previous operator") {
		t.Errorf("helm does not refuse the previous operator's image:\n%s", out)
	}
	render(t, same+`
replicas: 1
controller: {driftPolicy: enforce, maxConcurrentReconciles: 1, leaderElect: true}
metrics: {port: 8443, secure: true}
probes: {port: 8081}
`)
}

func manyTags(n int) string {
	var tags []string
	for i := range n {
		tags = append(tags, string(rune('a'+i%26))+strings.Repeat("x", i/26)+": x")
	}
	return strings.Join(tags, ", ")
}

// jsonSchema is as much of a JSON jsonSchema as is looked at here.
type jsonSchema struct {
	Ref                  string                `json:"$ref"`
	Type                 any                   `json:"type"`
	Properties           map[string]jsonSchema `json:"properties"`
	AdditionalProperties any                   `json:"additionalProperties"`
	Definitions          map[string]jsonSchema `json:"definitions"`
}

// The schema knows the values of values.yaml, no others, and no object with known members takes others.
func TestSchemaAndValuesHaveTheSameKeys(t *testing.T) {
	var root jsonSchema
	if err := json.Unmarshal(read(t, "values.schema.json"), &root); err != nil {
		t.Fatal(err)
	}
	values := readYAML(t, filepath.Join(chartDir, "values.yaml"))
	compareKeys(t, root, root, values, "")
}

func compareKeys(t *testing.T, root, s jsonSchema, value any, path string) {
	t.Helper()
	if s.Ref != "" {
		s = root.Definitions[strings.TrimPrefix(s.Ref, "#/definitions/")]
	}
	if strings.HasPrefix(path, ".probes.") && path != ".probes.port" || path == ".resources" {
		return // values.yaml sets some of what Kubernetes knows
	}
	members, ok := value.(map[string]any)
	if !ok || len(s.Properties) == 0 {
		return
	}
	if path == ".grants.default" {
		return // the members of an EdgeGrant's spec, which the operator checks
	}
	if s.AdditionalProperties != false && path != ".global" { // a parent chart may have more there
		t.Errorf("the schema lets unknown members of %q through", path)
	}
	for name, p := range s.Properties {
		if p.Ref == "#/definitions/renamed" {
			continue
		}
		if _, ok := members[name]; !ok {
			t.Errorf("values.yaml lacks %s.%s, which the schema knows", path, name)
		}
		compareKeys(t, root, p, members[name], path+"."+name)
	}
	for name := range members {
		if _, ok := s.Properties[name]; !ok {
			t.Errorf("the schema lacks %s.%s, which values.yaml has", path, name)
		}
	}
}

// A value that no rendering sets has never been seen to work.
func TestTheMatrixSetsEveryValue(t *testing.T) {
	set := map[string]bool{}
	for _, c := range matrix {
		var values map[string]any
		if err := yaml.Unmarshal([]byte(c.values), &values); err != nil {
			t.Fatal(err)
		}
		walk(values, "", func(path string) { set[path] = true })
	}
	walk(readYAML(t, filepath.Join(chartDir, "values.yaml")), "", func(path string) {
		if !set[path] {
			t.Errorf("no rendering sets %s", path[1:])
		}
	})
}

// walk visits the path of every value.
func walk(value any, path string, visit func(path string)) {
	visit(path)
	members, _ := value.(map[string]any)
	for name, member := range members {
		walk(member, path+"."+name, visit)
	}
}

func TestEveryValueIsDocumented(t *testing.T) {
	rows := 0
	for line := range strings.Lines(string(read(t, "README.md"))) {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		rows++
		if strings.HasSuffix(strings.TrimSpace(line), "|  |") {
			t.Errorf("no meaning: %s", line)
		}
	}
	if rows < 50 {
		t.Errorf("the README has %d values", rows)
	}
}

func TestLint(t *testing.T) {
	for _, values := range []string{"{}", everything, production} {
		if out, err := helm(t, values, "lint", "--strict", chartDir); err != nil {
			t.Errorf("helm lint: %v\n%s", err, out)
		}
	}
}

// read reads a file of the chart.
func read(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(chartDir, name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func readYAML(t *testing.T, path string) map[string]any {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	if err := yaml.Unmarshal(content, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
