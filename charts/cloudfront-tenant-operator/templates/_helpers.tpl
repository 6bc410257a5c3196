{{/* Name of all objects. */}}
{{- define "operator.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- default $full .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- end }}

{{/* Labels that select the pods. A Deployment's selector can never change, so commonLabels are not part of it. */}}
{{- define "operator.selectorLabels" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* Labels of every object. */}}
{{- define "operator.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "operator.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "operator.serviceAccountName" -}}
{{- default (include "operator.fullname" .) .Values.serviceAccount.name -}}
{{- end }}

{{/* Subjects of the bindings. */}}
{{- define "operator.subjects" -}}
- kind: ServiceAccount
  name: {{ include "operator.serviceAccountName" . }}
  namespace: {{ .Release.Namespace }}
{{- end }}

{{/* The rules of one role of files/rbac.yaml, which is generated from the markers in the code. */}}
{{- define "operator.rules" -}}
{{- range splitList "---\n" (.root.Files.Get "files/rbac.yaml") }}
{{- $role := fromYaml . }}
{{- if eq (dig "metadata" "name" "" $role) $.role }}
{{- toYaml $role.rules }}
{{- end }}
{{- end }}
{{- end }}

{{/* The rules for the CRDs of the controllers that run. Each role includes the right to create events. */}}
{{- define "operator.kindRules" -}}
{{- $roles := dict "distributiontenant" "tenants" "tenantsource" "sources" "distribution" "distributions" "connectiongroup" "connectiongroups" "invalidation" "invalidations" }}
{{- range list "distributiontenant" "tenantsource" "distribution" "connectiongroup" "invalidation" }}
{{- if has . $.Values.controller.controllers }}
{{ include "operator.rules" (dict "root" $ "role" (get $roles .)) }}
{{- end }}
{{- end }}
{{- end }}

{{/* Whether NAME is one of the names, or begins with one of the prefixes followed by a star, in CEL. */}}
{{- define "operator.namespacePatterns" -}}
{{- $names := list }}
{{- $conditions := list }}
{{- range . }}
{{- if hasSuffix "*" . }}{{ $conditions = append $conditions (printf "NAME.startsWith('%s')" (trimSuffix "*" .)) }}{{ else }}{{ $names = append $names . }}{{ end }}
{{- end }}
{{- with $names }}{{ $conditions = prepend $conditions (printf "NAME in ['%s']" (join "', '" (uniq .))) }}{{ end }}
{{- join " || " $conditions }}
{{- end }}

{{/* The rules for customers' namespaces. ClusterRoles and constraints that plans may name come from the values. */}}
{{- define "operator.tenancyRules" -}}
{{- with .Values.tenancy }}
{{- if .enabled }}
{{ include "operator.rules" (dict "root" $ "role" "tenancy") }}
{{- if .istio.enabled }}
{{ include "operator.rules" (dict "root" $ "role" "tenancy-istio") }}
{{- end }}
{{- with .gatekeeper.constraints }}
{{ toYaml (list (dict "apiGroups" (list "constraints.gatekeeper.sh") "resources" . "verbs" (list "create" "delete" "patch"))) }}
{{- end }}
{{- with .ownerClusterRoles }}
{{ toYaml (list (dict "apiGroups" (list "rbac.authorization.k8s.io") "resources" (list "clusterroles") "resourceNames" . "verbs" (list "bind"))) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* The rules that only a ClusterRole can hold, and those for the CRDs unless watchNamespaces is set. */}}
{{- define "operator.clusterRules" -}}
{{- if not .Values.watchNamespaces }}
{{- include "operator.kindRules" . }}
{{- end }}
{{- include "operator.tenancyRules" . }}
{{- if ne .Values.grants.mode "Off" }}
{{ include "operator.rules" (dict "root" . "role" "grants") }}
{{- end }}
{{- if not .Values.controller.clusterID }}
{{ include "operator.rules" (dict "root" . "role" "cluster-id") }}
{{- end }}
{{- if include "operator.domainClaims" . }}
{{ include "operator.rules" (dict "root" . "role" "domain-claims") }}
{{- end }}
{{- if and .Values.metrics.enabled .Values.metrics.secure }}
{{ include "operator.rules" (dict "root" . "role" "metrics") }}
{{- end }}
{{- if .Values.webhook.enabled }}
{{ toYaml (list (dict "apiGroups" (list "admissionregistration.k8s.io") "resources" (list "validatingwebhookconfigurations") "resourceNames" (list (include "operator.fullname" .)) "verbs" (list "get" "patch"))) }}
{{- end }}
{{- end }}

{{/* Not empty where it is judged who may have a domain. */}}
{{- define "operator.domainClaims" -}}
{{- if and .Values.controller.domainClaims.enabled (has "distributiontenant" (.Values.controller.controllers | default list)) }}true{{- end }}
{{- end }}

{{/* The rules for what the operator keeps in its own namespace. */}}
{{- define "operator.ownRules" -}}
{{- range $role, $needed := dict "leader-election" .Values.controller.leaderElect "deletion-budget" .Values.deletionBudget.enabled "cluster-check" .Values.clusterCheck.enabled }}
{{- if $needed }}
{{ include "operator.rules" (dict "root" $ "role" $role) }}
{{- end }}
{{- end }}
{{- end }}

{{/* The annotation without which the CRDs cannot be deleted. */}}
{{- define "operator.allowDeletion" -}}
cloudfront-tenant-operator.io/allow-deletion
{{- end }}

{{/* The rights of users on a kind. */}}
{{- define "operator.userRules" }}
  - apiGroups: [cloudfront-tenant-operator.io]
    resources: [{{ .kind }}]
    verbs: [{{ join ", " .verbs }}]
  - apiGroups: [cloudfront-tenant-operator.io]
    resources: [{{ .kind }}/status]
    verbs: [get]
{{- end }}

{{/* The binding of a policy that asks for a verb. Other namespaces belong to other releases. */}}
{{- define "operator.restrictionBinding" }}
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: {{ include "operator.fullname" .root }}-{{ .verb }}
  labels: {{- include "operator.labels" .root | nindent 4 }}
spec:
  policyName: {{ include "operator.fullname" .root }}-{{ .verb }}
  validationActions: [Deny]
  {{- with .root.Values.watchNamespaces }}
  matchResources:
    namespaceSelector:
      matchExpressions:
        - {key: kubernetes.io/metadata.name, operator: In, values: [{{ join ", " . }}]}
  {{- end }}
{{- end }}

{{/* A CRD or a ConstraintTemplate. It is kept when the release is uninstalled, unless crds.keep is false: then the CRD can be deleted. */}}
{{- define "operator.kind" }}
{{- $kind := .kind }}
{{- $_ := set $kind.metadata "labels" (include "operator.labels" .root | fromYaml) }}
{{- $annotation := dict "helm.sh/resource-policy" "keep" }}
{{- if not .root.Values.crds.keep }}
{{- $annotation = ternary (dict (include "operator.allowDeletion" .root) "true") dict (eq $kind.kind "CustomResourceDefinition") }}
{{- end }}
{{- with $annotation }}
{{- $_ := set $kind.metadata "annotations" (merge . ($kind.metadata.annotations | default dict)) }}
{{- end }}
---
{{ toYaml $kind }}
{{- end }}

{{/* The repository with global.imageRegistry instead of its registry, which is a first part that looks like a host, as in Docker. */}}
{{- define "operator.repository" -}}
{{- $parts := splitList "/" .Values.image.repository -}}
{{- with .Values.global.imageRegistry -}}
{{- if and (gt (len $parts) 1) (regexMatch "[.:]|^localhost$" (first $parts)) }}{{ $parts = rest $parts }}{{ end -}}
{{- $parts = prepend $parts . -}}
{{- end -}}
{{- join "/" $parts -}}
{{- end }}

{{- define "operator.image" -}}
{{- if .Values.image.digest -}}
{{ include "operator.repository" . }}@{{ .Values.image.digest }}
{{- else -}}
{{ include "operator.repository" . }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end }}
{{- end }}

{{/* The Secret with the metrics endpoint's certificate; empty if the operator signs its own. */}}
{{- define "operator.metricsCertSecret" -}}
{{- default (ternary (printf "%s-metrics-cert" (include "operator.fullname" .)) "" .Values.metrics.cert.certManager.enabled) .Values.metrics.cert.secretName -}}
{{- end }}

{{/* How Prometheus verifies the endpoint's certificate. One that the operator signs itself cannot be verified. */}}
{{- define "operator.scrapeTLS" -}}
{{- $secret := include "operator.metricsCertSecret" .root -}}
{{- if .monitor.tlsConfig }}
{{- toYaml .monitor.tlsConfig }}
{{- else if $secret }}
{{- with .root.Values.metrics.cert.caName }}
ca:
  secret: {name: {{ $secret | quote }}, key: {{ . | quote }}}
{{- end }}
serverName: {{ include "operator.fullname" .root }}-metrics.{{ .root.Release.Namespace }}.svc
{{- else }}
insecureSkipVerify: true
{{- end }}
{{- end }}

{{/* A NetworkPolicy's rule for some ports of some peers, or of any if there are none. */}}
{{- define "operator.egressRule" -}}
{{- $rule := dict "ports" list -}}
{{- range $port := .ports -}}
{{- range ($.protocols | default (list "TCP")) }}{{ $_ := set $rule "ports" (append $rule.ports (dict "port" (int $port) "protocol" .)) }}{{ end -}}
{{- end -}}
{{- with .to }}{{ $_ := set $rule "to" . }}{{ end -}}
{{- if $rule.ports }}{{ toYaml (list $rule) }}{{ end -}}
{{- end }}

{{/* The operator's flags. For empty values the operator's own defaults apply. */}}
{{- define "operator.args" -}}
- --leader-elect={{ .Values.controller.leaderElect }}
{{- with .Values.controller.leaderElectionNamespace }}
- --leader-election-namespace={{ . }}
{{- end }}
- --health-probe-bind-address=:{{ .Values.probes.port }}
{{- if .Values.metrics.enabled }}
- --metrics-bind-address=:{{ .Values.metrics.port }}
- --metrics-secure={{ .Values.metrics.secure }}
- --enable-http2={{ .Values.metrics.http2 }}
{{- if include "operator.metricsCertSecret" . }}
- --metrics-cert-path=/etc/metrics-cert
- --metrics-cert-name={{ .Values.metrics.cert.certName }}
- --metrics-cert-key={{ .Values.metrics.cert.keyName }}
{{- end }}
{{- else }}
- --metrics-bind-address=0
{{- end }}
{{- with .Values.controller.pprofAddress }}
- --pprof-bind-address={{ . }}
{{- end }}
{{- with .Values.watchNamespaces }}
- --watch-namespaces={{ join "," . }}
{{- end }}
- --controllers={{ join "," (concat (.Values.controller.controllers | default list) (ternary (list "tenant") list .Values.tenancy.enabled)) }}
{{- if .Values.tenancy.enabled }}
- {{ printf "--reserved-namespaces=%s" (join "," .Values.tenancy.reservedNamespaces) | quote }}
- --min-pod-security={{ .Values.tenancy.minPodSecurity }}
{{- with .Values.tenancy.namespaces }}
- {{ printf "--tenant-namespaces=%s" (join "," .) | quote }}
{{- end }}
{{- end }}
{{- with .Values.controller.clusterID }}
- {{ printf "--cluster-id=%s" . | quote }}
{{- end }}
- --drift-policy={{ .Values.controller.driftPolicy }}
- --sweep-interval={{ .Values.controller.sweepInterval }}
- --max-concurrent-reconciles={{ int .Values.controller.maxConcurrentReconciles }}
- --cluster-check={{ .Values.clusterCheck.enabled }}
{{- if .Values.clusterCheck.enabled }}
- --cluster-check-copy-namespace={{ .Values.clusterCheck.copyNamespace }}
{{- end }}
- --grants={{ .Values.grants.mode }}
{{- /* Not by a null in grants.default: with --reuse-values, Helm ignores the null if the release had extended the value. */}}
{{- if and (ne .Values.grants.mode "Off") (ne (toString .Values.grants.defaultEnabled) "false") .Values.grants.default }}
- {{ printf "--default-grant=%s" (toJson .Values.grants.default) | quote }}
{{- end }}
- --domain-claims={{ eq (include "operator.domainClaims" .) "true" }}
{{- if include "operator.domainClaims" . }}
- --domain-hold={{ .Values.controller.domainClaims.hold }}
- --domain-hold-customer={{ .Values.controller.domainClaims.holdCustomer }}
{{- end }}
{{- with .Values.deletionBudget }}
- --deletion-budget={{ .enabled }}
{{- if .enabled }}
- --deletion-budget-settle={{ .settle }}
- --deletion-budget-settle-max={{ .settleMax }}
- --deletion-budget-window={{ .window }}
- --deletion-budget-max={{ int .max }}
- --deletion-budget-max-percent={{ int .maxPercent }}
- --deletion-budget-ceiling-percent={{ int .ceilingPercent }}
- --deletion-budget-namespace-max={{ int .namespace.max }}
- --deletion-budget-namespace-max-percent={{ int .namespace.maxPercent }}
- --deletion-budget-tenants-max={{ int .tenants.max }}
- --deletion-budget-tenants-max-percent={{ int .tenants.maxPercent }}
{{- end }}
{{- end }}
{{- with .Values.rollout }}
- --rollout={{ .enabled }}
{{- if .enabled }}
- --rollout-canaries={{ int .canaries }}
- --rollout-pause={{ .pause }}
- --rollout-max-failed-percent={{ int .maxFailedPercent }}
{{- end }}
{{- end }}
{{- if has "tenantsource" .Values.controller.controllers }}
{{- with .Values.controller.tenantSource }}
{{- with .targetNamespaces }}
- {{ printf "--tenantsource-target-namespaces=%s" (join "," .) | quote }}
{{- end }}
- --tenantsource-read-timeout={{ .readTimeout }}
- --tenantsource-first-row-timeout={{ .firstRowTimeout }}
- --tenantsource-max-rows={{ int .maxRows }}
- --tenantsource-max-watches={{ int .maxWatches }}
- --tenantsource-read-memory={{ .readMemory }}
{{- with .allowDial }}
- {{ printf "--tenantsource-allow-dial=%s" (join "," .) | quote }}
{{- end }}
{{- end }}
{{- with .Values.aws.dynamoDBEndpoint }}
- --dynamodb-endpoint={{ . }}
{{- end }}
{{- end }}
{{- with .Values.aws.region }}
- --aws-region={{ . }}
{{- end }}
- --aws-rate={{ .Values.aws.rate }}
- --aws-burst={{ int .Values.aws.burst }}
- --route53-rate={{ .Values.aws.route53.rate }}
- --route53-burst={{ int .Values.aws.route53.burst }}
- --acm-rate={{ .Values.aws.acm.rate }}
- --acm-burst={{ int .Values.aws.acm.burst }}
{{- if has "invalidation" (.Values.controller.controllers | default list) }}
- --invalidation-rate={{ .Values.aws.invalidations.rate }}
- --invalidation-burst={{ int .Values.aws.invalidations.burst }}
- --invalidation-paths-per-day={{ int .Values.controller.invalidation.pathsPerDay }}
{{- end }}
{{- with .Values.aws.allowedRoles }}
- {{ printf "--allowed-roles=%s" (join "," .) | quote }}
{{- end }}
{{- with .Values.aws.dnsResolvers }}
- {{ printf "--dns-resolvers=%s" (join "," .) | quote }}
{{- end }}
- --watch-domains={{ .Values.aws.watchDomains }}
{{- if .Values.dns.accounts }}
- --dns-accounts=/etc/dns-accounts/accounts.yaml
{{- end }}
{{- with .Values.aws.defaultTags }}
{{- $pairs := list }}
{{- range $key, $value := . }}{{ $pairs = append $pairs (printf "%s=%v" $key $value) }}{{ end }}
- {{ printf "--default-tags=%s" (join "," $pairs) | quote }}
{{- end }}
{{- if .Values.webhook.enabled }}
- --webhook-bind-address=:{{ .Values.webhook.port }}
- --webhook-name={{ include "operator.fullname" . }}
{{- with .Values.webhook.deny }}
- --webhook-deny={{ join "," . }}
{{- end }}
{{- with .Values.webhook.dnsResolvers }}
- {{ printf "--webhook-dns=%s" (join "," .) | quote }}
{{- end }}
{{- end }}
- --zap-log-level={{ .Values.controller.log.level }}
- --zap-encoder={{ .Values.controller.log.encoder }}
- --zap-stacktrace-level={{ .Values.controller.log.stacktraceLevel }}
- --zap-time-encoding={{ .Values.controller.log.timeEncoding }}
{{- with .Values.extraArgs }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* The file of DNS accounts. Each Secret is mounted where its account says. */}}
{{- define "operator.dnsAccounts" -}}
{{- $accounts := list }}
{{- range .Values.dns.accounts }}
{{- $account := deepCopy (omit . "secretName") }}
{{- if .externalDNS }}{{ $account = set $account "externalDNS" (merge (deepCopy .externalDNS) (dict "namespace" $.Release.Namespace)) }}{{ end }}
{{- if .secretName }}{{ $account = set $account "credentials" (printf "/etc/dns-credentials/%s" .secretName) }}{{ end }}
{{- $accounts = append $accounts $account }}
{{- end }}
{{- toYaml (dict "accounts" $accounts) }}
{{- end }}

