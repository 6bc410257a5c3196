package chart_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/config"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/thirdparty"
)

var update = flag.Bool("update", false, "write the golden files")

// production is the file that the documentation has for production.
var production = func() string {
	content, err := os.ReadFile("../../docs/production-values.yaml")
	if err != nil {
		panic(err)
	}
	return string(content)
}()

const everything = `
commonLabels: {team: edge}
dns: {accounts: [{name: main, provider: cloudflare, secretName: cloudflare-main}, {name: eu, provider: azure, azure: {subscriptionId: s}}]}
image: {digest: "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", pullPolicy: Always}
imagePullSecrets: [{name: registry}]
global: {imageRegistry: "registry.example.com:5000/mirror"}
replicas: 3
strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}
aws:
  region: eu-west-1
  rate: 2.5
  burst: 20
  defaultTags: {team: edge, "cost center": 42}
  route53: {rate: 3, burst: 30}
  acm: {rate: 2, burst: 12}
  invalidations: {rate: 1, burst: 4}
  allowedRoles: ["arn:aws:iam::444455556666:role/tenant-dns-*"]
  dnsResolvers: ["1.1.1.1:53"]
  watchDomains: false
  dynamoDBEndpoint: https://vpce-1.dynamodb.eu-west-1.vpce.amazonaws.com
podSecurityContext: {runAsNonRoot: true, runAsUser: 1000, runAsGroup: 1000, fsGroup: 1000, seccompProfile: {type: RuntimeDefault}}
securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
terminationGracePeriodSeconds: 60
probes:
  port: 9081
  liveness: {initialDelaySeconds: 1, periodSeconds: 2, timeoutSeconds: 3, failureThreshold: 4}
  readiness: {initialDelaySeconds: 1, periodSeconds: 2, successThreshold: 2}
controller:
  controllers: [invalidation, connectiongroup, distribution, tenantsource, distributiontenant]
  invalidation: {pathsPerDay: 0}
  tenantSource: {targetNamespaces: [team-a/team-b], readTimeout: 1m30s, firstRowTimeout: 20s, maxRows: 1500000, maxWatches: 5, readMemory: 128Mi, allowDial: [10.43.0.1]}
  pprofAddress: localhost:6060
  clusterID: prod 1
  driftPolicy: report
  sweepInterval: 1h30m
  maxConcurrentReconciles: 3
  log: {level: 3, encoder: console, stacktraceLevel: error, timeEncoding: iso8601}
serviceAccount: {annotations: {eks.amazonaws.com/role-arn: "arn:aws:iam::111122223333:role/tenants"}}
rbac: {secretNamespaces: [team-b]}
deletionProtection: {enabled: true}
watchNamespaces: [team-a, team-b]
metrics:
  http2: true
  port: 9443
  cert: {secretName: metrics-cert, caName: authority.crt, certManager: {enabled: true, issuerRef: {kind: ClusterIssuer, name: private}}}
  service: {annotations: {a: b}}
  readers: [{kind: ServiceAccount, name: prometheus, namespace: monitoring}, {kind: Group, name: sre, apiGroup: rbac.authorization.k8s.io}]
  serviceMonitor: {enabled: true, interval: 30s, scrapeTimeout: 10s, labels: {release: prometheus}, relabelings: [{action: labeldrop, regex: instance}], metricRelabelings: [{action: drop, sourceLabels: [__name__], regex: go_.*}], tlsConfig: {insecureSkipVerify: false, serverName: metrics, ca: {configMap: {name: ca, key: ca.crt}}}}
  podMonitor: {enabled: true, interval: 30s, scrapeTimeout: 10s, labels: {release: prometheus}, authorization: {credentials: {name: token, key: token}}, relabelings: [{action: labeldrop, regex: instance}], tlsConfig: {insecureSkipVerify: false, serverName: metrics}, metricRelabelings: [{action: drop, sourceLabels: [__name__], regex: go_.*}]}
  prometheusRule: {enabled: true, labels: {release: prometheus}, alertLabels: {team: edge}, disabled: [CloudFrontTenantDrift]}
  dashboard: {enabled: true, annotations: {folder: AWS}, labels: {grafana_dashboard: "yes"}}
networkPolicy:
  enabled: true
  metricsFrom: [{namespaceSelector: {matchLabels: {name: monitoring}}}]
  ingress: [{ports: [{port: 15020}]}]
  egress:
    restricted: true
    dns: {ports: [53], to: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: kube-system}}, podSelector: {matchLabels: {k8s-app: kube-dns}}}]}
    apiServer: {ports: [6443], to: [{ipBlock: {cidr: 10.0.0.0/24}}]}
    aws: {ports: [443], to: [{ipBlock: {cidr: 0.0.0.0/0, except: [10.0.0.0/8]}}]}
    credentials: {ports: [80], to: [{ipBlock: {cidr: 169.254.169.254/32}}]}
    extra: [{ports: [{port: 3128}], to: [{ipBlock: {cidr: 10.0.1.1/32}}]}]
  databasePorts: [6543]
  databasesTo: [{ipBlock: {cidr: 10.0.2.0/24}}]
podDisruptionBudget: {maxUnavailable: 50%}
resources: {requests: {cpu: 1, memory: 64Mi}, limits: {cpu: "1.5", memory: 1Gi}}
extraEnv: [{name: AWS_ENDPOINT_URL, value: "https://localhost"}]
extraEnvFrom: [{secretRef: {name: credentials, optional: true}}]
extraArgs: [--zap-devel=false]
caBundle: {configMap: rds-authorities, secret: inner}
extraVolumes: [{name: bundle, configMap: {name: bundle}}]
extraVolumeMounts: [{name: bundle, mountPath: /bundle}]
initContainers: [{name: prepare, image: "example.com/prepare:1", securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}}]
extraContainers: [{name: proxy, image: "example.com/proxy:1", securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}}]
extraObjects:
  - |
    apiVersion: v1
    kind: ConfigMap
    metadata:
      name: {{ include "operator.fullname" . }}-more
      labels: {{- include "operator.labels" . | nindent 4 }}
dnsPolicy: None
dnsConfig: {nameservers: [10.0.0.10], searches: [example.com], options: [{name: ndots, value: "2"}]}
deploymentAnnotations: {a: b}
podLabels: {tier: control}
podAnnotations: {a: b}
priorityClassName: system-cluster-critical
nodeSelector: {kubernetes.io/os: linux}
tolerations: [{key: dedicated, operator: Exists}]
affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists}]}]}}}
topologySpreadConstraints: [{maxSkew: 2, topologyKey: rack, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {a: b}}}]
`

