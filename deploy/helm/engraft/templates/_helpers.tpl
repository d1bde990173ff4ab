{{- define "engraft.name" -}}
{{- printf "%s-%s" .root.Release.Name .part | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "engraft.selector" -}}
app.kubernetes.io/name: engraft
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .part }}
{{- end -}}

{{- define "engraft.labels" -}}
{{ include "engraft.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
{{- end -}}

{{/* The container that api and worker pods share. The address of operations is the image's own. */}}
{{- define "engraft.container" -}}
{{- $values := .root.Values -}}
name: {{ .part }}
image: "{{ $values.image.repository }}:{{ $values.image.tag | default .root.Chart.AppVersion }}"
imagePullPolicy: {{ $values.image.pullPolicy }}
args: [{{ .part }}]
envFrom:
  - secretRef: { name: {{ $values.secret }} }
{{- with merge (dict) (.environment | default dict) $values.environment }}
env:
  {{- range $name, $value := . }}
  {{- /* A number of a values file is a float64, which would be written as 2e+10. */}}
  - { name: {{ $name }}, value: {{ ternary ($value | int64) $value (kindIs "float64" $value) | quote }} }
  {{- end }}
{{- end }}
securityContext:
  allowPrivilegeEscalation: false
  capabilities: { drop: [ALL] }
# A model of some gigabytes takes its time.
startupProbe:
  httpGet: { path: /healthz, port: operations }
  periodSeconds: 5
  failureThreshold: 120
livenessProbe:
  httpGet: { path: /healthz, port: operations }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: { path: /readyz, port: operations }
  periodSeconds: 5
  timeoutSeconds: 5
{{- end -}}

{{- define "engraft.pod" -}}
terminationGracePeriodSeconds: {{ .root.Values.terminationGracePeriodSeconds }}
automountServiceAccountToken: false
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{- include "engraft.selector" . | nindent 8 }}
{{- end -}}