{{/* The Secrets of DNS accounts, each once. */}}
{{- define "operator.dnsSecrets" -}}
{{- $names := list }}
{{- range .Values.dns.accounts }}{{ with .secretName }}{{ $names = append $names . }}{{ end }}{{ end }}
{{- $names | uniq | sortAlpha | toJson }}
{{- end }}

{{/* 90 % of a memory limit in bytes. Above it Go's garbage collector runs more often instead of growing into the limit. */}}
{{- define "operator.goMemLimit" -}}
{{- $unit := regexFind "[A-Za-z]*$" . -}}
{{- $factor := get (dict "" 1 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776) $unit -}}
{{- mulf (trimSuffix $unit . | float64) $factor 0.9 | floor | int64 -}}
{{- end }}

{{/* The constraints, with the pods' own selector unless they have one. */}}
{{- define "operator.topologySpread" -}}
{{- range .Values.topologySpreadConstraints }}
{{- $own := dict "labelSelector" (dict "matchLabels" (include "operator.selectorLabels" $ | fromYaml)) "matchLabelKeys" (list "pod-template-hash") }}
- {{ toYaml (ternary . (merge (deepCopy .) $own) (hasKey . "labelSelector")) | nindent 2 | trim }}
{{- end }}
{{- end }}

{{/* How to scrape. honorLabels, because metrics of tenants have a label namespace, which is not the operator's. */}}
{{- define "operator.scrape" -}}
path: /metrics
honorLabels: true
scheme: {{ ternary "https" "http" .root.Values.metrics.secure }}
{{- if .root.Values.metrics.secure }}
tlsConfig: {{- include "operator.scrapeTLS" . | trim | nindent 2 }}
{{- with .monitor.authorization }}
authorization: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- range $field := list "interval" "scrapeTimeout" "relabelings" "metricRelabelings" }}
{{- with get $.monitor $field }}
{{ toYaml (dict $field .) }}
{{- end }}
{{- end }}
{{- end }}