// matrix names what each set of values changes in the list of objects, and pieces that it
// brings into the text.
var matrix = map[string]struct {
	values  string
	objects []string
	text    []string
	// refusal is why a namespace for restricted pods refuses this one.
	refusal string
}{
	"the defaults":                   {values: "{}"},
	"without the kinds":              {values: "crds: {install: false}", objects: []string{"-CustomResourceDefinition *"}},
	"kinds that go with the release": {values: "crds: {keep: false}", text: []string{"cloudfront-tenant-operator.io/allow-deletion: \"true\"\n"}},
	"kinds that anyone with the right can delete": {
		values:  "crds: {deletionProtection: {enabled: false}}",
		objects: []string{"-ValidatingAdmissionPolicy " + release + "-crd-deletion-protection", "-ValidatingAdmissionPolicyBinding " + release + "-crd-deletion-protection"},
	},
	"all off, under another name": {
		values: "fullnameOverride: tenants\ncrds: {install: false}\nrbac: {create: false}\npodDisruptionBudget: {enabled: false}\nmetrics: {enabled: false}\nserviceAccount: {create: false, name: mine}",
		objects: []string{
			"+Deployment tenants", "+NetworkPolicy tenants", "+Pod tenants-test", "-Pod *", "-ClusterRole *", "-ClusterRoleBinding *", "-CustomResourceDefinition *", "-Deployment *", "-NetworkPolicy *", "-PodDisruptionBudget *", "-Role *", "-RoleBinding *", "-Service *", "-ServiceAccount *",
			"-ValidatingAdmissionPolicy *", "-ValidatingAdmissionPolicyBinding *",
			"+ValidatingAdmissionPolicy tenants-abandon", "+ValidatingAdmissionPolicyBinding tenants-abandon",
			"+ValidatingAdmissionPolicy tenants-adopt", "+ValidatingAdmissionPolicyBinding tenants-adopt",
			"+ValidatingAdmissionPolicy tenants-crd-deletion-protection", "+ValidatingAdmissionPolicyBinding tenants-crd-deletion-protection",
			"+ValidatingAdmissionPolicy tenants-deletion-protection", "+ValidatingAdmissionPolicyBinding tenants-deletion-protection",
			"+ValidatingAdmissionPolicy tenants-disablewebacl", "+ValidatingAdmissionPolicyBinding tenants-disablewebacl",
			"+ValidatingAdmissionPolicy tenants-takeover", "+ValidatingAdmissionPolicyBinding tenants-takeover",
			"+ValidatingAdmissionPolicy tenants-takeover-keys", "+ValidatingAdmissionPolicyBinding tenants-takeover-keys",
		},
		text: []string{"serviceAccountName: mine", "request.userInfo.username != 'system:serviceaccount:" + namespace + ":mine'"},
	},
	"another name in the labels": {values: "nameOverride: operator", text: []string{"app.kubernetes.io/name: operator\n"}},
	"another tag":                {values: "image: {repository: registry.example.com:5000/mirror/operator, tag: v9}", text: []string{`image: "registry.example.com:5000/mirror/operator:v9"`}},
	"a digest, which wins over a tag": {
		values: `image: {tag: v9, digest: "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"}`,
		text:   []string{`image: "ghcr.io/cloudfront-tenant-operator/cloudfront-tenant-operator@sha256:0123`},
	},
	"rights in some namespaces only": {
		values: "watchNamespaces: [team-a, team-b]",
		objects: []string{
			"+Role team-a/" + release, "+Role team-b/" + release, "+RoleBinding team-a/" + release, "+RoleBinding team-b/" + release,
		},
		text: []string{"--watch-namespaces=team-a,team-b", "{key: kubernetes.io/metadata.name, operator: In, values: [team-a, team-b]}"},
	},
	"some namespaces, and nothing that needs the cluster": {
		values: "watchNamespaces: [team-a]\ncontroller: {clusterID: prod, domainClaims: {enabled: false}}\nmetrics: {secure: false}\ngrants: {mode: \"Off\"}",
		objects: []string{
			"+Role team-a/" + release, "+RoleBinding team-a/" + release,
			"-ClusterRole " + release, "-ClusterRole " + release + "-metrics-reader", "-ClusterRoleBinding " + release,
		},
		text: []string{"appProtocol: http\n", "--cluster-id=prod"},
	},
	"secrets of a namespace": {
		values:  "rbac: {secretNamespaces: [team-b]}",
		objects: []string{"+Role team-b/" + release + "-secrets", "+RoleBinding team-b/" + release + "-secrets"},
	},
	"a lease elsewhere": {
		values: "controller: {leaderElectionNamespace: team-a}",
		objects: []string{
			"+Role team-a/" + release + "-own-namespace", "+RoleBinding team-a/" + release + "-own-namespace",
			"-Role " + release + "-own-namespace", "-RoleBinding " + release + "-own-namespace",
		},
		text: []string{"--leader-election-namespace=team-a"},
	},
	"a single replica needs no election": {
		values: "replicas: 1\ncontroller: {leaderElect: false}",
		text:   []string{"--leader-elect=false"},
	},
	"no check of the cluster": {
		values:  "clusterCheck: {enabled: false}",
		objects: []string{"-ConfigMap kube-system/cloudfront-tenant-operator-cluster", "-Role kube-system/" + release + "-cluster-check", "-RoleBinding kube-system/" + release + "-cluster-check"},
		text:    []string{"--cluster-check=false"},
	},
	"no copy of the fingerprint": {
		values:  "clusterCheck: {copyNamespace: ''}",
		objects: []string{"-ConfigMap kube-system/cloudfront-tenant-operator-cluster", "-Role kube-system/" + release + "-cluster-check", "-RoleBinding kube-system/" + release + "-cluster-check"},
		text:    []string{"--cluster-check-copy-namespace=\n"},
	},
	"a copy of the fingerprint in another namespace": {
		values: "clusterCheck: {copyNamespace: kube-public}",
		objects: []string{
			"-ConfigMap kube-system/cloudfront-tenant-operator-cluster", "-Role kube-system/" + release + "-cluster-check", "-RoleBinding kube-system/" + release + "-cluster-check",
			"+ConfigMap kube-public/cloudfront-tenant-operator-cluster", "+Role kube-public/" + release + "-cluster-check", "+RoleBinding kube-public/" + release + "-cluster-check",
		},
		text: []string{"--cluster-check-copy-namespace=kube-public\n"},
	},
	"no grants": {
		values: "grants: {mode: \"Off\"}",
		text:   []string{"--grants=Off"},
	},
	"no default grant": {
		values: "grants: {mode: Enforce, defaultEnabled: false, default: {roles: [a]}}",
		text:   []string{"--grants=Enforce"},
	},
	"a default grant of one's own": {
		values: "grants: {mode: Audit, default: {kinds: [TenantSource], distributions: [{id: E1}], connectionGroups: [{id: cg_1}], domains: [{suffix: example.com}], wildcards: false, dns: {zones: [{id: Z1}]}, certificates: [a], webAcls: {arns: [b], disable: false}, sources: {hosts: [c], writeTables: [j]}, keyValueStores: [{arn: k, keys: [l], takeover: true}], geoRestrictions: false, origins: {vpcOrigins: [d], accessControls: [e]}, functions: [f], keyGroups: [g], fieldLevelEncryptions: [h], logBuckets: [i]}}",
		text:   []string{"--grants=Audit", `--default-grant={\"certificates\":[\"a\"]`},
	},
	"no claims for domains": {
		values: "controller: {domainClaims: {enabled: false}}",
		text:   []string{"--domain-claims=false"},
	},
	"released domains are held for as long as the values say": {
		values: "controller: {domainClaims: {hold: 24h, holdCustomer: 0s}}",
		text:   []string{"--domain-hold=24h", "--domain-hold-customer=0s"},
	},
	"the webhook": {
		values: "webhook: {enabled: true, port: 9445, deny: [domain-taken], dnsResolvers: ['1.1.1.1:53']}\nnetworkPolicy: {webhookFrom: [{ipBlock: {cidr: 172.16.0.2/32}}]}",
		objects: []string{
			"+Service " + release + "-webhook", "+Secret " + release + "-webhook", "+ValidatingWebhookConfiguration " + release,
			"+Role " + release + "-webhook", "+RoleBinding " + release + "-webhook",
			"+ValidatingAdmissionPolicy " + release + "-fence-webhook", "+ValidatingAdmissionPolicyBinding " + release + "-fence-webhook",
		},
		text: []string{
			"--webhook-deny=domain-taken", "failurePolicy: Ignore", "{key: kubernetes.io/metadata.name, operator: NotIn, values: [" + namespace + "]}",
			"request.userInfo.username != 'system:serviceaccount:" + namespace + ":" + release + "'",
		},
	},
	"the webhook of some namespaces, with roles of one's own": {
		values: "webhook: {enabled: true}\nwatchNamespaces: [team-a]\nrbac: {create: false}",
		objects: []string{
			"+Service " + release + "-webhook", "+Secret " + release + "-webhook", "+ValidatingWebhookConfiguration " + release,
			"+ValidatingAdmissionPolicy " + release + "-fence-webhook", "+ValidatingAdmissionPolicyBinding " + release + "-fence-webhook",
			"-Role kube-system/" + release + "-cluster-check", "-RoleBinding kube-system/" + release + "-cluster-check",
			"-ClusterRole *", "-ClusterRoleBinding " + release, "-Role " + release + "-own-namespace", "-RoleBinding " + release + "-own-namespace",
		},
		text: []string{"{key: kubernetes.io/metadata.name, operator: In, values: [team-a]}"},
	},
	"no deletion budget": {
		values: "deletionBudget: {enabled: false}",
		text:   []string{"--deletion-budget=false"},
	},
	"nothing to keep in the operator's own namespace": {
		values:  "replicas: 1\ncontroller: {leaderElect: false}\nclusterCheck: {enabled: false}\ndeletionBudget: {enabled: false}",
		objects: []string{"-Role " + release + "-own-namespace", "-RoleBinding " + release + "-own-namespace", "-ConfigMap kube-system/cloudfront-tenant-operator-cluster", "-Role kube-system/" + release + "-cluster-check", "-RoleBinding kube-system/" + release + "-cluster-check"},
		text:    []string{"--leader-elect=false", "--cluster-check=false", "--deletion-budget=false"},
	},
	"a deletion budget of one's own": {
		values: "rollout: {enabled: true, canaries: 3, pause: 2m, maxFailedPercent: 20}\ndeletionBudget: {settle: 20s, settleMax: 2m, window: 3h, max: 4, maxPercent: 6, ceilingPercent: 30, namespace: {max: 7, maxPercent: 40}, tenants: {max: 2, maxPercent: 1}}",
		text:   []string{"--deletion-budget-settle=20s", "--deletion-budget-tenants-max-percent=1"},
	},
	"roles of one's own": {
		values: "rbac: {create: false}",
		objects: []string{
			"-Role kube-system/" + release + "-cluster-check", "-RoleBinding kube-system/" + release + "-cluster-check",
			"-ClusterRole *", "-ClusterRoleBinding " + release, "-Role " + release + "-own-namespace", "-RoleBinding " + release + "-own-namespace",
		},
	},
	"nothing for the cluster's own roles": {
		values:  "rbac: {aggregate: {view: false}}",
		objects: []string{"-ClusterRole " + release + "-view"},
	},
	"editors of namespaces write the operator's objects, too": {
		values:  "rbac: {aggregate: {edit: true}}",
		objects: []string{"+ClusterRole " + release + "-admin", "+ClusterRole " + release + "-edit"},
	},
	"fields that reach further, for everyone": {
		values: noActions,
		objects: []string{
			"-ClusterRole " + release + "-abandon", "-ClusterRole " + release + "-adopt", "-ClusterRole " + release + "-disablewebacl", "-ClusterRole " + release + "-takeover",
			"-ValidatingAdmissionPolicy " + release + "-abandon", "-ValidatingAdmissionPolicyBinding " + release + "-abandon", "-ValidatingAdmissionPolicy " + release + "-adopt", "-ValidatingAdmissionPolicyBinding " + release + "-adopt",
			"-ValidatingAdmissionPolicy " + release + "-disablewebacl", "-ValidatingAdmissionPolicyBinding " + release + "-disablewebacl", "-ValidatingAdmissionPolicy " + release + "-takeover", "-ValidatingAdmissionPolicyBinding " + release + "-takeover",
			"-ValidatingAdmissionPolicy " + release + "-takeover-keys", "-ValidatingAdmissionPolicyBinding " + release + "-takeover-keys",
		},
	},
	"an account of one's own": {
		values: "serviceAccount: {create: false, name: mine}", objects: []string{"-ServiceAccount " + release}, text: []string{"serviceAccountName: mine"},
	},
	"no metrics": {
		values: "metrics: {enabled: false}", objects: []string{"-ClusterRole " + release + "-metrics-reader", "-Service " + release + "-metrics"},
		text: []string{"--metrics-bind-address=0"},
	},
	"readers of metrics": {
		values: "metrics: {readers: [{kind: ServiceAccount, name: prometheus, namespace: monitoring}]}", objects: []string{"+ClusterRoleBinding " + release + "-metrics-reader"},
	},
	"a certificate for metrics": {
		values: "metrics: {cert: {secretName: cert, certName: a.crt, keyName: a.key}}",
		text:   []string{"--metrics-cert-path=/etc/metrics-cert", "--metrics-cert-name=a.crt", "--metrics-cert-key=a.key", `secretName: "cert"`},
	},
	"a ServiceMonitor": {
		values: "metrics: {serviceMonitor: {enabled: true}}", objects: []string{"+ServiceMonitor " + release},
		text: []string{"bearerTokenFile: /var/run/secrets/kubernetes.io/serviceaccount/token"},
	},
	"a ServiceMonitor with a token of its own": {
		values: "metrics: {serviceMonitor: {enabled: true, authorization: {credentials: {name: a, key: b}}}}", objects: []string{"+ServiceMonitor " + release},
	},
	"a PodMonitor": {
		values: "metrics: {secure: false, podMonitor: {enabled: true}}", objects: []string{"+PodMonitor " + release, "-ClusterRole " + release + "-metrics-reader"},
		text: []string{"scheme: http\n"},
	},
	"alerts": {
		values: "controller: {sweepInterval: 1h1m1s}\nmetrics: {prometheusRule: {enabled: true}}", objects: []string{"+PrometheusRule " + release},
		text: []string{"> 10983\n", `{name="tenantsource"}) > 300 + 300` + "\n"},
	},
	"authorities of one's own": {
		values: "caBundle: {configMap: rds-authorities}",
		text: []string{
			`{name: SSL_CERT_DIR, value: "/etc/ssl/certs:/etc/ca-bundle"}`, "{name: ca-bundle, mountPath: /etc/ca-bundle, readOnly: true}",
			"- name: ca-bundle\n          projected:\n            sources:\n              - configMap: {name: \"rds-authorities\"}\n",
		},
	},
	"authorities from both": {
		values: "caBundle: {configMap: rds-authorities, secret: inner}\nresources: {limits: null}",
		text:   []string{"- configMap: {name: \"rds-authorities\"}\n              - secret: {name: \"inner\"}\n"},
	},
	"a dashboard":       {values: "metrics: {dashboard: {enabled: true}}", objects: []string{"+ConfigMap " + release + "-dashboard"}, text: []string{`grafana_dashboard: "1"`}},
	"no network policy": {values: "networkPolicy: {enabled: false}", objects: []string{"-NetworkPolicy " + release}},
	"a network policy that lets nothing in or out": {
		values:  "metrics: {enabled: false}\nnetworkPolicy: {egress: {restricted: true, dns: {ports: []}, apiServer: {ports: []}, aws: {ports: []}, credentials: {to: []}}, databasePorts: []}",
		objects: []string{"-ClusterRole " + release + "-metrics-reader", "-Service " + release + "-metrics"},
		text:    []string{"policyTypes: [Ingress, Egress]"},
	},
	"tenants without sources": {
		values:  "controller: {controllers: [distributiontenant]}",
		objects: []string{"-ValidatingAdmissionPolicy " + release + "-deletion-protection", "-ValidatingAdmissionPolicyBinding " + release + "-deletion-protection"},
		text:    []string{"--controllers=distributiontenant\n"},
	},
	"distributions and connection groups only": {
		values:  "controller: {controllers: [distribution, connectiongroup]}",
		objects: []string{"-ValidatingAdmissionPolicy " + release + "-deletion-protection", "-ValidatingAdmissionPolicyBinding " + release + "-deletion-protection"},
		text:    []string{"--controllers=distribution,connectiongroup\n", "  - distributions/status\n", "  - connectiongroups/status\n"},
	},
	"sources without tenants": {values: "controller: {controllers: [tenantsource]}", text: []string{"--controllers=tenantsource\n"}},
	"no deletion protection": {
		values: "deletionProtection: {enabled: false}", objects: []string{"-ValidatingAdmissionPolicy " + release + "-deletion-protection", "-ValidatingAdmissionPolicyBinding " + release + "-deletion-protection"},
	},
	"a URL of DynamoDB, and sources with other targets": {
		values: "aws: {dynamoDBEndpoint: \"http://[::1]:8000\"}\ncontroller: {tenantSource: {targetNamespaces: [edge, shop/shop-tenants]}}",
		text:   []string{"--dynamodb-endpoint=http://[::1]:8000\n", `"--tenantsource-target-namespaces=edge,shop/shop-tenants"`, "--tenantsource-read-timeout=5m\n", "--tenantsource-max-rows=200000\n", "--tenantsource-read-memory=64Mi\n"},
	},
	"customers": {
		values: "tenancy: {enabled: true}",
		objects: []string{
			"+ClusterRole " + release + "-tenantplans-editor", "+ClusterRole " + release + "-tenants-editor", "+ClusterRole " + release + "-tenants-viewer",
			"+CustomResourceDefinition tenantplans.kleff.kleff.io", "+CustomResourceDefinition tenants.kleff.kleff.io",
			"+ValidatingAdmissionPolicy " + release + "-tenant-deletion-protection", "+ValidatingAdmissionPolicy " + release + "-tenant-namespace-deletion-protection",
			"+ValidatingAdmissionPolicyBinding " + release + "-tenant-deletion-protection", "+ValidatingAdmissionPolicyBinding " + release + "-tenant-namespace-deletion-protection",
			"+ValidatingAdmissionPolicy " + release + "-tenant-object-protection", "+ValidatingAdmissionPolicyBinding " + release + "-tenant-object-protection",
			"+ValidatingAdmissionPolicy " + release + "-fence-namespaces", "+ValidatingAdmissionPolicyBinding " + release + "-fence-namespaces", "+ValidatingAdmissionPolicy " + release + "-fence-objects", "+ValidatingAdmissionPolicyBinding " + release + "-fence-objects",
		},
		text: []string{
			"--controllers=distributiontenant,tenantsource,distribution,connectiongroup,invalidation,tenant\n",
			`"--reserved-namespaces=default,kube-*,openshift,openshift-*,istio-*,gatekeeper-system,cert-manager,argocd,flux-system,ingress-nginx,external-dns,external-secrets,monitoring,velero,vault"`,
		},
	},
	"customers and nothing else, with as little as can be": {
		values: "controller: {controllers: null}\ncrds: {install: false, deletionProtection: {enabled: false}}\nrbac: {aggregate: {view: false}}\n" + noActions +
			"tenancy: {enabled: true, namespaces: [user-*, shop], reservedNamespaces: [kube-*], minPodSecurity: restricted, ownerClusterRoles: [], istio: {enabled: false}, gatekeeper: {constraints: []}, deletionProtection: {enabled: false}, fence: {enabled: false}, objectProtection: {enabled: false}}",
		objects: []string{
			"+ClusterRole " + release + "-tenantplans-editor", "+ClusterRole " + release + "-tenants-editor", "+ClusterRole " + release + "-tenants-viewer",
			"-ClusterRole " + release + "-abandon", "-ClusterRole " + release + "-adopt", "-ClusterRole " + release + "-disablewebacl", "-ClusterRole " + release + "-takeover",
			"-ClusterRole " + release + "-view",
			"-CustomResourceDefinition *", "-ValidatingAdmissionPolicy *", "-ValidatingAdmissionPolicyBinding *",
		},
		text: []string{"--controllers=tenant\n", `"--reserved-namespaces=kube-*"`, `"--tenant-namespaces=user-*,shop"`},
	},
	"templates of Gatekeeper": {
		values: "tenancy: {enabled: true, constraintTemplates: {enabled: true}, deletionProtection: {enabled: false}, fence: {enabled: false}, objectProtection: {enabled: false}}",
		objects: []string{
			"+ClusterRole " + release + "-tenantplans-editor", "+ClusterRole " + release + "-tenants-editor", "+ClusterRole " + release + "-tenants-viewer",
			"+ConstraintTemplate kleffallowedregistries", "+ConstraintTemplate kleffpodsecurity",
			"+CustomResourceDefinition tenantplans.kleff.kleff.io", "+CustomResourceDefinition tenants.kleff.kleff.io",
		},
	},
	"customers, with roles of one's own": {
		values: "rbac: {create: false}\ntenancy: {enabled: true}\ncrds: {install: false}\ndeletionProtection: {enabled: false}",
		objects: []string{
			"-ClusterRole *", "-ClusterRoleBinding *", "-CustomResourceDefinition *", "-Role *", "-RoleBinding *", "-ValidatingAdmissionPolicy " + release + "-deletion-protection", "-ValidatingAdmissionPolicyBinding " + release + "-deletion-protection",
			"+ValidatingAdmissionPolicy " + release + "-tenant-deletion-protection", "+ValidatingAdmissionPolicy " + release + "-tenant-namespace-deletion-protection",
			"+ValidatingAdmissionPolicyBinding " + release + "-tenant-deletion-protection", "+ValidatingAdmissionPolicyBinding " + release + "-tenant-namespace-deletion-protection",
			"+ValidatingAdmissionPolicy " + release + "-tenant-object-protection", "+ValidatingAdmissionPolicyBinding " + release + "-tenant-object-protection",
			"+ValidatingAdmissionPolicy " + release + "-fence-namespaces", "+ValidatingAdmissionPolicyBinding " + release + "-fence-namespaces", "+ValidatingAdmissionPolicy " + release + "-fence-objects", "+ValidatingAdmissionPolicyBinding " + release + "-fence-objects",
		},
	},
	"no disruption budget":            {values: "podDisruptionBudget: {enabled: false}", objects: []string{"-PodDisruptionBudget " + release}},
	"no limits":                       {values: "resources: {limits: null, requests: null}"},
	"a memory limit in decimal units": {values: "resources: {limits: {memory: 1.5G}}", text: []string{`value: "1350000000"`}},
	"no spreading":                    {values: "topologySpreadConstraints: []"},
	"everything": {
		values: everything,
		objects: []string{
			"+ClusterRoleBinding " + release + "-metrics-reader", "+Certificate " + release + "-metrics", "+ConfigMap " + release + "-dashboard", "+ConfigMap " + release + "-dns-accounts", "+ConfigMap " + release + "-more", "+PodMonitor " + release,
			"+PrometheusRule " + release, "+Role team-a/" + release, "+Role team-b/" + release, "+Role team-b/" + release + "-secrets",
			"+RoleBinding team-a/" + release, "+RoleBinding team-b/" + release, "+RoleBinding team-b/" + release + "-secrets", "+ServiceMonitor " + release,
		},
		text: []string{`"--default-tags=cost center=42,team=edge"`, "--zap-log-level=3\n", "--aws-rate=2.5\n", `"--cluster-id=prod 1"`, `value: "966367641"`, "priorityClassName: system-cluster-critical",
			`image: "registry.example.com:5000/mirror/cloudfront-tenant-operator/cloudfront-tenant-operator@sha256:0123`, "issuerRef:\n    kind: ClusterIssuer\n", "maxSurge: 0\n",
		},
	},
	"a registry for all charts": {
		values: "global: {imageRegistry: mirror.example.com, imagePullSecrets: [of-another-chart]}",
		text:   []string{`image: "mirror.example.com/cloudfront-tenant-operator/cloudfront-tenant-operator:0.1.0"`},
	},
	"a registry for all charts, and a repository without one": {
		values: "global: {imageRegistry: \"localhost:5000\"}\nimage: {repository: mirror/operator, tag: v9}", text: []string{`image: "localhost:5000/mirror/operator:v9"`},
	},
	"another strategy": {values: "strategy: {type: Recreate}", text: []string{"  strategy:\n    type: Recreate\n"}},
	"the node's network": {
		values: "hostNetwork: true", objects: []string{"-NetworkPolicy " + release},
		text: []string{"hostNetwork: true\n", "dnsPolicy: ClusterFirstWithHostNet\n"}, refusal: "hostNetwork",
	},
	"DNS servers of one's own": {
		values: "dnsPolicy: None\ndnsConfig: {nameservers: [10.0.0.10]}", text: []string{"dnsPolicy: None\n", "dnsConfig:\n        nameservers:\n        - 10.0.0.10\n"},
	},
	"more containers": {
		values: "initContainers: [{name: prepare, image: a/b:1, securityContext: " + restricted + "}]\nextraContainers: [{name: proxy, image: a/c:1, securityContext: " + restricted + "}]",
		text:   []string{"initContainers:\n        - image: a/b:1\n", "        - image: a/c:1\n          name: proxy\n"},
	},
	"more objects, with template expressions": {
		values:  "extraObjects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: '{{ .Release.Name }}-object'}}, \"apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: {{ .Release.Name }}-text}\"]",
		objects: []string{"+ConfigMap " + release + "-object", "+ConfigMap " + release + "-text"},
	},
	"values for production": {
		values: production,
		objects: []string{
			"+Certificate " + release + "-metrics", "+ClusterRoleBinding " + release + "-metrics-reader", "+ConfigMap " + release + "-dashboard", "+Issuer " + release + "-metrics",
			"+PrometheusRule " + release, "+ServiceMonitor " + release,
		},
		text: []string{"eks.amazonaws.com/role-arn: arn:aws:iam::", "policyTypes: [Ingress, Egress]", "serverName: " + release + "-metrics." + namespace + ".svc"},
	},
	"a certificate from cert-manager": {
		values:  "metrics: {cert: {certManager: {enabled: true}}, serviceMonitor: {enabled: true}}",
		objects: []string{"+Certificate " + release + "-metrics", "+Issuer " + release + "-metrics", "+ServiceMonitor " + release},
		text:    []string{"--metrics-cert-path=/etc/metrics-cert", `secretName: "` + release + `-metrics-cert"`, "dnsNames: [" + release + "-metrics." + namespace + ".svc, "},
	},
}

