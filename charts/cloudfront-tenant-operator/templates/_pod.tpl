{{/* The spec of the pods, and of the pod of `helm test`, which has the same identity and volumes. Arguments: context, whether it is the test. */}}
{{- define "operator.podSpec" -}}
{{- $test := index . 1 }}
{{- with index . 0 -}}
serviceAccountName: {{ include "operator.serviceAccountName" . }}
automountServiceAccountToken: true
enableServiceLinks: false
terminationGracePeriodSeconds: {{ .Values.terminationGracePeriodSeconds }}
securityContext: {{- toYaml .Values.podSecurityContext | nindent 2 }}
{{- if .Values.hostNetwork }}
hostNetwork: true
{{- end }}
{{- with default (ternary "ClusterFirstWithHostNet" "" .Values.hostNetwork) .Values.dnsPolicy }}
dnsPolicy: {{ . }}
{{- end }}
{{- with .Values.dnsConfig }}
dnsConfig: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- if $test }}
restartPolicy: Never
{{- end }}
{{- if and .Values.topologySpreadConstraints (not $test) }}
topologySpreadConstraints: {{- include "operator.topologySpread" . | nindent 2 }}
{{- end }}
{{- with ternary list .Values.initContainers $test }}
initContainers: {{- toYaml . | nindent 2 }}
{{- end }}
containers:
  - name: operator
    image: {{ include "operator.image" . | quote }}
    imagePullPolicy: {{ .Values.image.pullPolicy }}
    args: {{- include "operator.args" . | nindent 6 }}
      {{- if $test }}
      - --check=true
      {{- end }}
    {{- $caBundle := or .Values.caBundle.configMap .Values.caBundle.secret }}
    {{- $memory := dig "limits" "memory" "" .Values.resources | toString }}
    env:
      {{- with $memory }}
      - name: GOMEMLIMIT
        value: {{ include "operator.goMemLimit" . | quote }}
      {{- end }}
      {{- if $caBundle }}
      - {name: SSL_CERT_DIR, value: "/etc/ssl/certs:/etc/ca-bundle"}
      {{- end }}
      {{- if not (has "AWS_ROLE_SESSION_NAME" (include "operator.extraEnvNames" . | fromJsonArray)) }}
      # In CloudTrail, the session of IRSA has the name of the pod. No pod of a Deployment has a name that is too long for that.
      - {name: AWS_ROLE_SESSION_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
      {{- end }}
      {{- with .Values.extraEnv }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
    {{- with .Values.extraEnvFrom }}
    envFrom: {{- toYaml . | nindent 6 }}
    {{- end }}
    {{- if not $test }}
    ports:
      - name: probes
        containerPort: {{ .Values.probes.port }}
      {{- if .Values.metrics.enabled }}
      - name: metrics
        containerPort: {{ .Values.metrics.port }}
      {{- end }}
      {{- if .Values.webhook.enabled }}
      - name: webhook
        containerPort: {{ .Values.webhook.port }}
      {{- end }}
    livenessProbe:
      httpGet: {path: /healthz, port: probes}
      {{- toYaml .Values.probes.liveness | nindent 6 }}
    readinessProbe:
      httpGet: {path: /readyz, port: probes}
      {{- toYaml .Values.probes.readiness | nindent 6 }}
    {{- if .Values.webhook.enabled }}
    # Until the API server has noticed that this pod ends, it calls its webhook.
    lifecycle: {preStop: {sleep: {seconds: 3}}}
    {{- end }}
    {{- end }}
    resources: {{- toYaml .Values.resources | nindent 6 }}
    securityContext: {{- toYaml .Values.securityContext | nindent 6 }}
    {{- $metricsCert := and .Values.metrics.enabled (include "operator.metricsCertSecret" .) }}
    {{- $dnsSecrets := include "operator.dnsSecrets" . | fromJsonArray }}
    {{- if or $metricsCert $caBundle .Values.dns.accounts .Values.extraVolumeMounts }}
    volumeMounts:
      {{- if $metricsCert }}
      - {name: metrics-cert, mountPath: /etc/metrics-cert, readOnly: true}
      {{- end }}
      {{- if $caBundle }}
      - {name: ca-bundle, mountPath: /etc/ca-bundle, readOnly: true}
      {{- end }}
      {{- if .Values.dns.accounts }}
      - {name: dns-accounts, mountPath: /etc/dns-accounts, readOnly: true}
      {{- end }}
      {{- range $i, $secret := $dnsSecrets }}
      - {name: dns-credentials-{{ $i }}, mountPath: {{ printf "/etc/dns-credentials/%s" $secret | quote }}, readOnly: true}
      {{- end }}
      {{- with .Values.extraVolumeMounts }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
    {{- end }}
  {{- with ternary list .Values.extraContainers $test }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- if or $metricsCert $caBundle .Values.dns.accounts .Values.extraVolumes }}
volumes:
  {{- if .Values.dns.accounts }}
  - name: dns-accounts
    configMap: {name: {{ include "operator.fullname" . }}-dns-accounts}
  {{- end }}
  {{- range $i, $secret := $dnsSecrets }}
  - name: dns-credentials-{{ $i }}
    # A Secret that does not exist yet makes its accounts unusable, and keeps nothing else from starting.
    secret: {secretName: {{ $secret | quote }}, optional: true}
  {{- end }}
  {{- with $metricsCert }}
  - name: metrics-cert
    secret: {secretName: {{ . | quote }}}
  {{- end }}
  {{- if $caBundle }}
  - name: ca-bundle
    projected:
      sources:
        {{- with .Values.caBundle.configMap }}
        - configMap: {name: {{ . | quote }}}
        {{- end }}
        {{- with .Values.caBundle.secret }}
        - secret: {name: {{ . | quote }}}
        {{- end }}
  {{- end }}
  {{- with .Values.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* The names of the environment variables in the values. */}}
{{- define "operator.extraEnvNames" -}}
{{- $names := list }}
{{- range .Values.extraEnv }}{{ $names = append $names .name }}{{ end }}
{{- $names | toJson }}
{{- end }}