{{/* A duration such as 1h30m in seconds. */}}
{{- define "operator.seconds" -}}
{{- $hours := regexFind "[0-9]+h" . | trimSuffix "h" | int -}}
{{- $minutes := regexFind "[0-9]+m" . | trimSuffix "m" | int -}}
{{- add (mul 3600 $hours) (mul 60 $minutes) (regexFind "[0-9]+s" . | trimSuffix "s" | int) -}}
{{- end }}

{{/* Refuses the values that have another name here than in the previous operator's chart, all at once. */}}
{{- define "operator.refuseRenamed" -}}
{{- $all := list }}
{{- range list
  (list . "replicaCount" "replicaCount is now replicas")
  (list . "leaderElection" "leaderElection.enabled is now controller.leaderElect")
  (list .metrics "bindAddress" "metrics.bindAddress is now metrics.port, a number, or metrics.enabled=false for an address of 0")
  (list .probes "bindAddress" "probes.bindAddress is now probes.port, a number") }}
{{- if hasKey (index . 0) (index . 1) }}
{{- $all = append $all (index . 2) }}
{{- end }}
{{- end }}
{{- if hasPrefix "ghcr.io/dsp0x4/" .image.repository }}
{{- $all = append $all "image.repository is that of the previous operator: leave image.repository and image.tag out, or name your mirror of the new image" }}
{{- end }}
{{- with $all }}
{{- fail (printf "these values of the previous operator's chart have other names: %s" (join "; " .)) }}
{{- end }}
{{- end }}