// noActions turns off the policies that ask for verbs.
const noActions = "restrictedActions: {adopt: {enabled: false}, takeover: {enabled: false}, disableWebACL: {enabled: false}, abandon: {enabled: false}}\n"

// restricted is the security context of a container that meets the restricted standard.
const restricted = "{allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}"

func TestEveryRenderingApplies(t *testing.T) {
	t.Cleanup(func() { // helm takes no account that it did not make
		if err := kube.DeleteAllOf(context.WithoutCancel(t.Context()), &corev1.ServiceAccount{}, client.InNamespace(namespace), ofAdmission); err != nil {
			t.Error(err)
		}
	})
	thirdparty.Install(t, cluster.RESTConfig(), thirdparty.GatekeeperCRDs(t)...)
	defaults := render(t, "{}")
	checkApplies(t, defaults.text)
	usual := defaults.names()
	for name, c := range matrix {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := render(t, c.values)
			if diff := cmp.Diff(expand(c.objects, usual), difference(usual, r.names())); diff != "" {
				t.Errorf("other objects than with the defaults (-want +got):\n%s", diff)
			}
			for _, piece := range c.text {
				if !strings.Contains(r.text, piece) {
					t.Errorf("the rendering lacks %q", piece)
				}
			}
			if others := r.without(defaults); others != "" {
				checkApplies(t, others)
			}
			checkFlags(t, r.container(t).Args)
			checkFlags(t, r.testPod(t).Spec.Containers[0].Args)
			checkPodIsAdmitted(t, r.deployment(t).Spec.Template.Spec, c.refusal)
			checkPodIsAdmitted(t, r.testPod(t).Spec, c.refusal)
		})
	}
}

