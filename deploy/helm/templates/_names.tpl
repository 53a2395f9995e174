{{- define "sealwright.name" -}}
{{- ternary .Release.Name (printf "%s-sealwright" .Release.Name) (contains "sealwright" .Release.Name) | trunc 52 | trimSuffix "-" -}}
{{- end -}}

{{/* Not empty: nodes share no volume. */}}
{{- define "sealwright.unshared" -}}
{{- if and .Values.objects.bucket .Values.keysSecret }}true{{ end -}}
{{- end -}}

{{- define "sealwright.selector" -}}
app.kubernetes.io/name: sealwright
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "sealwright.labels" -}}
{{ include "sealwright.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}
