#include "operands/toolkit/program/options.h"

#include <array>
#include <filesystem>

#include "base/text.h"
#include "container/cdi/names.h"
#include "container/flags.h"

namespace gpuop::operands::toolkit {
namespace {

using container::EngineKind;
using container::FlagSpec;
using container::FlagValues;

const std::vector<FlagSpec>& Flags() {
  static const std::vector<FlagSpec> kFlags = {
      {{"--no-daemon", "-n"}, {"NO_DAEMON"}, "false", true},
      {{"--no-runtime-config"}, {"NO_RUNTIME_CONFIG"}, "false", true},
      {{"--enable-nri-plugin", "-p"}, {"ENABLE_NRI_PLUGIN"}, "false", true},
      {{"--nri-plugin-index"}, {"NRI_PLUGIN_INDEX"}, "10"},
      {{"--nri-socket"}, {"NRI_SOCKET"}, "/var/run/nri/nri.sock"},
      {{"--nri-namespace"}, {"NRI_NAMESPACE"}},
      {{"--nri-management-cdi-device-namespaces"}, {"NRI_MANAGEMENT_CDI_DEVICE_NAMESPACES"}, "", false, true},
      {{"--runtime", "-r"}, {"RUNTIME"}, "docker"},
      {{"--toolkit-install-dir", "--root"}, {"TOOLKIT_INSTALL_DIR", "ROOT"}, "/usr/local/nvidia"},
      {{"--toolkit-source-root"}, {"TOOLKIT_SOURCE_ROOT"}},
      {{"--toolkit-package-type"}, {"TOOLKIT_PACKAGE_TYPE"}, "auto"},
      {{"--pid-file"}, {"TOOLKIT_PID_FILE", "PID_FILE"}, "/run/nvidia/toolkit/toolkit.pid"},
      {{"--debug"}, {"TOOLKIT_DEBUG"}, "false", true},
      {{"--driver-root"}, {"NVIDIA_DRIVER_ROOT", "DRIVER_ROOT"}, "/run/nvidia/driver"},
      {{"--driver-root-ctr-path"}, {"DRIVER_ROOT_CTR_PATH"}},
      {{"--dev-root"}, {"NVIDIA_DEV_ROOT", "DEV_ROOT"}},
      {{"--dev-root-ctr-path"}, {"DEV_ROOT_CTR_PATH"}},
      {{"--nvidia-container-runtime.debug"}, {"NVIDIA_CONTAINER_RUNTIME_DEBUG"}},
      {{"--nvidia-container-runtime.log-level"}, {"NVIDIA_CONTAINER_RUNTIME_LOG_LEVEL"}},
      {{"--nvidia-container-runtime.mode"}, {"NVIDIA_CONTAINER_RUNTIME_MODE"}},
      {{"--nvidia-container-runtime.modes.cdi.default-kind"}, {"NVIDIA_CONTAINER_RUNTIME_MODES_CDI_DEFAULT_KIND"}},
      {{"--nvidia-container-runtime.modes.cdi.annotation-prefixes"},
       {"NVIDIA_CONTAINER_RUNTIME_MODES_CDI_ANNOTATION_PREFIXES"},
       "",
       false,
       true},
      {{"--nvidia-container-runtime.runtimes"}, {"NVIDIA_CONTAINER_RUNTIME_RUNTIMES"}, "", false, true},
      {{"--nvidia-container-runtime-hook.skip-mode-detection"},
       {"NVIDIA_CONTAINER_RUNTIME_HOOK_SKIP_MODE_DETECTION"},
       "true",
       true},
      {{"--nvidia-container-cli.debug"}, {"NVIDIA_CONTAINER_CLI_DEBUG"}},
      {{"--accept-nvidia-visible-devices-envvar-when-unprivileged"},
       {"ACCEPT_NVIDIA_VISIBLE_DEVICES_ENVVAR_WHEN_UNPRIVILEGED"},
       "true",
       true},
      {{"--accept-nvidia-visible-devices-as-volume-mounts"},
       {"ACCEPT_NVIDIA_VISIBLE_DEVICES_AS_VOLUME_MOUNTS"},
       "false",
       true},
      {{"--cdi-enabled", "--enable-cdi"}, {"CDI_ENABLED", "ENABLE_CDI"}, "false", true},
      {{"--cdi-output-dir"}, {"CDI_OUTPUT_DIR"}, "/var/run/cdi"},
      {{"--cdi-kind"}, {"CDI_KIND"}, "management.nvidia.com/gpu"},
      {{"--create-device-nodes"}, {"CREATE_DEVICE_NODES"}, "control", false, true},
      {{"--ignore-errors"}, {"IGNORE_ERRORS"}, "false", true},
      {{"--opt-in-features"}, {"NVIDIA_CONTAINER_TOOLKIT_OPT_IN_FEATURES"}, "", false, true},
      {{"--config"}, {"RUNTIME_CONFIG", "CONTAINERD_CONFIG", "DOCKER_CONFIG"}},
      {{"--drop-in-config"}, {"RUNTIME_DROP_IN_CONFIG"}},
      {{"--drop-in-config-host-path"}, {"RUNTIME_DROP_IN_CONFIG_HOST_PATH"}},
      {{"--executable-path"}, {"RUNTIME_EXECUTABLE_PATH"}},
      {{"--socket"}, {"RUNTIME_SOCKET", "CONTAINERD_SOCKET", "DOCKER_SOCKET"}},
      {{"--restart-mode"}, {"RUNTIME_RESTART_MODE"}},
      {{"--enable-cdi-in-runtime"}, {"RUNTIME_ENABLE_CDI"}, "", true},
      {{"--host-root"}, {"HOST_ROOT_MOUNT"}, "/host"},
      {{"--runtime-name", "--nvidia-runtime-name", "--runtime-class"},
       {"NVIDIA_RUNTIME_NAME", "CONTAINERD_RUNTIME_CLASS", "DOCKER_RUNTIME_NAME"},
       "nvidia"},
      {{"--set-as-default"},
       {"NVIDIA_RUNTIME_SET_AS_DEFAULT", "CONTAINERD_SET_AS_DEFAULT", "DOCKER_SET_AS_DEFAULT"},
       "true",
       true},
      {{"--config-source", "--config-sources"},
       {"RUNTIME_CONFIG_SOURCES", "RUNTIME_CONFIG_SOURCE"},
       "command,file",
       false,
       true},
      {{"--use-legacy-config"}, {"CONTAINERD_USE_LEGACY_CONFIG"}, "false", true},
      {{"--runtime-type"}, {"CONTAINERD_RUNTIME_TYPE"}, "io.containerd.runc.v2"},
      {{"--runtime-config-override"}, {"RUNTIME_CONFIG_OVERRIDE"}},
      {{"--hooks-dir"}, {"CRIO_HOOKS_DIR"}, "/usr/share/containers/oci/hooks.d"},
      {{"--hook-filename"}, {"CRIO_HOOK_FILENAME"}, "oci-nvidia-hook.json"},
      {{"--config-mode"}, {"CRIO_CONFIG_MODE"}, "config"}};
  return kFlags;
}

struct EngineDefaults {
  const char *config, *drop_in, *socket, *restart;
};

EngineDefaults DefaultsOf(EngineKind kind) {
  switch (kind) {
    case EngineKind::kContainerd:
      return {"/etc/containerd/config.toml", "/etc/containerd/conf.d/99-nvidia.toml", "/run/containerd/containerd.sock",
              "signal"};
    case EngineKind::kCrio:
      return {"/etc/crio/crio.conf", "/etc/crio/crio.conf.d/99-nvidia.toml", "/var/run/crio/crio.sock", "systemd"};
    case EngineKind::kDocker: break;
  }
  return {"/etc/docker/daemon.json", "", "/var/run/docker.sock", "signal"};
}

std::string Or(std::string value, const std::string& otherwise) { return value.empty() ? otherwise : value; }

/// `file=/path` among the sources names an explicit file.
std::string SourceFile(const FlagValues& values) {
  for (const std::string& source : values.List("--config-source"))
    if (const auto parts = Cut(source, '='); parts && Trim(parts->first) == "file")
      return std::string(Trim(parts->second));
  return "";
}

Result<> ReadEngine(const FlagValues& v, Options& out) {
  const auto kind = container::EngineNamed(v.Text("--runtime"));
  if (!kind)
    return Fail(Code::kInvalid, "--runtime: " + Quote(v.Text("--runtime")) + " is not docker, crio or containerd");
  out.engine = *kind;
  const EngineDefaults defaults = DefaultsOf(*kind);
  out.files.config = Or(Or(v.Text("--config"), SourceFile(v)), defaults.config);
  out.files.drop_in = v.given("--drop-in-config") ? v.Text("--drop-in-config") : defaults.drop_in;
  if (*kind == EngineKind::kDocker) out.files.drop_in.clear();
  out.files.drop_in_for_engine = v.Text("--drop-in-config-host-path");
  out.socket = Or(v.Text("--socket"), defaults.socket);
  out.restart_mode_given = !v.Text("--restart-mode").empty();
  out.restart_mode = Or(v.Text("--restart-mode"), defaults.restart);
  out.unit = container::EngineName(*kind);
  out.host_root = v.Text("--host-root");
  // In a Pod the engine's folders are mounted elsewhere, and the whole host below the host root.
  if (out.files.config.starts_with("/runtime/config-dir/")) {
    out.files.host_root = out.host_root;
    out.files.config_for_engine = defaults.config;
  }
  if (out.restart_mode != "signal" && out.restart_mode != "systemd" && out.restart_mode != "none")
    return Fail(Code::kInvalid, "--restart-mode: " + Quote(out.restart_mode) + " is not signal, systemd or none");
  if (*kind == EngineKind::kCrio && out.restart_mode == "signal")
    return Fail(Code::kInvalid, "--restart-mode: cri-o cannot be restarted by a signal; use systemd or none");
  for (const std::string& path : {out.files.config, out.files.drop_in, out.socket})
    if (!path.empty() && !path.starts_with('/')) return Fail(Code::kInvalid, Quote(path) + " is not an absolute path");
  if (*kind == EngineKind::kCrio) {
    out.crio_hook_file = v.Text("--hooks-dir") + "/" + v.Text("--hook-filename");
    out.crio_by_hook = v.Text("--config-mode") == "hook";
  }
  return {};
}

Result<> ReadNri(const FlagValues& v, Options& out) {
  constexpr std::int64_t kMostIndex = 99;
  out.nri_socket = v.Text("--nri-socket");
  out.nri_index = v.Text("--nri-plugin-index");
  out.nri_namespace = v.Text("--nri-namespace");
  out.nri_management_namespaces = v.List("--nri-management-cdi-device-namespaces");
  if (!out.nri) return {};
  // The engine's configuration is not touched: devices come by annotations.
  out.no_runtime_config = true;
  const auto index = ParseInt(out.nri_index);
  if (!index || *index < 0 || *index > kMostIndex)
    return Fail(Code::kInvalid, "--nri-plugin-index: " + Quote(out.nri_index) + " is not a number from 0 to 99");
  if (out.nri_namespace.empty()) return Fail(Code::kInvalid, "--nri-namespace: needed with --enable-nri-plugin");
  if (!out.nri_socket.starts_with('/'))
    return Fail(Code::kInvalid, "--nri-socket: " + Quote(out.nri_socket) + " is not an absolute path");
  return {};
}

void ReadWish(const FlagValues& v, Options& out) {
  const std::string name = v.Text("--runtime-name"), folder = out.install_dir + "/toolkit";
  out.wish.runtimes = {{name, folder + "/nvidia-container-runtime"}};
  // A name that is one of the variants' takes its place, and `nvidia` stays.
  const bool variant = name == "nvidia-cdi" || name == "nvidia-legacy";
  if (variant) out.wish.runtimes.push_back({"nvidia", folder + "/nvidia-container-runtime"});
  for (const std::string suffix : {"cdi", "legacy"})
    if (name != "nvidia-" + suffix)
      out.wish.runtimes.push_back({"nvidia-" + suffix, folder + "/nvidia-container-runtime." + suffix});
  // A hook would be run for every container.
  out.wish.set_as_default = v.On("--set-as-default") || out.crio_by_hook;
  out.wish.cdi = v.given("--enable-cdi-in-runtime") ? v.On("--enable-cdi-in-runtime") : out.cdi;
  out.wish.runtime_type = v.Text("--runtime-type");
  out.wish.annotation_prefixes = out.annotation_prefixes;
  out.wish.legacy_config = v.On("--use-legacy-config");
}

}  // namespace

Result<Options> ReadOptions(const std::vector<std::string>& arguments,
                            const std::function<const char*(const char*)>& variable) {
  ASSIGN(const FlagValues v, container::ParseFlags(Flags(), arguments, variable));
  Options out;
  out.arguments = arguments;
  std::error_code error;
  if (const char* const node = variable("NODE_NAME")) out.node = node;
  out.self = std::filesystem::read_symlink("/proc/self/exe", error);
  out.no_daemon = v.On("--no-daemon");
  out.no_runtime_config = v.On("--no-runtime-config");
  out.nri = v.On("--enable-nri-plugin");
  TRY(ReadNri(v, out));
  out.ignore_errors = v.On("--ignore-errors");
  out.pid_file = v.Text("--pid-file");
  if (!out.pid_file.ends_with("/toolkit.pid")) return Fail(Code::kInvalid, "--pid-file: must be called toolkit.pid");
  out.install_dir = v.Text("--toolkit-install-dir");
  out.source = v.Text("--toolkit-source-root");
  out.driver_root = v.Text("--driver-root");
  out.driver_root_ctr = Or(v.Text("--driver-root-ctr-path"), out.driver_root);
  out.dev_root = Or(v.Text("--dev-root"), out.driver_root);
  out.dev_root_ctr = Or(v.Text("--dev-root-ctr-path"), out.driver_root_ctr);
  for (const std::string& path :
       {out.install_dir, out.driver_root, out.driver_root_ctr, out.dev_root, out.dev_root_ctr})
    if (!path.starts_with('/')) return Fail(Code::kInvalid, Quote(path) + " is not an absolute path");
  out.cdi = v.On("--cdi-enabled");
  out.cdi_output_dir = v.Text("--cdi-output-dir");
  const std::string kind_text = v.Text("--cdi-kind");
  const auto kind = Cut(kind_text, '/');
  if (!kind || !container::CheckCdiVendor(kind->first) || !container::CheckCdiClass(kind->second))
    return Fail(Code::kInvalid, "--cdi-kind: " + Quote(kind_text) + " is not vendor/class");
  out.cdi_vendor = kind->first;
  out.cdi_class = kind->second;
  for (const std::string& what : v.List("--create-device-nodes")) {
    if (what != "control" && what != "none")
      return Fail(Code::kInvalid, "--create-device-nodes: " + Quote(what) + " is not control or none");
    out.create_control_nodes = what == "control";
  }
  out.runtime_debug = v.Text("--nvidia-container-runtime.debug");
  out.runtime_log_level = v.Text("--nvidia-container-runtime.log-level");
  out.runtime_mode = v.Text("--nvidia-container-runtime.mode");
  out.default_kind = v.Text("--nvidia-container-runtime.modes.cdi.default-kind");
  out.annotation_prefixes = v.List("--nvidia-container-runtime.modes.cdi.annotation-prefixes");
  out.low_level_runtimes = v.List("--nvidia-container-runtime.runtimes");
  out.cli_debug = v.Text("--nvidia-container-cli.debug");
  out.features = v.List("--opt-in-features");
  out.accept_env = v.On("--accept-nvidia-visible-devices-envvar-when-unprivileged");
  out.accept_mounts = v.On("--accept-nvidia-visible-devices-as-volume-mounts");
  out.skip_mode_detection = v.On("--nvidia-container-runtime-hook.skip-mode-detection");
  TRY(ReadEngine(v, out));
  ReadWish(v, out);
  return out;
}

std::string OptionsHelp() {
  std::string out = "usage: nvidia-ctk-installer [flags]\n\n";
  for (const FlagSpec& flag : Flags()) {
    out += "  " + Join(flag.names, ", ");
    if (!flag.variables.empty()) out += "  [$" + Join(flag.variables, ", $") + "]";
    if (!flag.otherwise.empty()) out += "  (default: " + flag.otherwise + ")";
    out += "\n";
  }
  return out;
}

}  // namespace gpuop::operands::toolkit
