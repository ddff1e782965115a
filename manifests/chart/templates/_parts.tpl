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
{{- define "holdfast.scheduling" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
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
{{- end }}
{{- define "holdfast.before-delete" -}}
helm.sh/hook: pre-delete
helm.sh/hook-weight: {{ . | quote }}
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end }}
