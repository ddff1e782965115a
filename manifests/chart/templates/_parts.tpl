{{- define "holdfast.labels" -}}
app.kubernetes.io/name: holdfast
app.kubernetes.io/part-of: holdfast
{{- with .Values.labels }}
{{ toYaml . }}
{{- end }}
{{- end }}
{{- define "holdfast.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}
{{- define "holdfast.subject" -}}
- kind: ServiceAccount
  name: holdfast-webhook
  namespace: {{ .Release.Namespace }}
{{- end }}
