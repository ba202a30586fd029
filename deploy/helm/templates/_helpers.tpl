{{- define "borough.image" -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end }}

{{- define "borough.labels" -}}
app.kubernetes.io/name: {{ .name }}
app.kubernetes.io/instance: {{ .root.Release.Name | quote }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
{{- end }}

{{- /* A Service's name has no dot and begins with a letter; a StatefulSet's is a label of its pods, with 11 more. */}}
{{- define "borough.controlPlane" -}}
{{- $name := .Release.Name | replace "." "-" }}
{{- if regexMatch "^[0-9]" $name }}
{{- $name = printf "borough-%s" $name }}
{{- end }}
{{- if gt (len $name) 38 }}
{{- $name = printf "%s-%s" (trunc 31 $name) (sha256sum .Release.Name | trunc 6) }}
{{- end }}
{{- $name }}-control-plane
{{- end }}

{{- define "borough.container.security" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop:
    - ALL
{{- end }}

{{- define "borough.probes" -}}
readinessProbe:
  httpGet:
    path: /readyz
    port: {{ . }}
    scheme: HTTPS
livenessProbe:
  httpGet:
    path: /livez
    port: {{ . }}
    scheme: HTTPS
  failureThreshold: 6
{{- end }}

{{- define "borough.spread" -}}
- maxSkew: 1
  topologyKey: kubernetes.io/hostname
  whenUnsatisfiable: ScheduleAnyway
  labelSelector:
    matchLabels:
      app.kubernetes.io/name: {{ .name }}
      {{- with .instance }}
      app.kubernetes.io/instance: {{ . | quote }}
      {{- end }}
{{- end }}