// checkApplies has the API server say whether it accepts manifests.
func checkApplies(t *testing.T, manifests string) {
	t.Helper()
	for manifest := range strings.SplitSeq(manifests, separator) {
		for _, o := range parse(t, manifest).objects {
			if o.GetKind() == "Pod" {
				continue // see checkPodIsAdmitted
			}
			if namespaced, err := kube.IsObjectNamespaced(o); err == nil && namespaced && o.GetNamespace() == "" {
				o.SetNamespace(namespace)
			}
			// As it was rendered: a key that stands there twice is an error, too.
			patch := client.RawPatch(types.ApplyYAMLPatchType, []byte(manifest))
			err := kube.Patch(t.Context(), o, patch, client.DryRunAll, client.ForceOwnership, client.FieldOwner("chart"), client.FieldValidation(metav1.FieldValidationStrict))
			if err != nil {
				t.Errorf("the API server refuses it: %v\n%s", err, manifest)
			}
		}
	}
}

// expand replaces "-Kind *" by all of that kind.
func expand(changes, usual []string) []string {
	var out []string
	for _, c := range changes {
		kind, all := strings.CutSuffix(c, " *")
		if !all {
			out = append(out, c)
			continue
		}
		for _, name := range usual {
			if strings.HasPrefix(name, kind[1:]+" ") {
				out = append(out, "-"+name)
			}
		}
	}
	slices.Sort(out)
	return out
}

