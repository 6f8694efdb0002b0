{{- /* Values that exclude each other: the installation stops and says why. */ -}}
{{- define "gpu-operator.refuse" -}}
{{- $v := .Values -}}
{{- if and $v.clusterPolicy.deployCR $v.gpuCluster.deployCR }}
{{- fail "clusterPolicy.deployCR and gpuCluster.deployCR are both true: a cluster has either a ClusterPolicy or a GPUCluster" }}
{{- end }}
{{- if and $v.gpuCluster.deployCR $v.driver.enabled (not $v.driver.nvidiaDriverCRD.enabled) }}
{{- fail "gpuCluster.deployCR with driver.enabled needs driver.nvidiaDriverCRD.enabled=true" }}
{{- end }}
{{- if and $v.cdi.nriPluginEnabled (not $v.cdi.enabled) }}
{{- fail "cdi.nriPluginEnabled needs cdi.enabled=true" }}
{{- end }}
{{- if and $v.cdi.nriPluginEnabled (not $v.toolkit.enabled) }}
{{- fail "cdi.nriPluginEnabled needs toolkit.enabled=true: the NRI plugin is part of the toolkit" }}
{{- end }}
{{- range $name := list "devicePlugin" "dcgmExporter" "migManager" }}
{{- with (index $v $name).config }}
{{- if .create }}
{{- if not .name }}{{ fail (printf "%s.config.create needs %s.config.name" $name $name) }}{{ end }}
{{- if not .data }}{{ fail (printf "%s.config.create needs %s.config.data" $name $name) }}{{ end }}
{{- end }}
{{- end }}
{{- end }}
{{- if and $v.driver.usePrecompiled (or $v.gds.enabled $v.gdrcopy.enabled) }}
{{- fail "driver.usePrecompiled excludes gds.enabled and gdrcopy.enabled: their modules are built on the node" }}
{{- end }}
{{- if and $v.vgpuManager.enabled (or (not $v.vgpuManager.repository) (not $v.vgpuManager.version)) }}
{{- fail "vgpuManager.enabled needs vgpuManager.repository and vgpuManager.version: the image is your own" }}
{{- end }}
{{- $own := list "validator" "toolkit" "devicePlugin" "gfd" "migManager" "nodeStatusExporter" "driverManager" }}
{{- range $v.ownImages }}
{{- if not (has . $own) }}{{ fail (printf "ownImages: %s is none of %s" . (join ", " $own)) }}{{ end }}
{{- end }}
{{- end -}}

{{- /* Paths of values that no template reads, one a line: (dict "at" path "values" map "known" map). A known value that is
no map, or an empty one, is open: whatever stands in it is the user's. */ -}}
{{- define "gpu-operator.unknown" -}}
{{- $known := .known -}}{{- $at := .at -}}
{{- range $key, $value := .values }}
{{- $path := ternary $key (printf "%s.%s" $at $key) (eq $at "") }}
{{- if not (hasKey $known $key) }}
{{ $path }}
{{- else if and (kindIs "map" $value) (kindIs "map" (index $known $key)) }}
{{- if index $known $key }}
{{- include "gpu-operator.unknown" (dict "at" $path "values" $value "known" (index $known $key)) }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- /* Values that are accepted and change nothing, or little: one sentence a line. */ -}}
{{- define "gpu-operator.warnings" -}}
{{- $v := .Values -}}
{{- $known := .Files.Get "files/known-values.yaml" | fromYaml -}}
{{- range $path := include "gpu-operator.unknown" (dict "at" "" "values" $v "known" $known) | splitList "\n" }}
{{- if $path }}
{{ $path }}: there is no such value; it is ignored.
{{- end }}
{{- end }}
{{- if $v.kataManager.enabled }}
kataManager.enabled: deprecated and without effect; use sandboxWorkloads.mode=kata.
{{- end }}
{{- if $v.operator.defaultRuntime }}
operator.defaultRuntime: without effect; the container engine of each node is found out.
{{- end }}
{{- if $v.operator.defaultGPUMode }}
operator.defaultGPUMode: without effect; use sandboxWorkloads.defaultWorkload.
{{- end }}
{{- if $v.operator.initContainer }}
operator.initContainer: deprecated and without effect.
{{- end }}
{{- if ($v.psp | default dict).enabled }}
psp.enabled: without effect; Pod security policies no longer exist. See psa.enabled.
{{- end }}
{{- if hasKey $v.driver "useOpenKernelModules" }}
driver.useOpenKernelModules: without effect; use driver.kernelModuleType.
{{- end }}
{{- if $v.driver.licensingConfig.configMapName }}
driver.licensingConfig.configMapName: deprecated; a licence token belongs into a Secret (driver.licensingConfig.secretName).
{{- end }}
{{- if hasKey $v.dcgm "hostPort" }}
dcgm.hostPort: without effect; use dcgm.hostNetwork.
{{- end }}
{{- if $v.cdi.default }}
cdi.default: deprecated and without effect.
{{- end }}
{{- if $v.gpuCluster.deployCR }}
gpuCluster.deployCR: GPUClusters are accepted and not served yet; the object's status says so.
{{- end }}
{{- if $v.validator.args }}
validator.args: without effect; the validator's Pod holds nothing that takes arguments.
{{- end }}
{{- if and (not $v.nfd.enabled) (not (.Capabilities.APIVersions.Has "nfd.k8s-sigs.io/v1alpha1")) }}
nfd.enabled=false: node feature discovery does not seem to be in the cluster; without its labels no node counts as a GPU node.
{{- end }}
{{- if and $v.sandboxWorkloads.enabled $v.driver.upgradePolicy.autoUpgrade }}
driver.upgradePolicy.autoUpgrade: without effect while sandboxWorkloads.enabled is true.
{{- end }}
{{- end -}}
