{{- define "borough.image" -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end }}

{{- define "borough.labels" -}}
app.kubernetes.io/name: {{ .name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
{{- end }}

{{- define "borough.controlPlane" -}}
{{ .Release.Name }}-control-plane
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
      app.kubernetes.io/instance: {{ . }}
      {{- end }}
{{- end }}