func difference(before, after []string) []string {
	var out []string
	for _, name := range after {
		if !slices.Contains(before, name) {
			out = append(out, "+"+name)
		}
	}
	for _, name := range before {
		if !slices.Contains(after, name) {
			out = append(out, "-"+name)
		}
	}
	slices.Sort(out)
	return out
}

// checkFlags has the operator read and judge its flags.
func checkFlags(t *testing.T, args []string) {
	t.Helper()
	var c config.Config
	set := flag.NewFlagSet("operator", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	c.Bind(set)
	(&zap.Options{}).BindFlags(set)
	if err := set.Parse(args); err != nil {
		t.Errorf("the operator can't read %q: %v", args, err)
	} else if err := c.Validate(); err != nil {
		t.Errorf("the operator refuses %q: %v", args, err)
	}
}

// ofAdmission marks the accounts that checks of the pod need.
var ofAdmission = client.MatchingLabels{"made-for": "admission"}

// checkPodIsAdmitted creates the pod, without keeping it, where only restricted pods are let in. A refusal is expected
// where one is given.
func checkPodIsAdmitted(t *testing.T, spec corev1.PodSpec, refusal string) {
	t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: spec.ServiceAccountName, Namespace: namespace, Labels: ofAdmission}}
	if err := kube.Create(t.Context(), account); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "admission", Namespace: namespace}, Spec: spec}
	err := kube.Create(t.Context(), pod, client.DryRunAll)
	if refusal == "" && err != nil {
		t.Errorf("the pod is not admitted: %v", err)
	}
	if refusal != "" && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), refusal)) {
		t.Errorf("admission says %v, want a refusal for %s", err, refusal)
	}
}

