{{- define "gpu-operator.nfd.name" -}}
{{- printf "%s-node-feature-discovery" .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "gpu-operator.nfd.labels" -}}
app.kubernetes.io/name: node-feature-discovery
app.kubernetes.io/instance: {{ .Release.Name }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "gpu-operator.nfd.pod" -}}
{{- $nfd := index .Values "node-feature-discovery" -}}
{{- if $nfd.imagePullSecrets }}
imagePullSecrets: {{- toYaml $nfd.imagePullSecrets | nindent 0 }}
{{- else if and (not $nfd.image.repository) .Values.operator.imagePullSecrets }}
imagePullSecrets:
{{- range .Values.operator.imagePullSecrets }}
- name: {{ . }}
{{- end }}
{{- end }}
{{- with $nfd.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end -}}

{{- define "gpu-operator.nfd.image" -}}
{{- $image := (index .Values "node-feature-discovery").image -}}
{{- if $image.repository -}}
image: {{ printf "%s%s%s" $image.repository (ternary "@" ":" (hasPrefix "sha256:" $image.tag)) $image.tag }}
{{- else -}}
image: {{ include "gpu-operator.image" . }}
{{- end }}
imagePullPolicy: {{ $image.pullPolicy }}
{{- end -}}

{{- define "gpu-operator.nfd.security" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  runAsNonRoot: true
  capabilities:
    drop:
    - ALL
{{- end -}}

{{- define "gpu-operator.nfd.probes" -}}
ports:
- name: http
  containerPort: 8080
startupProbe:
  httpGet:
    path: /healthz
    port: http
  periodSeconds: 2
  failureThreshold: 30
livenessProbe:
  httpGet:
    path: /healthz
    port: http
  periodSeconds: 10
readinessProbe:
  httpGet:
    path: /healthz
    port: http
  periodSeconds: 5
{{- end -}}

{{- define "gpu-operator.nfd.nodeEnv" -}}
- name: NODE_NAME
  valueFrom:
    fieldRef:
      fieldPath: spec.nodeName
- name: POD_NAME
  valueFrom:
    fieldRef:
      fieldPath: metadata.name
- name: POD_UID
  valueFrom:
    fieldRef:
      fieldPath: metadata.uid
- name: KUBERNETES_NAMESPACE
  valueFrom:
    fieldRef:
      fieldPath: metadata.namespace
{{- end -}}

{{- /* Settings that change restart the Pods of another image; our own programs read them anew by themselves:
(list root settings). */ -}}
{{- define "gpu-operator.nfd.checksum" -}}
{{- $root := index . 0 -}}
{{- if (index $root.Values "node-feature-discovery").image.repository -}}
annotations:
  checksum/config: {{ index . 1 | toYaml | sha256sum }}
{{- end -}}
{{- end -}}