{{/* Checks that the schema cannot express: they involve several values, or the meaning of a text. */}}
{{- define "operator.validate" -}}
{{- include "operator.refuseRenamed" .Values }}
{{- $c := .Values.controller }}
{{- if lt (include "operator.seconds" $c.sweepInterval | int) 10 }}
{{- fail (printf "controller.sweepInterval: %s is too short; use at least 10s" $c.sweepInterval) }}
{{- end }}
{{- if lt (include "operator.seconds" $c.tenantSource.readTimeout | int) 1 }}
{{- fail (printf "controller.tenantSource.readTimeout: %s is too short; use at least 1s" $c.tenantSource.readTimeout) }}
{{- end }}
{{- if lt (include "operator.seconds" $c.tenantSource.firstRowTimeout | int) 1 }}
{{- fail (printf "controller.tenantSource.firstRowTimeout: %s is too short; use at least 1s" $c.tenantSource.firstRowTimeout) }}
{{- end }}
{{- if .Values.watchNamespaces }}
{{- range $target := $c.tenantSource.targetNamespaces }}
{{- range $namespace := splitList "/" $target }}
{{- if not (has $namespace $.Values.watchNamespaces) }}
{{- fail (printf "controller.tenantSource.targetNamespaces: %s names the namespace %s, which the operator does not watch; add it to watchNamespaces" $target $namespace) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- if not (or $c.controllers .Values.tenancy.enabled) }}
{{- fail "controller.controllers is empty: nothing would run; list at least one controller, or set tenancy.enabled to true" }}
{{- end }}
{{- if has "tenant" $c.controllers }}
{{- fail "controller.controllers: tenant is turned on by tenancy.enabled, which also installs its CRDs and rights; remove it from the list and set tenancy.enabled to true" }}
{{- end }}
{{- if and .Values.webhook.enabled (not (has "distributiontenant" ($c.controllers | default list))) }}
{{- fail "webhook.enabled is true, but controller.controllers does not include distributiontenant: the webhook answers from what that controller knows; add it, or set webhook.enabled to false" }}
{{- end }}
{{- with .Values.tenancy }}
{{- if and .enabled $.Values.watchNamespaces }}
{{- fail (printf "tenancy.enabled is true, but watchNamespaces is %s: tenants create namespaces, so the operator must watch all of them; empty watchNamespaces, or set tenancy.enabled to false" (join "," $.Values.watchNamespaces)) }}
{{- end }}
{{- if and .constraintTemplates.enabled (not .enabled) }}
{{- fail "tenancy.constraintTemplates.enabled is true, but tenancy.enabled is false: no plan would use them; set both or neither" }}
{{- end }}
{{- end }}
{{- if and (gt (int .Values.replicas) 1) (not $c.leaderElect) }}
{{- fail (printf "controller.leaderElect is false and replicas is %d: without an election all of them would be active at once; set replicas to 1 or leaderElect to true" (int .Values.replicas)) }}
{{- end }}
{{- range $key, $_ := .Values.aws.defaultTags }}
{{- if regexMatch "^(?i:aws:|cloudfront-tenant-operator\\.io/)" $key }}
{{- fail (printf "aws.defaultTags: the key %s is reserved by AWS or for owner tags; choose another" $key) }}
{{- end }}
{{- end }}
{{- range $field := list "commonLabels" "podLabels" }}
{{- range $key, $_ := get $.Values $field }}
{{- if regexMatch "^(app\\.kubernetes\\.io/(name|instance|version|managed-by|component)|helm\\.sh/chart)$" $key }}
{{- fail (printf "%s: the label %s is the chart's own; choose another key" $field $key) }}
{{- end }}
{{- end }}
{{- end }}
{{- range $name := list "serviceMonitor" "podMonitor" "prometheusRule" "dashboard" }}
{{- if and (dig $name "enabled" false $.Values.metrics) (not $.Values.metrics.enabled) }}
{{- fail (printf "metrics.%s.enabled is true, but metrics.enabled is false: there would be no metrics; set both or neither" $name) }}
{{- end }}
{{- end }}
{{- if and .Values.metrics.cert.certManager.enabled (not (and .Values.metrics.enabled .Values.metrics.secure)) }}
{{- fail "metrics.cert.certManager.enabled is true, but metrics are not served over HTTPS: nothing would use the certificate; set metrics.enabled and metrics.secure to true, or certManager.enabled to false" }}
{{- end }}
{{- with .Values.metrics.podMonitor }}
{{- if and .enabled $.Values.metrics.secure (not .authorization) }}
{{- fail "metrics.podMonitor.authorization is empty: secure metrics need a token, and a PodMonitor cannot use that of Prometheus's own service account; name a Secret with a token, use metrics.serviceMonitor, or set metrics.secure to false" }}
{{- end }}
{{- end }}
{{- end }}