// Otherwise the check above could not fail.
func TestAPodThatMayDoMoreIsNotAdmitted(t *testing.T) {
	r := render(t, "securityContext: {allowPrivilegeEscalation: true}")
	template := r.deployment(t).Spec.Template
	pod := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	pod.Name, pod.Namespace, pod.Spec.ServiceAccountName = "admission", namespace, ""
	if err := kube.Create(t.Context(), pod, client.DryRunAll); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "allowPrivilegeEscalation") {
		t.Errorf("got %v, want that allowPrivilegeEscalation is forbidden", err)
	}
}

func TestDefaultRendering(t *testing.T) {
	const golden = "testdata/default.yaml"
	got := render(t, "crds: {install: false}").text
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the rendering is another; go test ./test/chart -run %s -update accepts it (-want +got):\n%s", t.Name(), diff)
	}
}

func TestLabelsAreOnEverything(t *testing.T) {
	r := render(t, everything)
	for _, o := range r.objects {
		checkLabels(t, o.GetKind()+" "+o.GetName(), o.GetLabels())
	}
	template := r.deployment(t).Spec.Template
	checkLabels(t, "the pod", template.Labels)
	if template.Labels["tier"] != "control" {
		t.Errorf("the pod's labels are %v, and lack podLabels", template.Labels)
	}
	if _, common := r.deployment(t).Spec.Selector.MatchLabels["team"]; common {
		t.Error("the Deployment selects by a common label, so that an upgrade that changes it would be refused")
	}
}

