{{- /* Names, labels and images that the templates share. */ -}}

{{- define "gpu-operator.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "gpu-operator.labels" -}}
app.kubernetes.io/name: {{ include "gpu-operator.name" . }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- /* The operator's own image. */ -}}
{{- define "gpu-operator.image" -}}
{{- $v := .Values.operator -}}
{{- include "gpu-operator.reference" (dict "repository" $v.repository "image" $v.image "version" (default .Chart.AppVersion $v.version)) -}}
{{- end -}}

{{- /* repository, image and version as one reference. */ -}}
{{- define "gpu-operator.reference" -}}
{{- $version := toString .version -}}
{{- printf "%s/%s%s%s" .repository .image (ternary "@" ":" (hasPrefix "sha256:" $version)) $version -}}
{{- end -}}

{{- /* repository, image and version of a component as the custom resource has them: (list root component spec). The
operator's own image where ownImages names the component. */ -}}
{{- define "gpu-operator.source" -}}
{{- $root := index . 0 -}}{{- $component := index . 1 -}}{{- $spec := index . 2 -}}
{{- if has $component $root.Values.ownImages }}
{{- $spec = dict "repository" $root.Values.operator.repository "image" $root.Values.operator.image "version" (default $root.Chart.AppVersion $root.Values.operator.version) -}}
{{- end -}}
{{- with $spec.repository }}
repository: {{ . }}
{{- end }}
{{- with $spec.image }}
image: {{ . }}
{{- end }}
{{- with $spec.version }}
version: {{ . | quote }}
{{- end }}
{{- end -}}

{{- /* The fields that nearly every component has: (list root component spec). */ -}}
{{- define "gpu-operator.component" -}}
{{- $spec := index . 2 -}}
{{- include "gpu-operator.source" . }}
{{- with $spec.imagePullPolicy }}
imagePullPolicy: {{ . }}
{{- end }}
{{- with $spec.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 0 }}
{{- end }}
{{- with $spec.resources }}
resources: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $spec.args }}
args: {{- toYaml . | nindent 0 }}
{{- end }}
{{- with $spec.env }}
env: {{- toYaml . | nindent 0 }}
{{- end }}
{{- if $spec.hostNetwork }}
hostNetwork: true
{{- end }}
{{- end -}}

{{- define "gpu-operator.driverManager" -}}
{{- $root := index . 0 -}}{{- $spec := index . 1 -}}
{{- include "gpu-operator.component" (list $root "driverManager" $spec) }}
{{- end -}}

{{- /* The upgrade policy; the values spell podDeletion as gpuPodDeletion. */ -}}
{{- define "gpu-operator.upgradePolicy" -}}
autoUpgrade: {{ .autoUpgrade | default false }}
maxParallelUpgrades: {{ .maxParallelUpgrades | default 0 }}
maxUnavailable: {{ .maxUnavailable | default "25%" }}
waitForCompletion: {{- toYaml .waitForCompletion | nindent 2 }}
podDeletion: {{- toYaml .gpuPodDeletion | nindent 2 }}
drain: {{- toYaml .drain | nindent 2 }}
{{- end -}}

{{- /* Which CRDs the hooks care for. */ -}}
{{- define "gpu-operator.crds" -}}
clusterpolicies.nvidia.com nvidiadrivers.nvidia.com gpuclusters.nvidia.com
{{- if .Values.nfd.enabled }} nodefeatures.nfd.k8s-sigs.io nodefeaturerules.nfd.k8s-sigs.io nodefeaturegroups.nfd.k8s-sigs.io{{ end }}
{{- end -}}

{{- define "gpu-operator.operatorPod" -}}
{{- with .Values.operator.imagePullSecrets }}
imagePullSecrets:
{{- range . }}
- name: {{ . }}
{{- end }}
{{- end }}
{{- with .Values.operator.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.operator.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.operator.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.operator.tolerations }}
tolerations: {{- toYaml . | nindent 0 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  seccompProfile:
    type: RuntimeDefault
{{- end -}}

{{- define "gpu-operator.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop:
  - ALL
{{- end -}}

{{- /* A map without its empty maps and lists: an API server that merges makes null of a map that has lost its last key,
and refuses that. */ -}}
{{- define "gpu-operator.filled" -}}
{{- $out := dict -}}
{{- range $key, $value := . -}}
{{- if or $value (not (or (kindIs "map" $value) (kindIs "slice" $value) (kindIs "invalid" $value))) -}}
{{- $_ := set $out $key $value -}}
{{- end -}}
{{- end -}}
{{- toYaml $out -}}
{{- end -}}