func checkLabels(t *testing.T, what string, labels map[string]string) {
	t.Helper()
	for key, want := range map[string]string{"team": "edge", "app.kubernetes.io/instance": release, "app.kubernetes.io/managed-by": "Helm"} {
		if labels[key] != want {
			t.Errorf("%s: the label %s is %q, want %q", what, key, labels[key], want)
		}
	}
}

// The CRDs stay in the cluster unless a user decides otherwise.
func TestKindsAreKept(t *testing.T) {
	for values, want := range map[string]struct{ policy, allowed string }{"{}": {policy: "keep"}, "crds: {keep: false}": {allowed: "true"}} {
		kinds := render(t, values).find("CustomResourceDefinition")
		if len(kinds) == 0 {
			t.Fatal("no kinds")
		}
		for _, crd := range kinds {
			if got := crd.GetAnnotations()["helm.sh/resource-policy"]; got != want.policy {
				t.Errorf("with %s the policy of %s is %q, want %q", values, crd.GetName(), got, want.policy)
			}
			if got := crd.GetAnnotations()[allowDeletion]; got != want.allowed {
				t.Errorf("with %s the annotation %s of %s is %q, want %q", values, allowDeletion, crd.GetName(), got, want.allowed)
			}
			spec := crd.Object["spec"].(map[string]any)
			source := fmt.Sprintf("../../config/crd/%s_%s.yaml", spec["group"], spec["names"].(map[string]any)["plural"])
			content, err := os.ReadFile(source)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(parse(t, string(content)).objects[0].Object["spec"], crd.Object["spec"]); diff != "" {
				t.Errorf("%s is not what %s says:\n%s", crd.GetName(), source, diff)
			}
		}
	}
}
